/* SPDX-License-Identifier: GPL-2.0-or-later
 * Cells with the workload aio: IOPS and latency percentiles, each with its interval. */
#include "figure.h"

#include <inttypes.h>

static const enum figure_id columns[] = {FIGURE_IOPS, FIGURE_P50_US, FIGURE_P99_US, FIGURE_P99_9_US,
                                         FIGURE_MAX_US};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]), IOPS = 0, MAX = COLUMNS - 1 };

static void print_line(const char *head, const double values[COLUMNS], const char *tail, FILE *out)
{
	fprintf(out, "  %-9s %9.0f", head, values[IOPS]);
	for (size_t f = IOPS + 1; f < COLUMNS; f++)
		fprintf(out, " %12.1f", values[f]);
	fprintf(out, "  %s\n", tail);
}

static void print_cell(const struct report_cell *cell, FILE *out)
{
	double middle[COLUMNS], low[COLUMNS], high[COLUMNS];
	char head[32], level[16], tail[64];
	struct stats_figure f = {0};

	for (size_t i = 0; i < COLUMNS; i++) {
		f = estimate_of_cell(cell, columns[i]);
		middle[i] = i == MAX ? f.largest : f.median;
		low[i] = f.interval.low;
		high[i] = f.interval.high;
	}
	snprintf(head, sizeof(head), "cell %-3" PRId64, cell->ordinal);
	print_line(head, middle, cell->label, out);
	if (f.basis == STATS_NOTHING)
		return;
	confidence_text(f.interval.confidence, level);
	if (f.basis == STATS_BOOTS)
		snprintf(tail, sizeof(tail), "%s of %zu boots", level, f.boots);
	else
		snprintf(tail, sizeof(tail), "%s of 1 boot: no interval of the boot's effect", level);
	print_line("  from", low, "", out);
	print_line("    to", high, tail, out);
}

void aio_print(const struct report *report, FILE *out)
{
	bool first = true;

	for (size_t i = 0; i < report->cell_count; i++) {
		if (!estimate_of_cell(&report->cells[i], FIGURE_IOPS).samples)
			continue;
		if (first)
			fputs("\nI/Os a second, and latency in microseconds; medians of the boots' medians "
			      "and their intervals, of the\n"
			      "maximum the largest and the interval of its median:\n"
			      "                 IOPS          p50          p99        p99.9      maximum\n",
			      out);
		first = false;
		print_cell(&report->cells[i], out);
	}
}
