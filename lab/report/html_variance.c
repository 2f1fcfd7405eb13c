/* SPDX-License-Identifier: GPL-2.0-or-later
 * How much of the variance comes from the cell, the boot and the sample; and whether the order mattered. */
#include "html.h"

#include "variance.h"

#include <math.h>
#include <stdlib.h>

static int by_boot(const void *a, const void *b)
{
	const struct report_sample *x = *(const struct report_sample *const *)a,
	                           *y = *(const struct report_sample *const *)b;

	if (x->boot != y->boot)
		return x->boot < y->boot ? -1 : 1;
	return (x->sample > y->sample) - (x->sample < y->sample);
}

/* CELL's figures in the order of boot and sample to VALUES; whether it has all of them. */
static bool take(const struct page *p, const struct report_cell *cell, enum figure_id figure, double *values)
{
	const struct report_sample **sorted =
	    calloc(cell->sample_count + 1, sizeof(const struct report_sample *));
	bool whole = sorted && cell->wanted > 0 && cell->sample_count == (size_t)cell->wanted &&
	             cell->boots == p->report->boots && cell->wanted % p->report->boots == 0;

	for (size_t k = 0; whole && k < cell->sample_count; k++)
		sorted[k] = &cell->samples[k];
	if (whole)
		qsort(sorted, cell->sample_count, sizeof(*sorted), by_boot);
	for (size_t k = 0; whole && k < cell->sample_count; k++) {
		values[k] = sorted[k]->figure[figure];
		whole = !isnan(values[k]);
	}
	free(sorted);
	return whole;
}

static void bar(const struct page *p, const char *name, const struct stats_split *s, const char *unit)
{
	static const char *const levels[] = {"samples of one boot", "boots", "cells"};
	double all = 0;

	for (size_t i = 0; i < 3; i++)
		all += s->known[i] ? s->t2[i] : 0;
	fputs("<tr><th scope=\"row\">", p->out);
	html_text(p->out, name);
	fputs("</th><td><div class=\"bar\" aria-hidden=\"true\">", p->out);
	for (size_t i = 3; all > 0 && i-- > 0;)
		if (s->known[i])
			fprintf(p->out, "<span style=\"width:%.2f%%;background:%s\"></span>",
			        100 * s->t2[i] / all, palette_color(i));
	fputs("</div></td><td>", p->out);
	for (size_t i = 3; i-- > 0;) {
		fprintf(p->out, "<span class=\"key\" style=\"background:%s\"></span> %s ", palette_color(i),
		        levels[i]);
		if (s->known[i] && all > 0)
			fprintf(p->out, "<b>%.1f %%</b> (s = %.3g %s)<br>", 100 * s->t2[i] / all,
			        sqrt(s->t2[i]), unit);
		else
			fputs("not known: measured once<br>", p->out);
	}
	if (s->known[1])
		fprintf(p->out, "<small>%s, F test, p = %.2g</small>",
		        s->boot_p < 0.05 ? "boots differ" : "not shown that boots differ", s->boot_p);
	fputs("</td></tr>\n", p->out);
}

/* Whether there was something to split. */
static bool print_group(const struct page *p, size_t g)
{
	const struct figure *figure = p->groups[g].figure;
	size_t each = 0, cells = 0, boots = (size_t)p->report->boots, room = 1;
	struct stats_split split;

	for (size_t c = 0; c < p->design->cell_count; c++)
		room += p->group[c] == g ? p->report->cells[c].sample_count + 1 : 0;
	double *values = calloc(room, sizeof(*values));

	for (size_t c = 0; values && c < p->design->cell_count; c++) {
		const struct report_cell *cell = &p->report->cells[c];

		if (p->group[c] != g || (each && (size_t)cell->wanted != each) ||
		    !take(p, cell, figure->id, values + cells * each))
			continue;
		each = (size_t)cell->wanted;
		cells++;
	}
	bool good = cells && each > 1;

	if (good) {
		stats_split(values, cells, boots, each / boots, &split);
		bar(p, p->groups[g].name, &split, html_unit(figure));
	}
	free(values);
	return good;
}

void html_variance(const struct page *p)
{
	bool any = false;

	fputs("<div class=\"scroll\"><table "
	      "class=\"variance\"><thead><tr><th>workload</th><th>shares</th><th>level</th></tr>"
	      "</thead><tbody>\n",
	      p->out);
	for (size_t g = 0; g < p->group_count; g++)
		any = print_group(p, g) || any;
	if (!any)
		fputs("<tr><td colspan=\"3\">It takes complete cells of several samples to tell.</td></tr>\n",
		      p->out);
	fputs("</tbody></table></div>\n<p class=\"note\">After Kalibera and Jones 2013; s is a standard "
	      "deviation. Cells that "
	      "are not complete are left out.</p>\n",
	      p->out);
	html_printed(p, "Which factors the differences between cells go with", variance_print);
}
