/* SPDX-License-Identifier: GPL-2.0-or-later
 * Numbers of cells as a reader wants them: "1-32, 40". */
#ifndef ASSAY_REPORT_ORDINALS_H
#define ASSAY_REPORT_ORDINALS_H

#include <stdint.h>
#include <stdio.h>

/* A row of numbers that rise: what is to be printed of it. {0} before the first. */
struct ordinals {
	int64_t first, last;
	unsigned int printed;
};

/* One more. */
void ordinals_add(struct ordinals *o, int64_t number, FILE *out);

/* After the last. */
void ordinals_end(struct ordinals *o, FILE *out);

/* Those of TEXT, "1, 2, 3", as ranges. */
void ordinals_print(const char *text, FILE *out);

#endif
