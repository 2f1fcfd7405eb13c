/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the order of measuring explains, once the cells' own differences are taken out. */
#include "stats.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_BLOCKS = 5 }; /* for the approximation by chi squared */
/* As many as are needed to speak of p = 0.01, and no more than 2,000,000 values are shuffled beyond these. */
enum { SHUFFLES_LEAST = 399, SHUFFLES_MOST = 999, SHUFFLED_VALUES = 2000000, LAG1_LEAST = 8 };

struct residual {
	double value;
	const struct stats_measured *of;
	size_t when;
	size_t visit; /* samples of a cell one after the other in a boot */
	size_t at;    /* place among those that are left */
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

/* Residuals that may change places with each other: those of one visit, or of one cell. */
static size_t group_of(const struct residual *r, bool by_visit)
{
	return by_visit ? r->visit : r->of->cell;
}

static size_t group_end(const struct residual *r, size_t first, size_t n, bool by_visit)
{
	size_t end = first;

	while (end < n && group_of(&r[end], by_visit) == group_of(&r[first], by_visit))
		end++;
	return end;
}

/* Numbers the visits. Whether one has several samples. */
static bool number_visits(struct residual *r, size_t n)
{
	bool several = false;

	for (size_t i = 1; i < n; i++) {
		bool same = r[i].of->cell == r[i - 1].of->cell && r[i].of->place > r[i - 1].of->place;

		r[i].visit = r[i - 1].visit + !same;
		several = several || same;
	}
	return several;
}

/* Means of the visits, to VALUES. How many. */
static size_t visit_means(const struct residual *r, size_t n, double *values)
{
	size_t visits = 0;

	for (size_t first = 0, end; first < n; first = end) {
		values[visits] = 0;
		end = group_end(r, first, n, true);
		for (size_t i = first; i < end; i++)
			values[visits] += r[i].value / (double)(end - first);
		visits++;
	}
	return visits;
}

/* Deviations from the mean of the visit, or of all. */
static void deviate(const struct residual *r, size_t n, bool by_visit, double *values)
{
	for (size_t first = 0, end; first < n; first = end) {
		double mean = 0;

		end = by_visit ? group_end(r, first, n, true) : n;
		for (size_t i = first; i < end; i++)
			mean += r[i].value / (double)(end - first);
		for (size_t i = first; i < end; i++)
			values[i] = r[i].value - mean;
	}
}

/* Sum of the products of neighbours, within visits or all. R is in the order of time. */
static double neighbours(const struct residual *r, const double *values, size_t n, bool by_visit)
{
	double sum = 0;

	for (size_t i = 1; i < n; i++)
		if (!by_visit || r[i].visit == r[i - 1].visit)
			sum += values[i] * values[i - 1];
	return sum;
}

struct shuffles {
	double mean;
	size_t count, more, less; /* at least, at most what was seen */
};

/* CELLS are R in the order of groups. VALUES are changed. */
static void shuffle(const struct residual *r, const struct residual *cells, size_t n, bool by_visit,
                    double *values, double *shuffled, gsl_rng *rng, struct shuffles *s)
{
	double seen = neighbours(r, values, n, by_visit);

	for (size_t i = 0; i < n; i++)
		shuffled[i] = values[cells[i].at];
	for (size_t k = 0; k < s->count; k++) {
		double now;

		for (size_t first = 0, end; first < n; first = end) {
			end = group_end(cells, first, n, by_visit);
			gsl_ran_shuffle(rng, shuffled + first, end - first, sizeof(*shuffled));
		}
		for (size_t i = 0; i < n; i++)
			values[cells[i].at] = shuffled[i];
		now = neighbours(r, values, n, by_visit);
		s->mean += now / (double)s->count;
		s->more += now >= seen;
		s->less += now <= seen;
	}
}

/* Whether one sample tells of the next, against what comes of shuffling (a permutation test; Good,
 * Permutation, Parametric and Bootstrap Tests of Hypotheses, 2005, 3.2): means taken out leave neighbours
 * correlated, of which the normal approximation knows nothing. Where boots have several samples of a cell
 * these are shuffled among themselves, so that what the boot does to all of them does not count; else those
 * of a cell. */
static int test_lag1(const struct residual *r, double *values, size_t n, bool by_visit,
                     struct stats_test *test)
{
	struct residual *cells = calloc(n + 1, sizeof(*cells));
	double *shuffled = calloc(n + 1, sizeof(*shuffled)), seen, squares = 0;
	size_t count = n ? SHUFFLED_VALUES / n : 0;
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct shuffles s = {.count = count < SHUFFLES_LEAST  ? SHUFFLES_LEAST
	                              : count > SHUFFLES_MOST ? SHUFFLES_MOST
	                                                      : count};
	int result = cells && shuffled && rng ? 0 : -ENOMEM;

	if (!result && n >= LAG1_LEAST) {
		memcpy(cells, r, n * sizeof(*cells));
		if (!by_visit)
			qsort(cells, n, sizeof(*cells), by_cell);
		deviate(r, n, by_visit, values);
		seen = neighbours(r, values, n, by_visit);
		for (size_t i = 0; i < n; i++)
			squares += values[i] * values[i];
		gsl_rng_set(rng, STATS_SEED);
		shuffle(r, cells, n, by_visit, values, shuffled, rng, &s);
		if (squares > 0)
			test->statistic = (seen - s.mean) / squares;
		test->p =
		    fmin(1, 2 * (double)(1 + (s.more < s.less ? s.more : s.less)) / (double)(1 + s.count));
	}
	free(cells);
	free(shuffled);
	gsl_rng_free(rng);
	return result;
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
			r[i] = (struct residual){.of = &measured[i], .when = i};
		order->used = take_cells_out(r, count);
		result = test_before(r, order->used, values, group, &order->before);
		if (!result)
			result = test_place(measured, count, &order->place);
		bool by_visit = number_visits(r, order->used);

		for (size_t i = 0; i < order->used; i++)
			r[i].at = i;
		order->drift = stats_drift(values, visit_means(r, order->used, values));
		if (!result)
			result = test_lag1(r, values, order->used, by_visit, &order->lag1);
	}
	free(r);
	free(values);
	free(group);
	return result;
}
