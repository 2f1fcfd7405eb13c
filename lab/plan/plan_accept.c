/* SPDX-License-Identifier: GPL-2.0-or-later
 * A plan's acceptance criteria: metrics, bounds with their units, and the cells that each is about. */
#include "plan_points.h"

#include "../accept/metric.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

static __attribute__((format(printf, 4, 5))) void complain(struct plan_build *b, size_t index,
                                                           const char *key, const char *format, ...)
{
	char at[96], text[300];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(at, sizeof(at), "/acceptance/%zu/%s", index, key);
	yaml_complain(&b->doc, at, false, "%s", text);
}

/* Whether the state of CELL has every level of WHERE (one point; none: every state has). */
static bool has_levels(const struct plan_build *b, const struct points *where, const struct plan_cell *cell)
{
	const struct plan_state *s = &b->parts->states[cell->state];

	for (size_t i = 0; i < where->setting_count; i++) {
		const struct setting *want = &where->settings[i];
		uint16_t real = s->levels[want->factor];

		if (real != want->level && (real || !factor_left_alone(&factors[want->factor], want->json)))
			return false;
	}
	return true;
}

static bool has_metric(const struct metric *metric, const json_t *workload)
{
	const char *what = json_string_value(json_object_get(workload, "what"));
	char kind[64];

	snprintf(kind, sizeof(kind), "%s%s%s", json_string_value(json_object_get(workload, "type")),
	         what ? " " : "", what ? what : "");
	return !*metric->workload || !strcmp(metric->workload, kind);
}

/* Numbers (from 1) of the cells that the criterion is about. NULL: no memory. */
static json_t *choose_cells(struct plan_build *b, const struct metric *metric, const json_t *criterion)
{
	json_t *where = json_object_get(criterion, "where"), *cells = json_array();
	json_int_t workload = json_integer_value(json_object_get(criterion, "workload"));
	struct points points = {0};

	if (cells && points_row(b, &points, where)) {
		json_decref(cells);
		cells = NULL;
	}
	for (size_t i = 0; cells && i < b->plan->cell_count; i++) {
		const struct plan_cell *cell = &b->plan->cells[i];
		const struct plan_workload *w = &b->parts->workloads[cell->workload];

		if ((!workload || (size_t)workload == w->place + 1) && has_metric(metric, w->workload) &&
		    has_levels(b, &points, cell))
			json_array_append_new(cells, json_integer((json_int_t)i + 1));
	}
	points_free(&points);
	return cells;
}

/* Which cells: where and workload have a meaning only with figures of cells. */
static json_t *read_cells(struct plan_build *b, size_t index, const struct metric *metric,
                          const json_t *criterion)
{
	static const char *const keys[] = {"where", "workload"};
	bool of_cells = metric->kind == METRIC_SAMPLE || metric->kind == METRIC_SIBLINGS;
	json_t *cells;

	for (size_t i = 0; !of_cells && i < sizeof(keys) / sizeof(*keys); i++)
		if (json_object_get(criterion, keys[i]))
			complain(b, index, keys[i], "%s is of nodes, not of cells: it has no %s",
			         metric->name, keys[i]);
	cells = of_cells ? choose_cells(b, metric, criterion) : json_array();
	if (of_cells && cells && !json_array_size(cells))
		complain(b, index, "metric", "no cell%s%s%s has %s%s",
		         *metric->workload ? " with the workload " : "", metric->workload,
		         json_object_get(criterion, "where") ? " that is as where says" : "", metric->name,
		         json_object_get(criterion, "workload")
		             ? " and is of that workload; they count from 1"
		             : "");
	return cells;
}

static int read_criterion(struct plan_build *b, size_t index, const json_t *criterion)
{
	const char *name = json_string_value(json_object_get(criterion, "metric"));
	const struct metric *metric = metric_find(name);
	bool at_least = json_object_get(criterion, "at_least");
	const json_t *written = json_object_get(criterion, at_least ? "at_least" : "at_most");
	char text[64], why[256];
	json_t *cells;
	double bound;

	if (!metric) {
		complain(b, index, "metric", "unknown metric \"%.60s\"; the nearest is \"%s\"", name,
		         metric_nearest(name));
		return 0;
	}
	if (metric->kind == METRIC_SIBLINGS && at_least)
		complain(b, index, "at_least", "%s is how much a node may be slower: it takes at_most", name);
	if (json_is_string(written))
		snprintf(text, sizeof(text), "%.60s", json_string_value(written));
	else
		snprintf(text, sizeof(text), "%.15g", json_number_value(written));
	if (metric_bound(metric, text, &bound, why, sizeof(why))) {
		complain(b, index, at_least ? "at_least" : "at_most", "%s", why);
		return 0;
	}
	cells = read_cells(b, index, metric, criterion);
	if (!cells)
		return -ENOMEM;
	return json_array_append_new(b->plan->acceptance,
	                             json_pack("{s:s, s:b, s:f, s:s, s:o}", "metric", name, "at_least",
	                                       at_least, "bound", bound, "text", text, "cells", cells))
	           ? -ENOMEM
	           : 0;
}

int plan_read_acceptance(struct plan_build *b)
{
	const json_t *list = json_object_get(b->doc.root, "acceptance");
	json_t *criterion;
	size_t i;
	int r = 0;

	if (!list)
		return 0;
	b->plan->acceptance = json_array();
	if (!b->plan->acceptance)
		return -ENOMEM;
	json_array_foreach (list, i, criterion) {
		if (!r)
			r = read_criterion(b, i, criterion);
	}
	if (r)
		return r;
	return b->doc.complaints->count ? -EINVAL : 0;
}
