/* SPDX-License-Identifier: GPL-2.0-or-later
 * Cells with the workload aio: the median over their samples of IOPS and of latency percentiles. */
#include "figure.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

void aio_print(const struct report *report, FILE *out)
{
	static const enum figure_id latencies[] = {FIGURE_P50_US, FIGURE_P99_US, FIGURE_P99_9_US};
	bool first = true;

	for (size_t i = 0; i < report->cell_count; i++) {
		const struct report_cell *cell = &report->cells[i];
		struct estimate iops = estimate_of_cell(cell, FIGURE_IOPS);

		if (!iops.n)
			continue;
		if (first)
			fputs(
			    "\nI/Os a second, and latency in microseconds; medians of the samples' figures, "
			    "the maximum the largest:\n"
			    "               IOPS          p50          p99        p99.9      maximum\n",
			    out);
		first = false;
		fprintf(out, "  cell %-3" PRId64 " %10.0f", cell->ordinal, iops.median);
		for (size_t f = 0; f < sizeof(latencies) / sizeof(latencies[0]); f++)
			fprintf(out, " %12.1f", estimate_of_cell(cell, latencies[f]).median);
		fprintf(out, " %12.1f  %s\n", estimate_of_cell(cell, FIGURE_MAX_US).largest, cell->label);
	}
}
