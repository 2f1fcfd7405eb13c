/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html.h"

#include <math.h>

enum { ROW_PX = 24, AXIS_PX = 18 };

static void axis(const struct rows *r)
{
	fprintf(r->out, "<svg class=\"row\" height=\"%d\" aria-hidden=\"true\">", AXIS_PX);
	svg_grid(r->out, &r->scale, 0, AXIS_PX - 5);
	fputs("</svg>", r->out);
}

void rows_begin(const struct rows *r)
{
	fputs("<table class=\"rows\" role=\"table\"><caption>", r->out);
	html_text(r->out, r->caption);
	fputs("</caption><thead role=\"rowgroup\"><tr role=\"row\"><th role=\"columnheader\">cell</th>"
	      "<th role=\"columnheader\"><span class=\"axis\">",
	      r->out);
	html_text(r->out, r->axis);
	if (r->scale.log)
		fputs(", logarithmic", r->out);
	fputs("</span>", r->out);
	axis(r);
	fputs("</th><th role=\"columnheader\">", r->out);
	html_text(r->out, r->numbers);
	fputs("</th></tr></thead><tbody role=\"rowgroup\">\n", r->out);
}

void rows_row(const struct rows *r, const char *label, const char *aside)
{
	fputs("<tr role=\"row\"><th scope=\"row\" role=\"rowheader\">", r->out);
	html_text(r->out, label);
	if (aside) {
		fputs(" <small>", r->out);
		html_text(r->out, aside);
		fputs("</small>", r->out);
	}
	fprintf(r->out, "</th><td role=\"cell\"><svg class=\"row\" height=\"%d\" aria-hidden=\"true\">",
	        ROW_PX);
	svg_grid(r->out, &r->scale, ROW_PX, 0);
	if (!isnan(r->reference)) {
		double x = scale_percent(&r->scale, r->reference);

		fprintf(r->out, "<line class=\"ref\" x1=\"%.4g%%\" x2=\"%.4g%%\" y2=\"%d\"/>", x, x, ROW_PX);
	}
}

void rows_estimate(const struct rows *r, double median, const struct stats_interval *interval)
{
	double x = scale_percent(&r->scale, median);

	if (interval->confidence > 0)
		fprintf(r->out, "<line class=\"i\" x1=\"%.4g%%\" x2=\"%.4g%%\" y1=\"12\" y2=\"12\"/>",
		        scale_percent(&r->scale, interval->low), scale_percent(&r->scale, interval->high));
	fprintf(r->out, "<line class=\"m\" x1=\"%.4g%%\" x2=\"%.4g%%\" y1=\"3\" y2=\"21\"/>", x, x);
}

void rows_numbers(const struct rows *r)
{
	fputs("</svg></td><td role=\"cell\">", r->out);
}

void rows_next(const struct rows *r)
{
	fputs("</td></tr>\n", r->out);
}

void rows_end(const struct rows *r)
{
	fputs("</tbody><tfoot role=\"rowgroup\"><tr role=\"row\"><td role=\"cell\"></td><td role=\"cell\">",
	      r->out);
	axis(r);
	fputs("</td><td role=\"cell\"></td></tr></tfoot></table>\n", r->out);
}
