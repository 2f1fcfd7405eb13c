/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "figure.h"
#include "noise_print.h"
#include "observers.h"
#include "variance.h"
#include "watch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MB_PER_MIB (1048576 / 1e6)

static int label_width(const struct report *report)
{
	size_t width = 4;

	for (size_t i = 0; i < report->cell_count; i++)
		if (strlen(report->cells[i].label) > width)
			width = strlen(report->cells[i].label);
	return (int)width;
}

static void print_head(const struct report *report, FILE *out)
{
	char date[32] = "not begun";
	time_t started = report->started_unix_ns / INT64_C(1000000000);
	struct tm tm;

	if (started) {
		gmtime_r(&started, &tm);
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", &tm);
	}
	fprintf(out, "run %s on group %s: %s (%s", report->run, report->group, report->state, date);
	if (report->ended_unix_ns && report->started_unix_ns)
		fprintf(out, ", took %.0f s",
		        (double)(report->ended_unix_ns - report->started_unix_ns) / 1e9);
	fprintf(out, ")\n%s\n", report->question);
	if (*report->imported)
		fprintf(out,
		        "IMPORTED (%s): no evidence that what was measured is what is said; boots are as far "
		        "as the "
		        "file tells them.\n",
		        report->imported);
	if (*report->scale)
		fprintf(out,
		        "SCALED: sizes are %s of the plan's. Figures of so little data are no figures of "
		        "the hardware.\n",
		        report->scale);
	if (report->as_published)
		fputs("AS PUBLISHED: with the sizes, data and repeats of the experiment that the plan "
		      "repeats, mistakes "
		      "included.\n",
		      out);
	fputc('\n', out);
	if (report->acceptance) {
		accept_print(report->acceptance, out);
		fputc('\n', out);
	}
	if (report->tune) {
		tune_print(report->store, report->run, report->tune, out);
		fputc('\n', out);
	}
}

static void print_cell(const struct report_cell *cell, int width, FILE *out)
{
	const struct stats_figure f = estimate_of_cell(cell, FIGURE_MB_PER_S);
	size_t n = cell->sample_count;
	char level[16], of[16] = "";

	fprintf(out, "%3" PRId64 "  %-*s  %3zu/%-3" PRId64 " %5" PRId64, cell->ordinal, width, cell->label, n,
	        cell->wanted, cell->boots);
	if (n)
		fprintf(out, "  %9.2f  %9.2f", f.median, f.median / MB_PER_MIB);
	else
		fprintf(out, "  %9s  %9s", "-", "-");
	if (f.basis != STATS_NOTHING)
		fprintf(out, "  %9.2f - %-9.2f", f.interval.low, f.interval.high);
	else
		fprintf(out, "  %9s   %-9s", "-", "-");
	if (f.basis == STATS_BOOTS)
		snprintf(of, sizeof(of), "%zu boots", f.boots);
	fprintf(out, " %8s  %-8s %7" PRId64 " %6" PRId64 "%s\n",
	        confidence_text(f.interval.confidence, level), f.basis == STATS_SAMPLES ? "1 boot" : of,
	        cell->bad[0], cell->bad[1] + cell->bad[2],
	        cell->unsupported           ? "  unsupported"
	        : cell->failed              ? "  FAILED"
	        : (int64_t)n < cell->wanted ? "  not complete"
	        : cell->enough              ? "  precise enough"
	                                    : "");
}

static void print_bad(const struct report *report, FILE *out)
{
	bool first = true;
	sqlite3_stmt *row;

	if (store_ask(report->store, &row,
	              "SELECT c.ordinal, a.boot, a.sample, a.attempt, a.state, coalesce(a.reason, ''), "
	              "coalesce(a.error, '') FROM "
	              "attempts a JOIN cells c USING (run, cell_id) WHERE run = ? AND a.state IN ('invalid', "
	              "'failed', "
	              "'abandoned') AND coalesce(json_extract(a.error, '$.scope'), '') NOT IN ('run', "
	              "'unsupported') ORDER BY "
	              "a.opened_unix_ns",
	              "s", report->run))
		return;
	while (store_row(report->store, row) == 1) {
		if (first)
			fputs("\nAttempts that do not count:\n", out);
		first = false;
		fprintf(out, "  cell %s, boot %s, sample %s, attempt %s %s: ", store_text(row, 0),
		        store_text(row, 1), store_text(row, 2), store_text(row, 3), store_text(row, 4));
		if (*store_text(row, 5))
			fprintf(out, "%s\n", store_text(row, 5));
		else
			error_print(out, store_text(row, 6));
	}
}

/* What cells with the workload rtt are about: one line a sample. */
void round_trips_print(const struct report *report, FILE *out)
{
	bool first = true;
	sqlite3_stmt *row;

	if (!report->has[PART_RTT] ||
	    store_ask(report->store, &row,
	              "SELECT c.ordinal, r.boot, r.sample, m.value ->> 'min_ns', m.value ->> 'median_ns', "
	              "m.value ->> "
	              "'p99_ns', m.value ->> 'max_ns' FROM results r JOIN cells c USING (run, cell_id), "
	              "json_each(CAST(r.body AS TEXT), '$.measurement') m WHERE run = ? AND r.verdict = "
	              "'valid' AND m.key "
	              "= 'rtt' ORDER BY c.ordinal, r.boot, r.sample",
	              "s", report->run))
		return;
	while (store_row(report->store, row) == 1) {
		if (first)
			fputs("\nRound trips in microseconds:  min    median       p99       max\n", out);
		first = false;
		fprintf(out, "  cell %s, boot %s, sample %s: %9.1f %9.1f %9.1f %9.1f\n", store_text(row, 0),
		        store_text(row, 1), store_text(row, 2), sqlite3_column_double(row, 3) / 1e3,
		        sqlite3_column_double(row, 4) / 1e3, sqlite3_column_double(row, 5) / 1e3,
		        sqlite3_column_double(row, 6) / 1e3);
	}
}

/* What cells with the workload failover are about; one line a sample. */
void failovers_print(const struct report *report, FILE *out)
{
	bool first = true;
	sqlite3_stmt *row;

	if (!report->has[PART_FAILOVER] ||
	    store_ask(report->store, &row,
	              "SELECT c.ordinal, r.boot, r.sample, m.value ->> 'slave', m.value ->> 'stall_ns', "
	              "m.value ->> "
	              "'switched_ns', m.value ->> 'recovered_ns', m.value ->> 'retransmitted_segments', "
	              "m.value ->> "
	              "'drbd_states' FROM results r JOIN cells c USING (run, cell_id), json_each(CAST(r.body "
	              "AS TEXT), "
	              "'$.measurement') m WHERE run = ? AND r.verdict = 'valid' AND m.key = 'failover' ORDER "
	              "BY c.ordinal, "
	              "r.boot, r.sample",
	              "s", report->run))
		return;
	while (store_row(report->store, row) == 1) {
		double switched_ms = sqlite3_column_double(row, 5) / 1e6,
		       full_ms = sqlite3_column_double(row, 6) / 1e6;

		if (first)
			fputs("\nFailovers (times from the pull of the slave):\n", out);
		first = false;
		fprintf(out, "  cell %s, boot %s, sample %s: %s pulled, writes stalled for %.0f ms",
		        store_text(row, 0), store_text(row, 1), store_text(row, 2), store_text(row, 3),
		        sqlite3_column_double(row, 4) / 1e6);
		if (switched_ms >= 0)
			fprintf(out, ", another slave after %.0f ms", switched_ms);
		if (full_ms >= 0)
			fprintf(out, ", 90 %% of the speed after %.0f ms", full_ms);
		else
			fputs(", 90 % of the speed not reached again", out);
		fprintf(out, ", %s segments sent again, DRBD %s\n", store_text(row, 7), store_text(row, 8));
	}
}

/* What nodes noted of samples that count; the same of several samples once. */
static void print_notes(const struct report *report, FILE *out)
{
	bool first = true;
	sqlite3_stmt *row;

	if (store_ask(
	        report->store, &row,
	        "SELECT c.ordinal, r.node, n.value, count(*) FROM results r JOIN cells c USING (run, "
	        "cell_id), "
	        "json_each(CAST(r.body AS TEXT), '$.evidence.notes') n WHERE run = ? AND r.verdict = 'valid' "
	        "GROUP BY c.ordinal, r.node, n.value ORDER BY c.ordinal, r.node, min(r.committed_unix_ns)",
	        "s", report->run))
		return;
	while (store_row(report->store, row) == 1) {
		if (first)
			fputs("\nNotes on samples that count:\n", out);
		first = false;
		fprintf(out, "  cell %s, node %s: %s", store_text(row, 0), store_text(row, 1),
		        store_text(row, 2));
		if (sqlite3_column_int64(row, 3) > 1)
			fprintf(out, " (%s times)", store_text(row, 3));
		fputc('\n', out);
	}
}

/* What the intervals of the table say, and what they do not. */
static void print_intervals(const struct report *report, FILE *out)
{
	bool one_boot = false, alone = false, few = false;

	for (size_t i = 0; i < report->cell_count; i++) {
		const struct stats_figure f = estimate_of_cell(&report->cells[i], FIGURE_MB_PER_S);

		one_boot = one_boot || (f.boots == 1 && f.samples);
		alone = alone || (f.samples && f.basis == STATS_NOTHING);
		few = few || (f.basis == STATS_BOOTS && !f.enough);
	}
	fprintf(out,
	        "\nMB = 10^6 bytes, MiB = 2^20 bytes. The figure is the median of the boots' medians; the "
	        "interval around it is\n"
	        "between order statistics of these (no distribution assumed), sure at the level shown; %zu "
	        "boots are the least for\n95 %%.\n",
	        stats_median_needs(STATS_CONFIDENCE));
	if (alone)
		fputs("Warning: one sample alone has no interval.\n", out);
	if (one_boot)
		fputs("1 boot: no interval of the boot's effect. What is shown is of that boot's samples and "
		      "says nothing about how\n"
		      "much another boot of the same nodes would differ. Plans ask for more with repeat: "
		      "{boots: N}.\n",
		      out);
	if (few)
		fputs("Fewer than 6 boots: smallest and largest boot are shown, and are less than 95 % "
		      "sure.\n",
		      out);
}

void report_print(const struct report *report, FILE *out)
{
	int width = label_width(report);

	print_head(report, out);
	fprintf(out, "%3s  %-*s  %-7s %5s  %9s  %9s  %21s %8s  %-8s %7s %6s\n", "#", width, "cell", "  valid",
	        "boots", "MB/s", "MiB/s", "interval MB/s     ", "level", "of", "invalid", "failed");
	fprintf(out, "%3s  %-*s  %-7s %5s  %9s  %9s\n", "", width, "", "", "", "median", "median");
	for (size_t i = 0; i < report->cell_count; i++)
		print_cell(&report->cells[i], width, out);
	print_intervals(report, out);
	aio_print(report, out);
	crystal_print(report, out);
	round_trips_print(report, out);
	failovers_print(report, out);
	knee_print(report, out);
	steady_print(report, out);
	observers_print(report, out);
	noise_print(report, out);
	parts_print(report, out);
	by_hand_print(report, out);
	paths_print(report, out);
	variance_print(report, out);
	order_print(report, out);
	fputc('\n', out);
	environment_print(report, out);
	print_notes(report, out);
	print_bad(report, out);
	for (size_t i = 0; i < report->cell_count; i++) {
		if (!report->cells[i].failed)
			continue;
		fprintf(out, "\ncell %" PRId64 " (%s) %s: ", report->cells[i].ordinal, report->cells[i].label,
		        report->cells[i].unsupported ? "is not supported by these nodes" : "failed");
		error_print(out, report->cells[i].error);
	}
	if (*report->error) {
		fputs("\nThe run failed: ", out);
		error_print(out, report->error);
	}
}
