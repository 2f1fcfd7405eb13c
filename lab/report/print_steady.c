/* SPDX-License-Identifier: GPL-2.0-or-later
 * Samples in rounds: whether they came to a steady state, and how fast it is. */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

/* TEXT: [rounds, milliseconds of each]. I/Os of each round. How many rounds; 0: none, or no memory. */
static size_t rounds_of(const char *text, double **ios, double *round_s)
{
	json_t *found = json_loads(text, 0, NULL);
	const json_t *rounds = json_array_get(found, 0);
	size_t n = json_array_size(rounds);

	*round_s = json_number_value(json_array_get(found, 1)) / 1e3;
	*ios = n ? calloc(n, sizeof(**ios)) : NULL;
	for (size_t i = 0; *ios && i < n; i++)
		(*ios)[i] = (double)json_integer_value(json_object_get(json_array_get(rounds, i), "ios"));
	json_decref(found);
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

struct sample {
	const struct report_cell *cell;
	const char *boot, *sample;
	size_t rounds;
	double round_s;
	struct stats_steady steady;
};

/* Calls EACH for the valid samples of CELL that are in rounds. 0 or -errno. */
static int each_sample(const struct report *report, const struct report_cell *cell,
                       void (*each)(const struct sample *sample, void *of), void *of)
{
	sqlite3_stmt *row;
	int r = store_ask(
	    report->store, &row,
	    "SELECT boot, sample, json_extract(CAST(body AS TEXT), '$.measurement.aio.rounds', "
	    "'$.cell.workload.duration_ms') FROM results WHERE run = ? AND cell_id = ? AND verdict = "
	    "'valid' AND role = 'measure' ORDER BY boot, sample",
	    "ss", report->run, cell->id);

	while (!r && (r = store_row(report->store, row)) == 1) {
		struct sample s = {.cell = cell, .boot = store_text(row, 0), .sample = store_text(row, 1)};
		double *ios;

		s.rounds = rounds_of(store_text(row, 2), &ios, &s.round_s);
		stats_steady(ios, s.rounds, &s.steady);
		free(ios);
		if (s.rounds)
			each(&s, of);
		r = 0;
	}
	return r;
}

static void count(const struct sample *sample, void *of)
{
	size_t *missed = of;

	missed[0] += !sample->steady.reached;
	missed[1]++;
}

int steady_missed(const struct report *report, const struct report_cell *cell, size_t *missed,
                  size_t *samples)
{
	size_t of[2] = {0};
	int r = cell->rounds ? each_sample(report, cell, count, of) : 0;

	*missed = of[0];
	*samples = of[1];
	return r;
}

struct output {
	FILE *out;
	bool begun;
};

static void print_one(const struct sample *sample, void *of)
{
	struct output *o = of;

	if (!o->begun)
		fputs("\nSteady state (SNIA's PTS 2.0.2: in 5 rounds, range up to 20 % of the mean, and "
		      "slope up to 10 % of it):\n",
		      o->out);
	o->begun = true;
	fprintf(o->out, "  cell %" PRId64 ", boot %s, sample %s: ", sample->cell->ordinal, sample->boot,
	        sample->sample);
	print_sample(&sample->steady, sample->rounds, sample->round_s, o->out);
}

void steady_print(const struct report *report, FILE *out)
{
	struct output o = {.out = out};

	for (size_t i = 0; i < report->cell_count; i++)
		if (report->cells[i].rounds)
			each_sample(report, &report->cells[i], print_one, &o);
}
