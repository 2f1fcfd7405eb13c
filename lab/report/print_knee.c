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

/* Workloads that go on at one pace if nothing holds them up. */
static bool is_steady_load(const char *type)
{
	return type && (!strcmp(type, "copy") || !strcmp(type, "aio") || !strcmp(type, "precondition"));
}

/* TEXT: [bytes of each second, type of workload]. The rate of each whole second, in MB/s; the last one is not
 * whole. */
static size_t rates_of(const char *text, double **rates)
{
	json_t *found = json_loads(text, 0, NULL);
	const json_t *seconds = json_array_get(found, 0);
	size_t n = is_steady_load(json_string_value(json_array_get(found, 1))) ? json_array_size(seconds) : 0;

	*rates = n ? calloc(n, sizeof(**rates)) : NULL;
	for (size_t i = 0; *rates && i < n; i++)
		(*rates)[i] = (double)json_integer_value(json_array_get(seconds, i)) / 1e6;
	json_decref(found);
	return *rates ? n - 1 : 0;
}

static int take(struct falls *falls, const char *text)
{
	struct stats_knee knee;
	double *rates;
	size_t n = rates_of(text, &rates);
	int r = rates ? stats_knee(rates, n, &knee) : 0;

	if (rates && !r) {
		falls->samples++;
		if (knee.found && knee.after < knee.before && falls->count < falls->room) {
			falls->burst[falls->count] = knee.before;
			falls->lasting[falls->count] = knee.after;
			falls->at_s[falls->count++] = (double)knee.at;
		}
	}
	free(rates);
	return r;
}

static int load(const struct report *report, const struct report_cell *cell, struct falls *falls)
{
	sqlite3_stmt *row;
	int r = store_ask(report->store, &row,
	                  "SELECT json_extract(CAST(body AS TEXT), '$.measurement.second_bytes', "
	                  "'$.cell.workload.type') FROM "
	                  "results WHERE run = ? AND cell_id = ? AND verdict = 'valid' AND role = 'measure'",
	                  "ss", report->run, cell->id);

	while (!r && (r = store_row(report->store, row)) == 1) {
		r = take(falls, store_text(row, 0));
		if (r)
			store_reset(row);
	}
	return r;
}

int knee_of_cell(const struct report *report, const struct report_cell *cell, struct knee *knee)
{
	size_t room = cell->sample_count;
	double *values = calloc(3 * room + 1, sizeof(*values));
	struct falls f = {.room = room, .burst = values, .lasting = values + room, .at_s = values + 2 * room};
	int r = values ? load(report, cell, &f) : -ENOMEM;

	*knee = (struct knee){.samples = f.samples, .fell = f.count};
	if (!r && f.count) {
		knee->burst = stats_median(f.burst, f.count);
		knee->at_s = stats_median(f.at_s, f.count);
		knee->lasting = stats_median(f.lasting, f.count);
		knee->interval = stats_median_interval(f.lasting, f.count, STATS_CONFIDENCE);
	}
	free(values);
	return r;
}

void knee_text(const struct knee *k, FILE *out)
{
	char level[16];

	fprintf(out, "%zu of %zu samples: %.1f MB/s for %.0f s, then %.1f MB/s that last", k->fell,
	        k->samples, k->burst, k->at_s, k->lasting);
	if (k->fell > 1)
		fprintf(out, " (%.1f - %.1f, %s of these samples)", k->interval.low, k->interval.high,
		        confidence_text(k->interval.confidence, level));
}

void knee_print(const struct report *report, FILE *out)
{
	bool first = true;

	for (size_t i = 0; i < report->cell_count; i++) {
		const struct report_cell *cell = &report->cells[i];
		struct knee knee;

		if (knee_of_cell(report, cell, &knee) || !knee.fell)
			continue;
		if (first)
			fputs("\nThe rate fell for good while these were measured (change point of each "
			      "second's rate); what a\ncache took is not what the device can do:\n",
			      out);
		first = false;
		fprintf(out, "  cell %-3" PRId64 " ", cell->ordinal);
		knee_text(&knee, out);
		fprintf(out, "  %s\n", cell->label);
	}
}
