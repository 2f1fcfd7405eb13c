/* SPDX-License-Identifier: GPL-2.0-or-later
 * Whether when a sample was taken explains anything of what was measured. */
#include "report.h"

#include <errno.h>
#include <stdlib.h>

/* The run's valid samples in the order of measuring; *COUNT of them, the caller frees. */
static int load(const struct report *report, struct stats_measured **out, size_t *count)
{
	struct stats_measured *measured;
	int64_t rows = 0;
	sqlite3_stmt *row;
	int r =
	    store_int(report->store, &rows,
	              "SELECT count(*) FROM results WHERE run = ? AND role = 'measure' AND verdict = 'valid'",
	              "s", report->run);

	if (r)
		return r;
	measured = calloc((size_t)rows + 1, sizeof(*measured));
	if (!measured)
		return -ENOMEM;
	r = store_ask(
	    report->store, &row,
	    "SELECT c.ordinal, a.sample, r.measured_bytes * 1e3 / nullif(r.measured_ns, 0) FROM attempts a "
	    "JOIN results r USING (run, cell_id, boot, sample, attempt) JOIN cells c USING (run, cell_id) "
	    "WHERE run = ? AND a.state = 'valid' AND r.role = 'measure' ORDER BY a.opened_unix_ns, r.rowid",
	    "s", report->run);
	while (!r && *count < (size_t)rows && (r = store_row(report->store, row)) == 1) {
		measured[(*count)++] = (struct stats_measured){sqlite3_column_double(row, 2),
		                                               (unsigned int)sqlite3_column_int64(row, 0),
		                                               (unsigned int)sqlite3_column_int64(row, 1)};
		r = 0;
		if (*count == (size_t)rows)
			store_reset(row);
	}
	*out = measured;
	return r;
}

void order_print(const struct report *report, FILE *out)
{
	struct stats_measured *measured = NULL;
	size_t count = 0;
	struct stats_order order = {0};
	int r = load(report, &measured, &count);

	if (!r)
		r = stats_order(measured, count, &order);
	free(measured);
	if (r || order.used < 8)
		return;
	const struct {
		const char *what;
		struct stats_test test;
		double sign;
	} lines[] = {
	    {"drift over the run (Kendall's tau)", order.drift, 1},
	    {"one sample to the next (autocorrelation)", order.lag1, 1},
	    {"place within its boot (Friedman)", order.place, 0},
	    {"what was measured before it (Kruskal-Wallis)", order.before, 0},
	};
	fprintf(
	    out,
	    "\nDoes the order of measuring explain anything? (%zu samples, each against its cell's median)\n",
	    order.used);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		fprintf(out, "  %-45s ", lines[i].what);
		if (lines[i].sign != 0)
			fprintf(out, "%+.2f, ", lines[i].test.statistic);
		fprintf(out, "p = %.2g%s\n", lines[i].test.p,
		        lines[i].test.p <= 0.01 ? ": IT DOES" : ": not shown");
	}
}
