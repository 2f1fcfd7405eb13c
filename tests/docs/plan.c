/* SPDX-License-Identifier: GPL-2.0-or-later
 * For tests/docs/docs.t: factors and plans of a copy of the source. usage: plan FILE prints how many cells it
 * has; else as assay factors. */
#include "cli.h"
#include "plan.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct plan *plan;

	if (argc < 3 || strcmp(argv[1], "plan"))
		return cmd_factors(argc - 1, argv + 1);
	if (plan_load(argv[2], 0, stderr, &plan))
		return ASSAY_USAGE;
	printf("%zu cells\n", plan->cell_count);
	plan_free(plan);
	return ASSAY_OK;
}
