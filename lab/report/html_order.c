/* SPDX-License-Identifier: GPL-2.0-or-later
 * Every sample against its cell's median, as the run went on: drift, warming up, odd boots. */
#include "html.h"

#include <math.h>
#include <stdlib.h>

enum { HEIGHT_PX = 180 };

struct dot {
	double minutes, ratio;
	int64_t boot;
};

static size_t gather(const struct page *p, struct dot *dots)
{
	size_t n = 0;

	for (size_t c = 0; c < p->design->cell_count; c++) {
		const struct report_cell *cell = &p->report->cells[c];
		enum figure_id id = p->groups[p->group[c]].figure->id;
		struct stats_figure e = estimate_of_cell(cell, id);

		if (e.samples < 2 || !(e.median > 0))
			continue;
		for (size_t k = 0; k < cell->sample_count; k++)
			if (!isnan(cell->samples[k].figure[id]))
				dots[n++] = (struct dot){
				    (double)(cell->samples[k].at_unix_ns - p->report->started_unix_ns) / 6e10,
				    cell->samples[k].figure[id] / e.median, cell->samples[k].boot};
	}
	return n;
}

static void draw(const struct page *p, const struct dot *dots, size_t n)
{
	struct chart chart = {
	    .out = p->out,
	    .title = "Every sample against its cell's median, by time since the run began",
	    .description = "A drift of the run, or a boot unlike the others, shows as a slope or a step.",
	    .x_name = "minutes since the run began",
	    .y_name = "sample / median of its cell",
	    .height_px = HEIGHT_PX};
	double low = 1, high = 1, last = 0;

	for (size_t i = 0; i < n; i++) {
		low = fmin(low, dots[i].ratio);
		high = fmax(high, dots[i].ratio);
		last = fmax(last, dots[i].minutes);
	}
	scale_fit(&chart.x, 0, last, false);
	scale_fit(&chart.y, low, high, true);
	chart_begin(&chart);
	fputs("</svg>", p->out); /* marks are not stretched: they stand in the outer picture */
	for (size_t i = 0; i < n; i++)
		svg_mark(p->out, (size_t)dots[i].boot - 1, scale_percent(&chart.x, dots[i].minutes),
		         round(HEIGHT_PX * (100 - scale_percent(&chart.y, dots[i].ratio))) / 100, NULL);
	fputs("<svg>", p->out);
	chart_end(&chart);
}

void html_order(const struct page *p)
{
	size_t room = 1, n;

	for (size_t c = 0; c < p->report->cell_count; c++)
		room += p->report->cells[c].sample_count;
	struct dot *dots = calloc(room, sizeof(*dots));

	n = dots ? gather(p, dots) : 0;
	if (n > 1)
		draw(p, dots, n);
	else
		fputs("<p>It takes cells of several samples to see whether the run drifted.</p>\n", p->out);
	html_printed(p, NULL, order_print);
	free(dots);
}
