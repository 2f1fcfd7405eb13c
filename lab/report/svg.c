/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "svg.h"

#include <math.h>
#include <string.h>

enum { TICKS_WANTED = 5, LOG_FROM = 20 };

static const char *const colors[PALETTE] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                            "#b07800", "#3a9bd9", "#000000"};

const char *palette_color(size_t i)
{
	return colors[i % PALETTE];
}

void html_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			/* Other controls are no characters of HTML. */
			fputc((unsigned char)*text < ' ' && *text != '\n' && *text != '\t' ? ' ' : *text,
			      out);
		}
	}
}

static void add_tick(struct scale *s, double value)
{
	if (s->tick_count < SCALE_TICKS)
		s->ticks[s->tick_count++] = value;
}

static void fit_log(struct scale *s, double min, double max)
{
	double decades = log10(max / min);

	s->log = true;
	s->low = min;
	s->high = max;
	for (double power = pow(10, floor(log10(min))); power <= max * 1.001; power *= 10) {
		static const double steps[] = {1, 2, 5};

		for (size_t i = 0; i < (decades > 2.5 ? 1 : 3); i++)
			if (power * steps[i] >= min * 0.999 && power * steps[i] <= max * 1.001)
				add_tick(s, power * steps[i]);
	}
}

static void fit_linear(struct scale *s, double min, double max)
{
	if (min > 0 && min < max / 2)
		min = 0;
	if (!(max > min)) { /* all the same */
		double around = min ? fabs(min) / 10 : 1;

		min -= around;
		max += around;
	}
	double raw = (max - min) / TICKS_WANTED, power = pow(10, floor(log10(raw))), step = power;

	if (raw / power > 5)
		step = 10 * power;
	else if (raw / power > 2)
		step = 5 * power;
	else if (raw / power > 1)
		step = 2 * power;
	s->low = min;
	s->high = max;
	for (double k = ceil(min / step - 1e-9); k * step <= max + step * 1e-9; k++)
		add_tick(s, k * step + 0.0); /* no -0 */
}

void scale_fit(struct scale *s, double min, double max, bool log_allowed)
{
	*s = (struct scale){0};
	if (log_allowed && min > 0 && max / min > LOG_FROM)
		fit_log(s, min, max);
	else
		fit_linear(s, min, max);
}

double scale_percent(const struct scale *s, double value)
{
	double part =
	    s->log ? log(value / s->low) / log(s->high / s->low) : (value - s->low) / (s->high - s->low);

	return 2 + 96 * fmin(fmax(part, 0), 1);
}

const char *tick_text(double value, char *text, size_t size)
{
	double large = fabs(value);

	if (large >= 1e9)
		snprintf(text, size, "%.3gG", value / 1e9);
	else if (large >= 1e6)
		snprintf(text, size, "%.3gM", value / 1e6);
	else if (large >= 1e4)
		snprintf(text, size, "%.3gk", value / 1e3);
	else
		snprintf(text, size, "%.4g", value);
	return text;
}

void svg_symbols(FILE *out)
{
	static const char *const shapes[PALETTE] = {
	    "<circle r=\"3.5\"/>",
	    "<path d=\"M-3.2-3.2h6.4v6.4h-6.4z\"/>",
	    "<path d=\"M0-4.2 4 3h-8z\"/>",
	    "<path d=\"M0-4.4 4.4 0 0 4.4-4.4 0z\"/>",
	    "<path d=\"M0 4.2 4-3h-8z\"/>",
	    "<path d=\"M-1.2-4h2.4v2.8H4v2.4H1.2V4h-2.4V1.2H-4v-2.4h2.8z\"/>",
	    "<circle r=\"2.6\" fill=\"#fff\" stroke-width=\"1.8\" stroke=\"#000\"/>",
	};

	fputs("<svg width=\"0\" height=\"0\" class=\"defs\" aria-hidden=\"true\"><defs>", out);
	for (size_t i = 0; i < PALETTE; i++)
		fprintf(out, "<g id=\"m%zu\" fill=\"%s\">%s</g>", i, colors[i], shapes[i]);
	fputs("</defs></svg>\n", out);
}

void svg_mark(FILE *out, size_t i, double x_percent, double y_px, const char *title)
{
	fprintf(out, "<use href=\"#m%zu\" x=\"%.4g%%\" y=\"%g\"", i % PALETTE, x_percent, y_px);
	if (title) {
		fputs("><title>", out);
		html_text(out, title);
		fputs("</title></use>", out);
	} else {
		fputs("/>", out);
	}
}

void svg_grid(FILE *out, const struct scale *x, int height_px, int base_px)
{
	char text[32];

	for (size_t i = 0; i < x->tick_count; i++) {
		double at = scale_percent(x, x->ticks[i]);

		fprintf(out, "<line class=\"g\" x1=\"%.4g%%\" x2=\"%.4g%%\" y2=\"%d\"/>", at, at, height_px);
		if (base_px)
			fprintf(out, "<text x=\"%.4g%%\" y=\"%d\" text-anchor=\"%s\">%s</text>", at, base_px,
			        at < 4    ? "start"
			        : at > 96 ? "end"
			                  : "middle",
			        tick_text(x->ticks[i], text, sizeof(text)));
	}
}

void chart_begin(const struct chart *c)
{
	char text[32];

	fputs("<div class=\"chart\"><div class=\"yname\">", c->out);
	html_text(c->out, c->y_name);
	fprintf(c->out, "</div><svg class=\"y\" height=\"%d\" aria-hidden=\"true\">", c->height_px);
	for (size_t i = 0; i < c->y.tick_count; i++)
		fprintf(c->out,
		        "<text x=\"100%%\" dx=\"-6\" y=\"%.4g\" dy=\"4\" text-anchor=\"end\">%s</text>",
		        c->height_px * (1 - scale_percent(&c->y, c->y.ticks[i]) / 100),
		        tick_text(c->y.ticks[i], text, sizeof(text)));
	fprintf(c->out, "</svg><svg class=\"xy\" height=\"%d\" role=\"img\"><title>", c->height_px + 20);
	html_text(c->out, c->title);
	fputs("</title><desc>", c->out);
	html_text(c->out, c->description);
	fputs("</desc>", c->out);
	for (size_t i = 0; i < c->y.tick_count; i++) {
		double y = c->height_px * (1 - scale_percent(&c->y, c->y.ticks[i]) / 100);

		fprintf(c->out, "<line class=\"g\" x2=\"100%%\" y1=\"%.4g\" y2=\"%.4g\"/>", y, y);
	}
	for (size_t i = 0; i < c->x.tick_count; i++) {
		double x = scale_percent(&c->x, c->x.ticks[i]);

		fprintf(c->out, "<line class=\"g\" x1=\"%.4g%%\" x2=\"%.4g%%\" y2=\"%d\"/>", x, x,
		        c->height_px);
		fprintf(c->out, "<text x=\"%.4g%%\" y=\"%d\" text-anchor=\"%s\">%s</text>", x,
		        c->height_px + 15,
		        x < 4    ? "start"
		        : x > 96 ? "end"
		                 : "middle",
		        c->x_labels ? c->x_labels[i] : tick_text(c->x.ticks[i], text, sizeof(text)));
	}
	/* Lines are drawn in thousandths of the area and stretched with it; their strokes are not. */
	fprintf(c->out,
	        "<svg viewBox=\"0 0 1000 1000\" width=\"100%%\" height=\"%d\" preserveAspectRatio=\"none\">",
	        c->height_px);
}

static int thousandths(const struct scale *s, double value)
{
	return (int)lround(10 * scale_percent(s, value));
}

void chart_line(const struct chart *c, const double *x, const double *y, size_t n, size_t style)
{
	bool broken = true;

	fprintf(c->out, "<path class=\"l d%zu\" stroke=\"%s\" d=\"", style / PALETTE % 4,
	        palette_color(style));
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(y[i])) {
			broken = true;
			continue;
		}
		fprintf(c->out, "%s%d %d", broken ? "M" : "L", thousandths(&c->x, x[i]),
		        1000 - thousandths(&c->y, y[i]));
		broken = false;
	}
	fputs("\"/>", c->out);
}

void chart_band(const struct chart *c, const double *x, const double *low, const double *high, size_t n)
{
	fputs("<path class=\"band\" d=\"", c->out);
	for (size_t i = 0; i < n; i++)
		fprintf(c->out, "%s%d %d", i ? "L" : "M", thousandths(&c->x, x[i]),
		        1000 - thousandths(&c->y, high[i]));
	for (size_t i = n; i-- > 0;)
		fprintf(c->out, "L%d %d", thousandths(&c->x, x[i]), 1000 - thousandths(&c->y, low[i]));
	fputs("z\"/>", c->out);
}

void chart_end(const struct chart *c)
{
	fputs("</svg></svg><div class=\"xname\">", c->out);
	html_text(c->out, c->x_name);
	fputs("</div></div>\n", c->out);
}
