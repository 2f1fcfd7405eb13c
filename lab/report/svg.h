/* SPDX-License-Identifier: GPL-2.0-or-later
 * Pictures as SVG: they need no JavaScript, print, and follow the width of the page. Places along an axis are
 * percentages, so that texts and points keep their size on a phone. */
#ifndef ASSAY_SVG_H
#define ASSAY_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { SCALE_TICKS = 24, PALETTE = 7 };

struct scale {
	double low, high;
	bool log;
	double ticks[SCALE_TICKS];
	size_t tick_count;
};

/* From MIN to MAX with round ticks. LOG where both are above 0 and MAX is over 20 times MIN and it is
 * allowed, so that what is small is seen too; else from 0 where MIN is under half of MAX. */
void scale_fit(struct scale *s, double min, double max, bool log_allowed);
/* Place of VALUE in percent, 2 to 98: room for what is drawn around it. */
double scale_percent(const struct scale *s, double value);
/* "2.5k", "12", "0.04": at most three digits. Gives TEXT. */
const char *tick_text(double value, char *text, size_t size);

/* TEXT with & < > " ' escaped. */
void html_text(FILE *out, const char *text);

/* Okabe and Ito's colours, which colour-blind people tell apart (without yellow, too pale on white), and a
 * mark of its own for each. */
const char *palette_color(size_t i);
/* <symbol>s m0 … for use with svg_mark(), once a page. */
void svg_symbols(FILE *out);
/* Mark I at X percent, Y px; TITLE: what a pointer over it shows, or NULL. */
void svg_mark(FILE *out, size_t i, double x_percent, double y_px, const char *title);

/* Vertical lines at the ticks of X over HEIGHT px, and their texts at BASE px where it is not 0. */
void svg_grid(FILE *out, const struct scale *x, int height_px, int base_px);

/* A chart with two axes. */
struct chart {
	FILE *out;
	struct scale x, y;
	const char *title, *description, *x_name, *y_name;
	const char *const *x_labels; /* of x's ticks, where they are not the numbers */
	int height_px;
};

void chart_begin(const struct chart *c);
/* A line through N points; those that are not finite break it. STYLE: place in the palette. DASH: see
 * style.css. */
void chart_line(const struct chart *c, const double *x, const double *y, size_t n, size_t style);
/* The area from LOW to HIGH. */
void chart_band(const struct chart *c, const double *x, const double *low, const double *high, size_t n);
void chart_end(const struct chart *c);

#endif
