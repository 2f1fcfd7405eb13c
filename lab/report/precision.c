/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay plan --precision: variances and costs of a pilot run to repetitions (Kalibera and Jones, ISMM 2013).
 */
#include "precision.h"

#include "figure.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct costs {
	double boot_s; /* from the last sample of a block to the first of the next, and before the first */
	size_t blocks;
};

struct need {
	struct stats_split split;
	struct stats_repeats repeats;
	double sample_s;
	size_t boots, samples;
};

struct total {
	size_t cells, boots, samples;
	double samples_s;
};

static int load_costs(const struct report *pilot, struct costs *costs)
{
	int64_t block = 0, closed_ns = pilot->started_unix_ns;
	double sum_s = 0;
	sqlite3_stmt *row;
	int r = store_ask(pilot->store, &row,
	                  "SELECT boot, opened_unix_ns, closed_unix_ns FROM attempts WHERE run = ? AND "
	                  "closed_unix_ns IS NOT "
	                  "NULL ORDER BY opened_unix_ns",
	                  "s", pilot->run);

	while (!r && (r = store_row(pilot->store, row)) == 1) {
		if (sqlite3_column_int64(row, 0) != block) {
			sum_s += (double)(sqlite3_column_int64(row, 1) - closed_ns) / 1e9;
			costs->blocks++;
		}
		block = sqlite3_column_int64(row, 0);
		closed_ns = sqlite3_column_int64(row, 2);
		r = 0;
	}
	costs->boot_s = costs->blocks ? fmax(sum_s / (double)costs->blocks, 0) : 0;
	return r;
}

static int sample_cost(const struct report *pilot, const struct report_cell *cell, double *seconds)
{
	sqlite3_stmt *row;
	int r = store_ask(pilot->store, &row,
	                  "SELECT avg(closed_unix_ns - opened_unix_ns) / 1e9 FROM attempts WHERE run = ? AND "
	                  "cell_id = ? AND "
	                  "state = 'valid'",
	                  "ss", pilot->run, cell->id);

	if (!r)
		r = store_row(pilot->store, row);
	if (r != 1)
		return r;
	*seconds = sqlite3_column_double(row, 0);
	store_reset(row);
	return 0;
}

static const struct figure *figure_of(const struct report *pilot, const struct report_cell *cell)
{
	const struct figure *figure = figure_of_workload(NULL);
	sqlite3_stmt *row;

	if (store_ask(pilot->store, &row,
	              "SELECT body ->> '$.workload.type' FROM cells WHERE run = ? AND cell_id = ?", "ss",
	              pilot->run, cell->id) ||
	    store_row(pilot->store, row) != 1)
		return figure;
	figure = figure_of_workload(store_text(row, 0));
	store_reset(row);
	return figure;
}

static int by_boot(const void *a, const void *b)
{
	const struct report_sample *x = a, *y = b;

	return (x->boot > y->boot) - (x->boot < y->boot);
}

/* The values boot by boot, each boot with the same number of samples; *BOOTS 0 where they are not so. */
static int balanced(const struct report_cell *cell, enum figure_id figure, double **values, size_t *boots)
{
	struct report_sample *sorted = calloc(cell->sample_count + 1, sizeof(*sorted));
	size_t *sizes = calloc(cell->sample_count + 1, sizeof(*sizes));
	int r = -ENOMEM;

	*boots = 0;
	*values = calloc(cell->sample_count + 1, sizeof(**values));
	if (sorted && sizes && *values) {
		bool even = true;

		memcpy(sorted, cell->samples, cell->sample_count * sizeof(*sorted));
		qsort(sorted, cell->sample_count, sizeof(*sorted), by_boot);
		for (size_t i = 0; i < cell->sample_count; i++) {
			*boots += !i || sorted[i].boot != sorted[i - 1].boot;
			sizes[*boots - 1]++;
			(*values)[i] = sorted[i].figure[figure];
			even = even && isfinite((*values)[i]);
		}
		for (size_t b = 1; b < *boots; b++)
			even = even && sizes[b] == sizes[0];
		*boots = even ? *boots : 0;
		r = 0;
	}
	free(sorted);
	free(sizes);
	return r;
}

/* 0: nothing can be said of it; 1, or -errno. */
static int need_of(const struct report *pilot, const struct report_cell *cell, const struct costs *costs,
                   double precision, struct need *n)
{
	double *values = NULL;
	int r = cell->sample_count ? balanced(cell, figure_of(pilot, cell)->id, &values, &n->boots) : 0;

	if (!r && n->boots > 1) {
		n->samples = cell->sample_count / n->boots;
		stats_split(values, 1, n->boots, n->samples, &n->split);
		r = sample_cost(pilot, cell, &n->sample_s);
	}
	free(values);
	if (r || n->boots < 2 || !(n->split.mean > 0))
		return r;
	n->repeats = stats_repeats(&n->split, n->sample_s, costs->boot_s / (double)pilot->cell_count,
	                           precision, STATS_CONFIDENCE);
	return 1;
}

static void print_need(const struct report_cell *cell, const struct need *n, FILE *out)
{
	const struct stats_repeats *r = &n->repeats;

	fprintf(out, "%3" PRId64 "  %6.2f %%  %6.2f %%  %7.1f s  %7zu  %5zu%s  (%zu)  %s\n", cell->ordinal,
	        100 * sqrt(n->split.t2[0]) / n->split.mean, 100 * sqrt(n->split.t2[1]) / n->split.mean,
	        n->sample_s, r->samples, r->boots, r->boots_limited ? "+" : "", r->boots_mean, cell->label);
}

static void print_total(const struct report *pilot, const struct costs *costs, const struct total *t,
                        double precision, FILE *out)
{
	double hours = (costs->boot_s * (double)t->boots + t->samples_s) / 3600;

	fprintf(out,
	        "\nA boot costs %.0f s (mean of %zu, shared by the %zu cells of a block).\n"
	        "Boots are for the median and its order-statistic interval, which reports print; in brackets "
	        "those for a mean "
	        "and\nits t interval, as Kalibera and Jones count. Fewer than 6 boots give no 95 %% interval "
	        "of a median.\n",
	        costs->boot_s, costs->blocks, pilot->cell_count);
	if (pilot->boots < 6)
		fprintf(out,
		        "The pilot has %" PRId64
		        " boots: how much boots differ is itself hardly known from so few; the real "
		        "number may be\nhalf or a multiple.\n",
		        pilot->boots);
	fprintf(out,
	        "Write to the plan, to leave each cell once it is there:\n\n  repeat: {boots: %zu, samples: "
	        "%zu}\n  "
	        "precision: %.3g%%\n\nThat takes about %.1f h.\n",
	        t->boots, t->samples, 100 * precision, hours);
}

int precision_print(const struct report *pilot, double precision, FILE *out)
{
	struct total total = {0};
	struct costs costs = {0};
	int r;

	if (*pilot->imported) {
		fprintf(out, "\nThe pilot run is imported, which tells no times: measure one with boots: 3 "
		             "or more.\n");
		return -ENODATA;
	}
	r = load_costs(pilot, &costs);
	if (r)
		return r;
	fprintf(out,
	        "\nFor %.3g %% at 95 %%, from pilot run %s (deviation within a boot and between boots, "
	        "samples a boot, boots):\n\n"
	        "  #    within   between   a sample  samples  boots        cell\n",
	        100 * precision, pilot->run);
	for (size_t i = 0; i < pilot->cell_count; i++) {
		const struct report_cell *cell = &pilot->cells[i];
		struct need n = {.boots = 0};

		r = need_of(pilot, cell, &costs, precision, &n);
		if (r < 0)
			return r;
		if (!r) {
			fprintf(out, "%3" PRId64 "  %s  %s\n", cell->ordinal,
			        n.boots < 2 ? "needs two boots or more, each with the same number of samples"
			                    : "has a figure of 0",
			        cell->label);
			continue;
		}
		print_need(cell, &n, out);
		total.cells++;
		total.boots = n.repeats.boots > total.boots ? n.repeats.boots : total.boots;
		total.samples = n.repeats.samples > total.samples ? n.repeats.samples : total.samples;
		total.samples_s += (double)(n.repeats.boots * n.repeats.samples) * n.sample_s;
	}
	if (!total.cells) {
		fprintf(
		    out,
		    "\nThe pilot says nothing of how much boots differ: repeat it with boots: 3 or more.\n");
		return -ENODATA;
	}
	print_total(pilot, &costs, &total, precision, out);
	return 0;
}
