/* SPDX-License-Identifier: GPL-2.0-or-later
 * The readers of /proc and /sys, on a small tree made for each test. */
#include "inventory.h"
#include "management.h"
#include "pstore.h"
#include "tree.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void put_link(const char *name, const char *target)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(symlink(target, path), 0);
}

static int setup(void **state)
{
	(void)state;
	strcpy(root, "/tmp/init_inventory.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

static void dmi_has_what_can_be_read(void **state)
{
	json_t *dmi;

	(void)state;
	put("sys/class/dmi/id/sys_vendor", "Dell Inc.\n");
	put("sys/class/dmi/id/product_name", "PowerEdge R730\n");
	put("sys/class/dmi/id/product_serial", "\n");
	put("sys/class/dmi/id/modalias", "dmi:bvn\n");
	dmi = inventory_dmi(root);
	assert_int_equal(json_object_size(dmi), 2);
	assert_string_equal(json_string_value(json_object_get(dmi, "sys_vendor")), "Dell Inc.");
	json_decref(dmi);
}

static void cpus_are_counted(void **state)
{
	json_t *cpus;

	(void)state;
	put("proc/cpuinfo",
	    "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz\ncpu MHz\t\t: 1200.5\n");
	put("sys/devices/system/cpu/online", "0-2\n");
	put("sys/devices/system/node/online", "0-1\n");
	put("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
	put("sys/devices/system/cpu/cpu1/topology/physical_package_id", "0\n");
	put("sys/devices/system/cpu/cpu2/uevent", "");
	put("sys/devices/system/cpu/cpu3/topology/physical_package_id", "1\n");
	cpus = inventory_cpus(root);
	assert_string_equal(json_string_value(json_object_get(cpus, "model")),
	                    "Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz");
	assert_int_equal(json_integer_value(json_object_get(cpus, "online")), 3);
	assert_int_equal(json_integer_value(json_object_get(cpus, "sockets")), 2);
	assert_int_equal(json_integer_value(json_object_get(cpus, "numa_nodes")), 2);
	assert_true(json_number_value(json_object_get(cpus, "mhz_max")) == 1200.5);
	json_decref(cpus);
	put("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3300000\n");
	cpus = inventory_cpus(root);
	assert_true(json_number_value(json_object_get(cpus, "mhz_max")) == 3300.0);
	json_decref(cpus);
}

static void empty_tree_gives_what_the_schema_needs(void **state)
{
	json_t *cpus = inventory_cpus(root), *pci = inventory_pci(root), *nics = inventory_nics(root, "eth0");

	(void)state;
	assert_string_equal(json_string_value(json_object_get(cpus, "model")), "unknown");
	assert_int_equal(json_integer_value(json_object_get(cpus, "online")), 1);
	assert_null(json_object_get(cpus, "sockets"));
	assert_int_equal(json_array_size(pci), 0);
	assert_int_equal(json_array_size(nics), 0);
	json_decref(cpus);
	json_decref(pci);
	json_decref(nics);
}

static void lists_of_cpus(void **state)
{
	(void)state;
	assert_int_equal(inventory_count_list("0"), 1);
	assert_int_equal(inventory_count_list("0-3,8,10-11"), 7);
	assert_int_equal(inventory_count_list(""), 0);
	assert_int_equal(inventory_count_list("3-1"), 0);
	assert_int_equal(inventory_count_list("0-99999999999999999999"), 0);
}

static void memory(void **state)
{
	long long total, used;

	(void)state;
	assert_int_equal(inventory_memory(root, &total, &used), -ENOENT);
	put("proc/meminfo", "MemTotal:        1000 kB\nMemFree: 5 kB\nMemAvailable:     900 kB\n");
	assert_int_equal(inventory_memory(root, &total, &used), 0);
	assert_int_equal(total, 1024000);
	assert_int_equal(used, 102400);
	put("proc/meminfo", "MemTotal: many\n");
	assert_int_equal(inventory_memory(root, &total, &used), -EINVAL);
}

static void pci_devices(void **state)
{
	json_t *pci, *nic;

	(void)state;
	put("sys/bus/pci/devices/0000:03:00.0/vendor", "0x8086\n");
	put("sys/bus/pci/devices/0000:03:00.0/device", "0x10fb\n");
	put("sys/bus/pci/devices/0000:03:00.0/class", "0x020000\n");
	put("sys/bus/pci/devices/0000:03:00.0/current_link_width", "4\n");
	put("sys/bus/pci/devices/0000:03:00.0/max_link_width", "8\n");
	put("sys/bus/pci/devices/0000:03:00.0/current_link_speed", "5.0 GT/s PCIe\n");
	put("sys/bus/pci/devices/0000:03:00.0/numa_node", "-1\n");
	put("sys/bus/pci/devices/0000:03:00.0/aer_dev_correctable", "RxErr 1\nBadTLP 2\nTOTAL_ERR_COR 3\n");
	put("sys/bus/pci/devices/0000:03:00.0/aer_dev_fatal", "Undefined 0\nTOTAL_ERR_FATAL 0\n");
	put_link("sys/bus/pci/devices/0000:03:00.0/driver", "../../../../bus/pci/drivers/ixgbe");
	put("sys/bus/pci/devices/0000:04:00.0/vendor", "0x8086\n");
	pci = inventory_pci(root);
	assert_int_equal(json_array_size(pci), 1);
	nic = json_array_get(pci, 0);
	assert_string_equal(json_string_value(json_object_get(nic, "address")), "0000:03:00.0");
	assert_string_equal(json_string_value(json_object_get(nic, "driver")), "ixgbe");
	assert_string_equal(json_string_value(json_object_get(nic, "link_width")), "4");
	assert_string_equal(json_string_value(json_object_get(nic, "max_link_width")), "8");
	assert_string_equal(json_string_value(json_object_get(nic, "link_speed")), "5.0 GT/s PCIe");
	assert_int_equal(json_integer_value(json_object_get(nic, "numa_node")), -1);
	assert_int_equal(json_object_size(json_object_get(nic, "aer")), 2);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(nic, "aer"), "correctable")), 3);
	json_decref(pci);
}

static void make_nics(void)
{
	put("sys/bus/pci/devices/0000:00:03.0/vendor", "0x1af4\n");
	put("sys/class/net/eth0/address", "52:54:00:00:00:01\n");
	put("sys/class/net/eth0/carrier", "1\n");
	put("sys/class/net/eth0/speed", "10000\n");
	put("sys/class/net/eth0/mtu", "1500\n");
	put("sys/bus/pci/devices/0000:00:03.0/virtio0/device", "0x0001\n");
	put_link("sys/class/net/eth0/device", "../../../bus/pci/devices/0000:00:03.0/virtio0");
	put_link("sys/bus/pci/devices/0000:00:03.0/virtio0/driver", "../drivers/virtio_net");
	put("sys/class/net/lo/address", "00:00:00:00:00:00\n");
	put("sys/class/net/bond0/address", "52:54:00:00:00:01\n");
}

static void nics(void **state)
{
	json_t *nics, *nic;

	(void)state;
	make_nics();
	nics = inventory_nics(root, "eth0");
	assert_int_equal(json_array_size(nics), 1);
	nic = json_array_get(nics, 0);
	assert_string_equal(json_string_value(json_object_get(nic, "name")), "eth0");
	assert_string_equal(json_string_value(json_object_get(nic, "mac")), "52:54:00:00:00:01");
	assert_string_equal(json_string_value(json_object_get(nic, "driver")), "virtio_net");
	assert_string_equal(json_string_value(json_object_get(nic, "pci")), "0000:00:03.0");
	assert_true(json_is_true(json_object_get(nic, "carrier")));
	assert_int_equal(json_integer_value(json_object_get(nic, "speed_mbps")), 10000);
	assert_true(json_is_true(json_object_get(nic, "management")));
	json_decref(nics);
}

static void management_nic(void **state)
{
	char nic[NIC_NAME_SIZE], list[256];

	(void)state;
	assert_int_equal(management_find(root, "52:54:00:00:00:01", nic), -ENODEV);
	management_list(root, list, sizeof(list));
	assert_string_equal(list, "none");
	make_nics();
	assert_int_equal(management_find(root, "52:54:00:00:00:01", nic), 0);
	/* Not the bond above it, which has the same address. */
	assert_string_equal(nic, "eth0");
	assert_int_equal(management_find(root, "52:54:00:00:00:02", nic), -ENODEV);
	assert_int_equal(management_find(root, "", nic), 0);
	put("sys/class/net/eth1/address", "52:54:00:00:00:02\n");
	put_link("sys/class/net/eth1/device", "../../../bus/pci/devices/0000:00:03.0");
	assert_int_equal(management_find(root, "", nic), -ENOTUNIQ);
	management_list(root, list, sizeof(list));
	assert_non_null(strstr(list, "eth0 52:54:00:00:00:01"));
	assert_non_null(strstr(list, "eth1 52:54:00:00:00:02"));
}

static void pstore_records(void **state)
{
	char folder[128], path[256];
	json_t *records;

	(void)state;
	snprintf(folder, sizeof(folder), "%s/pstore", root);
	records = pstore_read(folder);
	assert_int_equal(json_array_size(records), 0);
	json_decref(records);
	put("pstore/dmesg-efi-1", "Panic#1\nOops \xff\n");
	put("pstore/dmesg-efi-2", "second\n");
	records = pstore_read(folder);
	assert_int_equal(json_array_size(records), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(records, 0), "name")),
	                    "dmesg-efi-1");
	assert_string_equal(json_string_value(json_object_get(json_array_get(records, 0), "text")),
	                    "Panic#1\nOops ?\n");
	/* One that came after the reading stays. */
	put("pstore/dmesg-efi-3", "third\n");
	pstore_delete(folder, records);
	json_decref(records);
	records = pstore_read(folder);
	assert_int_equal(json_array_size(records), 1);
	json_decref(records);
	snprintf(path, sizeof(path), "%s/dmesg-efi-3", folder);
	assert_int_equal(access(path, F_OK), 0);
}

static void files_are_bounded(void **state)
{
	char buf[8], path[128], *all;
	size_t length;
	long long number = 7;

	(void)state;
	put("long", "0123456789");
	put("spaces", "12 \n\n");
	snprintf(path, sizeof(path), "%s/long", root);
	assert_int_equal(read_file(path, buf, sizeof(buf)), 7);
	assert_string_equal(buf, "0123456");
	assert_int_equal(read_file_alloc(path, 9, &all, &length), -EFBIG);
	assert_null(all);
	assert_int_equal(read_file_alloc(path, 10, &all, &length), 0);
	assert_int_equal(length, 10);
	free(all);
	snprintf(path, sizeof(path), "%s/spaces", root);
	assert_int_equal(read_integer(path, &number), 0);
	assert_int_equal(number, 12);
	snprintf(path, sizeof(path), "%s/none", root);
	assert_int_equal(read_integer(path, &number), -ENOENT);
	assert_int_equal(write_file(path, "x"), -ENOENT);
	assert_int_equal(write_file("/dev/full", "x"), -ENOSPC);
	assert_int_equal(write_file("/dev/null", "%5000s", "x"), -E2BIG);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    test(dmi_has_what_can_be_read),
	    test(cpus_are_counted),
	    test(empty_tree_gives_what_the_schema_needs),
	    test(lists_of_cpus),
	    test(memory),
	    test(pci_devices),
	    test(nics),
	    test(management_nic),
	    test(pstore_records),
	    test(files_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
