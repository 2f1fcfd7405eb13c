/* SPDX-License-Identifier: GPL-2.0-or-later
 * Rate over time of each cell: the band of all its samples, and its slowest, middle and fastest one; beneath,
 * what the observers saw of the middle one. */
#include "html_rate.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	HEIGHT_PX = 150,
	SECONDS_LEAST = 3,
	CELLS_MAX = 400,
	POINTS_ALL = 8000,
	POINTS_MOST = 240,
	POINTS_LEAST = 24
};

struct trace {
	int64_t boot, sample, attempt;
	double mb_per_s;
	double *rate; /* MB/s of each second */
	size_t seconds;
};

struct traces {
	struct trace *list;
	size_t count, longest;
};

/* "[1,2,3]" of bytes, of NS ns in all: the last second is seldom a whole one. */
static int parse(const char *text, int64_t ns, struct trace *t)
{
	size_t room = 1;

	for (const char *p = text; *p; p++)
		room += *p == ',';
	t->rate = calloc(room, sizeof(*t->rate));
	if (!t->rate)
		return -ENOMEM;
	for (char *p = strchr(text, '['); p && *p && *p != ']' && t->seconds < room; p = strpbrk(p, ",]")) {
		char *end;
		long long bytes = strtoll(p + 1, &end, 10);

		if (end == p + 1)
			break;
		t->rate[t->seconds++] = (double)bytes / 1e6;
		p = end;
	}
	double last = (double)ns / 1e9 - ((double)t->seconds - 1);

	if (t->seconds && last < 0.2)
		t->seconds--;
	else if (t->seconds && last < 1)
		t->rate[t->seconds - 1] /= last;
	return 0;
}

static int load(const struct page *p, const struct report_cell *cell, struct traces *all)
{
	sqlite3_stmt *row;
	int r = store_ask(
	    p->report->store, &row,
	    "SELECT a.boot, a.sample, a.attempt, r.measured_bytes, r.measured_ns, CAST(r.body AS TEXT) "
	    "-> '$.measurement.second_bytes' FROM attempts a JOIN results r USING (run, cell_id, boot, "
	    "sample, attempt) WHERE run = ? AND cell_id = ? AND a.state = 'valid' AND r.role = "
	    "'measure' ORDER BY a.boot, a.sample",
	    "ss", p->report->run, cell->id);

	all->list = calloc(cell->sample_count + 1, sizeof(*all->list));
	if (!all->list)
		r = -ENOMEM;
	while (!r && (r = store_row(p->report->store, row)) == 1 && all->count < cell->sample_count) {
		struct trace *t = &all->list[all->count++];
		int64_t ns = sqlite3_column_int64(row, 4);

		t->boot = sqlite3_column_int64(row, 0);
		t->sample = sqlite3_column_int64(row, 1);
		t->attempt = sqlite3_column_int64(row, 2);
		t->mb_per_s = ns ? (double)sqlite3_column_int64(row, 3) * 1e3 / (double)ns : 0;
		r = parse(store_text(row, 5), ns, t);
		if (t->seconds > all->longest)
			all->longest = t->seconds;
	}
	if (r)
		store_reset(row);
	return r < 0 ? r : 0;
}

static void release(struct traces *all)
{
	for (size_t i = 0; all->list && i < all->count; i++)
		free(all->list[i].rate);
	free(all->list);
}

static int by_rate(const void *a, const void *b)
{
	const struct trace *x = a, *y = b;

	return (x->mb_per_s > y->mb_per_s) - (x->mb_per_s < y->mb_per_s);
}

/* The mean of T in bucket I of N over the LONGEST; NAN where it had ended. */
static double bucket(const struct trace *t, size_t i, size_t n, size_t longest)
{
	size_t from = i * longest / n, to = (i + 1) * longest / n;
	double sum = 0;

	if (from >= t->seconds)
		return NAN;
	if (to > t->seconds)
		to = t->seconds;
	for (size_t k = from; k < to; k++)
		sum += t->rate[k];
	return to > from ? sum / (double)(to - from) : NAN;
}

/* The slowest and fastest second of all samples in the bucket: no peak is averaged away. */
static void bounds(const struct traces *all, size_t i, size_t n, double *low, double *high)
{
	size_t from = i * all->longest / n, to = (i + 1) * all->longest / n;

	*low = INFINITY;
	*high = -INFINITY;
	for (size_t s = 0; s < all->count; s++) {
		for (size_t k = from; k < to && k < all->list[s].seconds; k++) {
			*low = fmin(*low, all->list[s].rate[k]);
			*high = fmax(*high, all->list[s].rate[k]);
		}
	}
}

/* Numbers for uPlot; null where there is none. */
static void json_numbers(FILE *out, const double *values, size_t n)
{
	fputc('[', out);
	for (size_t i = 0; i < n; i++)
		if (isfinite(values[i]))
			fprintf(out, "%s%.4g", i ? "," : "", values[i]);
		else
			fprintf(out, "%snull", i ? "," : "");
	fputc(']', out);
}

static void draw(const struct page *p, const struct report_cell *cell, const struct traces *all, double *room,
                 size_t n)
{
	static const char *const names[] = {"slowest", "middle", "fastest"};
	const size_t picks[] = {0, all->count / 2, all->count - 1};
	size_t shown = all->count < 3 ? all->count : 3;
	double *x = room, *low = room + n, *high = room + 2 * n, *lines = room + 3 * n;
	struct chart chart = {.out = p->out,
	                      .title = cell->label,
	                      .description = "Throughput in each second, of all valid samples of the cell",
	                      .x_name = "seconds since the workload began",
	                      .y_name = "MB/s",
	                      .height_px = HEIGHT_PX};
	double most = 0;

	for (size_t i = 0; i < n; i++) {
		x[i] = ((double)i + 0.5) * (double)all->longest / (double)n;
		bounds(all, i, n, &low[i], &high[i]);
		most = fmax(most, high[i]);
		for (size_t k = 0; k < shown; k++)
			lines[k * n + i] = bucket(&all->list[picks[k]], i, n, all->longest);
	}
	scale_fit(&chart.x, 0, (double)all->longest, false);
	scale_fit(&chart.y, 0, most, false);
	chart_begin(&chart);
	chart_band(&chart, x, low, high, n);
	for (size_t k = 0; k < shown; k++)
		chart_line(&chart, x, lines + k * n, n, k);
	chart_end(&chart);
	fputs("<p class=\"legend\"><span><span class=\"key band\"></span> all samples</span> ", p->out);
	for (size_t k = 0; k < shown; k++)
		fprintf(p->out,
		        "<span><span class=\"key\" style=\"background:%s\"></span> %s: boot %" PRId64
		        ", sample %" PRId64 "</span> ",
		        palette_color(k), shown == 3 ? names[k] : "sample", all->list[picks[k]].boot,
		        all->list[picks[k]].sample);
	fputs("</p><script type=\"application/json\" class=\"zoom\">", p->out);
	fprintf(p->out, "{\"seconds\":%zu,\"x\":", all->longest);
	json_numbers(p->out, x, n);
	fputs(",\"band\":[", p->out);
	json_numbers(p->out, low, n);
	fputc(',', p->out);
	json_numbers(p->out, high, n);
	fputs("],\"lines\":[", p->out);
	for (size_t k = 0; k < shown; k++) {
		fputs(k ? "," : "", p->out);
		json_numbers(p->out, lines + k * n, n);
	}
	fputs("]}</script>\n", p->out);
}

/* 1: drawn; 0: too short; -errno. */
static int print_cell(const struct page *p, size_t c, size_t points)
{
	const struct report_cell *cell = &p->report->cells[c];
	struct traces all = {0};
	int r = load(p, cell, &all);
	size_t n;

	if (!r && all.longest >= SECONDS_LEAST) {
		qsort(all.list, all.count, sizeof(*all.list), by_rate);
		n = all.longest < points ? all.longest : points;
		double *room = calloc(n, 6 * sizeof(*room));

		if (room) {
			fputs("<details open><summary>", p->out);
			html_printf(p->out, "%" PRId64 " · %s", cell->ordinal, cell->label);
			fputs("</summary><div class=\"timeline\">", p->out);
			draw(p, cell, &all, room, n);
			fputs("</div>", p->out);
			const struct trace *middle = &all.list[all.count / 2];

			html_observers(p, cell, middle->boot, middle->sample, middle->attempt,
			               (double)all.longest, points);
			fputs("</details>\n", p->out);
		}
		free(room);
		r = room ? 1 : -ENOMEM;
	}
	release(&all);
	return r;
}

void html_rate(const struct page *p)
{
	size_t cells = p->design->cell_count, drawn = 0, brief = 0, left = 0;
	size_t points = POINTS_ALL / (cells + 1);

	points = points > POINTS_MOST ? POINTS_MOST : points < POINTS_LEAST ? POINTS_LEAST : points;
	for (size_t c = 0; c < cells; c++) {
		if (!p->report->cells[c].sample_count)
			continue;
		int r = drawn < CELLS_MAX ? print_cell(p, c, points) : 0;

		if (drawn >= CELLS_MAX)
			left++;
		else if (r < 0)
			fprintf(p->out, "<p class=\"warn\">Cell %zu cannot be drawn: %s</p>\n", c + 1,
			        strerror(-r));
		drawn += r == 1;
		brief += !r && drawn < CELLS_MAX;
	}
	if (brief)
		fprintf(p->out,
		        "<p>%zu cells whose samples took less than %d s have no rate over time.</p>\n", brief,
		        SECONDS_LEAST);
	if (left)
		fprintf(p->out,
		        "<p class=\"warn\">%zu further cells are left out, to keep the page small.</p>\n",
		        left);
}
