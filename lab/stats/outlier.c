/* SPDX-License-Identifier: GPL-2.0-or-later
 * Iglewicz and Hoaglin, How to detect and handle outliers, 1993: modified z scores. */
#include "stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIBLINGS = 5 };
static const double limit = 3.5,
                    least = 0.01; /* least: of the median, so that siblings much alike are left alone */

long stats_outliers(const double *values, size_t count, double *score, bool *outlier)
{
	double *room = calloc(count + 1, sizeof(*room)), median, scale, mean = 0;
	long found = 0;

	if (!room)
		return -ENOMEM;
	if (count)
		memcpy(room, values, count * sizeof(*room));
	median = stats_median(room, count);
	for (size_t i = 0; i < count; i++) {
		room[i] = fabs(values[i] - median);
		mean += room[i] / (double)count;
	}
	scale = 1.4826 * stats_median(room, count);
	if (!(scale >
	      0)) /* more than half of them are the same: the mean deviation, as the authors have it */
		scale = 1.2533 * mean;
	for (size_t i = 0; i < count; i++) {
		score[i] = scale > 0 ? (values[i] - median) / scale : 0;
		outlier[i] = count >= SIBLINGS && fabs(score[i]) > limit &&
		             fabs(values[i] - median) >= least * fabs(median);
		found += outlier[i];
	}
	free(room);
	return found;
}
