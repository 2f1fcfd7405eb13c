/* SPDX-License-Identifier: GPL-2.0-or-later
 * What pivot.c finds and pivot_print.c prints. */
#ifndef ASSAY_PIVOT_INTERNAL_H
#define ASSAY_PIVOT_INTERNAL_H

#include "design.h"
#include "figure.h"
#include "pivot.h"

/* Axes that are not of the design. */
enum { AXIS_NONE = -1, AXIS_BOOTS = -2, AXIS_NODE = -3 };

enum { POINTS_MAX = 10000000 };

struct point {
	const struct report_sample *sample;
	unsigned int table, row, column;
};

/* What a table's cells have in common: the levels of CELL, of what is neither named nor goes with it. */
struct table {
	size_t cell;
	unsigned int node;
	bool redundant; /* its cells are part of another, more special one */
};

struct pivot {
	const struct report *report;
	struct design *design;
	const struct figure *figure;
	const char *row_name, *column_name;
	int row_axis, column_axis;
	bool *other; /* of each axis of the design: it varies, is not named, and does not go with what is */
	bool node_varies;
	struct point *points;
	size_t point_count;
	unsigned int rows, columns, table_count;
	struct table *tables;
	struct stats_sample *values; /* room for those of one place */
};

/* How a place along AXIS is called; TEXT has room for a number. */
const char *pivot_place_text(const struct pivot *p, int axis, unsigned int at, char *text, size_t size);
/* The figure at a place of a table; no samples: nothing was measured there. */
struct stats_figure pivot_at(const struct pivot *p, unsigned int table, unsigned int row,
                             unsigned int column);

void pivot_print_text(const struct pivot *p, FILE *out);
void pivot_print_csv(const struct pivot *p, FILE *out);

#endif
