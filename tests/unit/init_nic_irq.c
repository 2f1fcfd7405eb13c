/* SPDX-License-Identifier: GPL-2.0-or-later
 * Interrupts, XPS and RPS of a NIC in a made-up /sys and /proc: four CPUs, of which CPU 1 is off and 2 and 3
 * are near the NIC; which build of a driver is loaded, and where its file is. */
#include "irq_apply.h"
#include "cpus.h"
#include "irq_list.h"
#include "nic_driver.h"
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

static char sys[80], proc[80];
static const struct irq_roots roots = {.sys = sys, .proc = proc};
static const struct net_nics nics = {.count = 1, .name = {"eth1"}};

static void file_is(const char *name, const char *wanted)
{
	char text[256];

	read_file_at(text, sizeof(text), "%s/%s", root, name);
	assert_string_equal(text, wanted);
}

static void put_irq(unsigned int number, const char *action, const char *counts)
{
	char name[128];

	snprintf(name, sizeof(name), "sys/class/net/eth1/device/msi_irqs/%u", number);
	put(name, "msix\n");
	snprintf(name, sizeof(name), "sys/kernel/irq/%u/actions", number);
	put(name, action);
	snprintf(name, sizeof(name), "sys/kernel/irq/%u/per_cpu_count", number);
	put(name, counts);
	snprintf(name, sizeof(name), "proc/irq/%u/smp_affinity", number);
	put(name, "0000000d\n");
}

static int set_up(void **unused)
{
	(void)unused;
	strcpy(root, "/tmp/assay-irq.XXXXXX");
	assert_non_null(mkdtemp(root));
	snprintf(sys, sizeof(sys), "%s/sys", root);
	snprintf(proc, sizeof(proc), "%s/proc", root);
	put("sys/devices/system/cpu/online", "0,2-3\n");
	put("sys/class/net/eth1/device/local_cpulist", "1-3\n");
	put_irq(101, "eth1-TxRx-0\n", "5,0,0,7\n");
	put_irq(102, "eth1-TxRx-1\n", "1,0,0,0\n");
	put_irq(99, "eth1-TxRx-2\n", "0,0,0,0\n");
	put_irq(103, "eth1\n", "2,0,0,0\n");
	put_irq(104, "", "9,9,9,9\n"); /* not in use */
	put("sys/class/net/eth1/queues/tx-0/xps_cpus", "0\n");
	put("sys/class/net/eth1/queues/tx-1/xps_cpus", "0\n");
	put("sys/class/net/eth1/queues/rx-0/rps_cpus", "0\n");
	return 0;
}

static int tear_down(void **unused)
{
	char command[128];

	(void)unused;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command) ? -1 : 0;
}

static int apply(const char *text, struct irq_changes *changes, json_t **in_force, struct failure *why)
{
	json_t *state = json_loads(text, 0, NULL);
	int r;

	assert_non_null(state);
	r = irq_apply(changes, &roots, &nics, 1, state, why);
	*in_force = json_object();
	assert_int_equal(irq_in_force(&roots, &nics, 1, state, *in_force), 0);
	if (!r)
		assert_true(json_equal(*in_force, state));
	json_decref(state);
	return r;
}

static void affinities_are(const char *first, const char *second, const char *third, const char *other)
{
	file_is("proc/irq/99/smp_affinity", first);
	file_is("proc/irq/101/smp_affinity", second);
	file_is("proc/irq/102/smp_affinity", third);
	file_is("proc/irq/103/smp_affinity", other);
	file_is("proc/irq/104/smp_affinity", "0000000d");
}

static void test_affinity(void **unused)
{
	static const struct {
		const char *state, *first, *second, *third, *other;
	} cases[] = {
	    {"{\"irq.affinity\": \"one-cpu\"}", "1", "1", "1", "1"},
	    {"{\"irq.affinity\": \"spread\"}", "1", "4", "8", "0000000d"},
	    {"{\"irq.affinity\": \"numa-local\"}", "4", "8", "4", "0000000d"},
	    {"{\"irq.mask\": 12}", "c", "c", "c", "c"},
	    {"{}", "0000000d", "0000000d", "0000000d", "0000000d"},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct irq_changes changes = {0};
		struct failure why;
		json_t *in_force;

		assert_int_equal(apply(cases[i].state, &changes, &in_force, &why), 0);
		affinities_are(cases[i].first, cases[i].second, cases[i].third, cases[i].other);
		json_decref(in_force);
		irq_restore(&changes);
		affinities_are("0000000d", "0000000d", "0000000d", "0000000d");
	}
}

static void test_steering(void **unused)
{
	struct irq_changes changes = {0};
	struct failure why;
	json_t *in_force;

	(void)unused;
	assert_int_equal(apply("{\"nic.xps\": \"spread\", \"nic.rps\": \"all\"}", &changes, &in_force, &why),
	                 0);
	file_is("sys/class/net/eth1/queues/tx-0/xps_cpus", "1");
	file_is("sys/class/net/eth1/queues/tx-1/xps_cpus", "4");
	file_is("sys/class/net/eth1/queues/rx-0/rps_cpus", "d");
	json_decref(in_force);
	irq_restore(&changes);
	file_is("sys/class/net/eth1/queues/tx-1/xps_cpus", "0");
	file_is("sys/class/net/eth1/queues/rx-0/rps_cpus", "0");
}

/* Somebody else moved an interrupt. */
static void test_moved(void **unused)
{
	json_t *state = json_pack("{s:s}", "irq.affinity", "spread"), *in_force = json_object();
	struct irq_changes changes = {0};
	struct failure why;
	const char *said;

	(void)unused;
	assert_int_equal(irq_apply(&changes, &roots, &nics, 1, state, &why), 0);
	put("proc/irq/101/smp_affinity", "00000009\n");
	assert_int_equal(irq_in_force(&roots, &nics, 1, state, in_force), 0);
	said = json_string_value(json_object_get(in_force, "irq.affinity"));
	assert_non_null(strstr(said, "eth1: "));
	assert_non_null(strstr(said, "/irq/101/smp_affinity says CPUs \"0,3\""));
	irq_restore(&changes);
	json_decref(state);
	json_decref(in_force);
}

static void test_refused(void **unused)
{
	struct irq_changes changes = {0};
	struct failure why = {0};
	json_t *in_force;
	char path[160];

	(void)unused;
	assert_int_equal(apply("{\"irq.affinity\": \"spread\", \"irq.mask\": 1}", &changes, &in_force, &why),
	                 -EINVAL);
	assert_int_equal(why.scope, FAILURE_CELL);
	json_decref(in_force);
	irq_restore(&changes);

	assert_int_equal(apply("{\"irq.mask\": 3}", &changes, &in_force, &why), -EINVAL);
	assert_string_equal(why.message, "irq.mask=3 names CPUs that are not online");
	json_decref(in_force);
	irq_restore(&changes);

	/* As a kernel without XPS. */
	snprintf(path, sizeof(path), "%s/class/net/eth1/queues/tx-0/xps_cpus", sys);
	unlink(path);
	assert_int_equal(apply("{\"nic.xps\": \"off\"}", &changes, &in_force, &why), -ENOENT);
	assert_int_equal(why.scope, FAILURE_UNSUPPORTED);
	assert_non_null(strstr(why.message, "eth1 refuses nic.xps"));
	json_decref(in_force);
	irq_restore(&changes);
}

static void test_counts(void **unused)
{
	json_t *before = irq_counts(sys, &nics, 1), *after, *spread, *wanted;

	(void)unused;
	put("sys/kernel/irq/101/per_cpu_count", "5,0,0,107\n");
	put("sys/kernel/irq/102/per_cpu_count", "4,0,0,0\n");
	put("sys/kernel/irq/103/per_cpu_count", "3,0,0,0\n");
	after = irq_counts(sys, &nics, 1);
	spread = irq_spread(&nics, before, after);
	wanted = json_pack("[{s:s, s:i, s:i}, {s:s, s:i, s:i}]", "nic", "eth1", "cpu", 0, "count", 4, "nic",
	                   "eth1", "cpu", 3, "count", 100);
	assert_true(json_equal(spread, wanted));
	json_decref(before);
	json_decref(after);
	json_decref(spread);
	json_decref(wanted);
}

static void test_cpus(void **unused)
{
	cpu_set_t set;
	char text[512];

	(void)unused;
	assert_int_equal(cpus_from_list("0-2,63,64,1023", &set), 0);
	assert_int_equal(CPU_COUNT(&set), 6);
	cpus_to_list(&set, text, sizeof(text));
	assert_string_equal(text, "0-2,63-64,1023");
	cpus_to_mask(&set, text, sizeof(text));
	assert_int_equal(cpus_from_mask(text, &set), 0);
	cpus_to_list(&set, text, sizeof(text));
	assert_string_equal(text, "0-2,63-64,1023");
	assert_int_equal(cpus_from_list("", &set), 0);
	assert_int_equal(CPU_COUNT(&set), 0);
	assert_int_equal(cpus_nth(&set, 3), -1);
	cpus_to_mask(&set, text, sizeof(text));
	assert_string_equal(text, "0");
	assert_int_equal(cpus_from_list("3-1", &set), -EINVAL);
	assert_int_equal(cpus_from_list("1024", &set), -EINVAL);
	assert_int_equal(cpus_from_list("x", &set), -EINVAL);
	assert_int_equal(cpus_from_list("0-", &set), -EINVAL);
	assert_int_equal(cpus_from_mask("", &set), -EINVAL);
	assert_int_equal(cpus_from_mask("0g", &set), -EINVAL);
	assert_int_equal(cpus_from_mask("5", &set), 0);
	assert_int_equal(cpus_nth(&set, 0), 0);
	assert_int_equal(cpus_nth(&set, 1), 2);
	assert_int_equal(cpus_nth(&set, 5), 2);
}

static void link_to(const char *name, const char *target)
{
	char path[256], real[256];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	snprintf(real, sizeof(real), "%s/%s", root, target);
	assert_int_equal(symlink(real, path), 0);
}

/* This program bears a module's mark, so that it can be taken for one. */
static const char mark[] __attribute__((section(".modinfo"), used)) = "vermagic=6.1.0-other SMP mod_unload ";

static void test_other_kernel(void **unused)
{
	struct failure why = {0};
	char path[256];

	(void)unused;
	snprintf(path, sizeof(path), "%s/ixgbe.ko", root);
	assert_int_equal(symlink("/proc/self/exe", path), 0);
	assert_int_equal(nic_driver_check(path, "6.1.0-other", &why), 0);
	assert_int_equal(nic_driver_check(path, "6.1.0-oth", &why), -ENOEXEC);
	assert_int_equal(nic_driver_check(path, "6.1.192-assay", &why), -ENOEXEC);
	assert_int_equal(why.scope, FAILURE_CELL);
	assert_non_null(strstr(why.message,
	                       "ixgbe.ko was built for another kernel, \"6.1.0-other SMP mod_unload \"; "
	                       "this one is 6.1.192-assay"));
	assert_non_null(strstr(why.remedy, "make image MODULES=DIR"));
	assert_int_equal(unlink(path), 0);
	put("ixgbe.ko", "no module");
	assert_true(nic_driver_check(path, "6.1.0-other", &why) < 0);
	assert_non_null(strstr(why.message, "cannot be read as a kernel module"));
}

static void test_driver(void **unused)
{
	json_t *state = json_pack("{s:s}", "nic.driver", "in-tree"), *in_force = json_object();
	char path[256], version[32], srcversion[32], lib[128];

	(void)unused;
	put("sys/module/ixgbe/version", "5.19.9\n");
	put("sys/module/ixgbe/srcversion", "0123456789ABCDEF\n");
	put("sys/module/ixgbe/taint", "O\n");
	put("sys/class/net/eth1/device/driver/uevent", "");
	link_to("sys/class/net/eth1/device/driver/module", "sys/module/ixgbe");
	nic_driver_version(sys, "eth1", version, srcversion, sizeof(version));
	assert_string_equal(version, "5.19.9");
	assert_string_equal(srcversion, "0123456789ABCDEF");
	nic_driver_version(sys, "eth9", version, srcversion, sizeof(version));
	assert_string_equal(version, "");
	assert_int_equal(nic_driver_in_force(&nics, 1, state, sys, in_force), 0);
	assert_string_equal(json_string_value(json_object_get(in_force, "nic.driver")), "out-of-tree");
	put("sys/module/ixgbe/taint", "\n");
	assert_int_equal(nic_driver_in_force(&nics, 1, state, sys, in_force), 0);
	assert_string_equal(json_string_value(json_object_get(in_force, "nic.driver")), "in-tree");
	json_decref(state);
	json_decref(in_force);

	put("lib/kernel/drivers/net/ethernet/intel/ixgbevf/ixgbevf.ko.zst", "");
	put("lib/kernel/drivers/net/ethernet/intel/ixgbe/ixgbe.ko.zst", "");
	put("lib/kernel/drivers/net/virtio-net.ko", "");
	put("lib/extra/ixgbe.ko", "");
	snprintf(lib, sizeof(lib), "%s/lib", root);
	assert_int_equal(nic_driver_file(lib, "ixgbe", false, path, sizeof(path)), 0);
	assert_string_equal(path + strlen(root), "/lib/kernel/drivers/net/ethernet/intel/ixgbe/ixgbe.ko.zst");
	assert_int_equal(nic_driver_file(lib, "ixgbe", true, path, sizeof(path)), 0);
	assert_string_equal(path + strlen(root), "/lib/extra/ixgbe.ko");
	assert_int_equal(nic_driver_file(lib, "virtio_net", false, path, sizeof(path)), 0);
	assert_int_equal(nic_driver_file(lib, "virtio_net", true, path, sizeof(path)), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_affinity, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_steering, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_moved, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_counts, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_driver, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_other_kernel, set_up, tear_down),
	    cmocka_unit_test(test_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
