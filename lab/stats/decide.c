/* SPDX-License-Identifier: GPL-2.0-or-later
 * Decisions on one figure: accepted or not, measured well enough or not. */
#include "stats.h"

#include <gsl/gsl_statistics_double.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Boots in all after which the interval should be off BOUND; 0: not within reach. */
static size_t boots_until(const double *medians, size_t boots, double gap, double confidence)
{
	size_t wanted;

	if (boots < 2)
		return stats_median_needs(confidence);
	if (!(gap > 0))
		return 0;
	wanted = stats_boots_for(gsl_stats_sd(medians, 1, boots), gap, confidence);
	return wanted >= 10000 ? 0 : wanted > boots ? wanted : boots + 1;
}

int stats_accept(const struct stats_sample *samples, size_t count, bool at_least, double bound,
                 double confidence, struct stats_decision *decision)
{
	double *medians = calloc(count + 1, sizeof(*medians));
	struct stats_figure figure;
	int r = medians ? stats_figure(samples, count, confidence, &figure) : -ENOMEM;

	*decision = (struct stats_decision){.acceptance = STATS_INCONCLUSIVE};
	if (!r) {
		double low = figure.interval.low, high = figure.interval.high;
		long boots = stats_boot_medians(samples, count, medians);

		if (boots < 0)
			r = (int)boots;
		else if (figure.enough && (at_least ? low >= bound : high <= bound))
			decision->acceptance = STATS_PASS;
		else if (figure.enough && (at_least ? high < bound : low > bound))
			decision->acceptance = STATS_FAIL;
		else if (boots > 0) {
			size_t all =
			    boots_until(medians, (size_t)boots, fabs(figure.median - bound), confidence);

			decision->more_boots = all ? all - (size_t)boots : 0;
		}
	}
	free(medians);
	return r;
}

bool stats_precise(const struct stats_figure *figure, double precision)
{
	double half = fmax(figure->interval.high - figure->median, figure->median - figure->interval.low);

	return figure->enough && half <= precision * fabs(figure->median);
}
