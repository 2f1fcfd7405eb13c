/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the files that decide share. */
#ifndef ASSAY_ACCEPT_INTERNAL_H
#define ASSAY_ACCEPT_INTERNAL_H

#include "accept.h"

/* A criterion of RUN on its way to verdicts. */
struct criterion {
	struct store *store;
	const char *run;
	const struct metric *metric;
	bool at_least;
	double bound;
	const char *text;
	const json_t *cells;
	struct acceptance *to;
};

/* A new verdict, inconclusive, about SUBJECT (taken over; NULL: no memory). NULL: no memory. */
struct accept_verdict *verdict_add(struct criterion *c, char *subject);
/* PASS or FAIL for a value that is not estimated but known. */
void verdict_of_fact(struct accept_verdict *v, double value);

/* Each adds its verdicts. 0 or -errno. */
int decide_cells(struct criterion *c);
int decide_siblings(struct criterion *c);
int decide_nodes(struct criterion *c);

#endif
