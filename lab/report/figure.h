/* SPDX-License-Identifier: GPL-2.0-or-later
 * The figures of samples: their names and units; and what is said of several of them. */
#ifndef ASSAY_FIGURE_H
#define ASSAY_FIGURE_H

#include "report.h"

struct figure {
	enum figure_id id;
	const char *name, *unit, *what;
	bool less_is_better;
};

/* All, FIGURES of them, in the order of their ids. */
extern const struct figure figures[FIGURES];

/* By name; NULL: there is none. */
const struct figure *figure_find(const char *name);
/* Their names, with commas, and a new line. */
void figure_list(FILE *out);
/* What cells with a workload of TYPE (NULL: unknown) are compared by. */
const struct figure *figure_of_workload(const char *type);

/* VALUE with four significant digits at most, thousands kept whole: "0.01234", "91.74", "1384", "45120".
 * Gives TEXT. */
const char *figure_text(double value, char *text, size_t size);

/* A median and what is known of it. */
struct estimate {
	double median, low, high, smallest, largest;
	double level; /* how surely the interval has the true median; 0: there is no interval */
	size_t n;
};

#define ESTIMATE_METHOD "order statistics: smallest to largest of n, 1 - 2^(1-n)"

/* Of N values, which are put in order. */
struct estimate estimate_median(double *values, size_t n);
/* Of the valid samples of CELL that have FIGURE; or of those of one BOOT. n is 0 too where memory is
 * short. */
struct estimate estimate_of_cell(const struct report_cell *cell, enum figure_id figure);
struct estimate estimate_of_boot(const struct report_cell *cell, enum figure_id figure, int64_t boot);

#endif
