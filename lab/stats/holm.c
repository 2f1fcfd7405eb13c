/* SPDX-License-Identifier: GPL-2.0-or-later
 * Holm, A simple sequentially rejective multiple test procedure, 1979. */
#include "stats.h"

#include <gsl/gsl_sort.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int stats_holm(double *p, size_t count)
{
	size_t *order = calloc(count + 1, sizeof(*order));
	double before = 0;

	if (!order)
		return -ENOMEM;
	gsl_sort_index(order, p, 1, count);
	for (size_t i = 0; i < count; i++) {
		before = fmin(1, fmax(before, p[order[i]] * (double)(count - i)));
		p[order[i]] = before;
	}
	free(order);
	return 0;
}
