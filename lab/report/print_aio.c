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
	uint32_t boot[SAMPLES_MAX];
	double figures[FIGURES][SAMPLES_MAX];
};

static int load(const struct report *report, const struct report_cell *cell, struct aio_samples *s)
{
	sqlite3_stmt *row;
	int r = store_ask(report->store, &row,
	                  "SELECT m.value ->> 'iops', m.value ->> '$.latency_ns.p50', m.value ->> "
	                  "'$.latency_ns.p99', m.value ->> '$.latency_ns.p99_9', m.value ->> "
	                  "'$.latency_ns.max', r.boot FROM results r, json_each(CAST(r.body AS TEXT), "
	                  "'$.measurement') m WHERE run = ? AND cell_id = ? AND r.verdict = 'valid' AND "
	                  "m.key = 'aio'",
	                  "ss", report->run, cell->id);

	s->count = 0;
	if (r)
		return r;
	while ((r = store_row(report->store, row)) == 1 && s->count < SAMPLES_MAX) {
		for (int f = 0; f < FIGURES; f++)
			s->figures[f][s->count] = sqlite3_column_double(row, f);
		s->boot[s->count] = (uint32_t)sqlite3_column_int64(row, FIGURES);
		s->count++;
	}
	if (r == 1)
		store_reset(row);
	return r < 0 ? r : 0;
}

/* Whose samples' figures are F: the medians, and the interval of each. */
static int figure_of(const struct aio_samples *s, int f, struct stats_figure *figure)
{
	struct stats_sample *samples = calloc(s->count, sizeof(*samples));
	int r = -ENOMEM;

	if (samples) {
		for (size_t i = 0; i < s->count; i++)
			samples[i] = (struct stats_sample){s->figures[f][i], s->boot[i], 0};
		r = stats_figure(samples, s->count, STATS_CONFIDENCE, figure);
	}
	free(samples);
	return r;
}

static void print_line(const char *head, const double values[FIGURES], const char *tail, FILE *out)
{
	fprintf(out, "  %-9s %9.0f", head, values[IOPS]);
	for (int f = P50; f < FIGURES; f++)
		fprintf(out, " %12.1f", values[f] / 1e3);
	fprintf(out, "  %s\n", tail);
}

static int print_cell(const struct report_cell *cell, const struct aio_samples *s, FILE *out)
{
	double middle[FIGURES], low[FIGURES], high[FIGURES];
	char head[32], level[16], tail[64];
	struct stats_figure figure;

	for (int f = 0; f < FIGURES; f++) {
		int r = figure_of(s, f, &figure);

		if (r)
			return r;
		middle[f] = figure.median;
		low[f] = figure.interval.low;
		high[f] = figure.interval.high;
	}
	middle[MAX] = figure.largest;
	snprintf(head, sizeof(head), "cell %-3" PRId64, cell->ordinal);
	print_line(head, middle, cell->label, out);
	if (figure.basis == STATS_NOTHING)
		return 0;
	confidence_text(figure.interval.confidence, level);
	if (figure.basis == STATS_BOOTS)
		snprintf(tail, sizeof(tail), "%s of %zu boots", level, figure.boots);
	else
		snprintf(tail, sizeof(tail), "%s of 1 boot: no interval of the boot's effect", level);
	print_line("  from", low, "", out);
	print_line("    to", high, tail, out);
	return 0;
}

void aio_print(const struct report *report, FILE *out)
{
	struct aio_samples *s = malloc(sizeof(*s));
	bool first = true;
	int r = s ? 0 : -ENOMEM;

	for (size_t i = 0; i < report->cell_count && !r; i++) {
		r = load(report, &report->cells[i], s);
		if (r || !s->count)
			continue;
		if (first)
			fputs("\nI/Os a second, and latency in microseconds; medians of the boots' medians "
			      "and their intervals, the\n"
			      "maximum the largest:\n"
			      "                 IOPS          p50          p99        p99.9      maximum\n",
			      out);
		first = false;
		r = print_cell(&report->cells[i], s, out);
	}
	if (r)
		fprintf(out, "\nIOPS and latencies are left out: %s.\n", strerror(-r));
	free(s);
}
