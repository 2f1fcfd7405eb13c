/* SPDX-License-Identifier: GPL-2.0-or-later
 * What differs between the cells of a run: their levels of every factor and of every parameter of the
 * workload. */
#ifndef ASSAY_DESIGN_H
#define ASSAY_DESIGN_H

#include "report.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct level {
	char *text; /* "4MiB", "yes", "active-backup" */
	double number;
	bool numeric;
};

/* A factor by its name in plans; or a parameter of the workload as plans call it (bs, direction), its type
 * being "workload". */
struct axis {
	char name[80];
	struct level *levels; /* numbers by size, where all are; else as the plan brings them */
	size_t level_count;
	bool workload, optional; /* optional: absent means "as driver or kernel made it", which is a level */
	bool varies;             /* cells that have it differ in it, or it is optional and some have it */
};

struct design {
	struct axis *axes;
	size_t axis_count, cell_count;
	unsigned short
	    *level;     /* of cell c on axis a: [c * axis_count + a]; 0: none, else place in levels + 1 */
	json_t *bodies; /* cell.json of each cell, in the report's order */
};

/* The caller frees *DESIGN. 0 or -errno. */
int design_load(const struct report *report, struct design **design);
void design_free(struct design *design);

/* Place of the axis in DESIGN, or -ENOENT. "block.read-ahead" is understood where there are axes such as
 * block.disk.read-ahead and block.drbd.read-ahead: a new axis joins them (the level is the one of that which
 * a cell has), and the joined ones do not vary any more. */
int design_axis(struct design *design, const char *name);

/* The text of CELL's level; of one that it lacks "default" or "-". */
const char *design_text(const struct design *design, size_t cell, size_t axis);
static inline unsigned int design_level(const struct design *design, size_t cell, size_t axis)
{
	return design->level[cell * design->axis_count + axis];
}

#endif
