/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay compare --json: one document by results-schema/compare.json, each pair on a line of its own. */
#include "compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static json_t *side_json(const struct side *side)
{
	json_t *picks = json_object(), *json;

	for (size_t i = 0; i < side->pick_count; i++)
		json_object_set_new(picks, side->picks[i].factor, json_string(side->picks[i].level));
	json = json_pack("{ss# ss ss so}", "name", &side->name, 1, "database", side->database, "run",
	                 side->report->run, "picks", picks);
	if (json && *side->report->imported)
		json_object_set_new(json, "imported", json_string(side->report->imported));
	return json;
}

/* NULL where there is no figure. */
static json_t *figure_json(const struct stats_figure *f)
{
	json_t *json;

	if (!f->samples)
		return NULL;
	json = json_pack("{sI sI sf}", "samples", (json_int_t)f->samples, "boots", (json_int_t)f->boots,
	                 "median", f->median);
	if (json && f->basis != STATS_NOTHING)
		json_object_update_new(json, json_pack("{ss sf sf sf}", "of",
		                                       f->basis == STATS_BOOTS ? "boots" : "samples", "low",
		                                       f->interval.low, "high", f->interval.high, "level",
		                                       f->interval.confidence));
	return json;
}

/* NULL where there is none. */
static json_t *ratio_json(double ratio, const struct stats_interval *i)
{
	if (isnan(ratio) || !(ratio > 0) || !(i->confidence > 0))
		return NULL;
	return json_pack("{sf sf sf sf}", "median", ratio, "low", i->low, "high", i->high, "level",
	                 i->confidence);
}

static json_t *why_json(const struct compare *c, const struct pair *p)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	json_t *json;

	if (!out)
		return NULL;
	compare_why(c, p, out);
	fclose(out);
	json = json_string(text);
	free(text);
	return json;
}

static json_t *pair_json(const struct compare *c, const struct pair *p)
{
	const struct report_cell *a = &c->sides[0].report->cells[p->a_cell],
	                         *b = &p->b->report->cells[p->b_cell];
	json_t *json = json_pack("{ss# sI ss sI ss ss ss sb ss ss so* so* so* sf sf}", "side", &p->b->name, 1,
	                         "a_ordinal", (json_int_t)a->ordinal, "a_label", a->label, "ordinal",
	                         (json_int_t)b->ordinal, "label", b->label, "figure", p->figure->name, "unit",
	                         p->figure->unit, "less_is_better", (int)p->figure->less_is_better, "by",
	                         p->by_boots ? "boots" : "samples", "verdict", stats_verdict_text(p->verdict),
	                         "a", figure_json(&p->a_figure), "other", figure_json(&p->b_figure), "ratio",
	                         ratio_json(p->ratio.median, &p->ratio.interval), "p_differs", p->p_differs,
	                         "p_apart", p->p_apart);

	if (json && p->by_boots)
		json_object_update_new(json, json_pack("{so*}", "bootstrap",
		                                       ratio_json(p->bootstrap_ratio, &p->bootstrap)));
	if (json && p->verdict == STATS_UNDECIDED)
		json_object_set_new(json, "why", why_json(c, p));
	if (json && p->verdict == STATS_UNDECIDED && p->decidable && p->boots_needed)
		json_object_set_new(json, p->by_boots ? "boots_needed" : "samples_needed",
		                    json_integer((json_int_t)p->boots_needed));
	return json;
}

static json_t *allowed_json(const struct compare *c)
{
	json_t *all = json_array();

	for (size_t i = 0; i < c->allowed_count; i++)
		json_array_append_new(all, json_pack("{ss sb}", "name", c->allowed[i], "differs",
		                                     (int)c->allowed_used[i]));
	return all;
}

static json_t *left_out_json(const struct compare *c)
{
	json_t *all = json_array();

	for (size_t s = 1; s < c->side_count; s++)
		if (c->alone[s])
			json_array_append_new(all, json_pack("{ss# sI ss}", "side", &c->sides[s].name, 1,
			                                     "cells", (json_int_t)c->alone[s], "differ_in",
			                                     c->alone_in[s]));
	return all;
}

static json_t *verdicts_json(const struct compare *c)
{
	json_int_t count[4] = {0};

	for (size_t i = 0; i < c->pair_count; i++)
		count[c->pairs[i].verdict]++;
	return json_pack("{sI sI sI sI}", "better", count[STATS_BETTER], "worse", count[STATS_WORSE], "same",
	                 count[STATS_SAME], "undecided", count[STATS_UNDECIDED]);
}

static json_t *head_json(const struct compare *c)
{
	json_t *sides = json_array();

	for (size_t s = 0; s < c->side_count; s++)
		json_array_append_new(sides, side_json(&c->sides[s]));
	return json_pack("{so so so so sf sf sb sI so}", "sides", sides, "differs", control_json(c),
	                 "allowed", allowed_json(c), "left_out", left_out_json(c), "margin", c->margin,
	                 "confidence", c->confidence, "one_boot", (int)c->one_boot, "decided_together",
	                 (json_int_t)c->tested, "verdicts", verdicts_json(c));
}

/* VALUE on a line of its own. */
static int put(json_t *value, const char *before, FILE *out)
{
	int r = value ? 0 : -ENOMEM;

	fputs(before, out);
	if (value && json_dumpf(value, out, JSON_COMPACT | JSON_REAL_PRECISION(9)))
		r = -EIO;
	json_decref(value);
	return r;
}

int compare_json(const struct compare *c, FILE *out)
{
	int r;

	fputs("{\n  \"schema_version\": 1,\n", out);
	r = put(head_json(c), "  \"comparison\": ", out);
	fputs(",\n  \"pairs\": [", out);
	for (size_t i = 0; i < c->pair_count && !r; i++)
		r = put(pair_json(c, &c->pairs[i]), i ? ",\n    " : "\n    ", out);
	fputs("\n  ]\n}\n", out);
	return r;
}
