/* SPDX-License-Identifier: GPL-2.0-or-later
 * The table of a run. */
#ifndef ASSAY_REPORT_H
#define ASSAY_REPORT_H

#include "../stats/stats.h"
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
	struct report_sample *samples; /* valid ones, by rising speed */
	size_t sample_count;
	struct stats_figure figure; /* of MB/s; a block (boot in the key) counts as a boot */
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
/* Every cell has its valid samples. */
bool report_complete(const struct report *report);

/* "75.0 %", never rounded up; "none". */
const char *confidence_text(double confidence, char text[16]);

/* IOPS and latencies of cells with the workload aio; nothing where there are none. */
void aio_print(const struct report *report, FILE *out);
/* What drift, order and place say of the run; nothing where there is too little to test. */
void order_print(const struct report *report, FILE *out);
/* Burst and lasting rate of cells whose rate fell for good while they were measured. */
void knee_print(const struct report *report, FILE *out);
/* The lines on what was measured with. */
void environment_print(const struct report *report, FILE *out);

#endif
