/* SPDX-License-Identifier: GPL-2.0-or-later
 * The page of a run: one file, readable offline, in print and without JavaScript. html.c has the list of its
 * sections; each stands in a file of its own. */
#ifndef ASSAY_HTML_H
#define ASSAY_HTML_H

#include "design.h"
#include "figure.h"
#include "svg.h"

/* Cells of one workload: they are compared with each other. */
struct group {
	size_t first; /* cell */
	const struct figure *figure;
	char name[256]; /* "copy bs=4MiB": what tells it from the others */
};

struct page {
	FILE *out;
	const struct report *report;
	struct design *design;
	struct group *groups;
	size_t group_count;
	size_t *group; /* of each cell */
};

/* The whole page of REPORT. 0 or -errno. */
int html_report(const struct report *report, FILE *out);

/* The sections. What they cannot read of the store they say in their place. */
void html_verdict(const struct page *p);
void html_tune(const struct page *p);
void html_results(const struct page *p);
void html_effects(const struct page *p);
void html_order(const struct page *p);
void html_rate(const struct page *p);
void html_latency(const struct page *p);
void html_variance(const struct page *p);
void html_noise(const struct page *p);
void html_certificates(const struct page *p); /* the first part of it */
void html_environment(const struct page *p);
void html_reproduce(const struct page *p);
void html_bad(const struct page *p);

/* What PRINT writes as text for REPORT, escaped, in a <pre>; nothing where it writes nothing. SUMMARY: folded
 * under it; NULL: not folded. */
void html_printed(const struct page *p, const char *summary, void (*print)(const struct report *, FILE *));
/* error.json ERROR for people, escaped. */
void html_error(const struct page *p, const char *error);
/* FORMAT's text, escaped; the format itself too. */
__attribute__((format(printf, 2, 3))) void html_printf(FILE *out, const char *format, ...);
/* With the unit: "91.7 MB/s"; in pages the micro sign stands for u. */
const char *html_unit(const struct figure *figure);
/* "91.74 [58.48, 119.5]", or without the interval where there is none. */
void html_estimate(FILE *out, const struct stats_figure *e);

/* Rows with a picture each, beside numbers: a table, so that it is read without seeing the picture. */
struct rows {
	FILE *out;
	struct scale scale;
	const char *caption, *axis, *numbers; /* heading of the numbers' column */
	double reference;                     /* a stronger line there; NAN: none */
};

void rows_begin(const struct rows *r);
/* Opens the row; its label, then marks by svg_mark() around y = 12 of 24 px. */
void rows_row(const struct rows *r, const char *label, const char *aside);
/* The interval and the median of the row, over its marks. */
void rows_estimate(const struct rows *r, double median, const struct stats_interval *interval);
/* Ends the picture: what is printed now is the row's numbers; then rows_next(). */
void rows_numbers(const struct rows *r);
void rows_next(const struct rows *r);
void rows_end(const struct rows *r);

#endif
