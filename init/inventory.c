/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inventory.h"
#include "kernel_log.h"

#include "cmdline.h"
#include "cpus.h"
#include "disk.h"
#include "failure.h"
#include "file.h"
#include "pci_aer.h"
#include "layer.h"
#include "module.h"
#include "nic_warnings.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define SCHEMA_VERSION 1
#define CPUS_MAX       4096

json_t *inventory_dmi(const char *root)
{
	static const char *const names[] = {
	    "bios_date",      "bios_release",        "bios_vendor",     "bios_version",   "board_asset_tag",
	    "board_name",     "board_serial",        "board_vendor",    "board_version",  "chassis_type",
	    "chassis_serial", "ec_firmware_release", "product_name",    "product_family", "product_serial",
	    "product_sku",    "product_uuid",        "product_version", "sys_vendor",
	};
	json_t *dmi = json_object();
	char text[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (read_file_at(text, sizeof(text), "%s/sys/class/dmi/id/%s", root, names[i]) > 0)
			json_object_set_new(dmi, names[i], json_text(text));
	return dmi;
}

unsigned int inventory_count_list(const char *list)
{
	unsigned int count = 0;
	unsigned long from, to;
	char *end;

	while (isdigit((unsigned char)*list)) {
		from = to = strtoul(list, &end, 10);
		if (*end == '-')
			to = strtoul(end + 1, &end, 10);
		if (to < from || to >= CPUS_MAX)
			return 0;
		count += to - from + 1;
		list = *end == ',' ? end + 1 : end;
	}
	return count;
}

/* The value of the first line "KEY : VALUE" of /proc/cpuinfo's TEXT. */
static bool cpuinfo_value(const char *text, const char *key, char *buf, size_t size)
{
	const char *line = strstr(text, key);
	const char *colon = line ? strchr(line, ':') : NULL;

	if (!colon)
		return false;
	colon += 1 + strspn(colon + 1, " \t");
	snprintf(buf, size, "%.*s", (int)strcspn(colon, "\n"), colon);
	return *buf;
}

/* How many different physical packages the online CPUs are in. */
static unsigned int count_sockets(const char *root)
{
	bool seen[256] = {false};
	unsigned int count = 0;
	char path[PATH_MAX];
	long long id;

	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++) {
		snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%u/topology/physical_package_id",
		         root, cpu);
		if (read_integer(path, &id)) {
			/* An offline CPU has no topology; after the last there is no folder either. */
			snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%u/uevent", root, cpu);
			if (read_file(path, path, sizeof(path)) < 0)
				break;
			continue;
		}
		if (id >= 0 && id < 256 && !seen[id]) {
			seen[id] = true;
			count++;
		}
	}
	return count;
}

/* The core of which CPU is the first thread, or NULL: it is another's, offline, or the kernel does not tell.
 */
static json_t *core_of(const char *root, int cpu)
{
	char list[256], path[PATH_MAX];
	long long package = -1;
	cpu_set_t threads;
	json_t *core;

	if (read_file_at(list, sizeof(list), "%s/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
	                 root, cpu) <= 0 ||
	    cpus_from_list(list, &threads) || cpus_nth(&threads, 0) != cpu)
		return NULL;
	core = json_pack("{s:s}", "cpus", list);
	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%d/topology/physical_package_id", root,
	         cpu);
	if (!read_integer(path, &package) && package >= 0)
		json_object_set_new(core, "package", json_integer(package));
	return core;
}

json_t *inventory_cores(const char *root)
{
	json_t *cores = json_array(), *core;
	char list[4096];
	cpu_set_t online;

	if (read_file_at(list, sizeof(list), "%s/sys/devices/system/cpu/online", root) <= 0 ||
	    cpus_from_list(list, &online))
		return cores;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		core = CPU_ISSET((size_t)cpu, &online) ? core_of(root, cpu) : NULL;
		if (core)
			json_array_append_new(cores, core);
	}
	return cores;
}

json_t *inventory_cpus(const char *root)
{
	json_t *cpus = json_object(), *cores = inventory_cores(root);
	char path[PATH_MAX], value[256], *info = NULL;
	unsigned int count;
	long long khz;

	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	read_file_alloc(path, 4 << 20, &info, NULL);
	if (!info || !cpuinfo_value(info, "model name", value, sizeof(value)))
		strcpy(value, "unknown");
	json_object_set_new(cpus, "model", json_text(value));
	read_file_at(value, sizeof(value), "%s/sys/devices/system/cpu/online", root);
	count = inventory_count_list(value);
	json_object_set_new(cpus, "online", json_integer(count ? count : 1));
	count = count_sockets(root);
	if (count)
		json_object_set_new(cpus, "sockets", json_integer(count));
	read_file_at(value, sizeof(value), "%s/sys/devices/system/node/online", root);
	count = inventory_count_list(value);
	if (count)
		json_object_set_new(cpus, "numa_nodes", json_integer(count));
	if (json_array_size(cores))
		json_object_set(cpus, "cores", cores);
	json_decref(cores);
	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", root);
	if (!read_integer(path, &khz))
		json_object_set_new(cpus, "mhz_max", json_real(khz / 1000.0));
	else if (info && cpuinfo_value(info, "cpu MHz", value, sizeof(value)))
		json_object_set_new(cpus, "mhz_max", json_real(strtod(value, NULL)));
	free(info);
	return cpus;
}

int inventory_memory(const char *root, long long *total_bytes, long long *used_bytes)
{
	long long total_kib, available_kib;
	const char *total, *available;
	char text[4096];
	int r = read_file_at(text, sizeof(text), "%s/proc/meminfo", root);

	if (r < 0)
		return r;
	total = strstr(text, "MemTotal:");
	available = strstr(text, "MemAvailable:");
	if (!total || !available || sscanf(total, "MemTotal: %lld", &total_kib) != 1 ||
	    sscanf(available, "MemAvailable: %lld", &available_kib) != 1)
		return -EINVAL;
	*total_bytes = total_kib * 1024;
	*used_bytes = (total_kib - available_kib) * 1024;
	return 0;
}

static void set_file(json_t *object, const char *name, const char *root, const char *address,
                     const char *file)
{
	char text[128];

	if (read_file_at(text, sizeof(text), "%s/sys/bus/pci/devices/%s/%s", root, address, file) > 0)
		json_object_set_new(object, name, json_text(text));
}

static void set_aer(json_t *device, const char *root, const char *address)
{
	json_t *aer = json_object();
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s/sys/bus/pci/devices/%s", root, address);
	for (unsigned int kind = 0; kind < PCI_AER_KINDS; kind++) {
		long long errors = pci_aer_errors(folder, kind);

		if (errors >= 0)
			json_object_set_new(aer, pci_aer_kinds[kind], json_integer(errors));
	}
	if (json_object_size(aer))
		json_object_set(device, "aer", aer);
	json_decref(aer);
}

static json_t *pci_device(const char *root, const char *address)
{
	json_t *device = json_object();
	char text[PATH_MAX];
	long long node;

	json_object_set_new(device, "address", json_text(address));
	set_file(device, "vendor", root, address, "vendor");
	set_file(device, "device", root, address, "device");
	set_file(device, "class", root, address, "class");
	if (!read_link_name(text, sizeof(text), "%s/sys/bus/pci/devices/%s/driver", root, address))
		json_object_set_new(device, "driver", json_text(text));
	set_file(device, "link_width", root, address, "current_link_width");
	set_file(device, "link_speed", root, address, "current_link_speed");
	set_file(device, "max_link_width", root, address, "max_link_width");
	set_file(device, "max_link_speed", root, address, "max_link_speed");
	set_aer(device, root, address);
	snprintf(text, sizeof(text), "%s/sys/bus/pci/devices/%s/numa_node", root, address);
	if (!read_integer(text, &node) && node >= -1)
		json_object_set_new(device, "numa_node", json_integer(node));
	return device;
}

json_t *inventory_pci(const char *root)
{
	json_t *array = json_array(), *device;
	struct dirent **names;
	char path[PATH_MAX];
	int count;

	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices", root);
	count = scandir(path, &names, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		if (*names[i]->d_name != '.') {
			device = pci_device(root, names[i]->d_name);
			/* Gone between the listing and the reading. */
			if (json_object_get(device, "class"))
				json_array_append_new(array, device);
			else
				json_decref(device);
		}
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	return array;
}

json_t *inventory_collect(const char *root, const char *management_nic)
{
	json_t *inventory = json_object(), *disks = json_array();
	char text[8192], redacted[8192];
	long long total = 1, used = 0;
	struct utsname name = {0};

	uname(&name);
	disk_list(disks);
	read_file_at(text, sizeof(text), "%s/proc/cmdline", root);
	cmdline_redact(text, redacted, sizeof(redacted));
	json_object_set_new(inventory, "schema_version", json_integer(SCHEMA_VERSION));
	json_object_set_new(inventory, "dmi", inventory_dmi(root));
	json_object_set_new(inventory, "cpus", inventory_cpus(root));
	json_object_set_new(inventory, "kernel_release", json_text(name.release));
	json_object_set_new(inventory, "command_line", json_text(redacted));
	json_object_set_new(inventory, "pci", inventory_pci(root));
	json_object_set_new(inventory, "nics", inventory_nics(root, management_nic));
	json_object_set_new(inventory, "warnings", nic_warnings(inventory, root));
	snprintf(text, sizeof(text), "%s/dev/kmsg", root);
	json_object_set_new(inventory, "kernel_warnings", kernel_log_warnings(text, 0));
	json_object_set_new(inventory, "disks", disks);
	snprintf(text, sizeof(text), "%s" LAYERS_FOLDER, root);
	json_object_set_new(inventory, "layers", layer_names(text));
	json_object_set_new(inventory, "modules_failed", module_failures());
	if (!module_version("drbd", text, sizeof(text)))
		json_object_set_new(inventory, "drbd_version", json_text(text));
	if (!inventory_memory(root, &total, &used))
		json_object_set_new(inventory, "memory_used_ready_bytes", json_integer(used));
	json_object_set_new(inventory, "memory_bytes", json_integer(total));
	return inventory;
}
