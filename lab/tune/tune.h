/* SPDX-License-Identifier: GPL-2.0-or-later
 * Greedy tuning: one factor after the other, each kept at its best level only where that is better beyond its
 * uncertainty. A run that tunes is a series of stages: a step each, then the confirmation of what was found
 * against the start. Stage N (from 0) has blocks N * boots + 1 to (N + 1) * boots; in each block what is kept
 * so far is measured beside the alternatives. Nothing but cells, visits and results is stored: what was
 * decided follows from them each time.
 *
 * runs.tune is the plan as JSON (plan.json), levels and names as factor.h has them, with tune.steps as arrays
 * of rows. */
#ifndef ASSAY_TUNE_H
#define ASSAY_TUNE_H

#include "../accept/metric.h"
#include "../stats/stats.h"
#include "../store/store.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#define TUNE_ALPHA 0.05

/* choose.c: the decision, from numbers alone. */

/* What a stage measured of one state. The first of a stage is what was kept so far. */
struct tune_candidate {
	double *medians; /* of each boot */
	size_t boots;
	bool failed; /* its cell could not be measured */

	/* beside the first: */
	bool compared;
	struct stats_ratio ratio;
	double p; /* p_differs, corrected for all that the stage compares */
	enum stats_verdict verdict;
};

/* Compares CANDIDATES with the first, and gives the one to keep: the best of those that are better by more
 * than MARGIN (0.01: 1 %) at TUNE_ALPHA, corrected for their number (Holm); else the first. 0, -ENOMEM, or
 * -ENODATA: the first has nothing. */
int tune_choose(struct tune_candidate *candidates, size_t count, bool more_is_better, double margin,
                size_t *kept);

/* stage.c: plans of the stages. */

/* The plan of one stage, as JSON: TUNE with the rows of step STAGE, what is kept so far (KEPT, factor ->
 * level) first; after the last step the start and what was found. The caller owns it. NULL: no memory. */
json_t *tune_stage_plan(const json_t *tune, const json_t *kept, size_t stage);
size_t tune_steps(const json_t *tune);

/* path.c: what a run has come to. */

struct tune_stage {
	size_t number; /* from 0 */
	bool confirms, complete;
	json_t *states; /* of each candidate: factor -> level, only of what the stage varies */
	char (*cell_ids)[65];
	struct tune_candidate *candidates;
	size_t count, kept; /* kept: place of what goes on, where complete */
};

struct tune_path {
	const struct metric *metric;
	bool more_is_better;
	double margin;
	struct tune_stage *stages;
	size_t count;
	bool complete;   /* and nothing is left to measure */
	json_t *found;   /* factor -> level: what differs from the plan's base, {}: nothing */
	char error[200]; /* why it cannot go on, "" */
};

/* 1; 0: RUN does not tune; -errno. The caller frees *PATH. */
int tune_load(struct store *store, const char *run, struct tune_path **path);
void tune_free(struct tune_path *path);

/* Adds the next stage's cells and visits to RUN, whose last stage is complete. 1: added; 0: there is none, or
 * RUN does not tune; -errno, with the reason in WHY. */
int tune_next(struct store *store, const char *run, char *why, size_t why_size);

/* print.c */
void tune_print(struct store *store, const char *run, const struct tune_path *path, FILE *out);
json_t *tune_json(const struct tune_path *path);
/* The lines that make a node as in the latest sample of cell CELL_ID: sysctl.conf, ethtool, drbd.conf and so
 * on.
 */
void tune_print_install(struct store *store, const char *run, const char *cell_id, FILE *out);

#endif
