/* SPDX-License-Identifier: GPL-2.0-or-later
 * Variance by level, and how often to repeat at each: Kalibera and Jones, ISMM 2013. */
#include "stats.h"

#include <gsl/gsl_cdf.h>

#include <math.h>

enum { SAMPLES_LIMIT = 1000, BOOTS_LIMIT = 10000 };

static double mean_of(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum / (double)n;
}

/* Sum over N groups of SIZE values of the squared deviations of the groups' means from the mean of all. */
static double squares_of(const double *values, size_t n, size_t size)
{
	double mean = mean_of(values, n * size), sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += pow(mean_of(values + i * size, size) - mean, 2);
	return sum;
}

void stats_split(const double *values, size_t r3, size_t r2, size_t r1, struct stats_split *out)
{
	const size_t r[] = {r1, r2, r3};
	double below = 0; /* S_i^2 / r_i of the level below that was repeated */

	*out = (struct stats_split){.boot_p = 1, .mean = mean_of(values, r3 * r2 * r1)};
	for (size_t i = 0, size = 1, above = r3 * r2; i < 3; size *= r[i], i++, above = i < 2 ? r3 : 1) {
		double sum = 0;

		if (r[i] < 2)
			continue;
		for (size_t k = 0; k < above; k++)
			sum += squares_of(values + k * size * r[i], r[i], size);
		out->known[i] = true;
		out->s2[i] = sum / (double)(above * (r[i] - 1));
		out->t2[i] = fmax(out->s2[i] - below, 0);
		below = out->s2[i] / (double)r[i];
	}
	if (out->known[1] && out->s2[0] > 0)
		out->boot_p = gsl_cdf_fdist_Q((double)r1 * out->s2[1] / out->s2[0], (double)(r3 * (r2 - 1)),
		                              (double)(r3 * r2 * (r1 - 1)));
}

double stats_eta_squared(const double *means, const unsigned int *level, size_t count)
{
	double grand = mean_of(means, count), total = squares_of(means, count, 1), between = 0;

	for (size_t i = 0; i < count; i++) {
		double sum = 0;
		size_t n = 0;

		for (size_t k = 0; k < count; k++)
			if (level[k] == level[i]) {
				sum += means[k];
				n++;
			}
		between += pow(sum / (double)n - grand, 2);
	}
	return total > 0 ? between / total : 0;
}

/* Whether half of the interval of the median of N values with standard deviation 1 is expected to be within
 * HALF: the order statistics that bound it (as stats_median_interval() takes them), by Blom's normal scores.
 */
static bool median_within(size_t n, double half, double confidence)
{
	size_t low = 1, high = (n + 1) / 2;

	while (low < high) { /* the largest k whose interval still covers enough */
		size_t k = (low + high + 1) / 2;

		if (1 - 2 * gsl_cdf_binomial_P((unsigned int)k - 1, 0.5, (unsigned int)n) >= confidence)
			low = k;
		else
			high = k - 1;
	}
	return -gsl_cdf_ugaussian_Pinv(((double)low - 0.375) / ((double)n + 0.25)) <= half;
}

static bool mean_within(size_t n, double half, double confidence)
{
	return gsl_cdf_tdist_Qinv((1 - confidence) / 2, (double)(n - 1)) / sqrt((double)n) <= half;
}

static size_t least(bool (*within)(size_t, double, double), size_t n, double half, double confidence)
{
	while (n < BOOTS_LIMIT && !within(n, half, confidence))
		n++;
	return n;
}

size_t stats_boots_for(double deviation, double precision, double confidence)
{
	size_t n = stats_median_needs(confidence);

	return deviation > 0 ? least(median_within, n, precision / deviation, confidence) : n;
}

struct stats_repeats stats_repeats(const struct stats_split *pilot, double sample_cost, double boot_cost,
                                   double precision, double confidence)
{
	struct stats_repeats r = {.samples = 1};
	double boot_mean, best = SAMPLES_LIMIT;

	if (pilot->t2[0] <= 0)
		best = 1;
	else if (pilot->t2[1] > 0 && sample_cost > 0)
		best = ceil(sqrt(boot_cost / sample_cost * pilot->t2[0] / pilot->t2[1]));
	else if (precision > 0 &&
	         pilot->mean > 0) /* boots add nothing: as many as one boot alone would need */
		best = ceil(pilot->t2[0] / pow(precision * pilot->mean, 2));
	r.samples_limited = best > SAMPLES_LIMIT;
	r.samples = (size_t)fmin(fmax(best, 1), SAMPLES_LIMIT);
	boot_mean = sqrt(pilot->t2[1] + pilot->t2[0] / (double)r.samples) / pilot->mean;
	r.boots = stats_boots_for(boot_mean, precision, confidence);
	r.boots_mean = boot_mean > 0 ? least(mean_within, 2, precision / boot_mean, confidence) : 2;
	r.boots_limited = r.boots >= BOOTS_LIMIT;
	r.cost = (double)r.boots * (boot_cost + (double)r.samples * sample_cost);
	return r;
}
