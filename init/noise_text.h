/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the kernel says of noise, as numbers: pure, for any text, cut anywhere. */
#ifndef ASSAY_NOISE_TEXT_H
#define ASSAY_NOISE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What was taken from one CPU while the tracer held it. */
struct noise_cpu {
	unsigned int cpu;
	int64_t runtime_us, noise_us, longest_us;
	int64_t hw, nmi, irq, softirq, thread; /* how often */
};

/* The next line of the osnoise tracer's trace file, of TEXT, which is moved behind it (Linux,
 * Documentation/trace/osnoise-tracer.rst). False: none follows. */
bool noise_osnoise(const char **text, struct noise_cpu *noise);

/* The counts of line NAME ("LOC:") of /proc/interrupts, of the CPUs its first line names, by their numbers,
 * to COUNTS (MAX; the rest are 0). False: there is no such line. */
bool noise_interrupts(const char *text, const char *name, int64_t *counts, size_t max);

/* /proc/PID/schedstat: how long the thread ran. False: that is not what TEXT says. */
bool noise_schedstat(const char *text, int64_t *run_ns);

/* The CPU that a thread last ran on, of /proc/PID/stat; -1: that is not what TEXT says. */
int noise_last_cpu(const char *text);

#endif
