/* SPDX-License-Identifier: GPL-2.0-or-later
 * One change point in a rate over time. */
#include "stats.h"

#include <gsl/gsl_fit.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHORTEST = 3 };            /* rounds that a level lasts */
static const double least = 0.05; /* that the levels differ, of the higher */

/* Sums of squares left by one level, by the best two, by a line. */
struct fits {
	double one, two, line;
	size_t at;
};

static void fit(const double *x, size_t n, double *time, struct fits *f)
{
	double sum = 0, squares = 0, left = 0, c0, c1, cov00, cov01, cov11, mean = 0;

	for (size_t i = 0; i < n; i++)
		mean += x[i] / (double)n;
	for (size_t i = 0; i < n; i++) { /* from the mean, so that squares do not cancel */
		time[i] = (double)i;
		sum += x[i] - mean;
		squares += (x[i] - mean) * (x[i] - mean);
	}
	f->one = f->two = squares - sum * sum / (double)n;
	for (size_t k = 1; k + SHORTEST <= n; k++) {
		double right, rss;

		left += x[k - 1] - mean;
		right = sum - left;
		rss = squares - left * left / (double)k - right * right / (double)(n - k);
		if (k >= SHORTEST && rss < f->two) {
			f->two = rss;
			f->at = k;
		}
	}
	f->two = fmax(f->two, f->one * 1e-12);
	gsl_fit_linear(time, 1, x, 1, n, &c0, &c1, &cov00, &cov01, &cov11, &f->line);
}

/* How many independent values N are worth, from the lag-1 autocorrelation of what two levels leave
 * (Bartlett). */
static double effective(const double *x, size_t n, size_t at, double before, double after, double *left)
{
	double rho;

	for (size_t i = 0; i < n; i++)
		left[i] = x[i] - (i < at ? before : after);
	rho = fmin(fmax(stats_lag1(left, n).statistic, 0), 0.99);
	return (double)n * (1 - rho) / (1 + rho);
}

static double mean_of(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}

int stats_knee(const double *rounds, size_t count, struct stats_knee *knee)
{
	double *room = calloc(count + 1, sizeof(*room)), n = (double)count, worth, share;
	struct fits f = {0};

	*knee = (struct stats_knee){.at = count, .before = NAN, .after = NAN};
	if (!room || !count) {
		free(room);
		return room ? 0 : -ENOMEM;
	}
	memcpy(room, rounds, count * sizeof(*room));
	knee->before = knee->after = stats_median(room, count);
	if (count >= 2 * (size_t)SHORTEST)
		fit(rounds, count, room, &f);
	if (f.at) {
		worth = effective(rounds, count, f.at, mean_of(rounds, f.at),
		                  mean_of(rounds + f.at, count - f.at), room);
		share = (double)f.at / n;
		knee->gain = worth * log(f.one / f.two);
		knee->threshold = 3 * log(n) + log(share) + log(1 - share);
		knee->found = knee->gain > knee->threshold && worth * log(f.line / f.two) > log(n);
	}
	if (knee->found) {
		memcpy(room, rounds, count * sizeof(*room));
		double before = stats_median(room, f.at), after = stats_median(room + f.at, count - f.at);

		knee->found = fabs(before - after) >= least * fmax(fabs(before), fabs(after));
		if (knee->found) {
			knee->at = f.at;
			knee->before = before;
			knee->after = after;
		}
	}
	free(room);
	return 0;
}
