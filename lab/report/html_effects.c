/* SPDX-License-Identifier: GPL-2.0-or-later
 * What changing one thing does: each cell beside one that differs in nothing else, as a ratio of medians. */
#include "html.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EFFECTS_SHOWN = 300 };

struct effect {
	size_t from, to; /* cells */
	size_t axes[8], axis_count;
	struct stats_ratio ratio;
	bool one_boot; /* of which the interval speaks alone */
};

struct effects {
	struct effect *list;
	size_t count, room;
};

/* The axes in which cells A and B differ, at most MAX of them; how many there are. What the one has and the
 * other cannot have follows from another difference and does not count beside it. */
static size_t differences(const struct design *d, size_t a, size_t b, size_t *axes, size_t max)
{
	size_t both = 0, count = 0;

	for (int follows = 0; follows < 2; follows++) {
		for (size_t i = 0; i < d->axis_count; i++) {
			unsigned int x = design_level(d, a, i), y = design_level(d, b, i);
			bool one = (!x || !y) && !d->axes[i].optional;

			if (x == y || one != (follows == 1) || (follows && both) || !d->axes[i].varies)
				continue;
			if (count < max)
				axes[count] = i;
			count++;
		}
		both = count;
	}
	return count;
}

/* One value a boot, where CELL has several; else its samples. How many, or -ENOMEM. */
static long values_of(const struct report_cell *cell, enum figure_id figure, bool *one_boot, double *values)
{
	struct stats_sample *samples = calloc(cell->sample_count + 1, sizeof(*samples));
	size_t n = 0;

	for (size_t k = 0; samples && k < cell->sample_count; k++)
		if (cell->samples[k].figure[figure] > 0)
			samples[n++] = (struct stats_sample){cell->samples[k].figure[figure],
			                                     (uint32_t)cell->samples[k].boot, 0};
	long count = samples ? stats_boot_medians(samples, n, values) : -ENOMEM;

	*one_boot = count == 1;
	for (size_t k = 0; *one_boot && k < n; k++)
		values[k] = samples[k].value;
	if (*one_boot)
		count = (long)n;
	free(samples);
	return count;
}

/* Whether there is a ratio. */
static bool ratio_of(const struct page *p, struct effect *e)
{
	const struct figure *figure = p->groups[p->group[e->to]].figure;
	const struct report_cell *from = &p->report->cells[e->from], *to = &p->report->cells[e->to];
	double *a = calloc(from->sample_count + 1, sizeof(*a)), *b = calloc(to->sample_count + 1, sizeof(*b));
	bool one_a = false, one_b = false, good = false;

	if (a && b) {
		long n = values_of(from, figure->id, &one_a, a), m = values_of(to, figure->id, &one_b, b);

		good = n > 0 && m > 0 &&
		       !stats_ratio(a, (size_t)n, b, (size_t)m, 0, STATS_CONFIDENCE, &e->ratio);
		e->one_boot = one_a || one_b;
	}
	free(a);
	free(b);
	return good;
}

static void add(const struct page *p, struct effects *all, size_t from, size_t to)
{
	struct effect e = {.from = from, .to = to};

	if (!ratio_of(p, &e))
		return;
	e.axis_count = differences(p->design, from, to, e.axes, sizeof(e.axes) / sizeof(e.axes[0]));
	if (all->count == all->room) {
		size_t room = 2 * all->room + 16;
		struct effect *grown = reallocarray(all->list, room, sizeof(*grown));

		if (!grown)
			return;
		all->list = grown;
		all->room = room;
	}
	all->list[all->count++] = e;
}

static bool comparable(const struct page *p, size_t a, size_t b)
{
	return p->groups[p->group[a]].figure == p->groups[p->group[b]].figure;
}

/* Whether cell FROM has the level of AXIS that the plan names first. */
static bool has_first_level(const struct page *p, size_t from, size_t axis)
{
	for (size_t c = 0; c < from; c++)
		if (design_level(p->design, c, axis) && design_level(p->design, from, axis))
			return design_level(p->design, c, axis) == design_level(p->design, from, axis);
	return true;
}

static void find(const struct page *p, struct effects *all)
{
	for (size_t to = 1; to < p->design->cell_count; to++) {
		size_t nearest = 0, least = SIZE_MAX, axis, had = all->count;

		for (size_t from = 0; from < to; from++) {
			if (!comparable(p, from, to))
				continue;
			size_t n = differences(p->design, from, to, &axis, 1);

			if (n == 1 && has_first_level(p, from, axis))
				add(p, all, from, to);
			if (n < least) {
				least = n;
				nearest = from;
			}
		}
		if (all->count == had && least != SIZE_MAX)
			add(p, all, nearest, to);
	}
}

static void describe(const struct page *p, const struct effect *e, char *text, size_t size)
{
	FILE *out = fmemopen(text, size, "w");

	text[0] = '\0';
	if (!out)
		return;
	for (size_t i = 0; i < e->axis_count && i < sizeof(e->axes) / sizeof(e->axes[0]); i++)
		fprintf(out, "%s%s: %s → %s", i ? ", " : "", p->design->axes[e->axes[i]].name,
		        design_text(p->design, e->from, e->axes[i]),
		        design_text(p->design, e->to, e->axes[i]));
	fclose(out);
	text[size - 1] = '\0';
}

/* In percent, or where that would be much, as a factor. */
static void change_text(double ratio, bool factor, char *text, size_t size)
{
	if (factor)
		snprintf(text, size, "× %.3g", ratio);
	else
		snprintf(text, size, "%+.1f %%", 100 * (ratio - 1));
}

static bool is_much(double ratio)
{
	return ratio >= 2 || ratio <= 0.5;
}

static void numbers(const struct page *p, const struct effect *e)
{
	const struct figure *figure = p->groups[p->group[e->to]].figure;
	char middle[32], low[32], high[32];
	const char *verdict = "not told apart";

	bool factor =
	    is_much(e->ratio.median) || (e->ratio.interval.confidence > 0 &&
	                                 (is_much(e->ratio.interval.low) || is_much(e->ratio.interval.high)));

	change_text(e->ratio.median, factor, middle, sizeof(middle));
	fprintf(p->out, "<b>%s</b>", middle);
	if (e->ratio.interval.confidence > 0) {
		change_text(e->ratio.interval.low, factor, low, sizeof(low));
		change_text(e->ratio.interval.high, factor, high, sizeof(high));
		fprintf(p->out, " [%s, %s]", low, high);
		if (e->ratio.interval.low > 1)
			verdict = figure->less_is_better ? "worse" : "better";
		else if (e->ratio.interval.high < 1)
			verdict = figure->less_is_better ? "better" : "worse";
		fprintf(p->out, " <small>%s, level %.1f %%%s</small>", verdict,
		        floor(e->ratio.interval.confidence * 1e3) / 10,
		        e->one_boot ? ", of one boot alone" : "");
	} else {
		fputs(" <small>no interval</small>", p->out);
	}
}

static void print_effects(const struct page *p, const struct effects *all)
{
	struct rows rows = {.out = p->out,
	                    .caption = "What a change does to a cell, all else as it was",
	                    .axis = "ratio of medians, after / before",
	                    .numbers = "change [interval]",
	                    .reference = 1};
	double min = 1, max = 1;
	char what[512];

	for (size_t i = 0; i < all->count && i < EFFECTS_SHOWN; i++) {
		const struct stats_ratio *r = &all->list[i].ratio;

		min = fmin(min, r->interval.confidence > 0 ? r->interval.low : r->median);
		max = fmax(max, r->interval.confidence > 0 ? r->interval.high : r->median);
	}
	scale_fit(&rows.scale, min, max, true);
	rows_begin(&rows);
	for (size_t i = 0; i < all->count && i < EFFECTS_SHOWN; i++) {
		const struct effect *e = &all->list[i];
		char cells[512];

		describe(p, e, what, sizeof(what));
		snprintf(cells, sizeof(cells), "%s → %s", p->report->cells[e->from].label,
		         p->report->cells[e->to].label);
		rows_row(&rows, what, cells);
		rows_estimate(&rows, e->ratio.median, &e->ratio.interval);
		svg_mark(p->out, 0, scale_percent(&rows.scale, e->ratio.median), 12, NULL);
		rows_numbers(&rows);
		numbers(p, e);
		rows_next(&rows);
	}
	rows_end(&rows);
}

void html_effects(const struct page *p)
{
	struct effects all = {0};

	find(p, &all);
	if (!all.count) {
		fputs("<p>There are no two cells to compare.</p>\n", p->out);
	} else {
		print_effects(p, &all);
		if (all.count > EFFECTS_SHOWN)
			fprintf(p->out,
			        "<p class=\"warn\">%zu more are left out; assay report --rows has them.</p>",
			        all.count - EFFECTS_SHOWN);
		fputs("<p class=\"note\">A row with several changes has them together: their effects cannot "
		      "be told "
		      "apart. Ratio and interval: Hodges and Lehmann's, by order statistics of the quotients "
		      "of boots' "
		      "medians. No correction for many rows: of twenty at a level of 95 % one is off by "
		      "chance; "
		      "assay compare corrects.</p>\n",
		      p->out);
	}
	free(all.list);
}
