/* SPDX-License-Identifier: GPL-2.0-or-later
 * What is wrong with a file, collected, so that all of it is said at once and in the file's order. */
#ifndef ASSAY_COMPLAIN_H
#define ASSAY_COMPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { COMPLAINTS_MAX = 100 };

struct complaint {
	int line, column; /* from 1; 0: the file as a whole */
	char *text;
};

struct complaints {
	struct complaint items[COMPLAINTS_MAX];
	size_t count, dropped;
};

/* Adds one; the same text at the same place is kept once. */
__attribute__((format(printf, 4, 5))) void complain_at(struct complaints *c, int line, int column,
                                                       const char *format, ...);

/* Prints all as "path:line:column: text", ordered by place, and empties C. */
void complaints_print(struct complaints *c, const char *path, FILE *to);
void complaints_free(struct complaints *c);

#endif
