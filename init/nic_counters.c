/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic_counters.h"

#include "ethtool.h"
#include "file.h"
#include "pci_aer.h"

#include <dirent.h>
#include <linux/ethtool.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTERS_MAX = 8192, KEPT_MAX = 128 };

static bool has_one_of(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strstr(name, *words))
			return true;
	return false;
}

/* Of one kind, as drivers name them: frames that were lost for want of room. */
static const char *const drops[] = {"drop",   "discard", "missed",        "no_buf",
                                    "no_dma", "no_mem",  "out_of_buffer", NULL};
static const char *const pauses[] = {"pause", "flow_control", "xon", "xoff", NULL};
static const char *const errors[] = {"error", "crc", NULL};

static bool is_drop(const char *name)
{
	/* The kernel's has every frame of a protocol that nobody listens to, such as a switch's LLDP. */
	return has_one_of(name, drops) && strcmp(name, "rx_dropped") != 0;
}

static bool is_pcie(const char *name)
{
	return !strncmp(name, NIC_PCIE_ERRORS, strlen(NIC_PCIE_ERRORS));
}

/* One counter for the whole NIC is enough. */
static bool wanted(const char *name)
{
	static const char *const of_queues[] = {"queue", "_q", "[", NULL};

	return (has_one_of(name, drops) || has_one_of(name, pauses) || has_one_of(name, errors)) &&
	       !has_one_of(name, of_queues);
}

static unsigned int count_of(const char *nic)
{
	struct {
		struct ethtool_sset_info head;
		uint32_t count;
	} info = {.head = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_STATS}};

	if (ethtool(nic, &info) || !info.head.sset_mask)
		return 0;
	return info.count < COUNTERS_MAX ? info.count : COUNTERS_MAX;
}

/* Adds the driver's; what has such a name already stays. */
static void add_driver(const char *nic, json_t *counters)
{
	unsigned int count = count_of(nic);
	struct ethtool_gstrings *names = calloc(1, sizeof(*names) + (size_t)count * ETH_GSTRING_LEN);
	struct ethtool_stats *values = calloc(1, sizeof(*values) + count * sizeof(*values->data));

	if (!count || !names || !values)
		goto out;
	*names = (struct ethtool_gstrings){.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS, .len = count};
	*values = (struct ethtool_stats){.cmd = ETHTOOL_GSTATS, .n_stats = count};
	if (ethtool(nic, names) || ethtool(nic, values) || names->len != count || values->n_stats != count)
		goto out;
	for (unsigned int i = 0, kept = 0; i < count && kept < KEPT_MAX; i++) {
		char name[ETH_GSTRING_LEN + 1];

		snprintf(name, sizeof(name), "%.*s", ETH_GSTRING_LEN,
		         (const char *)names->data + (size_t)i * ETH_GSTRING_LEN);
		if (!wanted(name) || json_object_get(counters, name) || values->data[i] > INT64_MAX)
			continue;
		json_object_set_new(counters, name, json_integer((json_int_t)values->data[i]));
		kept++;
	}
out:
	free(names);
	free(values);
}

/* Of the card's PCIe link: what it had to send again costs time, though nothing is lost. */
static void add_pcie(const char *sys, const char *nic, json_t *counters)
{
	char device[320], name[64];

	snprintf(device, sizeof(device), "%s/class/net/%s/device", sys, nic);
	for (unsigned int kind = 0; kind < PCI_AER_KINDS; kind++) {
		long long errors = pci_aer_errors(device, kind);

		snprintf(name, sizeof(name), NIC_PCIE_ERRORS "%s", pci_aer_kinds[kind]);
		if (errors >= 0)
			json_object_set_new(counters, name, json_integer(errors));
	}
}

json_t *nic_counters(const char *sys, const char *nic)
{
	json_t *counters = json_object();
	char path[640];
	struct dirent *entry;
	long long value;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/class/net/%s/statistics", sys, nic);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/class/net/%s/statistics/%s", sys, nic, entry->d_name);
		if (entry->d_name[0] != '.' && !read_integer(path, &value))
			json_object_set_new(counters, entry->d_name, json_integer(value));
	}
	if (dir)
		closedir(dir);
	snprintf(path, sizeof(path), "%s/class/net/%s/carrier_changes", sys, nic);
	if (!read_integer(path, &value))
		json_object_set_new(counters, "carrier_changes", json_integer(value));
	add_pcie(sys, nic, counters);
	add_driver(nic, counters);
	return counters;
}

json_t *nic_counters_risen(const json_t *before, const json_t *after)
{
	json_t *risen = json_object(), *value;
	const char *name;

	json_object_foreach ((json_t *)after, name, value) {
		json_int_t rise =
		    json_integer_value(value) - json_integer_value(json_object_get(before, name));

		if (rise > 0 && (is_drop(name) || has_one_of(name, pauses) || has_one_of(name, errors)))
			json_object_set_new(risen, name, json_integer(rise));
	}
	return risen;
}

void nic_counters_note(const json_t *nics, char *buf, size_t size)
{
	size_t used = 0, i;
	const json_t *nic;

	buf[0] = '\0';
	json_array_foreach ((json_t *)nics, i, nic) {
		json_t *risen = nic_counters_risen(json_object_get(nic, "counters_before"),
		                                   json_object_get(nic, "counters_after"));
		const char *name;
		json_t *value;

		json_object_foreach (risen, name, value) {
			if ((is_drop(name) || is_pcie(name)) && used < size)
				used += (size_t)snprintf(buf + used, size - used, "%s%s of %s rose by %lld",
				                         used ? ", " : "while the sample ran, ", name,
				                         json_string_value(json_object_get(nic, "name")),
				                         (long long)json_integer_value(value));
		}
		json_decref(risen);
	}
}
