/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which CPUs a thread may run on; apart, so that tests can put theirs in its place. */
#ifndef ASSAY_AFFINITY_H
#define ASSAY_AFFINITY_H

#include <sched.h>
#include <sys/types.h>

/* Of the thread THREAD (0: the caller). 0 or -errno. */
int affinity_get(pid_t thread, cpu_set_t *cpus);
int affinity_set(pid_t thread, const cpu_set_t *cpus);

#endif
