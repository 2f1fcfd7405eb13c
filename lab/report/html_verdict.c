/* SPDX-License-Identifier: GPL-2.0-or-later
 * First of all: is the run complete, what was fastest, and what must not be read into it. */
#include "html.h"

#include "environment.h"
#include <inttypes.h>

enum { TIES_SHOWN = 6, FALLS_SHOWN = 6 };

static void completeness(const struct page *p)
{
	const struct report *r = p->report;
	size_t complete = 0, failed = 0;

	for (size_t i = 0; i < r->cell_count; i++) {
		complete += r->cells[i].sample_count == (size_t)r->cells[i].wanted;
		failed += r->cells[i].failed;
	}
	if (report_complete(r))
		html_printf(p->out, "Complete: ");
	fprintf(p->out, "%zu of %zu cells have their valid samples", complete, r->cell_count);
	if (failed)
		fprintf(p->out, ", %zu failed or unsupported (<a href=\"#bad\">why</a>)", failed);
	fprintf(p->out, ". The run is %s.", r->state);
}

/* Whether the intervals of two cells have nothing in common. */
static bool told_apart(const struct stats_figure *a, const struct stats_figure *b)
{
	return a->interval.confidence > 0 && b->interval.confidence > 0 &&
	       (a->interval.high < b->interval.low || b->interval.high < a->interval.low);
}

/* The best cell of a group, and those that the samples do not tell from it. */
static void best(const struct page *p, size_t g)
{
	const struct report_cell *cells = p->report->cells;
	const struct figure *figure = p->groups[g].figure;
	struct stats_figure top = {0};
	size_t at = 0, count = 0, ties = 0;

	for (size_t c = 0; c < p->design->cell_count; c++) {
		if (p->group[c] != g)
			continue;
		struct stats_figure e = estimate_of_cell(&cells[c], figure->id);

		if (!e.samples)
			continue;
		count++;
		if (!top.samples ||
		    (figure->less_is_better ? e.median < top.median : e.median > top.median)) {
			top = e;
			at = c;
		}
	}
	if (!count)
		return;
	fputs("<li>", p->out);
	html_printf(p->out, "%s: ", p->groups[g].name);
	if (count > 1)
		fputs("best is ", p->out);
	fputs("<em>", p->out);
	html_text(p->out, cells[at].label);
	fputs("</em>, ", p->out);
	html_estimate(p->out, &top);
	fprintf(p->out, " %s", html_unit(figure));
	for (size_t c = 0; c < p->design->cell_count; c++) {
		if (p->group[c] != g || c == at)
			continue;
		struct stats_figure e = estimate_of_cell(&cells[c], figure->id);

		if (!e.samples || told_apart(&e, &top))
			continue;
		if (ties < TIES_SHOWN) {
			fputs(ties ? ", " : "; not told apart from it: ", p->out);
			html_text(p->out, cells[c].label);
		}
		ties++;
	}
	if (ties > TIES_SHOWN)
		fprintf(p->out, " and %zu more", ties - TIES_SHOWN);
	fputs("</li>\n", p->out);
}

/* A figure of a cell whose rate fell is neither what the cache took nor what lasts. */
static void falls(const struct page *p)
{
	size_t count = 0;

	for (size_t i = 0; i < p->report->cell_count; i++) {
		const struct report_cell *cell = &p->report->cells[i];
		struct knee knee;
		char *text = NULL;
		size_t size = 0;

		if (knee_of_cell(p->report, cell, &knee) || !knee.fell)
			continue;
		FILE *memory = open_memstream(&text, &size);

		if (!memory)
			continue;
		knee_text(&knee, memory);
		fclose(memory);
		if (++count == FALLS_SHOWN + 1)
			fputs("<details><summary>It fell in more cells.</summary>\n", p->out);
		fputs("<p class=\"warn\"><b>The rate fell for good</b> while <em>", p->out);
		html_text(p->out, cell->label);
		fputs("</em> was measured: ", p->out);
		html_text(p->out, text);
		fputs(". The cell's figure mixes both.</p>\n", p->out);
		free(text);
	}
	if (count > FALLS_SHOWN)
		fputs("</details>\n", p->out);
}

static void steadiness(const struct page *p)
{
	size_t missed = 0, samples = 0;

	for (size_t i = 0; i < p->report->cell_count; i++) {
		size_t cell_missed, cell_samples;

		if (steady_missed(p->report, &p->report->cells[i], &cell_missed, &cell_samples))
			continue;
		missed += cell_missed;
		samples += cell_samples;
	}
	if (!samples)
		return;
	if (missed)
		fprintf(p->out,
		        "<p class=\"warn\"><b>Not steady:</b> %zu of %zu samples in rounds did not come to a "
		        "steady state; <a href=\"#results\">which, and how far off</a>.</p>\n",
		        missed, samples);
	else
		fprintf(p->out, "<p class=\"good\">All %zu samples in rounds came to a steady state.</p>\n",
		        samples);
}

/* Where the figures come from, if not from the plan as it is, on hardware. */
static void origin(const struct page *p)
{
	const struct report *r = p->report;

	if (*r->imported) {
		fputs("<p class=\"warn\"><b>Imported</b> (", p->out);
		html_text(p->out, r->imported);
		fputs("): no evidence that what was measured is what is said; boots are as far as the file "
		      "tells "
		      "them.</p>\n",
		      p->out);
	}
	if (r->as_published)
		fputs("<p class=\"warn\"><b>As published:</b> with the sizes, data and repeats of the "
		      "experiment "
		      "that the plan repeats, mistakes included.</p>\n",
		      p->out);
}

static void cautions(const struct page *p)
{
	const struct report *r = p->report;
	bool one_boot = false, alone = false;
	sqlite3_stmt *row;

	for (size_t i = 0; i < r->cell_count; i++) {
		one_boot = one_boot || r->cells[i].boots == 1;
		alone = alone || r->cells[i].sample_count == 1;
	}
	if (*r->scale) {
		fputs("<p class=\"warn\"><b>Scaled.</b> Sizes are ", p->out);
		html_text(p->out, r->scale);
		fputs(" of the plan's: figures of so little data are no figures of the hardware.</p>\n",
		      p->out);
	}
	if (!store_ask(r->store, &row, environment_virtual_sql, "s", r->run))
		while (store_row(r->store, row) == 1) {
			fputs("<p class=\"warn\"><b>Virtual lab:</b> ", p->out);
			html_text(p->out, store_text(row, 0));
			fputs(". The figures are of an emulation and say nothing about hardware.</p>\n",
			      p->out);
		}
	if (one_boot)
		fputs("<p class=\"note\">Some cells were measured in one boot only: that says nothing about "
		      "how "
		      "much another boot of the same nodes would differ.</p>\n",
		      p->out);
	if (alone)
		fputs("<p class=\"note\">One sample alone has no interval.</p>\n", p->out);
}

/* What the plan demanded. */
static void acceptance(const struct page *p)
{
	static const char *const words[] = {"PASS", "FAIL", "INCONCLUSIVE"};
	const struct acceptance *a = p->report->acceptance;

	if (!a)
		return;
	fprintf(p->out,
	        "<p class=\"%s\"><b>Acceptance: %s</b></p>\n<div "
	        "class=\"scroll\"><table><thead><tr><th>verdict</th>"
	        "<th>criterion</th><th>of</th><th>measured</th><th></th></tr></thead><tbody>\n",
	        a->all == STATS_PASS ? "good" : "warn", words[a->all]);
	for (size_t i = 0; i < a->count; i++) {
		const struct accept_verdict *v = &a->verdicts[i];
		char value[32], low[32], high[32];

		fprintf(p->out, "<tr><td><b>%s</b></td><td>", words[v->acceptance]);
		html_printf(p->out, "%s %s %s", v->metric->name, v->at_least ? "≥" : "≤", v->text);
		fputs("</td><td>", p->out);
		html_text(p->out, v->subject);
		fputs("</td><td>", p->out);
		if (v->known)
			html_text(p->out, figure_text(v->value, value, sizeof(value)));
		if (v->known && v->interval.confidence > 0)
			fprintf(p->out, " [%s, %s]", figure_text(v->interval.low, low, sizeof(low)),
			        figure_text(v->interval.high, high, sizeof(high)));
		fputs("</td><td>", p->out);
		html_text(p->out, v->why);
		if (v->more_boots)
			fprintf(p->out, " %zu more boots would decide", v->more_boots);
		fputs("</td></tr>\n", p->out);
	}
	fputs("</tbody></table></div>\n", p->out);
}

void html_verdict(const struct page *p)
{
	fprintf(p->out, "<p class=\"%s\">", report_complete(p->report) ? "good" : "warn");
	completeness(p);
	if (*p->report->error) {
		fputs("<br>The run failed: ", p->out);
		html_error(p, p->report->error);
	}
	fputs("</p>\n", p->out);
	origin(p);
	cautions(p);
	falls(p);
	steadiness(p);
	acceptance(p);
	fputs("<ul>\n", p->out);
	for (size_t g = 0; g < p->group_count; g++)
		best(p, g);
	fputs("</ul>\n<p class=\"note\">Figures are medians with [an interval that holds the median]; levels "
	      "and "
	      "method stand with the results. MB = 10<sup>6</sup> bytes, MiB = 2<sup>20</sup> bytes.</p>\n",
	      p->out);
}
