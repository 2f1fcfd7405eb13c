/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the order of measuring explains, once the cells' own differences are taken out. */
#include "stats.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { PLACE_BLOCKS = 5 }; /* for the approximation by chi squared */
/* As many as are needed to speak of p = 0.01, and no more than 2,000,000 values are shuffled beyond these. */
enum { SHUFFLES_LEAST = 399, SHUFFLES_MOST = 999, SHUFFLED_VALUES = 2000000, LAG1_LEAST = 8 };

struct residual {
	double value;
	const struct stats_measured *of;
	size_t when;
	size_t at; /* place among those that are left */
};

static int by_cell(const void *a, const void *b)
{
	const struct residual *x = a, *y = b;

	if (x->of->cell != y->of->cell)
		return (x->of->cell > y->of->cell) - (x->of->cell < y->of->cell);
	return (x->of->value > y->of->value) - (x->of->value < y->of->value);
}

static int by_time(const void *a, const void *b)
{
	const struct residual *x = a, *y = b;

	return (x->when > y->when) - (x->when < y->when);
}

/* Divides by the cells' medians, drops cells met once or with a median of 0, and puts the rest back in the
 * order of time. How many are left. */
static size_t take_cells_out(struct residual *r, size_t count)
{
	size_t left = 0;

	qsort(r, count, sizeof(*r), by_cell);
	for (size_t first = 0, end; first < count; first = end) {
		size_t n, middle;
		double median;

		for (end = first; end < count && r[end].of->cell == r[first].of->cell;)
			end++;
		n = end - first;
		middle = first + n / 2;
		median = n % 2 ? r[middle].of->value : (r[middle - 1].of->value + r[middle].of->value) / 2;
		for (size_t i = first; i < end && n > 1 && median > 0; i++) {
			r[left] = r[i];
			r[left++].value = r[i].of->value / median;
		}
	}
	qsort(r, left, sizeof(*r), by_time);
	return left;
}

/* How many of MEASURED, from FIRST, are samples 1, 2, ... of one cell in one boot. */
static size_t block_size(const struct stats_measured *m, size_t first, size_t count)
{
	size_t n = 0;

	while (first + n < count && m[first + n].cell == m[first].cell && m[first + n].place == n + 1)
		n++;
	return n;
}

/* Friedman, The use of ranks to avoid the assumption of normality, 1937: places are ranked within each visit
 * of a cell, so that cells and boots do not count. Visits shorter than the longest say nothing. */
static int test_place(const struct stats_measured *m, size_t count, struct stats_test *test)
{
	size_t places = 0, blocks = 0;
	double h = 0, k;

	for (size_t i = 0; i < count; i++)
		places = m[i].place > places ? m[i].place : places;
	if (places < 2 || places > count)
		return 0;
	double *sum = calloc(places, sizeof(*sum));
	if (!sum)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (m[i].place != 1 || block_size(m, i, count) != places)
			continue;
		blocks++;
		for (size_t x = 0; x < places; x++)
			for (size_t y = 0; y < places; y++)
				sum[x] += x == y                             ? 1
				          : m[i + y].value < m[i + x].value  ? 1
				          : m[i + y].value == m[i + x].value ? 0.5
				                                             : 0;
	}
	k = (double)places;
	for (size_t x = 0; x < places; x++)
		h += sum[x] * sum[x];
	free(sum);
	if (blocks < PLACE_BLOCKS)
		return 0;
	test->statistic = 12 / ((double)blocks * k * (k + 1)) * h - 3 * (double)blocks * (k + 1);
	test->p = gsl_cdf_chisq_Q(fmax(test->statistic, 0), k - 1);
	return 0;
}

/* R is from MEASURED, so what came before can be seen even if it was dropped. */
static int test_before(const struct residual *r, size_t n, double *values, unsigned int *group,
                       struct stats_test *test)
{
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		if (!r[i].when || r[i].of[-1].cell == r[i].of->cell)
			continue;
		values[used] = r[i].value;
		group[used++] = r[i].of[-1].cell;
	}
	return stats_groups(values, group, used, test);
}

static double neighbours(const double *values, size_t count, double mean)
{
	double sum = 0;

	for (size_t i = 1; i < count; i++)
		sum += (values[i] - mean) * (values[i - 1] - mean);
	return sum;
}

/* The residuals' autocorrelation against what it is with each cell's values shuffled among its places (a
 * permutation test; Good, Permutation, Parametric and Bootstrap Tests of Hypotheses, 2005, 3.2): medians
 * taken out leave neighbours of one cell correlated, of which the normal approximation knows nothing. CELLS
 * has N residuals, VALUES theirs in the order of time; both are changed. */
static int test_lag1(struct residual *cells, double *values, size_t n, struct stats_test *test)
{
	size_t shuffles = n ? SHUFFLED_VALUES / n : 0, more = 0, less = 0;
	double *shuffled = calloc(n + 1, sizeof(*shuffled)), mean = 0, seen;
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	*test = stats_lag1(values, n);
	test->p = 1;
	shuffles = shuffles < SHUFFLES_LEAST  ? SHUFFLES_LEAST
	           : shuffles > SHUFFLES_MOST ? SHUFFLES_MOST
	                                      : shuffles;
	if (!shuffled || !rng || n < LAG1_LEAST) {
		int r = shuffled && rng ? 0 : -ENOMEM;

		free(shuffled);
		gsl_rng_free(rng);
		return r;
	}
	gsl_rng_set(rng, STATS_SEED);
	for (size_t i = 0; i < n; i++)
		mean += values[i] / (double)n;
	seen = neighbours(values, n, mean);
	qsort(cells, n, sizeof(*cells), by_cell);
	for (size_t i = 0; i < n; i++)
		shuffled[i] = cells[i].value;
	for (size_t k = 0; k < shuffles; k++) {
		double now;

		for (size_t first = 0, end; first < n; first = end) {
			for (end = first; end < n && cells[end].of->cell == cells[first].of->cell;)
				end++;
			gsl_ran_shuffle(rng, shuffled + first, end - first, sizeof(*shuffled));
		}
		for (size_t i = 0; i < n; i++)
			values[cells[i].at] = shuffled[i];
		now = neighbours(values, n, mean);
		more += now >= seen;
		less += now <= seen;
	}
	test->p = fmin(1, 2 * (double)(1 + (more < less ? more : less)) / (double)(1 + shuffles));
	free(shuffled);
	gsl_rng_free(rng);
	return 0;
}

int stats_order(const struct stats_measured *measured, size_t count, struct stats_order *order)
{
	struct residual *r = calloc(count + 1, sizeof(*r));
	double *values = calloc(count + 1, sizeof(*values));
	unsigned int *group = calloc(count + 1, sizeof(*group));
	int result = -ENOMEM;

	*order = (struct stats_order){{0, 1}, {0, 1}, {0, 1}, {0, 1}, 0};
	if (r && values && group) {
		for (size_t i = 0; i < count; i++)
			r[i] = (struct residual){0, &measured[i], i, 0};
		order->used = take_cells_out(r, count);
		result = test_before(r, order->used, values, group, &order->before);
		if (!result)
			result = test_place(measured, count, &order->place);
		for (size_t i = 0; i < order->used; i++) {
			values[i] = r[i].value;
			r[i].at = i;
		}
		if (!result) {
			order->drift = stats_drift(values, order->used);
			result = test_lag1(r, values, order->used, &order->lag1);
		}
	}
	free(r);
	free(values);
	free(group);
	return result;
}
