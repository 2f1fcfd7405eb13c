/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pivot_internal.h"

#include "factor.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* *AXIS becomes the place of the axis NAME, or one of the above. */
static int find_axis(struct pivot *p, const char *option, const char *name, int *axis)
{
	unsigned int best = UINT_MAX;
	const char *nearest = "node";
	int at;

	*axis = !name ? AXIS_NONE : !strcmp(name, "boots") ? AXIS_BOOTS : AXIS_NODE;
	if (*axis != AXIS_NODE || !strcmp(name, "node"))
		return 0;
	at = design_axis(p->design, name);
	if (at != -ENOENT) {
		*axis = at;
		return at < 0 ? at : 0;
	}
	for (size_t a = 0; a < p->design->axis_count; a++) {
		unsigned int d = edit_distance(name, p->design->axes[a].name);

		if (d < best) {
			best = d;
			nearest = p->design->axes[a].name;
		}
	}
	fprintf(stderr,
	        "assay report: %s: no cell of this run has \"%s\"; the nearest is \"%s\". What varies: ",
	        option, name, nearest);
	for (size_t a = 0; a < p->design->axis_count; a++)
		if (p->design->axes[a].varies)
			fprintf(stderr, "%s, ", p->design->axes[a].name);
	fputs("boots, node\n", stderr);
	return -EINVAL;
}

/* Numbers from 0: that the cell has no level comes first. */
static unsigned int place(const struct pivot *p, int axis, size_t cell, const struct report_sample *s)
{
	return axis == AXIS_NONE    ? 0
	       : axis == AXIS_BOOTS ? (unsigned int)s->boot - 1
	       : axis == AXIS_NODE  ? s->node
	                            : design_level(p->design, cell, (size_t)axis);
}

static unsigned int places(const struct pivot *p, int axis)
{
	return axis == AXIS_NONE    ? 1
	       : axis == AXIS_BOOTS ? (unsigned int)p->report->boots
	       : axis == AXIS_NODE  ? (unsigned int)p->report->node_count
	                            : (unsigned int)p->design->axes[axis].level_count + 1;
}

const char *pivot_place_text(const struct pivot *p, int axis, unsigned int at, char *text, size_t size)
{
	if (axis == AXIS_NONE)
		return "median";
	if (axis == AXIS_NODE)
		return p->report->nodes[at];
	if (axis == AXIS_BOOTS) {
		snprintf(text, size, "boot %u", at + 1);
		return text;
	}
	const struct axis *a = &p->design->axes[axis];

	return at ? a->levels[at - 1].text : a->optional ? "default" : "-";
}

/* Whether the named levels of a cell tell its level on axis A, so that no table has two of them in one place.
 */
static bool goes_with_named(const struct pivot *p, size_t a, unsigned short *seen)
{
	static const struct report_sample none = {.boot = 1};

	memset(seen, 0, (size_t)p->rows * p->columns * sizeof(*seen));
	for (size_t c = 0; c < p->design->cell_count; c++) {
		unsigned short level = (unsigned short)(design_level(p->design, c, a) + 1);
		unsigned short *known = &seen[(size_t)place(p, p->row_axis, c, &none) * p->columns +
		                              place(p, p->column_axis, c, &none)];

		if (*known && *known != level)
			return false;
		*known = level;
	}
	return true;
}

static int find_others(struct pivot *p)
{
	unsigned short *seen = calloc((size_t)p->rows * p->columns, sizeof(*seen));

	p->other = calloc(p->design->axis_count + 1, sizeof(*p->other));
	for (size_t a = 0; p->other && seen && a < p->design->axis_count; a++)
		p->other[a] = p->design->axes[a].varies && (int)a != p->row_axis &&
		              (int)a != p->column_axis && !goes_with_named(p, a, seen);
	free(seen);
	return p->other && seen ? 0 : -ENOMEM;
}

/* Whether cell B has every level that cell A has, of what is not named; what has no meaning in A may be
 * anything in B: the raw disk belongs beside DRBD connected as well as beside DRBD disconnected. */
static bool fits(const struct pivot *p, size_t a, size_t b)
{
	for (size_t i = 0; i < p->design->axis_count; i++)
		if (p->other[i] && design_level(p->design, a, i) != design_level(p->design, b, i) &&
		    strcmp(design_text(p->design, a, i), "-"))
			return false;
	return true;
}

static void add_table(struct pivot *p, size_t cell, unsigned int node)
{
	for (unsigned int t = 0; t < p->table_count; t++)
		if (p->tables[t].node == node && fits(p, p->tables[t].cell, cell) &&
		    fits(p, cell, p->tables[t].cell))
			return;
	p->tables[p->table_count++] = (struct table){.cell = cell, .node = node};
}

static int find_tables(struct pivot *p)
{
	size_t nodes = p->node_varies ? p->report->node_count : 1;

	p->tables = calloc(p->design->cell_count * nodes + 1, sizeof(*p->tables));
	if (!p->tables)
		return -ENOMEM;
	for (size_t c = 0; c < p->design->cell_count; c++)
		for (unsigned int n = 0; n < nodes; n++)
			add_table(p, c, n);
	for (unsigned int t = 0; t < p->table_count; t++)
		for (unsigned int u = 0; u < p->table_count && !p->tables[t].redundant; u++)
			p->tables[t].redundant = t != u && p->tables[t].node == p->tables[u].node &&
			                         fits(p, p->tables[t].cell, p->tables[u].cell);
	return 0;
}

/* All samples of CELL to table T. */
static int add_points(struct pivot *p, size_t cell, unsigned int t, size_t *room)
{
	const struct report_cell *c = &p->report->cells[cell];

	for (size_t k = 0; k < c->sample_count; k++) {
		const struct report_sample *s = &c->samples[k];

		if (isnan(s->figure[p->figure->id]) || (p->node_varies && s->node != p->tables[t].node))
			continue;
		if (p->point_count == *room) {
			*room = 2 * *room + 64;
			struct point *grown =
			    *room < POINTS_MAX ? reallocarray(p->points, *room, sizeof(*grown)) : NULL;
			if (!grown)
				return -ENOMEM;
			p->points = grown;
		}
		p->points[p->point_count++] =
		    (struct point){s, t, place(p, p->row_axis, cell, s), place(p, p->column_axis, cell, s)};
	}
	return 0;
}

static int gather(struct pivot *p)
{
	size_t room = 0;
	int r = find_tables(p);

	for (size_t c = 0; c < p->design->cell_count && !r; c++)
		for (unsigned int t = 0; t < p->table_count && !r; t++)
			if (!p->tables[t].redundant && fits(p, c, p->tables[t].cell))
				r = add_points(p, c, t, &room);
	p->values = calloc(p->point_count + 1, sizeof(*p->values));
	return r ? r : p->values ? 0 : -ENOMEM;
}

static int by_place(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return (x->column > y->column) - (x->column < y->column);
}

struct stats_figure pivot_at(const struct pivot *p, unsigned int table, unsigned int row, unsigned int column)
{
	const struct point key = {.table = table, .row = row, .column = column};
	const struct point *any = bsearch(&key, p->points, p->point_count, sizeof(key), by_place);
	struct stats_figure f = {0};
	size_t n = 0;

	if (!any)
		return f;
	while (any > p->points && !by_place(any - 1, &key))
		any--;
	for (; any < p->points + p->point_count && !by_place(any, &key); any++)
		p->values[n++] = (struct stats_sample){any->sample->figure[p->figure->id],
		                                       (uint32_t)any->sample->boot, any->sample->node};
	if (stats_figure(p->values, n, STATS_CONFIDENCE, &f))
		f = (struct stats_figure){0};
	return f;
}

static int prepare(struct pivot *p, const struct pivot_request *request)
{
	int r = design_load(p->report, &p->design);

	if (r)
		return r;
	p->figure = figure_find(request->value ? request->value : "mb_per_s");
	if (!p->figure) {
		fprintf(stderr, "assay report: --value: there is no \"%s\"; there are: ", request->value);
		figure_list(stderr);
		return -EINVAL;
	}
	r = find_axis(p, "--rows", request->rows, &p->row_axis);
	if (!r)
		r = find_axis(p, "--columns", request->columns, &p->column_axis);
	if (r)
		return r;
	if (p->row_axis == p->column_axis) {
		fprintf(stderr, "assay report: --rows and --columns both name %s\n", request->rows);
		return -EINVAL;
	}
	p->rows = places(p, p->row_axis);
	p->columns = places(p, p->column_axis);
	p->node_varies = p->report->node_count > 1 && p->row_axis != AXIS_NODE && p->column_axis != AXIS_NODE;
	r = find_others(p);
	if (!r)
		r = gather(p);
	if (!r && p->point_count)
		qsort(p->points, p->point_count, sizeof(*p->points), by_place);
	return r;
}

int pivot_print(const struct report *report, const struct pivot_request *request, FILE *out)
{
	struct pivot p = {.report = report, .row_name = request->rows, .column_name = request->columns};
	int r = prepare(&p, request);

	if (!r && request->csv)
		pivot_print_csv(&p, out);
	else if (!r)
		pivot_print_text(&p, out);
	design_free(p.design);
	free(p.points);
	free(p.values);
	free(p.tables);
	free(p.other);
	return r;
}
