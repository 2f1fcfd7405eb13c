/* SPDX-License-Identifier: GPL-2.0-or-later
 * The table of a run. */
#ifndef ASSAY_REPORT_H
#define ASSAY_REPORT_H

#include "../accept/accept.h"
#include "../stats/stats.h"
#include "../store/store.h"
#include "../tune/tune.h"

#include <jansson.h>
#include <stdbool.h>

/* What a workload's samples are compared by. */
enum figure_id {
	FIGURE_MB_PER_S, /* 10^6 bytes a second */
	FIGURE_IOPS,
	FIGURE_P50_US,
	FIGURE_P99_US,
	FIGURE_P99_9_US,
	FIGURE_MAX_US,
	FIGURE_RTT_US,
	FIGURE_STALL_MS,
	FIGURES
};

/* What some workloads measure beside a rate, each with lines of its own in the report. */
enum report_part {
	PART_RTT,
	PART_FAILOVER,
	PART_RESYNC,
	PART_VERIFY,
	PART_ROLE_CHANGE,
	PART_FILES,
	REPORT_PARTS
};

struct report_sample {
	int64_t boot, sample, attempt, bytes, ns, at_unix_ns; /* at: when it was begun */
	unsigned int node;                                    /* which measured: place in report.nodes */
	double mb_per_s;
	double figure[FIGURES]; /* NAN where the workload has none */
};

struct report_cell {
	int64_t ordinal, wanted, boots, bad[3]; /* invalid, failed, abandoned attempts */
	char id[65];
	char *label, *error; /* error.json of a failed cell, or "" */
	bool failed;
	bool unsupported;              /* failed because a node refuses a level of it */
	bool rounds;                   /* samples are in rounds */
	int64_t enough;                /* the boot after which it was as precise as asked; 0: not */
	struct report_sample *samples; /* valid ones, by rising speed */
	size_t sample_count;
};

struct report {
	struct store *store;                                                      /* not its own */
	char run[64], group[64], state[16], plan[64], plan_sha256[65], scale[32]; /* "": not scaled */
	char imported[16]; /* what from; "": measured */
	double precision;  /* asked for, 0.01 for 1 %; 0: not */
	char *question, *error, *lab;
	bool shuffled, as_published;
	struct acceptance *acceptance; /* NULL: the plan demands nothing */
	struct tune_path *tune;        /* NULL: the plan does not tune */
	int64_t seed, boots, started_unix_ns, ended_unix_ns;
	bool has[REPORT_PARTS]; /* some valid sample has it */
	struct report_cell *cells;
	size_t cell_count;
	char **nodes; /* that measured */
	size_t node_count;
};

/* The run named (NULL: the latest). 1; 0: there is none; -errno. The caller frees *REPORT. */
int report_load(struct store *store, const char *run, struct report **report);
void report_free(struct report *report);
void report_print(const struct report *report, FILE *out);
void report_csv(const struct report *report, FILE *out);
/* TEXT in quotes, for CSV. */
void csv_text(FILE *out, const char *text);
/* By results-schema/report.json. 0 or -errno. */
int report_json(const struct report *report, FILE *out);
/* Its parts; the caller owns them. NULL: out of memory. */
json_t *report_run_json(const struct report *report);
json_t *report_cell_json(const struct report_cell *cell);
json_t *report_sample_json(const struct report *report, const struct report_cell *cell,
                           const struct report_sample *sample);
/* Every cell has its valid samples, but those that the nodes do not support. */
bool report_complete(const struct report *report);
/* The enum assay_exit that says what came of the run. */
int report_exit(const struct report *report);

/* "75.0 %", never rounded up; "none". */
const char *confidence_text(double confidence, char text[16]);

/* IOPS and latencies of cells with the workload aio; nothing where there are none. */
void aio_print(const struct report *report, FILE *out);
/* CrystalDiskMark's table of cells that are its lines; nothing where there are none. */
void crystal_print(const struct report *report, FILE *out);
/* What drift, order and place say of the run; nothing where there is too little to test. */
void order_print(const struct report *report, FILE *out);
/* How samples of a cell went on where their rate fell for good: medians over these samples, MB/s. */
struct knee {
	size_t samples, fell;
	double burst, at_s, lasting;    /* at_s: seconds until it fell */
	struct stats_interval interval; /* of the lasting rate, over these samples */
};
/* 0 or -errno. */
int knee_of_cell(const struct report *report, const struct report_cell *cell, struct knee *knee);
/* "6 of 6 samples: 540.0 MB/s for 15 s, then 330.0 MB/s that last (325.0 - 334.1, 96.8 % of these samples)"
 */
void knee_text(const struct knee *knee, FILE *out);
/* Burst and lasting rate of cells whose rate fell for good while they were measured. */
void knee_print(const struct report *report, FILE *out);
/* How many of CELL's samples in rounds did not come to a steady state, and how many there are. 0 or -errno.
 */
int steady_missed(const struct report *report, const struct report_cell *cell, size_t *missed,
                  size_t *samples);
/* Whether samples in rounds came to a steady state; nothing where there are none. */
void steady_print(const struct report *report, FILE *out);
/* A line for each sample of round trips, and of failovers. */
void round_trips_print(const struct report *report, FILE *out);
void failovers_print(const struct report *report, FILE *out);
/* A line for each resync, online verify, change of roles and tree of files. */
void parts_print(const struct report *report, FILE *out);
/* What does the same as the workloads by hand. */
void by_hand_print(const struct report *report, FILE *out);
/* What each leg of the storage network carried while it was proven; nothing where no sample
 * used it. */
void paths_print(const struct report *report, FILE *out);
/* The lines on what was measured with. */
void environment_print(const struct report *report, FILE *out);

#endif
