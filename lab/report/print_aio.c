/* SPDX-License-Identifier: GPL-2.0-or-later
 * Cells with the workload aio: the median over their samples of IOPS and of latency percentiles. */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { IOPS, P50, P99, P99_9, MAX, FIGURES, SAMPLES_MAX = 10000 };

/* Of one cell, sample by sample. */
struct aio_samples {
	size_t count;
	double figures[FIGURES][SAMPLES_MAX];
};

static int load(const struct report *report, const struct report_cell *cell, struct aio_samples *s)
{
	sqlite3_stmt *row;
	int r = store_ask(report->store, &row,
	                  "SELECT m.value ->> 'iops', m.value ->> '$.latency_ns.p50', m.value ->> "
	                  "'$.latency_ns.p99', m.value ->> '$.latency_ns.p99_9', m.value ->> "
	                  "'$.latency_ns.max' FROM results r, json_each(CAST(r.body AS TEXT), "
	                  "'$.measurement') m WHERE run = ? AND cell_id = ? AND r.verdict = 'valid' AND "
	                  "m.key = 'aio'",
	                  "ss", report->run, cell->id);

	s->count = 0;
	if (r)
		return r;
	while ((r = store_row(report->store, row)) == 1 && s->count < SAMPLES_MAX) {
		for (int f = 0; f < FIGURES; f++)
			s->figures[f][s->count] = sqlite3_column_double(row, f);
		s->count++;
	}
	if (r == 1)
		store_reset(row);
	return r < 0 ? r : 0;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double middle(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), by_size);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void aio_print(const struct report *report, FILE *out)
{
	struct aio_samples *s = malloc(sizeof(*s));
	bool first = true;

	if (!s) {
		fputs("\nOut of memory: IOPS and latencies are left out.\n", out);
		return;
	}
	for (size_t i = 0; i < report->cell_count; i++) {
		const struct report_cell *cell = &report->cells[i];

		if (load(report, cell, s) || !s->count)
			continue;
		if (first)
			fputs(
			    "\nI/Os a second, and latency in microseconds; medians of the samples' figures, "
			    "the maximum the largest:\n"
			    "               IOPS          p50          p99        p99.9      maximum\n",
			    out);
		first = false;
		fprintf(out, "  cell %-3" PRId64 " %10.0f %12.1f %12.1f %12.1f", cell->ordinal,
		        middle(s->figures[IOPS], s->count), middle(s->figures[P50], s->count) / 1e3,
		        middle(s->figures[P99], s->count) / 1e3, middle(s->figures[P99_9], s->count) / 1e3);
		middle(s->figures[MAX], s->count);
		fprintf(out, " %12.1f  %s\n", s->figures[MAX][s->count - 1] / 1e3, cell->label);
	}
	free(s);
}
