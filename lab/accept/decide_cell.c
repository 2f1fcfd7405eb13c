/* SPDX-License-Identifier: GPL-2.0-or-later
 * Figures of cells: decided by their interval over boots, and by the interval of their ratio to siblings. */
#include "internal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct samples {
	struct stats_sample *values;
	size_t count, room, nodes;
	char node[64]; /* that measured last */
};

/* Adds what SQL (rows of node, boot, value) gives for FIRST, SECOND and the metric's source. */
static int collect(struct criterion *c, const char *sql, const char *first, const char *second,
                   struct samples *s)
{
	sqlite3_stmt *row;
	int r = store_ask(c->store, &row, sql, "sss", first, second, c->metric->source);

	while (!r && (r = store_row(c->store, row)) == 1) {
		r = 0;
		if (sqlite3_column_type(row, 2) == SQLITE_NULL)
			continue;
		if (s->count == s->room) {
			size_t room = s->room ? 2 * s->room : 64;
			struct stats_sample *grown = realloc(s->values, room * sizeof(*grown));

			if (!grown) {
				store_reset(row);
				return -ENOMEM;
			}
			s->values = grown;
			s->room = room;
		}
		if (strcmp(s->node, store_text(row, 0))) {
			s->nodes++;
			snprintf(s->node, sizeof(s->node), "%s", store_text(row, 0));
		}
		s->values[s->count++] = (struct stats_sample){
		    .boot = (uint32_t)sqlite3_column_int64(row, 1),
		    .node = (uint32_t)s->nodes,
		    .value = sqlite3_column_double(row, 2),
		};
	}
	return r;
}

/* Of the cell ?2 of run ?1. */
static int collect_cell(struct criterion *c, const char *cell_id, struct samples *s)
{
	return collect(c,
	               "SELECT r.node, r.boot, CAST(r.body AS TEXT) ->> ('$.measurement' || substr(?3, 2)) "
	               "FROM attempts "
	               "a JOIN results r USING (run, cell_id, boot, sample, attempt) WHERE run = ?1 AND "
	               "cell_id = ?2 AND "
	               "a.state = 'valid' AND r.role = 'measure' ORDER BY r.node, r.boot",
	               c->run, cell_id, s);
}

/* The same cell on nodes that did not measure in run ?1. */
static int collect_siblings(struct criterion *c, const char *cell_id, struct samples *s)
{
	return collect(
	    c,
	    "SELECT r.node, 1000 * u.number + r.boot, CAST(r.body AS TEXT) ->> ('$.measurement' || "
	    "substr(?3, "
	    "2)) FROM attempts a JOIN results r USING (run, cell_id, boot, sample, attempt) JOIN runs u "
	    "USING "
	    "(run) WHERE cell_id = ?2 AND a.state = 'valid' AND r.role = 'measure' AND r.node NOT IN (SELECT "
	    "node FROM results WHERE run = ?1 AND role = 'measure') ORDER BY r.node, u.number, r.boot",
	    c->run, cell_id, s);
}

struct cell {
	int64_t ordinal;
	char id[65];
	char *label;
};

static int find_cell(struct criterion *c, const json_t *number, struct cell *cell)
{
	sqlite3_stmt *row;
	int r = store_ask(c->store, &row, "SELECT cell_id, label FROM cells WHERE run = ? AND ordinal = ?",
	                  "si", c->run, (int64_t)json_integer_value(number));

	if (!r)
		r = store_row(c->store, row);
	if (r != 1)
		return r ? r : -EUCLEAN;
	cell->ordinal = json_integer_value(number);
	snprintf(cell->id, sizeof(cell->id), "%s", store_text(row, 0));
	cell->label = strdup(store_text(row, 1));
	store_reset(row);
	return cell->label ? 0 : -ENOMEM;
}

static struct accept_verdict *verdict_of_cell(struct criterion *c, const struct cell *cell,
                                              const struct samples *s)
{
	struct accept_verdict *v;
	char *subject = NULL;

	if (asprintf(&subject, "cell %" PRId64 ", %s%s%s", cell->ordinal, cell->label, *s->node ? " on " : "",
	             s->node) < 0)
		return NULL;
	v = verdict_add(c, subject);
	if (v) {
		v->cell = cell->ordinal;
		v->samples = s->count;
	}
	if (v && !s->count)
		snprintf(v->why, sizeof(v->why), "it has no valid sample");
	return v;
}

static int decide_cell(struct criterion *c, const struct cell *cell)
{
	struct samples s = {0};
	struct stats_decision decision;
	struct stats_figure figure;
	int r = collect_cell(c, cell->id, &s);
	struct accept_verdict *v = r ? NULL : verdict_of_cell(c, cell, &s);

	if (v && s.count) {
		r = stats_figure(s.values, s.count, STATS_CONFIDENCE, &figure);
		if (!r)
			r = stats_accept(s.values, s.count, c->at_least, c->bound, STATS_CONFIDENCE,
			                 &decision);
		if (!r) {
			v->known = true;
			v->value = figure.median;
			v->interval = figure.interval;
			v->boots = figure.boots;
			v->acceptance = decision.acceptance;
			v->more_boots = decision.more_boots;
		}
	}
	free(s.values);
	return r ? r : v ? 0 : -ENOMEM;
}

/* OWN and OTHERS are medians of boots: how much slower is own, in percent? */
static int compare(struct criterion *c, const double *own, size_t own_count, const double *others,
                   size_t count, struct accept_verdict *v)
{
	struct stats_ratio ratio;
	int r = stats_ratio(others, count, own, own_count, 0, STATS_CONFIDENCE, &ratio);
	size_t needs = stats_ratio_needs(1 - STATS_CONFIDENCE, 1);

	if (r)
		return r;
	v->known = true;
	v->value = 100 * (1 - ratio.median);
	v->interval = (struct stats_interval){.low = 100 * (1 - ratio.interval.high),
	                                      .high = 100 * (1 - ratio.interval.low),
	                                      .confidence = ratio.interval.confidence};
	v->boots = own_count;
	if (ratio.enough && v->interval.high <= c->bound)
		v->acceptance = STATS_PASS;
	else if (ratio.enough && v->interval.low > c->bound)
		v->acceptance = STATS_FAIL;
	else if (own_count < needs)
		v->more_boots = needs - own_count;
	else if (count < needs)
		snprintf(v->why, sizeof(v->why), "siblings have %zu boots, it takes %zu", count, needs);
	return 0;
}

/* The median of the samples of node NODE (their label) among S; NODE_VALUES has room for all of them. */
static double median_of_node(const struct samples *s, uint32_t node, double *node_values)
{
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++)
		if (s->values[i].node == node)
			node_values[count++] = s->values[i].value;
	return stats_median(node_values, count);
}

/* Says so where the node is an outlier among its siblings. */
static int flag_outlier(const struct samples *own, const struct samples *others, struct accept_verdict *v)
{
	size_t nodes = others->nodes + 1;
	double *room = calloc(own->count + others->count + 2 * nodes, sizeof(*room));
	double *medians = room + own->count + others->count, *score = medians + nodes;
	bool *outlier = calloc(nodes, sizeof(*outlier));
	long found = -ENOMEM;

	if (room && outlier) {
		medians[0] = median_of_node(own, 1, room);
		for (size_t i = 1; i < nodes; i++)
			medians[i] = median_of_node(others, (uint32_t)i, room);
		found = stats_outliers(medians, nodes, score, outlier);
	}
	if (found > 0 && outlier[0])
		snprintf(v->note, sizeof(v->note), "an outlier among %zu siblings", nodes - 1);
	free(room);
	free(outlier);
	return found < 0 ? (int)found : 0;
}

static int decide_sibling(struct criterion *c, const struct cell *cell)
{
	struct samples own = {0}, others = {0};
	double *medians = NULL;
	long own_boots = 0, boots = 0;
	int r = collect_cell(c, cell->id, &own);
	struct accept_verdict *v = r ? NULL : verdict_of_cell(c, cell, &own);

	if (v && own.count)
		r = collect_siblings(c, cell->id, &others);
	if (v && own.count && !r && !others.count)
		snprintf(v->why, sizeof(v->why),
		         "no sibling has measured this cell: run the same plan on another group of this lab");
	if (v && !r && others.count) {
		medians = calloc(own.count + others.count, sizeof(*medians));
		own_boots = medians ? stats_boot_medians(own.values, own.count, medians) : -ENOMEM;
		boots = own_boots < 0 ? own_boots
		                      : stats_boot_medians(others.values, others.count, medians + own.count);
		r = boots < 0 ? (int)boots
		              : compare(c, medians, (size_t)own_boots, medians + own.count, (size_t)boots, v);
		if (!r)
			r = flag_outlier(&own, &others, v);
	}
	free(medians);
	free(own.values);
	free(others.values);
	return r ? r : v ? 0 : -ENOMEM;
}

static int each_cell(struct criterion *c, int (*decide)(struct criterion *c, const struct cell *cell))
{
	const json_t *number;
	size_t i;
	int r = 0;

	json_array_foreach (c->cells, i, number) {
		struct cell cell = {0};

		if (r)
			break;
		r = find_cell(c, number, &cell);
		if (!r)
			r = decide(c, &cell);
		free(cell.label);
	}
	return r;
}

int decide_cells(struct criterion *c)
{
	return each_cell(c, decide_cell);
}

int decide_siblings(struct criterion *c)
{
	return each_cell(c, decide_sibling);
}
