/* SPDX-License-Identifier: GPL-2.0-or-later
 * Medians, their intervals by order statistics, and what a boot is worth. */
#include "stats.h"

#include <gsl/gsl_cdf.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double stats_quantile(const double *sorted, size_t count, double q)
{
	double at = q * (double)(count - 1);
	size_t i = (size_t)at;

	if (!count)
		return NAN;
	return i + 1 < count ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[count - 1];
}

double stats_median(double *values, size_t count)
{
	if (!count)
		return NAN;
	qsort(values, count, sizeof(*values), by_size);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* What is left when the K - 1 smallest and largest are cut off covers: 1 - 2 P(Binomial(COUNT, 1/2) < K). */
static double covered(size_t k, size_t count)
{
	double term = exp2(-(double)count), sum = 0;

	if (count > 1000) /* 2^-COUNT is no number any more */
		return 1 - 2 * gsl_cdf_binomial_P((unsigned int)k - 1, 0.5, (unsigned int)count);
	for (size_t i = 0; i < k; i++) {
		sum += term;
		term *= (double)(count - i) / (double)(i + 1);
	}
	return 1 - 2 * sum;
}

struct stats_interval stats_median_interval(double *values, size_t count, double confidence)
{
	struct stats_interval i = {NAN, NAN, 0};
	size_t k = 1;

	if (!count)
		return i;
	qsort(values, count, sizeof(*values), by_size);
	while (k < (count + 1) / 2 && covered(k + 1, count) >= confidence)
		k++;
	i.low = values[k - 1];
	i.high = values[count - k];
	i.confidence = count > 1 ? covered(k, count) : 0;
	return i;
}

size_t stats_median_needs(double confidence)
{
	size_t n = 2;

	while (n < 64 && 1 - exp2(1 - (double)n) < confidence)
		n++;
	return n;
}

static int by_boot(const void *a, const void *b)
{
	const struct stats_sample *x = a, *y = b;

	if (x->node != y->node)
		return (x->node > y->node) - (x->node < y->node);
	if (x->boot != y->boot)
		return (x->boot > y->boot) - (x->boot < y->boot);
	return (x->value > y->value) - (x->value < y->value);
}

long stats_boot_medians(const struct stats_sample *samples, size_t count, double *medians)
{
	struct stats_sample *sorted = calloc(count + 1, sizeof(*sorted));
	long boots = 0;

	if (!sorted)
		return -ENOMEM;
	if (count)
		memcpy(sorted, samples, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_boot);
	for (size_t first = 0, end; first < count; first = end) {
		size_t middle;

		for (end = first; end < count && sorted[end].boot == sorted[first].boot &&
		                  sorted[end].node == sorted[first].node;)
			end++;
		middle = first + (end - first) / 2;
		medians[boots++] = (end - first) % 2 ? sorted[middle].value
		                                     : (sorted[middle - 1].value + sorted[middle].value) / 2;
	}
	free(sorted);
	return boots;
}

int stats_figure(const struct stats_sample *samples, size_t count, double confidence, struct stats_figure *f)
{
	double *values = calloc(count + 1, sizeof(*values));
	size_t needed = stats_median_needs(confidence);
	long boots;

	*f = (struct stats_figure){.samples = count};
	if (!count || !values) {
		free(values);
		return values ? -EINVAL : -ENOMEM;
	}
	boots = stats_boot_medians(samples, count, values);
	if (boots < 0) {
		free(values);
		return (int)boots;
	}
	f->boots = (size_t)boots;
	f->boots_needed = f->boots < needed ? needed - f->boots : 0;
	f->median = stats_median(values, f->boots);
	f->interval = stats_median_interval(values, f->boots, confidence);
	f->basis = boots > 1 ? STATS_BOOTS : STATS_NOTHING;
	f->enough = boots > 1 && f->interval.confidence >= confidence;
	for (size_t i = 0; i < count; i++)
		values[i] = samples[i].value;
	qsort(values, count, sizeof(*values), by_size);
	f->smallest = values[0];
	f->largest = values[count - 1];
	if (boots == 1 && count > 1) {
		f->interval = stats_median_interval(values, count, confidence);
		f->basis = STATS_SAMPLES;
	}
	free(values);
	return 0;
}
