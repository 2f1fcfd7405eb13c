/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "irq_list.h"

#include "file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_number(const void *a, const void *b)
{
	const struct irq *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* Names that drivers give: "eth1-TxRx-0" (Intel), "mlx5_comp0@pci:…", "virtio3-input.0" of queues; "eth1"
 * (ixgbe), "i40e-0000:03:00.0:misc", "virtio3-config", "mlx5_async0@pci:…" of the rest. */
static bool is_queue(const char *action, const char *nic)
{
	static const char *const others[] = {"misc", "config", "async", "aeq", "control"};

	if (!strcmp(action, nic))
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (strstr(action, others[i]))
			return false;
	return true;
}

/* The folder that lists them: the PCI device's, also where a virtio device stands between. */
static DIR *open_list(const char *sys, const char *nic)
{
	static const char *const places[] = {"device/msi_irqs", "device/../msi_irqs"};
	char path[320];
	DIR *dir = NULL;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !dir; i++) {
		snprintf(path, sizeof(path), "%s/class/net/%s/%s", sys, nic, places[i]);
		dir = opendir(path);
	}
	return dir;
}

size_t irq_list(const char *sys, const char *nic, struct irq *irqs)
{
	DIR *dir = open_list(sys, nic);
	struct dirent *entry;
	size_t n = 0;

	while (dir && n < IRQS_MAX && (entry = readdir(dir))) {
		unsigned int number = (unsigned int)strtoul(entry->d_name, NULL, 10);
		char action[256];

		if (entry->d_name[0] == '.')
			continue;
		/* Vectors that nothing asked for have no name. */
		if (read_file_at(action, sizeof(action), "%s/kernel/irq/%u/actions", sys, number) <= 0)
			continue;
		irqs[n++] = (struct irq){.number = number, .queue = is_queue(action, nic)};
	}
	if (dir)
		closedir(dir);
	qsort(irqs, n, sizeof(*irqs), by_number);
	return n;
}

/* Adds the counts of one interrupt, "0,12,3", to SUMS. */
static void add_counts(const char *text, json_t *sums)
{
	for (size_t cpu = 0; *text; cpu++) {
		char *end;
		long long count = strtoll(text, &end, 10);

		if (end == text)
			return;
		if (cpu < json_array_size(sums))
			count += json_integer_value(json_array_get(sums, cpu));
		if (cpu < json_array_size(sums))
			json_array_set_new(sums, cpu, json_integer(count));
		else
			json_array_append_new(sums, json_integer(count));
		text = end + (*end == ',');
	}
}

json_t *irq_counts(const char *sys, const struct net_nics *nics, size_t used)
{
	json_t *all = json_array();
	struct irq irqs[IRQS_MAX];
	char text[8192];

	for (size_t i = 0; i < used; i++) {
		size_t n = irq_list(sys, nics->name[i], irqs);
		json_t *sums = json_array();

		for (size_t k = 0; k < n; k++) {
			read_file_at(text, sizeof(text), "%s/kernel/irq/%u/per_cpu_count", sys,
			             irqs[k].number);
			add_counts(text, sums);
		}
		json_array_append_new(all, sums);
	}
	return all;
}

json_t *irq_spread(const struct net_nics *nics, const json_t *before, const json_t *after)
{
	json_t *spread = json_array();
	size_t i, cpu;
	json_t *sums, *count;

	json_array_foreach ((json_t *)after, i, sums) {
		const json_t *old = json_array_get(before, i);

		json_array_foreach (sums, cpu, count) {
			json_int_t d =
			    json_integer_value(count) - json_integer_value(json_array_get(old, cpu));

			/* Below zero: the interrupts were made anew meanwhile, and all of them are of this
			 * time. */
			if (d < 0)
				d = json_integer_value(count);
			if (d)
				json_array_append_new(spread,
				                      json_pack("{s:s, s:I, s:I}", "nic", nics->name[i],
				                                "cpu", (json_int_t)cpu, "count", d));
		}
	}
	return spread;
}
