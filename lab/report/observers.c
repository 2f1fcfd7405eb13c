/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the nodes' observers saw: what was at its limit, for the report; all of it, as CSV. */
#include "observers.h"

#include "series.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>

/* The id that threads have behind their names differs from boot to boot. */
#define HOT_SQL                                                                                              \
	"WITH hot AS (SELECT r.cell_id, r.node, h.value ->> 'what' AS what, coalesce(h.value ->> 'kernel', " \
	"0) AS kernel, CASE h.value ->> 'what' WHEN 'thread' THEN rtrim(rtrim(h.value ->> 'name', "          \
	"'0123456789'), '/') ELSE h.value ->> 'name' END AS name, h.value ->> 'busy_percent' AS busy, "      \
	"r.boot "                                                                                            \
	"|| '/' || r.sample AS sample FROM results r, json_each(CAST(r.body AS TEXT), '$.evidence.hot') h "  \
	"WHERE run = ?1 AND r.verdict = 'valid') SELECT c.ordinal, hot.node, what, kernel, name, "           \
	"max(busy), "                                                                                        \
	"count(DISTINCT sample), (SELECT count(*) FROM results r WHERE r.run = ?1 AND r.cell_id = "          \
	"hot.cell_id AND r.node = hot.node AND r.verdict = 'valid') FROM hot JOIN cells c ON c.run = ?1 "    \
	"AND "                                                                                               \
	"c.cell_id = hot.cell_id GROUP BY c.ordinal, hot.node, what, kernel, name ORDER BY c.ordinal, "      \
	"hot.node, what DESC, max(busy) DESC"

static void print_hot(const struct report *report, FILE *out)
{
	bool first = true;
	sqlite3_stmt *row;

	if (store_ask(report->store, &row, HOT_SQL, "s", report->run))
		return;
	while (store_row(report->store, row) == 1) {
		bool thread = store_text(row, 2)[0] == 't';

		if (first)
			fputs("\nAt their limit, at least 95 % of a CPU for a window of some seconds, in "
			      "samples "
			      "that count:\n",
			      out);
		first = false;
		fprintf(out, "  cell %s, node %s: %s %s, up to %.1f %%, in %s of %s samples\n",
		        store_text(row, 0), store_text(row, 1),
		        !thread                      ? "CPU"
		        : sqlite3_column_int(row, 3) ? "the kernel's thread"
		                                     : "the thread",
		        store_text(row, 4), sqlite3_column_double(row, 5), store_text(row, 6),
		        store_text(row, 7));
	}
}

/* How much of the CPU that they ran on the observers took. */
static void print_cost(const struct report *report, FILE *out)
{
	sqlite3_stmt *row;

	if (store_ask(
	        report->store, &row,
	        "WITH s AS MATERIALIZED (SELECT json_extract(CAST(body AS TEXT), "
	        "'$.evidence.series.cost_ns', "
	        "'$.evidence.series.rows', '$.evidence.series.shared') AS f FROM results WHERE run = ? AND "
	        "verdict = 'valid') SELECT count(*), max(1e-6 * (f ->> 0) / (f ->> 1)), max(f ->> 2) FROM s "
	        "WHERE f ->> 1 > 0",
	        "s", report->run))
		return;
	while (store_row(report->store, row) == 1)
		if (sqlite3_column_int64(row, 0))
			fprintf(out,
			        "\nObservers: a look took at most %.1f ms of CPU time, on a CPU that %s.\n",
			        sqlite3_column_double(row, 1),
			        sqlite3_column_int(row, 2) ? "may have measured as well" : "did not measure");
}

void observers_print(const struct report *report, FILE *out)
{
	print_hot(report, out);
	print_cost(report, out);
}

static void csv_rows(FILE *out, const char *head, const struct series *s)
{
	for (size_t i = 0; i < s->column_count; i++) {
		const struct series_column *c = &s->columns[i];

		for (size_t row = 0; row < s->rows; row++)
			fprintf(out, "%s,%" PRId64 ",%s,\"%s\",%s,%s,%" PRId64 "\n", head, s->time_ns[row],
			        c->source, c->object, c->field, c->gauge ? "gauge" : "counter",
			        c->values[row]);
	}
}

int observers_csv(struct report *report, int64_t cell, FILE *out)
{
	sqlite3_stmt *row;
	int r =
	    store_ask(report->store, &row,
	              "SELECT c.ordinal, r.boot, r.sample, r.node, r.role, json_extract(CAST(r.body AS "
	              "TEXT), '$.evidence.series') FROM results r JOIN cells c USING (run, cell_id) WHERE "
	              "run = ?1 AND r.verdict = 'valid' AND (?2 = 0 OR c.ordinal = ?2) ORDER BY c.ordinal, "
	              "r.boot, r.sample, r.node",
	              "si", report->run, cell);

	fputs("cell,boot,sample,node,role,time_ns,source,object,field,kind,value\n", out);
	while (!r && (r = store_row(report->store, row)) == 1) {
		json_t *json = json_loads(store_text(row, 5), 0, NULL);
		struct series *s = NULL;
		char head[256];

		snprintf(head, sizeof(head), "%s,%s,%s,%s,%s", store_text(row, 0), store_text(row, 1),
		         store_text(row, 2), store_text(row, 3), store_text(row, 4));
		r = json ? series_load(json, &s) : 0;
		if (s)
			csv_rows(out, head, s);
		else if (r == -EBADMSG)
			fprintf(stderr, "assay observers: what was seen in %s contradicts itself\n", head);
		r = r == -EBADMSG ? 0 : r;
		series_free(s);
		json_decref(json);
	}
	return r;
}
