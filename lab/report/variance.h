/* SPDX-License-Identifier: GPL-2.0-or-later
 * How much of what was measured comes from the cell, the boot, and the rest. */
#ifndef ASSAY_VARIANCE_H
#define ASSAY_VARIANCE_H

#include "report.h"

#include <stddef.h>

/* Components of variance, in the unit of the values squared; none is negative. */
struct variance {
	double cells;  /* between cells: what cannot be put down to the boots that they had */
	double boot;   /* T_2^2 of Kalibera and Jones, 2013 */
	double sample; /* T_1^2 */
	double boot_p; /* how likely boots that do not differ would look as different; 1 where there is one
	                  boot */
	bool boot_known, cells_known;
};

/* Of CELLS x BOOTS x SAMPLES values, the last index fastest, in each cell the same number of boots, in each
 * boot of samples (at least 2). */
void variance_split(const double *values, size_t cells, size_t boots, size_t samples, struct variance *out);

/* Eta squared: the share of the variance of COUNT cell means that the mean of each LEVEL (from 0) accounts
 * for; 0 where the means do not differ. */
double variance_eta_squared(const double *means, const unsigned int *level, size_t count);

/* The report's lines on it, for each workload; nothing where there is nothing to split. */
void variance_print(const struct report *report, FILE *out);

#endif
