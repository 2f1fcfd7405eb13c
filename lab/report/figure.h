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

/* Of the valid samples of CELL that have FIGURE; or of those of one BOOT. The samples are 0 where there are
 * none, or memory is short. A block (boot in the key) counts as a boot. */
struct stats_figure estimate_of_cell(const struct report_cell *cell, enum figure_id figure);
struct stats_figure estimate_of_boot(const struct report_cell *cell, enum figure_id figure, int64_t boot);

#define ESTIMATE_METHOD "order statistics of the medians of boots, no distribution assumed"

#endif
