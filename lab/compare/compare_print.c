/* SPDX-License-Identifier: GPL-2.0-or-later
 * The report of a comparison. */
#include "compare.h"

#include <math.h>
#include <string.h>

static void print_side(const struct side *side, FILE *out)
{
	fprintf(out, "%c: run %s (%s)", side->name, side->report->run, side->database);
	for (size_t i = 0; i < side->pick_count; i++)
		fprintf(out, ", %s=%s", side->picks[i].factor, side->picks[i].level);
	if (*side->report->imported)
		fprintf(out, "; IMPORTED (%s): no evidence that it measured what it says",
		        side->report->imported);
	fputc('\n', out);
}

static void print_head(const struct compare *c, FILE *out)
{
	for (size_t s = 0; s < c->side_count; s++)
		print_side(&c->sides[s], out);
	control_print(c, out);
	for (size_t i = 0; i < c->allowed_count; i++)
		if (c->allowed_used[i] && !control_known(c->allowed[i]))
			fprintf(out, "Allowed to differ: %s\n", c->allowed[i]);
		else if (!c->allowed_used[i])
			fprintf(out, "Allowed, but does not differ: %s\n", c->allowed[i]);
	if (c->one_boot)
		fputs("ONE BOOT: samples are taken as if each had its own boot. Verdicts hold for these "
		      "boots alone; "
		      "another boot\nof the same nodes may come out otherwise.\n",
		      out);
	fprintf(out,
	        "Margin %.3g %%: what differs less counts as the same. Confidence %.3g %%; %zu comparison%s "
	        "decided "
	        "together (Holm).\n",
	        100 * c->margin, 100 * c->confidence, c->tested, c->tested == 1 ? "" : "s");
}

static int label_width(const struct compare *c)
{
	size_t width = 4;

	for (size_t i = 0; i < c->pair_count; i++) {
		size_t n = strlen(c->pairs[i].b->report->cells[c->pairs[i].b_cell].label);

		width = n > width ? n : width;
	}
	return (int)width;
}

static void print_figure(const struct stats_figure *f, FILE *out)
{
	char median[32], low[32], high[32], text[128];

	if (!f->samples) {
		fprintf(out, "  %-28s", "none");
		return;
	}
	figure_text(f->median, median, sizeof(median));
	if (f->basis == STATS_NOTHING)
		snprintf(text, sizeof(text), "%s [none]", median);
	else
		snprintf(text, sizeof(text), "%s [%s, %s]", median,
		         figure_text(f->interval.low, low, sizeof(low)),
		         figure_text(f->interval.high, high, sizeof(high)));
	fprintf(out, "  %-28s", text);
}

void compare_why(const struct compare *c, const struct pair *p, FILE *out)
{
	if (!p->a_figure.samples || !p->b_figure.samples)
		fprintf(out, "one side has no %s", p->figure->name);
	else if (isnan(p->ratio.median))
		fputs("a figure of 0 has no ratio", out);
	else if (!p->decidable)
		fprintf(out,
		        "%zu boot%s against %zu: no interval of the boot's effect; %zu boots a side at least",
		        p->a_figure.boots, p->a_figure.boots == 1 ? "" : "s", p->b_figure.boots,
		        stats_ratio_needs(1 - c->confidence, 1));
	else if (p->boots_needed)
		fprintf(out, "about %zu %s a side would decide", p->boots_needed,
		        p->by_boots ? "boots" : "samples");
	else
		fputs("at the edge of the margin, which no number of boots decides", out);
}

static void print_pair(const struct compare *c, const struct pair *p, int width, FILE *out)
{
	const struct stats_interval *i = &p->ratio.interval;
	char level[16];

	fprintf(out, "%c %-*s  %-5s", p->b->name, width, p->b->report->cells[p->b_cell].label,
	        p->figure->unit);
	print_figure(&p->a_figure, out);
	print_figure(&p->b_figure, out);
	if (!p->a_figure.samples || !p->b_figure.samples || isnan(p->ratio.median))
		fprintf(out, "  %-7s %-16s %-7s", "-", "-", "-");
	else
		fprintf(out, "  %-7.4f [%.3f, %.3f] %7s", p->ratio.median, i->low, i->high,
		        confidence_text(i->confidence, level));
	fprintf(out, "  %-9.2g %s", fmin(p->p_differs, p->p_apart), stats_verdict_text(p->verdict));
	if (p->verdict == STATS_UNDECIDED) {
		fputs(": ", out);
		compare_why(c, p, out);
	}
	fputc('\n', out);
	if (p->bootstrap.confidence > 0 && p->by_boots)
		fprintf(out, "  %-*s  bootstrap of the ratio of medians: %.4f [%.3f, %.3f] %s\n", width, "",
		        p->bootstrap_ratio, p->bootstrap.low, p->bootstrap.high,
		        confidence_text(p->bootstrap.confidence, level));
}

static void print_feet(const struct compare *c, FILE *out)
{
	size_t count[4] = {0};

	for (size_t i = 0; i < c->pair_count; i++)
		count[c->pairs[i].verdict]++;
	fputc('\n', out);
	for (size_t s = 1; s < c->side_count; s++)
		if (c->alone[s])
			fprintf(out,
			        "%zu cell%s of %c left out: no cell of A is the same but for what is asked "
			        "about (%s).\n",
			        c->alone[s], c->alone[s] == 1 ? "" : "s", c->sides[s].name, c->alone_in[s]);
	fprintf(
	    out,
	    "Figures: median of the boots' medians [order-statistic interval]. Ratio to A: the median of all "
	    "quotients of a boot's\nfigure by one of A (Hodges and Lehmann), with its exact interval of the "
	    "rank-sum test; p of the verdict after Holm.\nBootstrap: boots, then samples within; 2000 draws, "
	    "seed "
	    "%d.\n",
	    STATS_SEED);
	fprintf(out, "Verdict: %zu better, %zu worse, %zu the same within %.3g %%, %zu undecided.\n",
	        count[STATS_BETTER], count[STATS_WORSE], count[STATS_SAME], 100 * c->margin,
	        count[STATS_UNDECIDED]);
}

void compare_print(const struct compare *c, FILE *out)
{
	int width = label_width(c);

	print_head(c, out);
	fprintf(out, "\n  %-*s  %-5s  %-28s  %-28s  %-32s  %-9s %s\n", width, "cell", "unit", "A",
	        "the other", "ratio to A", "p", "verdict");
	for (size_t i = 0; i < c->pair_count; i++)
		print_pair(c, &c->pairs[i], width, out);
	print_feet(c, out);
}
