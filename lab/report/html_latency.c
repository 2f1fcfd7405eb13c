/* SPDX-License-Identifier: GPL-2.0-or-later
 * Latency by percentile, from the histograms of all samples of a cell put together. */
#include "html.h"

#include "histogram.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEIGHT_PX = 240, POINTS = 61, CURVES_MAX = 12 };

/* Along x: nines, -log10(1 - p); 60 steps to five nines. */
static double nines(size_t i)
{
	return (double)i / 12;
}

struct curve {
	const struct report_cell *cell;
	uint64_t count, over;
	double y[POINTS]; /* us; NAN: fewer I/Os than that percentile needs */
	double p50, max;  /* us */
	size_t samples;
};

/* Of one direction ("read", "write") of CELL. Whether there is one. */
static bool load(const struct page *p, const struct report_cell *cell, const char *direction,
                 struct histogram *sum, struct histogram *one, struct curve *curve)
{
	sqlite3_stmt *row;
	int r = store_ask(
	    p->report->store, &row,
	    "SELECT CAST(r.body AS TEXT) -> ('$.measurement.aio.' || ?3 || '.histogram') FROM attempts a "
	    "JOIN results r USING (run, cell_id, boot, sample, attempt) WHERE run = ?1 AND cell_id = ?2 "
	    "AND a.state = 'valid' AND r.role = 'measure'",
	    "sss", p->report->run, cell->id, direction);

	*curve = (struct curve){.cell = cell};
	histogram_clear(sum);
	while (!r && store_row(p->report->store, row) == 1) {
		json_t *json = json_loads(store_text(row, 0), 0, NULL);

		if (json && !histogram_read(json, one) && one->count) {
			histogram_merge(sum, one);
			curve->samples++;
		}
		json_decref(json);
	}
	curve->count = sum->count;
	curve->over = sum->over;
	curve->p50 = (double)histogram_percentile_ns(sum, 500000) / 1e3;
	curve->max = (double)sum->max_ns / 1e3;
	for (size_t i = 0; i < POINTS; i++) {
		double above = pow(10, -nines(i));

		curve->y[i] =
		    above * (double)sum->count >= 1
		        ? (double)histogram_percentile_ns(sum, (uint32_t)lround(1e6 * (1 - above))) / 1e3
		        : NAN;
	}
	return sum->count > 0;
}

static void number(const struct page *p, double value)
{
	char text[32];

	fprintf(p->out, "<td>%s</td>", isfinite(value) ? figure_text(value, text, sizeof(text)) : "–");
}

static void print_table(const struct page *p, const struct curve *curves, size_t count)
{
	static const size_t at[] = {12, 24, 36, 48}; /* of p90 to p99.99 among the points */

	fputs("<div class=\"scroll\"><table><thead><tr><th>cell</th><th>I/Os</th><th>least</th><th>p50</th>"
	      "<th>p90</th><th>p99</th><th>p99.9</th><th>p99.99</th><th>most</th></tr></thead><tbody>\n",
	      p->out);
	for (size_t k = 0; k < count; k++) {
		fprintf(p->out, "<tr><th scope=\"row\"><span class=\"key\" style=\"background:%s\"></span> ",
		        palette_color(k));
		html_text(p->out, curves[k].cell->label);
		fprintf(p->out, "</th><td>%" PRIu64 "</td>", curves[k].count);
		number(p, curves[k].y[0]);
		number(p, curves[k].p50);
		for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
			number(p, curves[k].y[at[i]]);
		number(p, curves[k].max);
		fputs("</tr>\n", p->out);
	}
	fputs("</tbody></table></div>\n", p->out);
}

static void draw(const struct page *p, const char *direction, const struct curve *curves, size_t count)
{
	static const char *const labels[] = {"least", "90", "99", "99.9", "99.99", "99.999"};
	struct chart chart = {.out = p->out,
	                      .description = "Latency by percentile, one curve a cell, on logarithmic axes",
	                      .title = direction,
	                      .x_name = "percentile: % of the I/Os that were at least this fast",
	                      .y_name = "µs, log.",
	                      .x_labels = labels,
	                      .height_px = HEIGHT_PX};
	double low = INFINITY, high = 0, x[POINTS];

	for (size_t i = 0; i < POINTS; i++)
		x[i] = nines(i);
	for (size_t k = 0; k < count; k++) {
		for (size_t i = 0; i < POINTS && isfinite(curves[k].y[i]); i++) {
			low = fmin(low, curves[k].y[i]);
			high = fmax(high, curves[k].y[i]);
		}
	}
	chart.x = (struct scale){.low = 0, .high = 5.3, .ticks = {0, 1, 2, 3, 4, 5}, .tick_count = 6};
	scale_fit(&chart.y, low, high, true);
	if (!chart.y.log)
		chart.y_name = "µs";
	fprintf(p->out, "<h3>%s</h3>\n", direction);
	chart_begin(&chart);
	for (size_t k = 0; k < count; k++)
		chart_line(&chart, x, curves[k].y, POINTS, k);
	chart_end(&chart);
	print_table(p, curves, count);
}

static bool print_direction(const struct page *p, const char *direction)
{
	struct curve *curves = calloc(CURVES_MAX, sizeof(*curves));
	struct histogram *sum = calloc(1, sizeof(*sum)), *one = calloc(1, sizeof(*one));
	size_t count = 0, left = 0;

	for (size_t c = 0; curves && sum && one && c < p->design->cell_count; c++) {
		if (p->groups[p->group[c]].figure->id != FIGURE_IOPS)
			continue;
		if (count == CURVES_MAX)
			left++;
		else
			count += load(p, &p->report->cells[c], direction, sum, one, &curves[count]);
	}
	if (count)
		draw(p, direction, curves, count);
	if (left)
		fprintf(p->out, "<p class=\"note\">%zu further cells are in the table of results only.</p>\n",
		        left);
	free(curves);
	free(sum);
	free(one);
	return count > 0;
}

void html_latency(const struct page *p)
{
	bool any = print_direction(p, "read");

	any = print_direction(p, "write") || any;
	if (any)
		fputs("<p class=\"note\">Microseconds, of all valid samples together, from submission (of a "
		      "given rate: from "
		      "the intended start) to completion. A curve ends where fewer than one I/O is "
		      "slower.</p>\n",
		      p->out);
	else
		fputs("<p>No workload of this run recorded latencies (aio does).</p>\n", p->out);
}
