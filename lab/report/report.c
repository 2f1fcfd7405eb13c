/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report.h"

#include "../cli.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_speed(const void *a, const void *b)
{
	const struct report_sample *x = a, *y = b;

	return (x->mb_per_s > y->mb_per_s) - (x->mb_per_s < y->mb_per_s);
}

const char *confidence_text(double confidence, char text[16])
{
	if (confidence > 0)
		snprintf(text, 16, "%.1f %%", floor(confidence * 1e3) / 10);
	else
		strcpy(text, "none");
	return text;
}

static int load_head(struct report *report, const char *run)
{
	sqlite3_stmt *row;
	int r = store_ask(report->store, &row,
	                  "SELECT run, group_name, state, plan_name, plan_sha256, question, coalesce(error, "
	                  "''), lab, shuffled, seed, "
	                  "boots, started_unix_ns, ended_unix_ns, coalesce(scale, ''), as_published, "
	                  "coalesce(imported, ''), coalesce(precision, 0) FROM runs WHERE ?1 IS "
	                  "NULL OR run = ?1 "
	                  "ORDER BY number DESC LIMIT 1",
	                  "s", run);

	if (!r)
		r = store_row(report->store, row);
	if (r != 1)
		return r;
	snprintf(report->run, sizeof(report->run), "%s", store_text(row, 0));
	snprintf(report->group, sizeof(report->group), "%s", store_text(row, 1));
	snprintf(report->state, sizeof(report->state), "%s", store_text(row, 2));
	snprintf(report->plan, sizeof(report->plan), "%s", store_text(row, 3));
	snprintf(report->plan_sha256, sizeof(report->plan_sha256), "%s", store_text(row, 4));
	report->question = strdup(store_text(row, 5));
	report->error = strdup(store_text(row, 6));
	report->lab = strdup(store_text(row, 7));
	report->shuffled = sqlite3_column_int(row, 8);
	report->seed = sqlite3_column_int64(row, 9);
	report->boots = sqlite3_column_int64(row, 10);
	report->started_unix_ns = sqlite3_column_int64(row, 11);
	report->ended_unix_ns = sqlite3_column_int64(row, 12);
	snprintf(report->scale, sizeof(report->scale), "%s", store_text(row, 13));
	report->as_published = sqlite3_column_int(row, 14);
	snprintf(report->imported, sizeof(report->imported), "%s", store_text(row, 15));
	report->precision = sqlite3_column_double(row, 16);
	store_reset(row);
	return report->question && report->error && report->lab ? 1 : -ENOMEM;
}

static int load_cells(struct report *report)
{
	int64_t count = 0;
	sqlite3_stmt *row;
	int r =
	    store_int(report->store, &count, "SELECT count(*) FROM cells WHERE run = ?", "s", report->run);

	if (r)
		return r;
	report->cells = calloc((size_t)count + 1, sizeof(*report->cells));
	if (!report->cells)
		return -ENOMEM;
	r = store_ask(
	    report->store, &row,
	    /* imported cells are as they came; others may end before the plan's last boot */
	    "SELECT c.ordinal, c.cell_id, c.label, c.failed, coalesce(c.error, ''), CASE WHEN r.imported IS "
	    "NULL THEN r.samples * (SELECT count(*) FROM visits v WHERE v.run = c.run AND v.cell_id = "
	    "c.cell_id AND (c.enough IS NULL OR v.boot <= c.enough)) ELSE (SELECT count(*) FROM attempts a "
	    "WHERE a.run = c.run AND a.cell_id = c.cell_id) END, (SELECT count(*) FROM attempts a WHERE "
	    "a.run "
	    "= c.run AND a.cell_id = c.cell_id AND a.state = 'invalid'), (SELECT count(*) FROM attempts a "
	    "WHERE a.run = c.run AND a.cell_id = c.cell_id AND a.state = 'failed'), (SELECT count(*) FROM "
	    "attempts a WHERE a.run = c.run AND a.cell_id = c.cell_id AND a.state = 'abandoned'), "
	    "coalesce(c.enough, 0), c.failed AND coalesce(json_extract(c.error, '$.scope'), '') = "
	    "'unsupported', c.failed AND coalesce(json_extract(c.error, '$.scope'), '') = 'hung' FROM cells "
	    "c JOIN runs r USING (run) WHERE run = ? ORDER BY c.ordinal",
	    "s", report->run);
	if (r)
		return r;
	while ((r = store_row(report->store, row)) == 1) {
		struct report_cell *cell = &report->cells[report->cell_count++];

		cell->ordinal = sqlite3_column_int64(row, 0);
		snprintf(cell->id, sizeof(cell->id), "%s", store_text(row, 1));
		cell->label = strdup(store_text(row, 2));
		cell->failed = sqlite3_column_int(row, 3);
		cell->error = strdup(store_text(row, 4));
		cell->unsupported = sqlite3_column_int(row, 10);
		cell->hung = sqlite3_column_int(row, 11);
		cell->wanted = sqlite3_column_int64(row, 5);
		for (int i = 0; i < 3; i++)
			cell->bad[i] = sqlite3_column_int64(row, 6 + i);
		cell->enough = sqlite3_column_int64(row, 9);
		if (!cell->label || !cell->error) {
			store_reset(row);
			return -ENOMEM;
		}
	}
	return r;
}

/* Place of the node's name in REPORT->nodes, where it is added; -ENOMEM. */
static int node_place(struct report *report, const char *name)
{
	for (size_t i = 0; i < report->node_count; i++)
		if (!strcmp(report->nodes[i], name))
			return (int)i;
	char **grown = reallocarray(report->nodes, report->node_count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	report->nodes = grown;
	report->nodes[report->node_count] = strdup(name);
	return report->nodes[report->node_count] ? (int)report->node_count++ : -ENOMEM;
}

/* What is looked for in each result's measurement, and in which units; the same order as in SAMPLES_SQL. The
 * first that is there counts. */
static const struct {
	enum figure_id figure;
	double scale;
} found_figures[] = {
    {FIGURE_IOPS, 1},       {FIGURE_P50_US, 1e3},   {FIGURE_P99_US, 1e3},
    {FIGURE_P99_9_US, 1e3}, {FIGURE_MAX_US, 1e3},   {FIGURE_RTT_US, 1e3},
    {FIGURE_STALL_MS, 1e6}, {FIGURE_STALL_MS, 1e6}, {FIGURE_READ_S, 1e9},
};
enum { FOUND_FIGURES = sizeof(found_figures) / sizeof(found_figures[0]) };

/* All paths at once: bodies are long, and each further look reads and parses them again. */
static const char samples_sql[] =
    "SELECT a.boot, a.sample, r.measured_bytes, r.measured_ns, r.node, a.attempt, a.opened_unix_ns, "
    "json_extract(CAST(r.body AS TEXT), '$.measurement.aio.iops', '$.measurement.aio.latency_ns.p50', "
    "'$.measurement.aio.latency_ns.p99', '$.measurement.aio.latency_ns.p99_9', "
    "'$.measurement.aio.latency_ns.max', '$.measurement.rtt.median_ns', '$.measurement.failover.stall_ns', "
    "'$.measurement.role_change.stall_ns', '$.measurement.files.read.ns', '$.measurement.rtt', "
    "'$.measurement.failover', '$.measurement.resync', '$.measurement.verify', "
    "'$.measurement.role_change', '$.measurement.files', '$.measurement.aio.rounds') "
    "FROM attempts a JOIN results r USING (run, cell_id, boot, sample, attempt) WHERE run = ? AND cell_id = "
    "? AND a.state = 'valid' AND r.role = 'measure' ORDER BY boot, sample";

static int read_found(struct report *report, struct report_cell *cell, struct report_sample *s,
                      const char *text)
{
	json_t *found = json_loads(text, 0, NULL);

	if (json_array_size(found) != FOUND_FIGURES + REPORT_PARTS + 1) {
		json_decref(found);
		return -EBADMSG;
	}
	for (size_t i = 0; i < FIGURES; i++)
		s->figure[i] = NAN;
	s->figure[FIGURE_MB_PER_S] = s->mb_per_s;
	for (size_t i = 0; i < FOUND_FIGURES; i++) {
		const json_t *value = json_array_get(found, i);

		if (json_is_number(value) && isnan(s->figure[found_figures[i].figure]))
			s->figure[found_figures[i].figure] =
			    json_number_value(value) / found_figures[i].scale;
	}
	for (size_t i = 0; i < REPORT_PARTS; i++)
		report->has[i] = report->has[i] || !json_is_null(json_array_get(found, FOUND_FIGURES + i));
	cell->rounds = cell->rounds || !json_is_null(json_array_get(found, FOUND_FIGURES + REPORT_PARTS));
	json_decref(found);
	return 0;
}

static int read_sample(struct report *report, struct report_cell *cell, sqlite3_stmt *row)
{
	struct report_sample *s = &cell->samples[cell->sample_count++];
	int node = node_place(report, store_text(row, 4));

	if (node < 0)
		return node;
	s->boot = sqlite3_column_int64(row, 0);
	s->sample = sqlite3_column_int64(row, 1);
	s->bytes = sqlite3_column_int64(row, 2);
	s->ns = sqlite3_column_int64(row, 3);
	s->node = (unsigned int)node;
	s->attempt = sqlite3_column_int64(row, 5);
	s->at_unix_ns = sqlite3_column_int64(row, 6);
	s->mb_per_s = s->ns ? (double)s->bytes * 1e3 / (double)s->ns : 0;
	return read_found(report, cell, s, store_text(row, 7));
}

static int load_samples(struct report *report, struct report_cell *cell)
{
	sqlite3_stmt *row;
	int r = store_ask(report->store, &row, samples_sql, "ss", report->run, cell->id);

	cell->samples = calloc((size_t)cell->wanted + 1, sizeof(*cell->samples));
	if (!cell->samples)
		return -ENOMEM;
	if (r)
		return r;
	while ((r = store_row(report->store, row)) == 1 && cell->sample_count < (size_t)cell->wanted) {
		r = read_sample(report, cell, row);
		if (r)
			break;
	}
	if (r)
		store_reset(row);
	qsort(cell->samples, cell->sample_count, sizeof(*cell->samples), by_speed);
	if (r < 0)
		return r;
	/* Boots of the measuring node, not blocks: where a node had to boot again, a block has several. */
	return store_int(
	    report->store, &cell->boots,
	    "SELECT count(DISTINCT s.token) FROM attempts a JOIN assignments s USING (run, cell_id, boot, "
	    "sample, "
	    "attempt) WHERE run = ? AND cell_id = ? AND a.state = 'valid' AND s.role = 'measure'",
	    "ss", report->run, cell->id);
}

int report_load(struct store *store, const char *run, struct report **out)
{
	struct report *report = calloc(1, sizeof(*report));
	int r;

	if (!report)
		return -ENOMEM;
	report->store = store;
	r = load_head(report, run);
	if (r == 1) {
		r = load_cells(report);
		for (size_t i = 0; i < report->cell_count && !r; i++)
			r = load_samples(report, &report->cells[i]);
		if (!r)
			r = accept_decide(store, report->run, &report->acceptance);
		if (r >= 0)
			r = tune_load(store, report->run, &report->tune);
		if (r >= 0) {
			*out = report;
			return 1;
		}
	}
	report_free(report);
	return r;
}

void report_free(struct report *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->cell_count; i++) {
		free(report->cells[i].label);
		free(report->cells[i].error);
		free(report->cells[i].samples);
	}
	free(report->cells);
	for (size_t i = 0; i < report->node_count; i++)
		free(report->nodes[i]);
	free(report->nodes);
	accept_free(report->acceptance);
	tune_free(report->tune);
	free(report->question);
	free(report->error);
	free(report->lab);
	free(report);
}

bool report_complete(const struct report *report)
{
	bool complete = report->cell_count > 0 && (!report->tune || report->tune->complete);

	for (size_t i = 0; i < report->cell_count; i++)
		complete = complete && (report->cells[i].unsupported ||
		                        report->cells[i].sample_count == (size_t)report->cells[i].wanted);
	return complete;
}

int report_exit(const struct report *report)
{
	bool unsupported = false;
	enum stats_acceptance all = report->acceptance ? report->acceptance->all : STATS_PASS;

	if (all == STATS_FAIL)
		return ASSAY_FAILED;
	if (!report_complete(report))
		return ASSAY_NOT_VALID;
	if (all != STATS_PASS)
		return ASSAY_UNDECIDED;
	for (size_t i = 0; i < report->cell_count; i++)
		unsupported = unsupported || report->cells[i].unsupported;
	return unsupported ? ASSAY_UNSUPPORTED : ASSAY_OK;
}
