/* SPDX-License-Identifier: GPL-2.0-or-later
 * The noise certificates: of each node a row a cell, every sample a mark, and the limit it had to keep. */
#include "certificate.h"
#include "html.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Under it, a share is drawn and told as this: a window is seconds at the most, and the tracer counts
 * microseconds. */
enum { LEAST_PPM = 1, MARKS_MAX = 2000, LANES = 5, QUIETS_MAX = 64 };

struct sample {
	char node[64];
	int64_t cell, boot, sample; /* the cell's ordinal */
	bool noisy;                 /* invalid by it */
	double ppm, limit_ppm;      /* the limit: NAN for none */
	struct certificate worst;
};

/* What was kept off, as text for people. */
struct quiet_text {
	char node[64], text[512];
	size_t samples;
};

struct samples {
	struct sample *all;
	struct quiet_text quiet[QUIETS_MAX];
	size_t count, room, quiet_count;
	double min, max; /* of all that is drawn */
};

static void widen(struct samples *s, double ppm)
{
	s->min = fmin(s->min, ppm);
	s->max = fmax(s->max, ppm);
}

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static void quiet_text(const json_t *quiet, char *buf, size_t size)
{
	const char *house = text_of(quiet, "housekeeping"), *isolated = text_of(quiet, "isolated");

	if (!*house)
		snprintf(buf, size, "no CPU can be spared to keep what it does off CPUs %s.",
		         text_of(quiet, "measuring"));
	else
		snprintf(buf, size,
		         "CPUs %s measure, CPUs %s keep house (cpu.quiet %s: %" JSON_INTEGER_FORMAT
		         " kernel threads and %" JSON_INTEGER_FORMAT " interrupts moved)%s%s%s.",
		         text_of(quiet, "measuring"), house, text_of(quiet, "level"),
		         json_integer_value(json_object_get(quiet, "threads_moved")),
		         json_integer_value(json_object_get(quiet, "interrupts_moved")),
		         *isolated ? "; the kernel isolated CPUs " : "", isolated,
		         *isolated ? ", without a tick" : "");
}

static void add_quiet(struct samples *s, const char *node, const char *json_text)
{
	json_t *quiet = json_loads(json_text, 0, NULL);
	char text[sizeof(s->quiet[0].text)];
	size_t i = 0;

	if (*text_of(quiet, "measuring")) {
		quiet_text(quiet, text, sizeof(text));
		while (i < s->quiet_count &&
		       (strcmp(s->quiet[i].node, node) != 0 || strcmp(s->quiet[i].text, text) != 0))
			i++;
		if (i == s->quiet_count && i < QUIETS_MAX) {
			s->quiet_count++;
			snprintf(s->quiet[i].node, sizeof(s->quiet[i].node), "%s", node);
			memcpy(s->quiet[i].text, text, sizeof(text));
		}
		if (i < QUIETS_MAX)
			s->quiet[i].samples++;
	}
	json_decref(quiet);
}

static int add(struct samples *s, sqlite3_stmt *row)
{
	json_t *noise = json_loads(store_text(row, 5), 0, NULL);
	const json_t *limit = json_object_get(noise, "limit_ppm");
	struct sample *one;

	if (s->count == s->room) {
		one = realloc(s->all, (s->room * 2 + 64) * sizeof(*one));
		if (!one) {
			json_decref(noise);
			return -1;
		}
		s->all = one;
		s->room = s->room * 2 + 64;
	}
	one = &s->all[s->count];
	*one = (struct sample){.cell = sqlite3_column_int64(row, 1),
	                       .boot = sqlite3_column_int64(row, 2),
	                       .sample = sqlite3_column_int64(row, 3),
	                       .noisy = sqlite3_column_int(row, 4),
	                       .limit_ppm = json_is_integer(limit) ? (double)json_integer_value(limit) : NAN};
	snprintf(one->node, sizeof(one->node), "%s", store_text(row, 0));
	certificate_add(&one->worst, noise);
	json_decref(noise);
	if (!one->noisy)
		add_quiet(s, one->node, store_text(row, 6));
	/* Without a window there is nothing to draw. */
	if (!one->worst.windows)
		return 0;
	one->ppm = fmax(one->worst.share_ppm, LEAST_PPM);
	widen(s, one->ppm);
	if (!isnan(one->limit_ppm))
		widen(s, fmax(one->limit_ppm, LEAST_PPM));
	s->count++;
	return 0;
}

static const char *label_of(const struct page *p, int64_t ordinal)
{
	for (size_t i = 0; i < p->report->cell_count; i++)
		if (p->report->cells[i].ordinal == ordinal)
			return p->report->cells[i].label;
	return "?";
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static void mark(const struct page *p, const struct rows *rows, const struct sample *s, bool title)
{
	char text[192];

	snprintf(text, sizeof(text), "boot %" PRId64 ", sample %" PRId64 ": %.0f ppm, longest %lld µs%s",
	         s->boot, s->sample, s->worst.share_ppm, s->worst.longest_us,
	         s->noisy ? ", invalid by it" : "");
	svg_mark(p->out, (size_t)s->boot - 1, scale_percent(&rows->scale, s->ppm),
	         4 + 4 * (double)(s->boot % LANES), title ? text : NULL);
}

/* Every one of N samples of a cell, or of each boot the worst: they are in the order of boots. */
static void marks(const struct page *p, const struct rows *rows, const struct sample *s, size_t n, bool all)
{
	const struct sample *worst = s;

	for (size_t i = 0; i < n; i++) {
		if (all)
			mark(p, rows, &s[i], true);
		if (s[i].boot != worst->boot || s[i].ppm > worst->ppm)
			worst = &s[i];
		if (!all && (i + 1 == n || s[i + 1].boot != s[i].boot))
			mark(p, rows, worst, false);
	}
}

static void numbers(const struct page *p, const struct certificate *w, double middle, double limit_ppm,
                    size_t noisy)
{
	fprintf(p->out, "<b>%.0f</b>, worst %.0f", middle, w->share_ppm);
	fprintf(p->out,
	        " <small>longest %lld µs; in a second at most %.0f interrupts, %.0f softirqs, %.0f threads; "
	        "during "
	        "samples %.1f timer interrupts",
	        w->longest_us, w->irq_per_s, w->softirq_per_s, w->thread_per_s, w->timer_per_s);
	if (w->smi)
		fprintf(p->out, "; %lld SMIs", w->smi);
	if (w->throttled)
		fprintf(p->out, "; throttled %lld times", w->throttled);
	if (!isnan(limit_ppm))
		fprintf(p->out, "; limit %.0f", limit_ppm);
	if (noisy)
		fprintf(p->out, "; <strong>%zu invalid by noise</strong>", noisy);
	fputs("</small>", p->out);
}

/* The row of N samples of one cell on one node. */
static void print_row(const struct page *p, struct rows *rows, const struct sample *s, size_t n, bool all)
{
	double *shares = calloc(n, sizeof(*shares));
	struct certificate worst = {0};
	size_t noisy = 0;

	if (!shares)
		return;
	rows->reference = isnan(s->limit_ppm) ? NAN : fmax(s->limit_ppm, LEAST_PPM);
	rows_row(rows, label_of(p, s->cell), NULL);
	marks(p, rows, s, n, all);
	for (size_t i = 0; i < n; i++) {
		shares[i] = s[i].worst.share_ppm;
		noisy += s[i].noisy;
		certificate_merge(&worst, &s[i].worst);
	}
	rows_numbers(rows);
	numbers(p, &worst, median(shares, n), s->limit_ppm, noisy);
	rows_next(rows);
	free(shares);
}

static void print_node(const struct page *p, const struct samples *all, const struct sample *s, size_t n)
{
	char caption[96];
	struct rows rows = {.out = p->out,
	                    .caption = caption,
	                    .axis = "ppm of a CPU taken, worst window (less is better)",
	                    .numbers = "median, worst in ppm",
	                    .reference = NAN};

	snprintf(caption, sizeof(caption), "noise on %s", s->node);
	scale_fit(&rows.scale, all->min, all->max, true);
	rows_begin(&rows);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from; to < n && s[to].cell == s[from].cell; to++)
			;
		print_row(p, &rows, &s[from], to - from, all->count <= MARKS_MAX);
	}
	rows_end(&rows);
}

static int load(const struct page *p, struct samples *samples)
{
	sqlite3_stmt *row;
	int r = store_ask(
	    p->report->store, &row,
	    "SELECT node, ordinal, boot, sample, noisy, t -> '$.evidence.noise' AS noise, t -> "
	    "'$.evidence.quiet' FROM (SELECT r.node AS node, ordinal, boot, sample, verdict <> 'valid' AS "
	    "noisy, CAST(r.body AS TEXT) AS t FROM results r JOIN cells c USING (run, cell_id) WHERE run = ? "
	    "AND (verdict = 'valid' OR reason LIKE 'noise: %')) WHERE noise IS NOT NULL ORDER BY node, "
	    "ordinal, boot, sample",
	    "s", p->report->run);

	while (!r && (r = store_row(p->report->store, row)) == 1) {
		r = add(samples, row);
		if (r)
			store_reset(row);
	}
	return r;
}

/* What was kept off which CPUs, of each node: once for all samples of which it is the same. */
static void print_quiet(const struct page *p, const struct samples *samples)
{
	for (size_t i = 0; i < samples->quiet_count; i++) {
		const struct quiet_text *q = &samples->quiet[i];

		fputs("<p>", p->out);
		html_printf(p->out, "%s, %zu samples: %s", q->node, q->samples, q->text);
		fputs("</p>\n", p->out);
	}
}

void html_certificates(const struct page *p)
{
	struct samples *samples = calloc(1, sizeof(*samples));

	if (!samples)
		return;
	*samples = (struct samples){.min = INFINITY, .max = LEAST_PPM};
	if (load(p, samples))
		fputs("<p class=\"warn\">The noise certificates cannot be read.</p>\n", p->out);
	print_quiet(p, samples);
	for (size_t from = 0, to; from < samples->count; from = to) {
		for (to = from;
		     to < samples->count && !strcmp(samples->all[to].node, samples->all[from].node); to++)
			;
		print_node(p, samples, &samples->all[from], to - from);
	}
	if (samples->count)
		fprintf(
		    p->out,
		    "<p class=\"note\">A mark is %s: the most that was taken from one of the CPUs on "
		    "which "
		    "the workload may run, in the window before it or after it, as the osnoise tracer saw "
		    "it; %d "
		    "stands for %d or less. The line across is the limit (noise.limit): what is beyond it is "
		    "invalid and was measured again.</p>\n",
		    samples->count <= MARKS_MAX ? "a sample" : "the worst sample of a boot", LEAST_PPM,
		    LEAST_PPM);
	else
		fputs("<p>No sample of this run has a noise certificate with a window (noise.window).</p>\n",
		      p->out);
	free(samples->all);
	free(samples);
}
