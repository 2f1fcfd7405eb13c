/* SPDX-License-Identifier: GPL-2.0-or-later
 * Criteria of a run: from the store to verdicts. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct accept_verdict *verdict_add(struct criterion *c, char *subject)
{
	struct acceptance *a = c->to;
	struct accept_verdict *v;

	if (a->count == a->room && subject) {
		size_t room = a->room ? 2 * a->room : 16;
		struct accept_verdict *grown = realloc(a->verdicts, room * sizeof(*grown));

		if (!grown) {
			free(subject);
			return NULL;
		}
		a->verdicts = grown;
		a->room = room;
	}
	if (!subject)
		return NULL;
	v = &a->verdicts[a->count++];
	*v = (struct accept_verdict){
	    .metric = c->metric,
	    .at_least = c->at_least,
	    .bound = c->bound,
	    .subject = subject,
	    .acceptance = STATS_INCONCLUSIVE,
	};
	snprintf(v->text, sizeof(v->text), "%s", c->text);
	return v;
}

void verdict_of_fact(struct accept_verdict *v, double value)
{
	v->known = true;
	v->value = value;
	v->acceptance = (v->at_least ? value >= v->bound : value <= v->bound) ? STATS_PASS : STATS_FAIL;
}

static int decide_one(struct criterion *c, const json_t *json)
{
	c->metric = metric_find(json_string_value(json_object_get(json, "metric")));
	c->at_least = json_is_true(json_object_get(json, "at_least"));
	c->bound = json_number_value(json_object_get(json, "bound"));
	c->text = json_string_value(json_object_get(json, "text"));
	c->cells = json_object_get(json, "cells");
	if (!c->metric || !c->text)
		return -EUCLEAN; /* written by a newer assay */
	switch (c->metric->kind) {
	case METRIC_SAMPLE:
		return decide_cells(c);
	case METRIC_SIBLINGS:
		return decide_siblings(c);
	default:
		return decide_nodes(c);
	}
}

static void sum_up(struct acceptance *a)
{
	a->all = STATS_PASS;
	for (size_t i = 0; i < a->count; i++)
		if (a->verdicts[i].acceptance == STATS_FAIL)
			a->all = STATS_FAIL;
		else if (a->verdicts[i].acceptance == STATS_INCONCLUSIVE && a->all == STATS_PASS)
			a->all = STATS_INCONCLUSIVE;
}

/* The run's criteria; NULL: it has none. */
static int load(struct store *store, const char *run, json_t **criteria)
{
	sqlite3_stmt *row;
	int r = store_ask(store, &row, "SELECT acceptance FROM runs WHERE run = ?", "s", run);

	*criteria = NULL;
	if (!r)
		r = store_row(store, row);
	if (r != 1)
		return r;
	if (*store_text(row, 0)) {
		*criteria = json_loads(store_text(row, 0), 0, NULL);
		r = json_is_array(*criteria) ? 1 : -EUCLEAN;
	}
	store_reset(row);
	return r;
}

int accept_decide(struct store *store, const char *run, struct acceptance **out)
{
	struct criterion c = {.store = store, .run = run};
	json_t *criteria, *one;
	size_t i;
	int r = load(store, run, &criteria);

	*out = NULL;
	if (r == 1 && criteria)
		c.to = calloc(1, sizeof(*c.to));
	if (!c.to) {
		r = r == 1 ? criteria ? -ENOMEM : 0 : r;
		json_decref(criteria);
		return r;
	}
	json_array_foreach (criteria, i, one) {
		if (r >= 0)
			r = decide_one(&c, one);
	}
	json_decref(criteria);
	if (r < 0) {
		accept_free(c.to);
		return r;
	}
	sum_up(c.to);
	*out = c.to;
	return 1;
}

void accept_free(struct acceptance *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->count; i++)
		free(a->verdicts[i].subject);
	free(a->verdicts);
	free(a);
}
