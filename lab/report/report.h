/* SPDX-License-Identifier: GPL-2.0-or-later
 * The table of a run. */
#ifndef ASSAY_REPORT_H
#define ASSAY_REPORT_H

#include "../store/store.h"

#include <stdbool.h>

struct report_sample {
	int64_t boot, sample, bytes, ns;
	double mb_per_s;
};

struct report_cell {
	int64_t ordinal, wanted, boots, bad[3]; /* invalid, failed, abandoned attempts */
	char id[65];
	char *label, *error; /* error.json of a failed cell, or "" */
	bool failed;
	bool unsupported;              /* failed because a node refuses a level of it */
	struct report_sample *samples; /* valid ones, by rising speed */
	size_t sample_count;
};

struct report {
	struct store *store;                                                      /* not its own */
	char run[64], group[64], state[16], plan[64], plan_sha256[65], scale[32]; /* "": not scaled */
	char *question, *error, *lab;
	bool shuffled;
	int64_t seed, boots, started_unix_ns, ended_unix_ns;
	struct report_cell *cells;
	size_t cell_count;
};

/* The run named (NULL: the latest). 1; 0: there is none; -errno. The caller frees *REPORT. */
int report_load(struct store *store, const char *run, struct report **report);
void report_free(struct report *report);
void report_print(const struct report *report, FILE *out);
void report_csv(const struct report *report, FILE *out);
/* Every cell has its valid samples, but those that the nodes do not support. */
bool report_complete(const struct report *report);
/* The same as exit code: enum assay_exit. */
int report_exit(const struct report *report);

/* Of N > 0 values by rising size. */
double median(const struct report_sample *samples, size_t n);
/* How surely the median of what the samples are drawn from lies between the smallest and the largest of N: by
 * order statistics 1 - 2^(1-N), whatever the distribution. */
double median_confidence(size_t n);

/* IOPS and latencies of cells with the workload aio; nothing where there are none. */
void aio_print(const struct report *report, FILE *out);
/* The lines on what was measured with. */
void environment_print(const struct report *report, FILE *out);

#endif
