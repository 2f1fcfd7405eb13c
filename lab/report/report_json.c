/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay report --json: one document by results-schema/report.json, each sample on a line of its own. */
#include "figure.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>

static json_t *parsed(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

	return value ? value : json_string(text);
}

json_t *report_run_json(const struct report *r)
{
	json_t *run = json_pack("{ss ss ss ss ss ss ss sb sI sI sb}", "run", r->run, "group", r->group,
	                        "state", r->state, "plan", r->plan, "plan_sha256", r->plan_sha256, "question",
	                        r->question, "scale", *r->scale ? r->scale : "1", "shuffled",
	                        (int)r->shuffled, "seed", (json_int_t)r->seed, "boots", (json_int_t)r->boots,
	                        "complete", (int)report_complete(r));

	if (r->started_unix_ns)
		json_object_set_new(run, "started_unix_ns", json_integer(r->started_unix_ns));
	if (r->ended_unix_ns)
		json_object_set_new(run, "ended_unix_ns", json_integer(r->ended_unix_ns));
	if (r->as_published)
		json_object_set_new(run, "as_published", json_true());
	if (r->acceptance)
		json_object_set_new(run, "acceptance", accept_json(r->acceptance));
	if (r->tune)
		json_object_set_new(run, "tune", tune_json(r->tune));
	if (*r->error)
		json_object_set_new(run, "error", parsed(r->error));
	return run;
}

static json_t *estimate_json(const struct report_cell *cell, enum figure_id figure)
{
	struct stats_figure e = estimate_of_cell(cell, figure);
	bool interval = e.basis != STATS_NOTHING;

	return e.samples ? json_pack("{sI sI ss sf sf sf sf}", "samples", (json_int_t)e.samples, "boots",
	                             (json_int_t)e.boots, "of", e.basis == STATS_BOOTS ? "boots" : "samples",
	                             "median", e.median, "low", interval ? e.interval.low : e.median, "high",
	                             interval ? e.interval.high : e.median, "level", e.interval.confidence)
	                 : NULL;
}

json_t *report_cell_json(const struct report_cell *cell)
{
	json_t *out =
	    json_pack("{sI ss ss sI sI sI sI sI sI sb so}", "ordinal", (json_int_t)cell->ordinal, "cell_id",
	              cell->id, "label", cell->label, "wanted", (json_int_t)cell->wanted, "valid",
	              (json_int_t)cell->sample_count, "boots", (json_int_t)cell->boots, "invalid",
	              (json_int_t)cell->bad[0], "failed", (json_int_t)cell->bad[1], "abandoned",
	              (json_int_t)cell->bad[2], "given_up", (int)cell->failed, "figures", json_object());

	if (*cell->error)
		json_object_set_new(out, "error", parsed(cell->error));
	for (size_t f = 0; f < FIGURES; f++) {
		json_t *estimate = estimate_json(cell, figures[f].id);

		if (estimate)
			json_object_set_new(json_object_get(out, "figures"), figures[f].name, estimate);
	}
	return out;
}

json_t *report_sample_json(const struct report *report, const struct report_cell *cell,
                           const struct report_sample *s)
{
	json_t *out =
	    json_pack("{sI ss sI sI sI sI sI sI so}", "ordinal", (json_int_t)cell->ordinal, "node",
	              report->nodes[s->node], "boot", (json_int_t)s->boot, "sample", (json_int_t)s->sample,
	              "attempt", (json_int_t)s->attempt, "begun_unix_ns", (json_int_t)s->at_unix_ns, "bytes",
	              (json_int_t)s->bytes, "ns", (json_int_t)s->ns, "figures", json_object());

	for (size_t f = 0; f < FIGURES; f++)
		if (!isnan(s->figure[f]))
			json_object_set_new(json_object_get(out, "figures"), figures[f].name,
			                    json_real(s->figure[f]));
	return out;
}

/* VALUE on a line, after ",\n" where it is not the FIRST; 0, or -ENOMEM where there is none. */
static int put(json_t *value, bool *first, FILE *out)
{
	int r = value ? 0 : -ENOMEM;

	fputs(*first ? "\n    " : ",\n    ", out);
	*first = false;
	if (value && json_dumpf(value, out, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9)))
		r = -EIO;
	json_decref(value);
	return r;
}

/* What a cell's samples did over time: whether their rate fell for good, whether they came to a steady state.
 */
static json_t *with_time(const struct report *report, const struct report_cell *cell, json_t *json)
{
	struct knee k;
	size_t missed, samples;

	if (!json || knee_of_cell(report, cell, &k) || steady_missed(report, cell, &missed, &samples)) {
		json_decref(json);
		return NULL;
	}
	if (k.fell)
		json_object_set_new(json, "knee",
		                    json_pack("{sI sI sf sf sf sf sf sf}", "samples", (json_int_t)k.samples,
		                              "fell", (json_int_t)k.fell, "burst_mb_per_s", k.burst, "at_s",
		                              k.at_s, "lasting_mb_per_s", k.lasting, "low", k.interval.low,
		                              "high", k.interval.high, "level", k.interval.confidence));
	if (samples)
		json_object_set_new(json, "steady",
		                    json_pack("{sI sI}", "samples", (json_int_t)samples, "reached",
		                              (json_int_t)(samples - missed)));
	return json;
}

int report_json(const struct report *report, FILE *out)
{
	bool first = true;
	int r;

	fputs("{\n  \"schema_version\": 1,\n  \"run\":", out);
	r = put(report_run_json(report), &first, out);
	fputs(",\n  \"cells\": [", out);
	first = true;
	for (size_t i = 0; i < report->cell_count && !r; i++)
		r = put(with_time(report, &report->cells[i], report_cell_json(&report->cells[i])), &first,
		        out);
	fputs("\n  ],\n  \"samples\": [", out);
	first = true;
	for (size_t i = 0; i < report->cell_count; i++)
		for (size_t k = 0; k < report->cells[i].sample_count && !r; k++)
			r = put(report_sample_json(report, &report->cells[i], &report->cells[i].samples[k]),
			        &first, out);
	fputs("\n  ]\n}\n", out);
	return r;
}
