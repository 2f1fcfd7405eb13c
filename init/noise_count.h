/* SPDX-License-Identifier: GPL-2.0-or-later
 * What counts disturbances while a sample runs, and costs nothing meanwhile: read before it and after it. */
#ifndef ASSAY_NOISE_COUNT_H
#define ASSAY_NOISE_COUNT_H

#include "noise_trace.h"
#include "observe.h"

#include <jansson.h>
#include <sys/types.h>

enum { NOISE_THREADS_MAX = 2048 };

struct noise_count {
	long long at_ns;                   /* now_ns() */
	int64_t timer[NOISE_CPUS_MAX];     /* local timer interrupts */
	int64_t smi[NOISE_CPUS_MAX];       /* system management interrupts since power-on; -1: not told */
	int64_t throttled[NOISE_CPUS_MAX]; /* core's and package's thermal throttling events; -1: not told */
	size_t thread_count;               /* those that could be held */
	struct noise_thread {
		pid_t pid;
		int64_t run_ns;
	} threads[NOISE_THREADS_MAX];
};

/* Reads the counters of CPUS and of every process to *COUNT. What this machine lacks stays untold. */
void noise_count(const struct observe_roots *roots, const cpu_set_t *cpus, struct noise_count *count);

/* What happened between BEFORE and now (AFTER) as result.json's noise.during; OURS is whose running is no
 * noise. The caller owns it; NULL: out of memory. */
json_t *noise_count_json(const struct observe_roots *roots, const cpu_set_t *cpus,
                         const struct noise_count *before, const struct noise_count *after, pid_t ours);

/* The first CPU of CPUS that was throttled between BEFORE and AFTER, or -1. */
int noise_throttled(const cpu_set_t *cpus, const struct noise_count *before, const struct noise_count *after);

#endif
