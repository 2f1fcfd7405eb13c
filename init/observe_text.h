/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the observers read, as numbers: pure, for any text, cut anywhere. */
#ifndef ASSAY_OBSERVE_TEXT_H
#define ASSAY_OBSERVE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of BASE at the start of TEXT's line, apart by blanks or commas, at most MAX, to VALUES. How many
 * there were. *TEXT is moved behind the line. */
size_t text_numbers(const char **text, int base, int64_t *values, size_t max);

/* One line "cpu3 …" of /proc/stat, of TEXT: its CPU to *CPU, and its times in ticks, at most MAX, to VALUES
 * (the rest are 0). False: no further such line. *TEXT is moved behind the line. */
bool text_cpu(const char **text, unsigned int *cpu, int64_t *values, size_t max);

/* /proc/PID/stat. */
struct text_task {
	char name[32];
	int parent;
	bool kernel;       /* a thread of the kernel (PF_KTHREAD) */
	int64_t cpu_ticks; /* user and system */
};

/* 0, or -EBADMSG. */
int text_task(const char *text, struct text_task *task);

/* The number after KEY ("ns:") in MINOR's lines of /proc/drbd (8.4), or MISSING. */
int64_t text_drbd(const char *text, unsigned int minor, const char *key, int64_t missing);

/* How long ago the oldest request began, in ms, of DRBD's debugfs volumes/N/oldest_requests; 0: there is
 * none. */
int64_t text_oldest_ms(const char *text);

#endif
