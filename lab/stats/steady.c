/* SPDX-License-Identifier: GPL-2.0-or-later
 * Steady state by SNIA's rule. It is a gate, not a precision. */
#include "stats.h"

#include <gsl/gsl_fit.h>

#include <math.h>

enum { WINDOW = STATS_STEADY_ROUNDS };
static const double range_limit = 0.20, slope_limit = 0.10; /* of the mean, as PTS 2.0.2 has them */

static bool window_steady(const double *rounds, struct stats_steady *s)
{
	static const double at[WINDOW] = {0, 1, 2, 3, 4};
	double smallest = rounds[0], largest = rounds[0], c0, c1, cov00, cov01, cov11, sum_squares;

	s->mean = 0;
	for (size_t i = 0; i < WINDOW; i++) {
		s->mean += rounds[i] / WINDOW;
		smallest = fmin(smallest, rounds[i]);
		largest = fmax(largest, rounds[i]);
	}
	gsl_fit_linear(at, 1, rounds, 1, WINDOW, &c0, &c1, &cov00, &cov01, &cov11, &sum_squares);
	s->range_of_mean = s->mean > 0 ? (largest - smallest) / s->mean : INFINITY;
	s->slope_of_mean = s->mean > 0 ? fabs(c1) * (WINDOW - 1) / s->mean : INFINITY;
	return s->range_of_mean <= range_limit && s->slope_of_mean <= slope_limit;
}

void stats_steady(const double *rounds, size_t count, struct stats_steady *steady)
{
	*steady = (struct stats_steady){.mean = NAN, .range_of_mean = NAN, .slope_of_mean = NAN};
	for (size_t first = 0; first + WINDOW <= count && !steady->reached; first++) {
		steady->first = first;
		steady->reached = window_steady(rounds + first, steady);
	}
}
