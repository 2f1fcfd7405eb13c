/* SPDX-License-Identifier: GPL-2.0-or-later
 * Samples in rounds: whether they came to a steady state, and how fast it is. */
#include "report.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

/* I/Os of each round. How many rounds; 0: none, or no memory. */
static size_t rounds_of(const char *text, double **ios)
{
	json_t *rounds = json_loads(text, 0, NULL);
	size_t n = json_array_size(rounds);

	*ios = n ? calloc(n, sizeof(**ios)) : NULL;
	for (size_t i = 0; *ios && i < n; i++)
		(*ios)[i] = (double)json_integer_value(json_object_get(json_array_get(rounds, i), "ios"));
	json_decref(rounds);
	return *ios ? n : 0;
}

static void print_sample(const struct stats_steady *steady, size_t n, double round_s, FILE *out)
{
	if (n < STATS_STEADY_ROUNDS)
		fprintf(out, "%zu rounds are too few, it takes %d\n", n, STATS_STEADY_ROUNDS);
	else
		fprintf(out,
		        "%s %zu to %zu of %zu: %.1f IOPS in the mean, range %.1f %%, slope %.1f %% of it\n",
		        steady->reached ? "steady in rounds" : "NOT steady; in rounds", steady->first + 1,
		        steady->first + STATS_STEADY_ROUNDS, n, steady->mean / round_s,
		        100 * steady->range_of_mean, 100 * steady->slope_of_mean);
}

/* Rows of cell, boot, sample, milliseconds of a round, rounds. */
static int ask(const struct report *report, sqlite3_stmt **row)
{
	return store_ask(
	    report->store, row,
	    "SELECT c.ordinal, r.boot, r.sample, CAST(r.body AS TEXT) ->> '$.cell.workload.duration_ms', "
	    "m.value ->> "
	    "'rounds' FROM results r JOIN cells c USING (run, cell_id), json_each(CAST(r.body AS TEXT), "
	    "'$.measurement') m WHERE run = ? AND r.verdict = 'valid' AND m.key = 'aio' AND m.value ->> "
	    "'rounds' IS "
	    "NOT NULL ORDER BY c.ordinal, r.boot, r.sample",
	    "s", report->run);
}

/* How many rounds. */
static size_t judge(const char *text, struct stats_steady *steady)
{
	double *ios;
	size_t n = rounds_of(text, &ios);

	stats_steady(ios, n, steady);
	free(ios);
	return n;
}

int steady_missed(const struct report *report, size_t *missed, size_t *samples)
{
	struct stats_steady steady;
	sqlite3_stmt *row;
	int r;

	*missed = *samples = 0;
	if (!report->has[PART_ROUNDS])
		return 0;
	r = ask(report, &row);
	while (!r && (r = store_row(report->store, row)) == 1) {
		judge(store_text(row, 4), &steady);
		*missed += !steady.reached;
		++*samples;
		r = 0;
	}
	return r;
}

void steady_print(const struct report *report, FILE *out)
{
	bool first = true;
	sqlite3_stmt *row;

	if (!report->has[PART_ROUNDS] || ask(report, &row))
		return;
	while (store_row(report->store, row) == 1) {
		struct stats_steady steady;
		size_t n = judge(store_text(row, 4), &steady);

		if (first)
			fputs("\nSteady state (SNIA's PTS 2.0.2: in 5 rounds, range up to 20 % of the mean, "
			      "and "
			      "slope up to 10 % of it):\n",
			      out);
		first = false;
		fprintf(out, "  cell %s, boot %s, sample %s: ", store_text(row, 0), store_text(row, 1),
		        store_text(row, 2));
		print_sample(&steady, n, sqlite3_column_double(row, 3) / 1e3, out);
	}
}
