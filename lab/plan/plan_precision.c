/* SPDX-License-Identifier: GPL-2.0-or-later
 * precision: when a cell is measured well enough. */
#include "plan_internal.h"

#include "../stats/stats.h"

#include <errno.h>
#include <stdlib.h>

int plan_read_precision(struct plan_build *b)
{
	const json_t *value = json_object_get(b->doc.root, "precision");
	size_t least = stats_median_needs(STATS_CONFIDENCE_TO_STOP);

	if (!value)
		return 0;
	b->plan->precision = strtod(json_string_value(value), NULL) / 100;
	if (!(b->plan->precision > 0) || b->plan->precision > 0.5) {
		yaml_complain(&b->doc, "/precision", false, "precision: is above 0 %%, and at most 50 %%");
		return -EINVAL;
	}
	if (b->plan->boots < least) {
		yaml_complain(
		    &b->doc, "/precision", false,
		    "precision: needs repeat: {boots: %zu} or more, which then is the most: fewer boots give "
		    "no %.1f %% interval of a median, by which a cell is left",
		    least, 100 * STATS_CONFIDENCE_TO_STOP);
		return -EINVAL;
	}
	return 0;
}
