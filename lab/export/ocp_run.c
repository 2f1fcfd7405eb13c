/* SPDX-License-Identifier: GPL-2.0-or-later
 * The streams: one of the whole run with its aggregates, one of each boot with its samples. */
#include "ocp.h"

#include "../cli.h"
#include "../report/figure.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static json_t *run_start(struct ocp *o, int64_t boot)
{
	const struct report *r = o->report;
	char name[160], command[300];
	json_t *parameters = json_pack("{ss ss sI sI ss}", "run", r->run, "plan_sha256", r->plan_sha256,
	                               "seed", (json_int_t)r->seed, "boots", (json_int_t)r->boots, "scale",
	                               *r->scale ? r->scale : "1");

	snprintf(name, sizeof(name), "%s%s", r->plan, boot ? ": one boot" : "");
	snprintf(command, sizeof(command), "assay run %s --seed %" PRId64 "%s%s", r->plan, r->seed,
	         *r->scale ? " --scale " : "", r->scale);
	if (boot)
		json_object_set_new(parameters, "boot", json_integer(boot));
	return json_pack("{ss ss ss so so s{ss}}", "name", name, "version", ASSAY_VERSION, "commandLine",
	                 command, "parameters", parameters, "dutInfo", ocp_dut(o, boot), "metadata",
	                 "question", r->question);
}

/* ERROR and SKIP go with NOT_APPLICABLE alone, though the schemas would take PASS. */
static void run_end(struct ocp *o, int64_t unix_ns, bool complete)
{
	ocp_run(o, unix_ns, "testRunEnd",
	        json_pack("{ss ss}", "status", complete ? "COMPLETE" : "ERROR", "result",
	                  !complete   ? "NOT_APPLICABLE"
	                  : o->failed ? "FAIL"
	                              : "PASS"));
}

static void step_start(struct ocp *o, int64_t unix_ns, const char *step, const char *name)
{
	ocp_step(o, unix_ns, step, "testStepStart", json_pack("{ss}", "name", name));
}

static void step_end(struct ocp *o, int64_t unix_ns, const char *step, const char *status)
{
	ocp_step(o, unix_ns, step, "testStepEnd", json_pack("{ss}", "status", status));
}

/* --- the campaign --- */

static void criterion(struct ocp *o, int64_t unix_ns, const char *step, const struct accept_verdict *v)
{
	static const enum ocp_type types[] = {
	    [STATS_PASS] = OCP_PASS, [STATS_FAIL] = OCP_FAIL, [STATS_INCONCLUSIVE] = OCP_UNKNOWN};
	char message[400], value[32];

	snprintf(message, sizeof(message), "%s %s %s: %.200s: %s", v->metric->name,
	         v->at_least ? "at least" : "at most", v->text, v->subject,
	         v->known ? metric_text(v->metric, v->value, value, sizeof(value)) : "no value");
	if (v->known)
		ocp_step(o, unix_ns, step, "measurement",
		         json_pack("{ss sf s[{ss sf}] s{ss sf sf sf}}", "name", v->metric->name, "value",
		                   v->value, "validators", "type",
		                   v->at_least ? "GREATER_THAN_OR_EQUAL" : "LESS_THAN_OR_EQUAL", "value",
		                   v->bound, "metadata", "subject", v->subject, "low",
		                   v->interval.confidence > 0 ? v->interval.low : v->value, "high",
		                   v->interval.confidence > 0 ? v->interval.high : v->value, "level",
		                   v->interval.confidence));
	ocp_diagnosis(o, unix_ns, step, v->metric->name, types[v->acceptance], message);
}

/* Those of that cell; of 0: that are of none. */
static void criteria(struct ocp *o, int64_t unix_ns, const char *step, int64_t cell)
{
	const struct acceptance *a = o->report->acceptance;

	for (size_t i = 0; a && i < a->count; i++)
		if (a->verdicts[i].cell == cell)
			criterion(o, unix_ns, step, &a->verdicts[i]);
}

static void cell_step(struct ocp *o, int64_t unix_ns, const struct report_cell *cell)
{
	char step[40];

	snprintf(step, sizeof(step), "cell%" PRId64, cell->ordinal);
	step_start(o, unix_ns, step, cell->label);
	for (size_t i = 0; i < FIGURES; i++) {
		struct stats_figure e = estimate_of_cell(cell, figures[i].id);
		bool interval = e.basis != STATS_NOTHING;

		if (e.samples)
			ocp_step(o, unix_ns, step, "measurement",
			         json_pack("{ss sf ss s{sI sI sf sf sf}}", "name", figures[i].name, "value",
			                   e.median, "unit", figures[i].unit, "metadata", "samples",
			                   (json_int_t)e.samples, "boots", (json_int_t)e.boots, "low",
			                   interval ? e.interval.low : e.median, "high",
			                   interval ? e.interval.high : e.median, "level",
			                   e.interval.confidence));
	}
	criteria(o, unix_ns, step, cell->ordinal);
	if (*cell->error) {
		json_t *error = json_loads(cell->error, 0, NULL);

		ocp_error(o, unix_ns, step, error, "cell");
		json_decref(error);
	}
	step_end(o, unix_ns, step,
	         cell->unsupported                            ? "SKIP"
	         : cell->sample_count == (size_t)cell->wanted ? "COMPLETE"
	                                                      : "ERROR");
}

static bool any_without_cell(const struct acceptance *a)
{
	for (size_t i = 0; a && i < a->count; i++)
		if (!a->verdicts[i].cell)
			return true;
	return false;
}

int ocp_campaign(const struct report *report, FILE *out)
{
	struct ocp o = {.report = report, .out = out};
	int64_t end = report->ended_unix_ns ? report->ended_unix_ns : report->started_unix_ns;
	bool decided = !report->acceptance || report->acceptance->all != STATS_INCONCLUSIVE;

	ocp_begin(&o, report->started_unix_ns);
	ocp_run(&o, report->started_unix_ns, "testRunStart", run_start(&o, 0));
	if (*report->error) {
		json_t *error = json_loads(report->error, 0, NULL);

		ocp_error(&o, end, NULL, error, "run");
		json_decref(error);
	}
	for (size_t i = 0; i < report->cell_count; i++)
		cell_step(&o, end, &report->cells[i]);
	if (any_without_cell(report->acceptance)) {
		step_start(&o, end, "acceptance", "acceptance of nodes and run");
		criteria(&o, end, "acceptance", 0);
		step_end(&o, end, "acceptance", "COMPLETE");
	}
	if (!decided)
		ocp_error(&o, end, NULL, NULL, "acceptance-inconclusive");
	run_end(&o, end, report_complete(report) && (decided || o.failed));
	return o.r;
}

/* --- a boot --- */

struct attempt {
	int64_t ordinal, sample, number, opened, closed;
	char cell_id[65], step[120];
	const char *state; /* until the next row */
};

static void factors(struct ocp *o, const struct attempt *a, const char *body)
{
	json_t *cell = json_loads(body, 0, NULL);

	if (cell)
		ocp_step(o, a->opened, a->step, "extension",
		         json_pack("{ss s{sO* sO*}}", "name", "factors", "content", "state",
		                   json_object_get(cell, "state"), "workload",
		                   json_object_get(cell, "workload")));
	json_decref(cell);
}

static void save_body(struct ocp *o, const void *body, size_t size, const char *sha256)
{
	char name[80], folder[4096];

	snprintf(folder, sizeof(folder), "%s/results", o->folder);
	snprintf(name, sizeof(name), "%.64s.json", sha256);
	FILE *file = export_open(folder, name);
	if (file && fwrite(body, 1, size, file) != size && !o->r)
		o->r = -EIO;
	int r = file ? export_close(file, 0) : -errno;
	if (r && !o->r)
		o->r = r;
}

static void results(struct ocp *o, int64_t boot, const struct attempt *a)
{
	sqlite3_stmt *row;
	int r = store_ask(
	    o->report->store, &row,
	    "SELECT body, sha256, committed_unix_ns FROM results WHERE run = ? AND cell_id = ? AND boot "
	    "= ? AND sample = ? AND attempt = ? ORDER BY role, node",
	    "ssiii", o->report->run, a->cell_id, boot, a->sample, a->number);

	while (!r && (r = store_row(o->report->store, row)) == 1) {
		json_t *body = export_body(row, 0);

		if (body && o->folder)
			save_body(o, sqlite3_column_blob(row, 0), (size_t)sqlite3_column_bytes(row, 0),
			          store_text(row, 1));
		if (body)
			ocp_result(o, a->step, sqlite3_column_int64(row, 2), body, store_text(row, 1));
		json_decref(body);
		r = 0;
	}
	if (r && !o->r)
		o->r = r;
}

/* Figures of a valid sample beyond its throughput, which the result has. */
static void sample_figures(struct ocp *o, int64_t boot, const struct attempt *a)
{
	const struct report_cell *cell = NULL;

	for (size_t i = 0; i < o->report->cell_count; i++)
		if (o->report->cells[i].ordinal == a->ordinal)
			cell = &o->report->cells[i];
	for (size_t k = 0; cell && k < cell->sample_count; k++) {
		const struct report_sample *s = &cell->samples[k];

		for (size_t f = 0; f < FIGURES && s->boot == boot && s->sample == a->sample; f++)
			if (f != FIGURE_MB_PER_S && !isnan(s->figure[f]))
				ocp_step(o, a->closed, a->step, "measurement",
				         json_pack("{ss sf ss}", "name", figures[f].name, "value",
				                   s->figure[f], "unit", figures[f].unit));
	}
}

static void attempt_step(struct ocp *o, int64_t boot, const struct attempt *a, const char *label,
                         const char *body, const char *reason, const char *error_text)
{
	bool valid = !strcmp(a->state, "valid"), invalid = !strcmp(a->state, "invalid");

	step_start(o, a->opened, a->step, label);
	factors(o, a, body);
	results(o, boot, a);
	if (valid)
		sample_figures(o, boot, a);
	if (valid || invalid) {
		ocp_diagnosis(o, a->closed, a->step, valid ? "sample-valid" : "sample-invalid",
		              valid ? OCP_PASS : OCP_UNKNOWN, reason);
	} else {
		json_t *error = json_loads(error_text, 0, NULL);

		ocp_error(o, a->closed, a->step, error, a->state);
		json_decref(error);
	}
	step_end(o, a->closed, a->step, valid || invalid ? "COMPLETE" : "ERROR");
}

static void attempts(struct ocp *o, int64_t boot)
{
	sqlite3_stmt *row;
	int r = store_ask(
	    o->report->store, &row,
	    "SELECT c.ordinal, a.sample, a.attempt, a.opened_unix_ns, coalesce(a.closed_unix_ns, "
	    "a.opened_unix_ns), a.cell_id, a.state, c.label, c.body, coalesce(a.reason, ''), "
	    "coalesce(a.error, '') FROM attempts a JOIN cells c USING (run, cell_id) WHERE run = ? AND "
	    "a.boot = ? ORDER BY a.opened_unix_ns, c.ordinal, a.sample, a.attempt",
	    "si", o->report->run, boot);

	while (!r && (r = store_row(o->report->store, row)) == 1) {
		struct attempt a = {.ordinal = sqlite3_column_int64(row, 0),
		                    .sample = sqlite3_column_int64(row, 1),
		                    .number = sqlite3_column_int64(row, 2),
		                    .opened = sqlite3_column_int64(row, 3),
		                    .closed = sqlite3_column_int64(row, 4),
		                    .state = store_text(row, 6)};

		snprintf(a.cell_id, sizeof(a.cell_id), "%s", store_text(row, 5));
		snprintf(a.step, sizeof(a.step), "cell%" PRId64 "-sample%" PRId64 "-attempt%" PRId64,
		         a.ordinal, a.sample, a.number);
		attempt_step(o, boot, &a, store_text(row, 7), store_text(row, 8), store_text(row, 9),
		             store_text(row, 10));
		r = 0;
	}
	if (r && !o->r)
		o->r = r;
}

/* What is missing of the boot: visits to cells that were not given up, times samples, less the valid ones. */
static bool is_complete(struct ocp *o, int64_t boot)
{
	int64_t missing = 1;
	int r = store_int(
	    o->report->store, &missing,
	    "SELECT (SELECT count(*) * max(r.samples) FROM visits v JOIN cells c USING (run, cell_id) "
	    "JOIN runs r USING (run) WHERE v.run = ?1 AND v.boot = ?2 AND (c.enough IS NULL OR v.boot <= "
	    "c.enough)) - (SELECT count(*) FROM attempts WHERE run = ?1 AND boot = ?2 AND state = 'valid')",
	    "si", o->report->run, boot);

	if (r && !o->r)
		o->r = r;
	return !missing;
}

int ocp_boot(const struct report *report, int64_t boot, FILE *out, const char *folder)
{
	struct ocp o = {.report = report, .out = out, .folder = folder};
	int64_t begun = report->started_unix_ns, end = begun;
	int r = store_int(report->store, &begun,
	                  "SELECT min(opened_unix_ns) FROM attempts WHERE run = ? AND boot = ?", "si",
	                  report->run, boot);

	if (!r)
		r = store_int(
		    report->store, &end,
		    "SELECT max(coalesce(closed_unix_ns, opened_unix_ns)) FROM attempts WHERE run = ? AND "
		    "boot = ?",
		    "si", report->run, boot);
	if (r)
		return r;
	ocp_begin(&o, begun);
	ocp_run(&o, begun, "testRunStart", run_start(&o, boot));
	attempts(&o, boot);
	run_end(&o, end, is_complete(&o, boot));
	return o.r;
}

/* --- all of them --- */

int export_ocp(const struct report *report, FILE *out)
{
	int r = ocp_campaign(report, out);

	for (int64_t boot = 1; boot <= report->boots && !r; boot++)
		r = ocp_boot(report, boot, out, NULL);
	return r;
}

int export_ocp_folder(const struct report *report, const char *folder)
{
	FILE *out = export_open(folder, "campaign.jsonl");
	int r = out ? export_close(out, ocp_campaign(report, out)) : -errno;

	for (int64_t boot = 1; boot <= report->boots && !r; boot++) {
		char name[40];

		snprintf(name, sizeof(name), "boot-%" PRId64 ".jsonl", boot);
		out = export_open(folder, name);
		r = out ? export_close(out, ocp_boot(report, boot, out, folder)) : -errno;
	}
	return r;
}
