/* SPDX-License-Identifier: GPL-2.0-or-later
 * Kalibera and Jones, "Rigorous benchmarking in reasonable time", ISMM 2013: S_i^2 is the variance of the
 * means of level i, T_i^2 = S_i^2 - S_(i-1)^2 / r_(i-1) what level i adds. Cells are pooled. */
#include "variance.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

static double mean_of(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum / (double)n;
}

/* Sum of squared deviations from the mean. */
static double squares_of(const double *values, size_t n)
{
	double mean = mean_of(values, n), sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sum;
}

/* Squares of the boots' means around the cell's. */
static double boot_squares(const double *cell, size_t boots, size_t samples)
{
	double mean = mean_of(cell, boots * samples), sum = 0;

	for (size_t b = 0; b < boots; b++)
		sum += pow(mean_of(cell + b * samples, samples) - mean, 2);
	return sum;
}

void variance_split(const double *values, size_t cells, size_t boots, size_t samples, struct variance *out)
{
	double s1 = 0, s2 = 0, s3 = 0, grand = mean_of(values, cells * boots * samples);
	double free1 = (double)(cells * boots * (samples - 1)), free2 = (double)(cells * (boots - 1));

	*out = (struct variance){.boot_p = 1, .boot_known = boots > 1, .cells_known = cells > 1};
	for (size_t c = 0; c < cells; c++) {
		const double *cell = values + c * boots * samples;

		for (size_t b = 0; b < boots; b++)
			s1 += squares_of(cell + b * samples, samples);
		s2 += boot_squares(cell, boots, samples);
		s3 += pow(mean_of(cell, boots * samples) - grand, 2);
	}
	s1 /= free1;
	out->sample = s1;
	if (out->boot_known) {
		s2 /= free2;
		out->boot = fmax(s2 - s1 / (double)samples, 0);
		if (s1 > 0)
			out->boot_p = gsl_cdf_fdist_Q((double)samples * s2 / s1, free2, free1);
	}
	if (out->cells_known) {
		double noise = out->boot_known ? s2 / (double)boots : s1 / (double)samples;

		out->cells = fmax(s3 / (double)(cells - 1) - noise, 0);
	}
}

double variance_eta_squared(const double *means, const unsigned int *level, size_t count)
{
	double grand = mean_of(means, count), total = squares_of(means, count), between = 0;

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
