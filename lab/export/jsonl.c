/* SPDX-License-Identifier: GPL-2.0-or-later
 * JSON lines: what report.json has, an object a line with its "type"; cells with state and workload, and the
 * attempts that do not count. */
#include "export.h"

#include <errno.h>
#include <inttypes.h>

/* Takes VALUE. */
static int line(json_t *value, const char *type, FILE *out)
{
	int r = value && !json_object_set_new(value, "type", json_string(type)) ? 0 : -ENOMEM;

	if (!r && (json_dumpf(value, out, JSON_COMPACT | JSON_REAL_PRECISION(9)) || fputc('\n', out) == EOF))
		r = -EIO;
	json_decref(value);
	return r;
}

static int cell_line(const struct report *report, const struct report_cell *cell, FILE *out)
{
	json_t *value = report_cell_json(cell), *body;
	sqlite3_stmt *row;
	int r = store_ask(report->store, &row, "SELECT body FROM cells WHERE run = ? AND cell_id = ?", "ss",
	                  report->run, cell->id);

	if (!r)
		r = store_row(report->store, row);
	if (r < 0) {
		json_decref(value);
		return r;
	}
	body = r ? json_loads(store_text(row, 0), 0, NULL) : NULL;
	store_reset(row);
	if (body) {
		json_object_set(value, "state", json_object_get(body, "state"));
		json_object_set(value, "workload", json_object_get(body, "workload"));
	}
	json_decref(body);
	return line(value, "cell", out);
}

static int attempt_lines(const struct report *report, FILE *out)
{
	sqlite3_stmt *row;
	int r =
	    store_ask(report->store, &row,
	              "SELECT c.ordinal, a.boot, a.sample, a.attempt, a.state, a.opened_unix_ns, a.reason, "
	              "a.error FROM attempts a JOIN cells c USING (run, cell_id) WHERE run = ? AND "
	              "a.state NOT IN ('valid', 'open') ORDER BY a.opened_unix_ns, c.ordinal, a.attempt",
	              "s", report->run);

	while (!r && (r = store_row(report->store, row)) == 1) {
		json_t *value =
		    json_pack("{sI sI sI sI ss sI}", "ordinal", sqlite3_column_int64(row, 0), "boot",
		              sqlite3_column_int64(row, 1), "sample", sqlite3_column_int64(row, 2), "attempt",
		              sqlite3_column_int64(row, 3), "state", store_text(row, 4), "begun_unix_ns",
		              sqlite3_column_int64(row, 5));

		if (sqlite3_column_type(row, 6) != SQLITE_NULL)
			json_object_set_new(value, "reason", json_string(store_text(row, 6)));
		if (sqlite3_column_type(row, 7) != SQLITE_NULL)
			json_object_set_new(value, "error", json_loads(store_text(row, 7), 0, NULL));
		r = line(value, "attempt", out);
		if (r)
			store_reset(row);
	}
	return r;
}

int export_jsonl(const struct report *report, FILE *out)
{
	int r = line(report_run_json(report), "run", out);

	for (size_t i = 0; i < report->cell_count && !r; i++)
		r = cell_line(report, &report->cells[i], out);
	for (size_t i = 0; i < report->cell_count; i++)
		for (size_t k = 0; k < report->cells[i].sample_count && !r; k++)
			r = line(report_sample_json(report, &report->cells[i], &report->cells[i].samples[k]),
			         "sample", out);
	return r ? r : attempt_lines(report, out);
}
