/* SPDX-License-Identifier: GPL-2.0-or-later
 * Medians by the levels of one or two factors: the tables that people post to mailing lists. */
#ifndef ASSAY_PIVOT_H
#define ASSAY_PIVOT_H

#include "report.h"

struct pivot_request {
	const char *rows,
	    *columns; /* a factor, a parameter of the workload, "boots" or "node"; columns: NULL for none */
	const char *value; /* NULL: MB/s */
	bool csv;
};

/* One table for each combination of levels of what varies and is not named: nothing is averaged that the
 * reader does not know of. 0; -EINVAL where the request is wrong, which was said on stderr; -errno. */
int pivot_print(const struct report *report, const struct pivot_request *request, FILE *out);

#endif
