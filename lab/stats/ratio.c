/* SPDX-License-Identifier: GPL-2.0-or-later
 * Two sides: their ratio by ranks, and the verdict. */
#include "stats.h"

#include <gsl/gsl_cdf.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { EXACT_PAIRS = 1600 }; /* above: by the normal approximation */

/* Null distribution of the rank-sum statistic U of N and M values: P(U <= u) to CDF, which has N * M + 1
 * rooms. p(u; i, j) = i / (i + j) p(u - j; i - 1, j) + j / (i + j) p(u; i, j - 1) (Mann and Whitney 1947). */
static int rank_sum_exact(size_t n, size_t m, double *cdf)
{
	size_t pairs = n * m, row = pairs + 1;
	double *p = calloc((n + 1) * row, sizeof(*p)), sum = 0;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i <= n; i++)
		p[i * row] = 1;
	for (size_t j = 1; j <= m; j++)
		for (size_t i = 1; i <= n; i++)
			for (size_t u = i * j + 1; u-- > 0;) {
				double from = u >= j ? p[(i - 1) * row + u - j] : 0, all = (double)(i + j);

				p[i * row + u] = (double)i / all * from + (double)j / all * p[i * row + u];
			}
	for (size_t u = 0; u <= pairs; u++)
		cdf[u] = sum += p[n * row + u];
	free(p);
	return 0;
}

static void rank_sum_normal(size_t n, size_t m, double *cdf)
{
	double mean = (double)(n * m) / 2, sd = sqrt((double)(n * m) * (double)(n + m + 1) / 12);

	for (size_t u = 0; u <= n * m; u++)
		cdf[u] = gsl_cdf_ugaussian_P(((double)u + 0.5 - mean) / sd);
}

/* How likely as many quotients as are above FACTOR (or below, with ABOVE false) are, or more, if the true one
 * is at FACTOR. Ties speak against it. */
static double chance(const double *sorted, size_t pairs, double factor, bool above, const double *cdf)
{
	size_t u = 0;

	for (size_t i = 0; i < pairs; i++)
		u += above ? sorted[i] > factor : sorted[i] < factor;
	return u ? 1 - cdf[u - 1] : 1;
}

static bool positive(const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!(values[i] > 0) || !isfinite(values[i]))
			return false;
	return count > 0;
}

static void from_quotients(double *q, size_t pairs, const double *cdf, double margin, double confidence,
                           struct stats_ratio *r)
{
	double tail = (1 - confidence) / 2;
	size_t k = 0; /* how many quotients are cut off at each end */

	r->median = stats_median(q, pairs);
	while (2 * (k + 1) < pairs && cdf[k] <= tail * (1 + 1e-12))
		k++;
	r->enough = k > 0;
	k = k ? k - 1 : 0;
	r->interval = (struct stats_interval){q[k], q[pairs - 1 - k], fmax(1 - 2 * cdf[k], 0)};
	r->p_above = chance(q, pairs, 1 + margin, true, cdf);
	r->p_below = chance(q, pairs, 1 / (1 + margin), false, cdf);
	r->p_differs = fmin(1, 2 * fmin(r->p_above, r->p_below));
	r->p_apart =
	    fmax(chance(q, pairs, 1 / (1 + margin), true, cdf), chance(q, pairs, 1 + margin, false, cdf));
}

int stats_ratio(const double *a, size_t a_count, const double *b, size_t b_count, double margin,
                double confidence, struct stats_ratio *ratio)
{
	size_t pairs = a_count * b_count;
	double *q, *cdf;
	int r = 0;

	*ratio = (struct stats_ratio){.p_above = 1, .p_below = 1, .p_differs = 1, .p_apart = 1};
	if (!positive(a, a_count) || !positive(b, b_count))
		return -EINVAL;
	q = calloc(pairs, sizeof(*q));
	cdf = calloc(pairs + 1, sizeof(*cdf));
	if (!q || !cdf)
		r = -ENOMEM;
	else if (pairs <= EXACT_PAIRS)
		r = rank_sum_exact(a_count, b_count, cdf);
	else
		rank_sum_normal(a_count, b_count, cdf);
	if (!r) {
		for (size_t i = 0; i < a_count; i++)
			for (size_t k = 0; k < b_count; k++)
				q[i * b_count + k] = b[k] / a[i];
		from_quotients(q, pairs, cdf, margin, confidence, ratio);
	}
	free(q);
	free(cdf);
	return r;
}

size_t stats_ratio_needs(double alpha, size_t comparisons)
{
	double chance_of_all = 1; /* one order of 2n values of (2n over n) */
	size_t n = 0;

	while (n < 64 && chance_of_all > alpha / 2 / (double)comparisons) {
		n++;
		chance_of_all *= (double)(n * n) / (double)((2 * n) * (2 * n - 1));
	}
	return n;
}

/* Mean and variance of logarithms. */
static void logs(const double *x, size_t n, double *mean, double *variance)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		sum += log(x[i]);
	for (size_t i = 0; i < n; i++)
		squares += pow(log(x[i]) - sum / (double)n, 2);
	*mean = sum / (double)n;
	*variance = squares / (double)(n - 1);
}

size_t stats_ratio_more(const double *a, size_t a_count, const double *b, size_t b_count, double margin,
                        double alpha)
{
	double mean_a, mean_b, var_a, var_b, gap, n;

	if (a_count < 2 || b_count < 2)
		return 0;
	logs(a, a_count, &mean_a, &var_a);
	logs(b, b_count, &mean_b, &var_b);
	gap = fabs(fabs(mean_b - mean_a) - log1p(margin)); /* to the nearer edge */
	n = pow(gsl_cdf_ugaussian_Qinv(alpha / 2) + gsl_cdf_ugaussian_Qinv(0.2), 2) * (var_a + var_b) /
	    (gap * gap);
	n = ceil(n * M_PI / 3);
	return n < 10000 ? (size_t)n : 0;
}

enum stats_verdict stats_verdict(const struct stats_ratio *ratio, bool more_is_better, double p_differs,
                                 double p_apart, double alpha)
{
	if (p_differs <= alpha)
		return (ratio->p_above < ratio->p_below) == more_is_better ? STATS_BETTER : STATS_WORSE;
	return p_apart <= alpha ? STATS_SAME : STATS_UNDECIDED;
}

const char *stats_verdict_text(enum stats_verdict verdict)
{
	static const char *const texts[] = {"same", "better", "worse", "undecided"};

	return texts[verdict];
}
