/* SPDX-License-Identifier: GPL-2.0-or-later
 * The kernel's osnoise tracer: it holds CPUs with threads of its own, and sees what is taken from them. */
#ifndef ASSAY_NOISE_TRACE_H
#define ASSAY_NOISE_TRACE_H

#include "noise_text.h"

#include <sched.h>

enum { NOISE_CPUS_MAX = 256 };

/* One look at CPUS. */
struct noise_window {
	size_t count;
	struct noise_cpu cpus[NOISE_CPUS_MAX];
};

/* Holds CPUS (their first 256) for WINDOW_MS and says in *WINDOW what was taken from each. TRACING is
 * tracefs's folder. The tracer is off again afterwards, however it went. 0, or -errno with what failed in
 * WHY: -ENOENT, this kernel has no osnoise tracer; -EBUSY, another tracer runs. */
int noise_trace(const char *tracing, const cpu_set_t *cpus, long window_ms, struct noise_window *window,
                char *why, size_t why_size);

/* CPUS as the kernel's lists have them: "0,2,3". */
void noise_cpu_list(const cpu_set_t *cpus, char *buf, size_t size);

#endif
