/* SPDX-License-Identifier: GPL-2.0-or-later
 * The progress of a run: a line that is drawn again on a terminal, else a line a change. */
#include "watch.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LOOK_MS 250

struct watch {
	struct store *store;
	const char *run;
	bool tty, shown;
	int64_t cell, sample, shown_s; /* of the last line, where there is no terminal */
	int64_t last_error, last_closed_ns;
};

static void clear_line(const struct watch *w)
{
	if (w->tty && w->shown)
		fputs("\r\033[K", stdout);
}

/* An error of scope run is shown by show_errors(). */
static int show_attempts(struct watch *w)
{
	sqlite3_stmt *row;
	int r = store_ask(
	    w->store, &row,
	    "SELECT c.label, a.boot, a.sample, a.attempt, CASE coalesce(json_extract(a.error, '$.scope'), "
	    "'') WHEN 'unsupported' THEN 'unsupported' ELSE a.state END, a.reason, a.error, a.closed_unix_ns "
	    "FROM "
	    "attempts a "
	    "JOIN cells c USING (run, cell_id) WHERE a.run = ? AND a.state NOT IN ('open', 'valid') AND "
	    "a.closed_unix_ns > ? AND coalesce(json_extract(a.error, '$.scope'), '') != 'run' ORDER BY "
	    "a.closed_unix_ns",
	    "si", w->run, w->last_closed_ns);

	if (r)
		return r;
	while ((r = store_row(w->store, row)) == 1) {
		clear_line(w);
		printf("  %s, boot %s, sample %s, attempt %s %s: ", store_text(row, 0), store_text(row, 1),
		       store_text(row, 2), store_text(row, 3), store_text(row, 4));
		if (*store_text(row, 5))
			printf("%s\n", store_text(row, 5));
		else
			error_print(stdout, store_text(row, 6));
		w->last_closed_ns = sqlite3_column_int64(row, 7);
	}
	return r;
}

static int show_errors(struct watch *w, const char *group)
{
	sqlite3_stmt *row;
	int r = store_ask(w->store, &row,
	                  "SELECT id, body FROM errors WHERE id > ? AND (run = ? OR (run IS NULL AND "
	                  "group_name = ?)) ORDER BY id",
	                  "iss", w->last_error, w->run, group);

	if (r)
		return r;
	while ((r = store_row(w->store, row)) == 1) {
		clear_line(w);
		fputs("  error: ", stdout);
		error_print(stdout, store_text(row, 1));
		w->last_error = sqlite3_column_int64(row, 0);
	}
	return r;
}

static void time_left(const struct run_view *v, char *text, size_t size)
{
	if (v->left_s < 0)
		text[0] = '\0';
	else if (v->left_s < 90)
		snprintf(text, size, ", %" PRId64 " s left", v->left_s);
	else
		snprintf(text, size, ", %" PRId64 " min left", (v->left_s + 59) / 60);
}

static void compose(const struct run_view *v, const char *nodes, char *line, size_t size)
{
	char left[64], sample[320] = "";

	time_left(v, left, sizeof(left));
	if (v->cell)
		snprintf(sample, sizeof(sample),
		         "cell %" PRId64 "/%" PRId64 " %s, boot %" PRId64 ", sample %" PRId64 "%s, ", v->cell,
		         v->cells, v->label, v->boot, v->sample, v->attempt > 1 ? " (again)" : "");
	snprintf(line, size, "%s%" PRId64 "/%" PRId64 " samples%s%s%s%s", sample, v->samples_done,
	         v->samples_wanted, left,
	         v->server_runs ? "" : " | the server does not run: assay serve goes on with it", " | ",
	         nodes);
}

/* On a terminal one line that is always new; elsewhere a line a sample, and one a minute while nothing moves.
 */
static void show_line(struct watch *w, const struct run_view *v, const char *line)
{
	int64_t now_s = v->now_unix_ns / INT64_C(1000000000);
	struct winsize window;
	int width = 0;

	if (!w->tty) {
		if ((v->cell && (v->cell != w->cell || v->sample != w->sample)) || now_s - w->shown_s >= 60) {
			puts(line);
			fflush(stdout);
			w->cell = v->cell;
			w->sample = v->sample;
			w->shown_s = now_s;
		}
	} else {
		if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &window))
			width = window.ws_col;
		printf("\r\033[K%.*s", width > 1 ? width - 1 : 79, line);
		fflush(stdout);
	}
	w->shown = true;
}

int watch_run(struct store *store, const char *run, const volatile int *stop)
{
	struct watch w = {.store = store, .run = run, .tty = isatty(STDOUT_FILENO)};
	char line[2048], nodes[1024];
	struct run_view view;
	int r = store_int(store, &w.last_error, "SELECT max(id) FROM errors WHERE run IS NOT ?", "s", run);

	while (!r && !*stop) {
		r = view_run(store, run, &view);
		if (r != 1)
			return r ? r : -ENOENT;
		r = show_attempts(&w);
		if (!r)
			r = show_errors(&w, view.group);
		if (!r)
			r = view_nodes(store, run, w.tty, nodes, sizeof(nodes));
		if (r)
			break;
		if (view.ended_unix_ns) {
			clear_line(&w);
			return 0;
		}
		compose(&view, nodes, line, sizeof(line));
		show_line(&w, &view, line);
		poll(NULL, 0, LOOK_MS);
	}
	if (w.tty)
		putchar('\n');
	return r ? r : -EINTR;
}
