/* SPDX-License-Identifier: GPL-2.0-or-later
 * Whether time, place or neighbours explain anything. */
#include "stats.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 8 }; /* values, for a normal approximation */

static double two_sided(double z)
{
	return fmin(1, 2 * gsl_cdf_ugaussian_Q(fabs(z)));
}

struct stats_test stats_lag1(const double *values, size_t count)
{
	struct stats_test test = {0, 1};
	double mean = 0, all = 0, neighbours = 0, n = (double)count;

	for (size_t i = 0; i < count; i++)
		mean += values[i] / n;
	for (size_t i = 0; i < count; i++) {
		all += (values[i] - mean) * (values[i] - mean);
		if (i)
			neighbours += (values[i] - mean) * (values[i - 1] - mean);
	}
	if (!(all > 0))
		return test;
	test.statistic = neighbours / all;
	if (count >= LEAST)
		test.p = two_sided((test.statistic + 1 / n) * n * sqrt(n - 1) / (n - 2));
	return test;
}

/* Sum of f(t) over groups of t equal values. */
static double ties(const double *sorted, size_t count, double (*f)(double))
{
	double sum = 0;

	for (size_t i = 0, end; i < count; i = end) {
		for (end = i; end < count && sorted[end] == sorted[i];)
			end++;
		sum += f((double)(end - i));
	}
	return sum;
}

static double tie_pairs(double t)
{
	return t * (t - 1) / 2;
}

static double tie_variance(double t)
{
	return t * (t - 1) * (2 * t + 5);
}

static double tie_cubes(double t)
{
	return t * t * t - t;
}

/* Sorts X by merging, and counts pairs that stood the other way round. */
static double sort_counting(double *x, size_t n, double *room)
{
	size_t half = n / 2, i = 0, k = half, to = 0;
	double inversions;

	if (n < 2)
		return 0;
	inversions = sort_counting(x, half, room) + sort_counting(x + half, n - half, room);
	while (i < half || k < n)
		if (k == n || (i < half && x[i] <= x[k])) {
			room[to++] = x[i++];
		} else {
			inversions += (double)(half - i);
			room[to++] = x[k++];
		}
	memcpy(x, room, n * sizeof(*x));
	return inversions;
}

/* How likely COUNT values without ties, fewer than LEAST, have S or more pairs that rise than that fall, by
 * the number of orders with so many inversions (Kendall 1938). */
static double drift_exact(size_t count, double s)
{
	double orders[LEAST * LEAST] = {1}, all = 1, more = 0;
	size_t pairs = count * (count - 1) / 2;

	for (size_t n = 2; n <= count; n++) {
		double next[LEAST * LEAST] = {0};

		for (size_t k = 0; k <= n * (n - 1) / 2; k++)
			for (size_t j = 0; j < n && j <= k; j++)
				next[k] += orders[k - j];
		memcpy(orders, next, sizeof(orders));
		all *= (double)n;
	}
	for (size_t k = 0; k <= pairs; k++)
		more += (double)pairs - 2 * (double)k >= s ? orders[k] : 0;
	return more / all;
}

struct stats_test stats_drift(const double *values, size_t count)
{
	double *sorted = calloc(count + 1, sizeof(*sorted)), *room = calloc(count + 1, sizeof(*room));
	double n = (double)count, s, pairs = tie_pairs(n), untied, variance;
	struct stats_test test = {0, 1};

	if (sorted && room && count) {
		memcpy(sorted, values, count * sizeof(*sorted));
		s = -2 * sort_counting(sorted, count, room);
		untied = pairs - ties(sorted, count, tie_pairs);
		s += untied;
		variance = (tie_variance(n) - ties(sorted, count, tie_variance)) / 18;
		if (variance > 0)
			test.statistic = s / sqrt(pairs * untied);
		if (variance > 0 && count >= LEAST && s != 0)
			test.p = two_sided((fabs(s) - 1) / sqrt(variance));
		else if (count > 1 && count < LEAST && !(untied < pairs))
			test.p = fmin(1, 2 * drift_exact(count, fabs(s)));
	}
	free(sorted);
	free(room);
	return test;
}

/* Mean ranks of VALUES, from 1. */
static void ranks(const double *values, const size_t *order, size_t count, double *rank)
{
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i; end < count && values[order[end]] == values[order[i]];)
			end++;
		for (size_t k = i; k < end; k++)
			rank[order[k]] = (double)(i + 1 + end) / 2;
	}
}

/* SUM and SIZE have room for a group each, all 0. */
static void kruskal_wallis(const double *sorted, const double *rank, const unsigned int *group, size_t count,
                           double *sum, double *size, struct stats_test *test)
{
	double n = (double)count, h = 0, untied = 1 - ties(sorted, count, tie_cubes) / (n * n * n - n);
	unsigned int used = 0;

	for (size_t i = 0; i < count; i++) {
		sum[group[i]] += rank[i];
		size[group[i]]++;
	}
	for (size_t i = 0; i < count; i++) {
		unsigned int g = group[i];

		if (!(size[g] > 0))
			continue;
		h += sum[g] * sum[g] / size[g];
		size[g] = 0;
		used++;
	}
	h = 12 / (n * (n + 1)) * h - 3 * (n + 1);
	if (used < 2 || !(untied > 0))
		return;
	test->statistic = h / untied;
	if (count >= LEAST && count > used)
		test->p = gsl_cdf_chisq_Q(fmax(test->statistic, 0), used - 1);
}

int stats_groups(const double *values, const unsigned int *group, size_t count, struct stats_test *test)
{
	double *rank = calloc(count + 1, sizeof(*rank)), *sorted = calloc(count + 1, sizeof(*sorted));
	size_t *order = calloc(count + 1, sizeof(*order)), groups = 1;
	int r = -ENOMEM;

	*test = (struct stats_test){0, 1};
	for (size_t i = 0; i < count; i++)
		groups = group[i] >= groups ? (size_t)group[i] + 1 : groups;
	double *sum = calloc(groups, sizeof(*sum)), *size = calloc(groups, sizeof(*size));
	if (rank && sorted && order && sum && size) {
		gsl_sort_index(order, values, 1, count);
		ranks(values, order, count, rank);
		for (size_t i = 0; i < count; i++)
			sorted[i] = values[order[i]];
		if (count > 1)
			kruskal_wallis(sorted, rank, group, count, sum, size, test);
		r = 0;
	}
	free(rank);
	free(sorted);
	free(order);
	free(sum);
	free(size);
	return r;
}
