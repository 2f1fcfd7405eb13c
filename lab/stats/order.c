/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the order of measuring explains, once the cells' own differences are taken out. */
#include "stats.h"

#include <gsl/gsl_cdf.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { PLACE_BLOCKS = 5 }; /* for the approximation by chi squared */

struct residual {
	double value;
	const struct stats_measured *of;
	size_t when;
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

int stats_order(const struct stats_measured *measured, size_t count, struct stats_order *order)
{
	struct residual *r = calloc(count + 1, sizeof(*r));
	double *values = calloc(count + 1, sizeof(*values));
	unsigned int *group = calloc(count + 1, sizeof(*group));
	int result = -ENOMEM;

	*order = (struct stats_order){{0, 1}, {0, 1}, {0, 1}, {0, 1}, 0};
	if (r && values && group) {
		for (size_t i = 0; i < count; i++)
			r[i] = (struct residual){0, &measured[i], i};
		order->used = take_cells_out(r, count);
		result = test_before(r, order->used, values, group, &order->before);
		if (!result)
			result = test_place(measured, count, &order->place);
		for (size_t i = 0; i < order->used; i++)
			values[i] = r[i].value;
		if (!result) {
			order->drift = stats_drift(values, order->used);
			order->lag1 = stats_lag1(values, order->used);
		}
	}
	free(r);
	free(values);
	free(group);
	return result;
}
