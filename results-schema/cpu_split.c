/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cpu_split.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int first_of(const cpu_set_t *set)
{
	return cpus_nth(set, 0);
}

static bool meet(const cpu_set_t *a, const cpu_set_t *b)
{
	cpu_set_t both;

	CPU_AND(&both, a, b);
	return CPU_COUNT(&both) > 0;
}

/* A without B. */
static cpu_set_t without(const cpu_set_t *a, const cpu_set_t *b)
{
	cpu_set_t both, rest;

	CPU_AND(&both, a, b);
	CPU_XOR(&rest, a, &both);
	return rest;
}

/* The core with the lowest first CPU of those that do not meet WORKLOAD, or NULL. */
static const cpu_set_t *free_core(const cpu_set_t cores[], size_t count, const cpu_set_t *workload)
{
	const cpu_set_t *best = NULL;

	for (size_t i = 0; i < count; i++)
		if (CPU_COUNT(&cores[i]) && !meet(&cores[i], workload) &&
		    (!best || first_of(&cores[i]) < first_of(best)))
			best = &cores[i];
	return best;
}

void cpu_split(const cpu_set_t cores[], size_t count, const cpu_set_t *workload, struct cpu_split *split)
{
	cpu_set_t all, wanted;
	const cpu_set_t *core;

	*split = (struct cpu_split){0};
	CPU_ZERO(&all);
	CPU_ZERO(&wanted);
	for (size_t i = 0; i < count; i++)
		CPU_OR(&all, &all, &cores[i]);
	if (workload)
		CPU_AND(&wanted, &all, workload);
	core = free_core(cores, count, &wanted);
	if (core)
		split->housekeeping = *core;
	else
		split->housekeeping = without(&all, &wanted);
	split->measuring = CPU_COUNT(&wanted) ? wanted : without(&all, &split->housekeeping);
	/* All of a single core would leave nothing to measure with. */
	if (!CPU_COUNT(&split->measuring) && CPU_COUNT(&all) > 1) {
		CPU_ZERO(&split->housekeeping);
		CPU_SET((size_t)first_of(&all), &split->housekeeping);
		split->measuring = without(&all, &split->housekeeping);
	}
	split->alone = !CPU_COUNT(&split->measuring) || !CPU_COUNT(&split->housekeeping);
	if (split->alone)
		split->measuring = split->housekeeping = CPU_COUNT(&wanted) ? wanted : all;
	for (size_t i = 0; i < count && !split->alone; i++)
		split->shares_core = split->shares_core || (meet(&cores[i], &split->housekeeping) &&
		                                            meet(&cores[i], &split->measuring));
}

int cpu_split_inventory(const json_t *cpus, const cpu_set_t *workload, struct cpu_split *split)
{
	const json_t *cores = json_object_get(cpus, "cores"), *core;
	cpu_set_t *sets;
	size_t i;
	int r = 0;

	*split = (struct cpu_split){0};
	if (!json_array_size(cores))
		return -ENOENT;
	sets = calloc(json_array_size(cores), sizeof(*sets));
	if (!sets)
		return -ENOMEM;
	json_array_foreach (cores, i, core) {
		const char *list = json_string_value(json_object_get(core, "cpus"));

		if (!list || cpus_from_list(list, &sets[i]) || !CPU_COUNT(&sets[i]))
			r = -EINVAL;
	}
	if (!r)
		cpu_split(sets, json_array_size(cores), workload, split);
	free(sets);
	return r;
}

void cpu_split_arguments(const struct cpu_split *split, char buf[CPU_SPLIT_ARGUMENTS_SIZE])
{
	char measuring[96], housekeeping[96];

	buf[0] = '\0';
	if (split->alone || !CPU_COUNT(&split->measuring))
		return;
	cpus_to_list(&split->measuring, measuring, sizeof(measuring));
	cpus_to_list(&split->housekeeping, housekeeping, sizeof(housekeeping));
	snprintf(buf, CPU_SPLIT_ARGUMENTS_SIZE,
	         "nohz_full=%s rcu_nocbs=%s isolcpus=managed_irq,domain,%s irqaffinity=%s", measuring,
	         measuring, measuring, housekeeping);
}
