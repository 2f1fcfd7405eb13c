/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pivot_internal.h"

#include <math.h>
#include <string.h>

/* "bs=1MiB, direction=read": what this table's cells have in common, beside what all cells have. Whether
 * there is something. */
static bool title(const struct pivot *p, unsigned int table, FILE *out)
{
	size_t cell = p->tables[table].cell;
	const char *comma = "";

	for (size_t a = 0; a < p->design->axis_count; a++) {
		const char *text = design_text(p->design, cell, a);

		if (!p->other[a] || !strcmp(text, "-"))
			continue;
		fprintf(out, "%s%s=%s", comma, p->design->axes[a].name, text);
		comma = ", ";
	}
	if (p->node_varies)
		fprintf(out, "%snode=%s", comma, p->report->nodes[p->tables[table].node]);
	return p->node_varies || *comma;
}

static bool row_used(const struct pivot *p, unsigned int table, unsigned int row)
{
	for (unsigned int c = 0; c < p->columns; c++)
		if (pivot_at(p, table, row, c).samples)
			return true;
	return false;
}

static bool column_used(const struct pivot *p, unsigned int table, unsigned int column)
{
	for (unsigned int r = 0; r < p->rows; r++)
		if (pivot_at(p, table, r, column).samples)
			return true;
	return false;
}

static void entry_text(const struct stats_figure *e, char *text, size_t size)
{
	char middle[32], low[32], high[32];

	if (!e->samples) {
		snprintf(text, size, "-");
		return;
	}
	figure_text(e->median, middle, sizeof(middle));
	if (e->interval.confidence > 0)
		snprintf(text, size, "%s [%s, %s]", middle, figure_text(e->interval.low, low, sizeof(low)),
		         figure_text(e->interval.high, high, sizeof(high)));
	else
		snprintf(text, size, "%s [none]", middle);
}

static int column_width(const struct pivot *p, unsigned int table, unsigned int column)
{
	char text[128];
	int width = (int)strlen(pivot_place_text(p, p->column_axis, column, text, sizeof(text)));

	for (unsigned int r = 0; r < p->rows; r++) {
		struct stats_figure e = pivot_at(p, table, r, column);

		entry_text(&e, text, sizeof(text));
		if ((int)strlen(text) > width)
			width = (int)strlen(text);
	}
	return width;
}

/* LEVEL: the least and the most of the intervals' levels so far; ONE_BOOT: some were of one boot's samples.
 */
static void print_row(const struct pivot *p, unsigned int table, unsigned int row, double level[2],
                      bool *one_boot, FILE *out)
{
	char text[128];
	int pad = 0; /* of the column before: no line ends with blanks */

	for (unsigned int c = 0; c < p->columns; c++) {
		struct stats_figure e = pivot_at(p, table, row, c);

		if (!column_used(p, table, c))
			continue;
		entry_text(&e, text, sizeof(text));
		fprintf(out, "%*s  %s", pad, "", text);
		pad = column_width(p, table, c) - (int)strlen(text);
		*one_boot = *one_boot || (e.samples && e.boots == 1);
		if (e.samples && e.interval.confidence > 0) {
			level[0] = fmin(level[0], e.interval.confidence);
			level[1] = fmax(level[1], e.interval.confidence);
		}
	}
	fputc('\n', out);
}

static void print_table(const struct pivot *p, unsigned int table, double level[2], bool *one_boot, FILE *out)
{
	char label[128];
	int width = (int)strlen(p->row_name), pad = 0;

	fputc('\n', out);
	if (title(p, table, out))
		fputc('\n', out);
	for (unsigned int r = 0; r < p->rows; r++) {
		int n = (int)strlen(pivot_place_text(p, p->row_axis, r, label, sizeof(label)));

		width = n > width && row_used(p, table, r) ? n : width;
	}
	fprintf(out, "  %-*s", width, p->row_name);
	for (unsigned int c = 0; c < p->columns; c++) {
		if (!column_used(p, table, c))
			continue;
		const char *name = pivot_place_text(p, p->column_axis, c, label, sizeof(label));

		fprintf(out, "%*s  %s", pad, "", name);
		pad = column_width(p, table, c) - (int)strlen(name);
	}
	fputc('\n', out);
	for (unsigned int r = 0; r < p->rows; r++) {
		if (!row_used(p, table, r))
			continue;
		fprintf(out, "  %-*s", width, pivot_place_text(p, p->row_axis, r, label, sizeof(label)));
		print_row(p, table, r, level, one_boot, out);
	}
}

/* What varies only along with what is named: its effect cannot be told from theirs. */
static void print_along(const struct pivot *p, FILE *out)
{
	bool first = true;

	for (size_t a = 0; a < p->design->axis_count; a++) {
		if (!p->design->axes[a].varies || p->other[a] || (int)a == p->row_axis ||
		    (int)a == p->column_axis)
			continue;
		fprintf(out, "%s%s", first ? "varies along with them: " : ", ", p->design->axes[a].name);
		first = false;
	}
	if (!first)
		fputc('\n', out);
}

void pivot_print_text(const struct pivot *p, FILE *out)
{
	double level[2] = {1, 0};
	bool one_boot = false;

	fprintf(out, "run %s: median %s [interval] by %s%s%s\n", p->report->run, p->figure->unit, p->row_name,
	        p->column_name ? " and " : "", p->column_name ? p->column_name : "");
	print_along(p, out);
	if (*p->report->scale)
		fprintf(
		    out,
		    "SCALED: sizes and times are %s of the plan's. These are no figures of the hardware.\n",
		    p->report->scale);
	if (!p->point_count)
		fprintf(out, "no valid sample has a figure in %s\n", p->figure->unit);
	for (unsigned int t = 0; p->point_count && t < p->table_count; t++)
		if (!p->tables[t].redundant)
			print_table(p, t, level, &one_boot, out);
	if (level[1] > 0)
		fprintf(out, "\nIntervals hold the median at a level of at least %.1f %%: %s.\n",
		        floor(level[0] * 1e3) / 10, ESTIMATE_METHOD);
	if (one_boot)
		fputs("1 boot: no interval of the boot's effect; it is of that boot's samples alone.\n", out);
}

/* One place of a table; OTHERS: what its table's cells have in common. */
static void print_csv_line(const struct pivot *p, const char *others, unsigned int row, unsigned int column,
                           const struct stats_figure *e, FILE *out)
{
	char text[128];

	fprintf(out, "%s,", p->report->run);
	csv_text(out, others);
	fprintf(out, ",%s,", p->row_name);
	csv_text(out, pivot_place_text(p, p->row_axis, row, text, sizeof(text)));
	fprintf(out, ",%s,", p->column_name ? p->column_name : "");
	csv_text(out, pivot_place_text(p, p->column_axis, column, text, sizeof(text)));
	fprintf(out, ",%s,%zu,%.9g,%.9g,%.9g,%.4f\n", p->figure->name, e->samples, e->median, e->interval.low,
	        e->interval.high, e->interval.confidence);
}

void pivot_print_csv(const struct pivot *p, FILE *out)
{
	fputs("run,others,rows,row,columns,column,figure,samples,median,low,high,level\n", out);
	for (unsigned int t = 0; t < p->table_count; t++) {
		char others[2048] = "";
		FILE *text = fmemopen(others, sizeof(others), "w");

		if (text) {
			title(p, t, text);
			fclose(text);
		}
		for (unsigned int r = 0; r < p->rows; r++) {
			for (unsigned int c = 0; c < p->columns; c++) {
				struct stats_figure e = pivot_at(p, t, r, c);

				if (e.samples)
					print_csv_line(p, others, r, c, &e, out);
			}
		}
	}
}
