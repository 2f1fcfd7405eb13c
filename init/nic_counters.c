/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic_counters.h"

#include "ethtool.h"

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

/* Drivers name them as they like; one counter for the whole NIC is enough. */
static bool wanted(const char *name)
{
	static const char *const words[] = {"pause", "flow_control", "xon",    "xoff",   "drop", "discard",
	                                    "miss",  "no_buf",       "no_dma", "no_mem", "crc",  NULL};
	static const char *const of_queues[] = {"queue", "_q", "[", NULL};

	return has_one_of(name, words) && !has_one_of(name, of_queues);
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

void nic_counters(const char *nic, json_t *counters)
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

void nic_counters_note(const json_t *nics, char *buf, size_t size)
{
	/* The kernel's own of the frames that nobody wanted; and XON, which only ends what XOFF began. */
	static const char *const told[] = {"pause",  "xoff",   "drop",   "discard", "miss",
	                                   "no_buf", "no_dma", "no_mem", NULL};
	size_t used = 0, i;
	const json_t *nic;

	buf[0] = '\0';
	json_array_foreach ((json_t *)nics, i, nic) {
		const json_t *before = json_object_get(nic, "counters_before");
		const json_t *after = json_object_get(nic, "counters_after");
		const char *name;
		json_t *value;

		json_object_foreach ((json_t *)after, name, value) {
			json_int_t rise =
			    json_integer_value(value) - json_integer_value(json_object_get(before, name));
			int n;

			if (rise <= 0 || !has_one_of(name, told) || !strcmp(name, "rx_dropped"))
				continue;
			n = snprintf(buf + used, size - used, "%s%s of %s by %lld",
			             used ? ", " : "while the sample ran rose ", name,
			             json_string_value(json_object_get(nic, "name")), (long long)rise);
			if (n < 0 || (size_t)n >= size - used)
				return;
			used += (size_t)n;
		}
	}
}
