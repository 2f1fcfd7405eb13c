/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a way of varying (base, sweep, cross, zip, an entry of where) sets, point by point, with levels as
 * numbers. */
#ifndef ASSAY_PLAN_POINTS_H
#define ASSAY_PLAN_POINTS_H

#include "plan_internal.h"

struct setting {
	size_t factor;
	uint16_t level; /* its number */
	json_t *json;   /* borrowed from the document */
};

struct points {
	struct setting *settings;
	size_t *ends; /* where the settings of each point end */
	size_t count, setting_count;
};

/* All give 0, -EINVAL with a complaint, or -ENOMEM. */

/* A setting of the point that is being made, and its end. */
int points_setting(struct plan_build *b, struct points *p, const char *name, json_t *level);
int points_end(struct points *p);
/* A point from a factor -> level object; from nothing, a point without settings. */
int points_row(struct plan_build *b, struct points *p, json_t *row);
/* A point for each level of LIST. */
int points_list(struct plan_build *b, struct points *p, const char *name, json_t *list);
void points_free(struct points *p);

/* The settings of POINT go from here to ends[POINT]. */
static inline size_t points_first(const struct points *p, size_t point)
{
	return point ? p->ends[point - 1] : 0;
}

#endif
