/* SPDX-License-Identifier: GPL-2.0-or-later
 * A row a cell: every sample as a mark, boots told apart by shape and colour; the median and its interval. */
#include "html.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { TITLES_MAX = 2000, LANES = 5 };

/* The figure's least and greatest of all samples of the group; false: there is none. */
static bool range(const struct page *p, size_t g, double *min, double *max)
{
	*min = INFINITY;
	*max = -INFINITY;
	for (size_t c = 0; c < p->design->cell_count; c++) {
		if (p->group[c] != g)
			continue;
		struct stats_figure e = estimate_of_cell(&p->report->cells[c], p->groups[g].figure->id);

		if (!e.samples)
			continue;
		*min = fmin(*min, e.smallest);
		*max = fmax(*max, e.largest);
	}
	return *max >= *min;
}

static void marks(const struct page *p, const struct rows *rows, const struct report_cell *cell,
                  const struct figure *figure, bool titles)
{
	char title[128], value[32];

	for (size_t k = 0; k < cell->sample_count; k++) {
		const struct report_sample *s = &cell->samples[k];
		double v = s->figure[figure->id];

		if (isnan(v))
			continue;
		snprintf(title, sizeof(title), "boot %" PRId64 ", sample %" PRId64 ": %s %s", s->boot,
		         s->sample, figure_text(v, value, sizeof(value)), html_unit(figure));
		svg_mark(p->out, (size_t)s->boot - 1, scale_percent(&rows->scale, v),
		         4 + 4 * (double)(s->boot % LANES), titles ? title : NULL);
	}
}

static void numbers(const struct page *p, const struct report_cell *cell, const struct stats_figure *e)
{
	html_estimate(p->out, e);
	fprintf(p->out, " <small>%zu/%" PRId64 " valid, %" PRId64 " boot%s", e->samples, cell->wanted,
	        cell->boots, cell->boots == 1 ? "" : "s");
	if (e->interval.confidence > 0)
		fprintf(p->out, ", level %.1f %%",
		        floor(e->interval.confidence * 1e3) / 10); /* never rounded up */
	if (cell->failed)
		fputs(", <strong>FAILED</strong>", p->out);
	fputs("</small>", p->out);
}

static void print_group(const struct page *p, size_t g, bool titles)
{
	const struct figure *figure = p->groups[g].figure;
	char axis[64], numbers_head[96];
	double min, max;
	struct rows rows = {.out = p->out,
	                    .caption = p->groups[g].name,
	                    .axis = axis,
	                    .numbers = numbers_head,
	                    .reference = NAN};

	if (!range(p, g, &min, &max))
		min = 0, max = 1;
	snprintf(axis, sizeof(axis), "%s (%s is better)", html_unit(figure),
	         figure->less_is_better ? "less" : "more");
	snprintf(numbers_head, sizeof(numbers_head), "median [interval] in %s", html_unit(figure));
	scale_fit(&rows.scale, min, max, true);
	rows_begin(&rows);
	for (size_t c = 0; c < p->design->cell_count; c++) {
		const struct report_cell *cell = &p->report->cells[c];

		if (p->group[c] != g)
			continue;
		struct stats_figure e = estimate_of_cell(cell, figure->id);

		rows_row(&rows, cell->label, NULL);
		marks(p, &rows, cell, figure, titles);
		if (e.samples)
			rows_estimate(&rows, e.median, &e.interval);
		rows_numbers(&rows);
		numbers(p, cell, &e);
		rows_next(&rows);
	}
	rows_end(&rows);
}

static void legend(const struct page *p)
{
	fputs("<p class=\"legend\">", p->out);
	for (int64_t boot = 1; boot <= p->report->boots && boot <= PALETTE; boot++) {
		fputs("<span><svg width=\"14\" height=\"14\" aria-hidden=\"true\">", p->out);
		svg_mark(p->out, (size_t)boot - 1, 50, 7, NULL);
		fprintf(p->out, "</svg> boot %" PRId64 "</span> ", boot);
	}
	if (p->report->boots > PALETTE)
		fprintf(p->out, "(boot %d has the mark of boot 1, and so on) &ensp;", PALETTE + 1);
	fputs(
	    "<span><svg width=\"26\" height=\"14\" aria-hidden=\"true\"><line class=\"i\" x1=\"1\" x2=\"25\" "
	    "y1=\"7\" "
	    "y2=\"7\"/><line class=\"m\" x1=\"13\" x2=\"13\" y1=\"0\" y2=\"14\"/></svg> median and "
	    "interval</p>\n",
	    p->out);
}

void html_results(const struct page *p)
{
	size_t samples = 0;

	for (size_t c = 0; c < p->report->cell_count; c++)
		samples += p->report->cells[c].sample_count;
	legend(p);
	for (size_t g = 0; g < p->group_count; g++)
		print_group(p, g, samples <= TITLES_MAX);
	fprintf(
	    p->out,
	    "<p class=\"note\">Intervals are for the median: %s. A boot counts once, by the median of its "
	    "samples; six boots make an interval of 95 %%, fewer one of the level shown. Of one boot it says "
	    "nothing "
	    "of another.</p>\n",
	    ESTIMATE_METHOD);
	html_printed(p, "Steady state", steady_print);
	html_printed(p, "Round trips", round_trips_print);
	html_printed(p, "Failovers", failovers_print);
	html_printed(p, "Resyncs, online verify, changes of roles, trees of files", parts_print);
	html_printed(p, "As CrystalDiskMark shows it", crystal_print);
}
