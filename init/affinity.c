/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "affinity.h"

#include <errno.h>

int affinity_get(pid_t thread, cpu_set_t *cpus)
{
	CPU_ZERO(cpus);
	return sched_getaffinity(thread, sizeof(*cpus), cpus) ? -errno : 0;
}

int affinity_set(pid_t thread, const cpu_set_t *cpus)
{
	return sched_setaffinity(thread, sizeof(*cpus), cpus) ? -errno : 0;
}
