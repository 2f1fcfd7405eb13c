/* SPDX-License-Identifier: GPL-2.0-or-later
 * Comparing what was measured: sides, which cells go together, what must not differ, verdicts. */
#ifndef ASSAY_COMPARE_H
#define ASSAY_COMPARE_H

#include "../report/design.h"
#include "../report/figure.h"

#include <jansson.h>

enum { SIDES_MAX = 26, PICKS_MAX = 16, ALLOWED_MAX = 64, DIFFERENCES_MAX = 300 };

struct pick {
	char *factor, *level;
};

/* "[FILE:][RUN][,FACTOR=LEVEL]...": one thing to compare. */
struct side {
	char name; /* 'A', 'B', ... */
	char *database, *run;
	struct pick picks[PICKS_MAX]; /* factors, parameters of the workload, or node */
	size_t pick_count;
	struct store *store;
	struct report *report;
	struct design *design;
	bool *taken; /* cells that have all picked levels */
};

struct compare {
	struct side sides[SIDES_MAX]; /* all are compared with the first */
	size_t side_count;
	const char *allowed[ALLOWED_MAX];
	size_t allowed_count;
	bool allowed_used[ALLOWED_MAX]; /* it does differ */
	double margin, confidence;      /* 0.02 for 2 %, 0.95 */
	bool one_boot;                  /* samples of one boot are taken as if each had its own */
	const struct figure *figure;    /* NULL: by the cell's workload */
	struct pair *pairs;
	size_t pair_count;
	size_t tested;                 /* of these, how many p values were corrected for each other */
	size_t alone[SIDES_MAX];       /* taken cells that go with none of the first side, */
	char alone_in[SIDES_MAX][200]; /* and in what they differ from the nearest */
};

struct pair {
	const struct side *b;
	size_t a_cell, b_cell; /* places in the reports */
	const struct figure *figure;
	struct stats_figure a_figure, b_figure;
	bool by_boots, decidable;
	struct stats_ratio ratio; /* of B to A */
	struct stats_interval bootstrap;
	double bootstrap_ratio, p_differs, p_apart; /* P corrected for all pairs */
	enum stats_verdict verdict;
	size_t boots_needed; /* a side, where undecided; 0: not known */
};

/* A factor in which two cells differ; a level is NULL where the factor has no meaning. */
struct difference {
	char name[80];
	const char *a, *b;
};

/* Each prints what is wrong to stderr, and gives an enum assay_exit; ASSAY_OK goes on. */

/* side.c */
int side_open(struct side *side, char name, const char *text, const char *default_database);
void side_close(struct side *side);
/* The level that CELL has of factor NAME, or NULL. */
const char *side_level(const struct side *side, size_t cell, const char *name);
/* The node that was picked, or NULL. */
const char *side_node(const struct side *side);
/* Whether SAMPLE is of the node that was picked, if one was. */
bool side_has(const struct side *side, const struct report_sample *sample);

/* match.c: which cells go together. */
int match_cells(struct compare *c);
bool is_allowed(struct compare *c, const char *name);

/* control.c: what the cells do not say, but must not differ: hardware, kernel, ... ASSAY_NOT_COMPARABLE where
 * it does and is not allowed. */
int control_check(struct compare *c);
/* [{"name", "side", "asked", "a", "other"}] of what does differ; the caller owns it. */
json_t *control_json(const struct compare *c);
/* The same as lines. */
void control_print(const struct compare *c, FILE *out);
/* "kernel, image, ...", for --help and complaints. */
const char *control_names(void);
bool control_known(const char *name);

/* judge.c: figures, ratios, verdicts. 0 or -errno. */
int judge(struct compare *c);
/* The exit code that the verdicts come to. */
int judge_exit(const struct compare *c);

/* compare_print.c */
void compare_print(const struct compare *c, FILE *out);
/* Why PAIR is not decided, and what would decide it: no new line. */
void compare_why(const struct compare *c, const struct pair *pair, FILE *out);

/* compare_json.c: by results-schema/compare.json. 0 or -errno. */
int compare_json(const struct compare *c, FILE *out);

#endif
