/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes go to a cache first: the burst, and the rate that lasts. */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Of one cell: each sample's figures, where its rate fell for good. */
struct falls {
	size_t samples, count, room;
	double *burst, *lasting, *at_s;
};

/* Bytes of each whole second, in MB/s; the last one is not whole. */
static size_t rates_of(const char *text, double **rates)
{
	json_t *seconds = json_loads(text, 0, NULL);
	size_t n = json_array_size(seconds);

	*rates = n ? calloc(n, sizeof(**rates)) : NULL;
	for (size_t i = 0; *rates && i < n; i++)
		(*rates)[i] = (double)json_integer_value(json_array_get(seconds, i)) / 1e6;
	json_decref(seconds);
	return *rates ? n - 1 : 0;
}

static int take(struct falls *falls, const char *text)
{
	struct stats_knee knee;
	double *rates;
	size_t n = rates_of(text, &rates);
	int r = stats_knee(rates, n, &knee);

	free(rates);
	falls->samples++;
	if (!r && knee.found && knee.after < knee.before && falls->count < falls->room) {
		falls->burst[falls->count] = knee.before;
		falls->lasting[falls->count] = knee.after;
		falls->at_s[falls->count++] = (double)knee.at;
	}
	return r;
}

static int load(const struct report *report, const struct report_cell *cell, struct falls *falls)
{
	sqlite3_stmt *row;
	int r = store_ask(
	    report->store, &row,
	    "SELECT m.value FROM results r, json_each(CAST(r.body AS TEXT), '$.measurement') m WHERE run "
	    "= ? AND cell_id = ? AND r.verdict = 'valid' AND r.role = 'measure' AND m.key = "
	    "'second_bytes' AND CAST(r.body AS TEXT) ->> '$.cell.workload.type' IN ('copy', 'aio', "
	    "'precondition')",
	    "ss", report->run, cell->id);

	while (!r && (r = store_row(report->store, row)) == 1) {
		r = take(falls, store_text(row, 0));
		if (r)
			store_reset(row);
	}
	return r;
}

static void print_cell(const struct report_cell *cell, struct falls *f, FILE *out)
{
	double burst = stats_median(f->burst, f->count), at_s = stats_median(f->at_s, f->count);
	struct stats_interval lasting = stats_median_interval(f->lasting, f->count, STATS_CONFIDENCE);
	char level[16];

	fprintf(out,
	        "  cell %-3" PRId64 " %zu of %zu samples: %.1f MB/s for %.0f s, then %.1f MB/s that last",
	        cell->ordinal, f->count, f->samples, burst, at_s, stats_median(f->lasting, f->count));
	if (f->count > 1)
		fprintf(out, " (%.1f - %.1f, %s of these samples)", lasting.low, lasting.high,
		        confidence_text(lasting.confidence, level));
	fprintf(out, "  %s\n", cell->label);
}

void knee_print(const struct report *report, FILE *out)
{
	bool first = true;

	for (size_t i = 0; i < report->cell_count; i++) {
		const struct report_cell *cell = &report->cells[i];
		struct falls f = {.room = cell->sample_count,
		                  .burst = calloc(cell->sample_count + 1, sizeof(double)),
		                  .lasting = calloc(cell->sample_count + 1, sizeof(double)),
		                  .at_s = calloc(cell->sample_count + 1, sizeof(double))};

		if (f.burst && f.lasting && f.at_s && !load(report, cell, &f) && f.count) {
			if (first)
				fputs("\nThe rate fell for good while these were measured (change point of "
				      "each "
				      "second's rate); what a\ncache took is not what the device can do:\n",
				      out);
			first = false;
			print_cell(cell, &f, out);
		}
		free(f.burst);
		free(f.lasting);
		free(f.at_s);
	}
}
