/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the observers saw, beneath the rate and on its axis of time. */
#include "html_rate.h"

#include "series.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEIGHT_PX = 80, LINES_MAX = 5, OPEN_CELLS = 4 };

/* Fields whose columns go into one picture, one line an object. */
static const struct panel {
	const char *source, *fields[4], *name, *unit;
	double divisor; /* of the sum of the fields' rates, or of the gauge */
} panels[] = {
    {"disk", {"read_bytes", "write_bytes"}, "disks", "MB/s", 1e6},
    {"disk", {"busy_ms"}, "disks, busy", "%", 10},
    {"cpu", {"user_ns", "system_ns", "irq_ns", "softirq_ns"}, "CPUs, busy", "%", 1e7},
    {"thread", {"cpu_ns"}, "threads, of a CPU", "%", 1e7},
    {"drbd", {"net_sent_bytes", "net_received_bytes"}, "DRBD's network", "MB/s", 1e6},
    {"drbd", {"pending_requests"}, "DRBD, waits for the peer", "requests", 1},
    {"tcp", {"rtt_us"}, "TCP, round trip", "µs", 1},
    {"tcp", {"retransmits"}, "TCP, sent again", "1/s", 1},
};

struct line {
	const char *object;
	double most;
	double *y;
};

/* The value of panel F of the object of column FIRST at ROW. */
static double value(const struct series *s, const struct panel *f, const struct series_column *first,
                    size_t row)
{
	double sum = 0;

	for (size_t i = 0; i < 4 && f->fields[i]; i++) {
		const struct series_column *c = series_find(s, f->source, first->object, f->fields[i]);

		if (c && c->gauge)
			sum += c->values[row] < 0 ? NAN : (double)c->values[row];
		else if (c)
			sum += series_rate(s, c, row);
	}
	return sum / f->divisor;
}

static bool has_field(const struct panel *f, const struct series_column *c)
{
	if (strcmp(c->source, f->source))
		return false;
	for (size_t i = 0; i < 4 && f->fields[i]; i++)
		if (!strcmp(c->field, f->fields[i]))
			return true;
	return false;
}

static int by_most(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return (x->most < y->most) - (x->most > y->most);
}

/* Looks 1 to rows - 1, N of them at most: of those that fall together the greatest, since peaks are what is
 * looked for. */
static void fill(const struct series *s, const struct panel *f, const struct series_column *first,
                 struct line *line, double *x, size_t n)
{
	size_t looks = s->rows - 1;

	line->object = first->object;
	line->most = 0;
	for (size_t i = 0; i < n; i++) {
		line->y[i] = NAN;
		for (size_t k = i * looks / n; k < (i + 1) * looks / n; k++)
			line->y[i] = fmax(line->y[i], value(s, f, first, k + 1));
		x[i] = (double)(s->time_ns[(i + 1) * looks / n] - s->begin_ns) / 1e9;
		if (isfinite(line->y[i]))
			line->most = fmax(line->most, line->y[i]);
	}
}

static void draw(const struct page *p, const struct panel *f, const struct line *lines, size_t count,
                 const double *x, size_t n, double seconds)
{
	struct chart chart = {.out = p->out,
	                      .title = f->name,
	                      .description = "What the observers saw of the middle sample",
	                      .x_name = "",
	                      .y_name = f->unit,
	                      .height_px = HEIGHT_PX};
	size_t shown = count < LINES_MAX ? count : LINES_MAX;

	scale_fit(&chart.x, 0, seconds, false);
	scale_fit(&chart.y, 0, lines[0].most, false);
	fprintf(p->out, "<h4>%s</h4>", f->name);
	chart_begin(&chart);
	for (size_t i = 0; i < shown; i++)
		chart_line(&chart, x, lines[i].y, n, i);
	chart_end(&chart);
	fputs("<p class=\"legend\">", p->out);
	for (size_t i = 0; i < shown; i++) {
		fprintf(p->out, "<span><span class=\"key\" style=\"background:%s\"></span> ",
		        palette_color(i));
		html_text(p->out, lines[i].object);
		fputs("</span> ", p->out);
	}
	if (count > shown)
		fprintf(p->out, "(%zu that did less are left out)", count - shown);
	fputs("</p>\n", p->out);
}

static void print_panel(const struct page *p, const struct panel *f, const struct series *s, double seconds,
                        size_t points)
{
	size_t n = s->rows - 1 < points ? s->rows - 1 : points, count = 0, used = 0;
	struct line *lines = calloc(s->column_count + 1, sizeof(*lines));
	double *x = calloc(n + 1, sizeof(*x));

	for (size_t i = 0; lines && x && i < s->column_count; i++) {
		const struct series_column *c = &s->columns[i];

		if (!has_field(f, c) || (count && !strcmp(lines[count - 1].object, c->object)))
			continue;
		lines[count].y = calloc(n, sizeof(double));
		if (!lines[count].y)
			break;
		fill(s, f, c, &lines[count++], x, n);
	}
	if (count) {
		qsort(lines, count, sizeof(*lines), by_most);
		for (used = 0; used < count && lines[used].most > 0; used++)
			;
		if (used)
			draw(p, f, lines, used, x, n, seconds);
	}
	for (size_t i = 0; i < count; i++)
		free(lines[i].y);
	free(lines);
	free(x);
}

void html_observers(const struct page *p, const struct report_cell *cell, int64_t boot, int64_t sample,
                    int64_t attempt, double seconds, size_t points)
{
	struct series *s = NULL;
	sqlite3_stmt *row;

	if (store_ask(p->report->store, &row,
	              "SELECT CAST(body AS TEXT) -> '$.evidence.series' FROM results WHERE run = ? AND "
	              "cell_id = ? AND "
	              "boot = ? AND sample = ? AND attempt = ? AND role = 'measure'",
	              "ssiii", p->report->run, cell->id, boot, sample, attempt) ||
	    store_row(p->report->store, row) != 1)
		return;
	json_t *json = json_loads(store_text(row, 0), 0, NULL);

	store_reset(row);
	if (json && !series_load(json, &s) && s->rows > 2) {
		fprintf(p->out,
		        "<details%s><summary>What the observers saw of boot %" PRId64 ", sample %" PRId64
		        "</summary>",
		        p->design->cell_count <= OPEN_CELLS ? " open" : "", boot, sample);
		for (size_t i = 0; i < sizeof(panels) / sizeof(panels[0]); i++)
			print_panel(p, &panels[i], s, seconds, points);
		fprintf(p->out, "<p class=\"note\">Looking took %.2f %% of CPU %d%s.</p></details>\n",
		        100 * (double)s->cost_ns / (double)(s->time_ns[s->rows - 1] - s->time_ns[0]), s->cpu,
		        s->shared ? ", which may have measured as well" : "");
	}
	series_free(s);
	json_decref(json);
}
