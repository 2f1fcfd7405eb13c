/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which CPUs of a node measure, and which keep house for them: the lab's boot script and the node itself must
 * come to the same. */
#ifndef ASSAY_CPU_SPLIT_H
#define ASSAY_CPU_SPLIT_H

#include "cpus.h"

#include <jansson.h>
#include <stdbool.h>

enum { CPU_SPLIT_ARGUMENTS_SIZE = 448 /* with the NUL */ };

struct cpu_split {
	cpu_set_t housekeeping, measuring; /* disjoint, but where the node is alone */
	bool alone;                        /* no CPU is left to keep house: both sets are what measures */
	bool shares_core; /* a core's threads are divided: what keeps house takes its time from what measures
	                   */
};

/* Divides the CPUs of COUNT cores (each the hardware threads of one core that are online, a CPU in no more
 * than one of them). What keeps house is all of one core, so that no sibling of it disturbs what measures:
 * the first core, in the order of their first CPUs, that has no CPU of WORKLOAD (NULL: the workload may be
 * anywhere). The boot CPU, whose tick cannot be stopped, is in the first. Where no core is free of the
 * workload, what keeps house is all CPUs outside of it, and of a single core its first CPU. */
void cpu_split(const cpu_set_t cores[], size_t count, const cpu_set_t *workload, struct cpu_split *split);

/* The same of an inventory's `cpus` (inventory.json). 0; -ENOENT where it does not say its cores (it is of an
 * older image, or the kernel does not tell); -EINVAL; -ENOMEM. */
int cpu_split_inventory(const json_t *cpus, const cpu_set_t *workload, struct cpu_split *split);

/* The kernel arguments that isolate what measures, "" where the node is alone: no tick (nohz_full), no RCU
 * callbacks (rcu_nocbs), no load balancing and no managed interrupts (isolcpus), others' interrupts elsewhere
 * (irqaffinity). nohz_full also keeps the lockup watchdogs, timers, unbound workqueues and new kernel threads
 * off. Linux, Documentation/admin-guide/kernel-parameters.txt. */
void cpu_split_arguments(const struct cpu_split *split, char buf[CPU_SPLIT_ARGUMENTS_SIZE]);

#endif
