/* SPDX-License-Identifier: GPL-2.0-or-later
 * The progress of a run: a line that is drawn again on a terminal, else a line a change. */
#include "watch.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 250

struct watch {
	bool tty, shown;
	int64_t cell, sample, shown_s;      /* of the last line, where there is no terminal */
	int64_t last_error, last_closed_ns; /* what was printed; -1: none of this run yet */
	char nodes[1024];
};

static void clear_line(const struct watch *w)
{
	if (w->tty && w->shown)
		fputs("\r\033[K", stdout);
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

static void copy(char *to, size_t size, const json_t *from, const char *key)
{
	const char *text = json_string_value(json_object_get(from, key));

	snprintf(to, size, "%s", text ? text : "");
}

static int64_t number(const json_t *from, const char *key)
{
	return json_integer_value(json_object_get(from, key));
}

/* What ANSWER (of status.c's progress_json()) says, to *V; what is new is printed. */
static void take(struct watch *w, const json_t *answer, struct run_view *v)
{
	const json_t *view = json_object_get(answer, "view");
	const char *news = json_string_value(json_object_get(answer, "news"));

	copy(v->label, sizeof(v->label), view, "label");
	v->cells = number(view, "cells");
	v->samples_done = number(view, "samples_done");
	v->samples_wanted = number(view, "samples_wanted");
	v->cell = number(view, "cell");
	v->boot = number(view, "boot");
	v->sample = number(view, "sample");
	v->attempt = number(view, "attempt");
	v->left_s = number(view, "left_s");
	v->server_runs = true;
	copy(w->nodes, sizeof(w->nodes), answer, w->tty ? "nodes_times" : "nodes");
	w->last_error = number(answer, "last_error");
	w->last_closed_ns = number(answer, "last_closed_ns");
	if (news && *news) {
		clear_line(w);
		fputs(news, stdout);
	}
}

/* Asks once. 1: the run has ended; 0: not yet, or no server is there now; -errno: it was said on stderr. */
static int look(struct watch *w, struct operator_link *server, const char *run, struct run_view *v)
{
	char path[256];
	json_t *answer;
	long status;

	snprintf(path, sizeof(path), "/runs/%s?errors=%" PRId64 "&closed=%" PRId64, run, w->last_error,
	         w->last_closed_ns);
	int r = operator_ask(server, "GET", path, NULL, &status, &answer);
	v->server_runs = false;
	v->left_s = -1;
	if (r == -ENOENT || r == -ECONNREFUSED || r == -ETIMEDOUT) {
		r = 0;
	} else if (r) {
		fprintf(stderr, "assay run: %s\n", operator_message(server));
	} else if (status == 200) {
		take(w, answer, v);
		r = json_is_true(json_object_get(answer, "ended"));
	} else if (status < 500) {
		fprintf(stderr, "assay run: the server knows no run %s\n", run);
		r = -ENOENT;
	}
	json_decref(answer);
	return r;
}

int watch_run(struct operator_link *server, const char *run, const volatile int *stop)
{
	struct watch w = {.tty = isatty(STDOUT_FILENO), .last_error = -1};
	struct run_view view = {0};
	struct timespec now;
	char line[2048];
	int r = 0;

	while (!r && !*stop) {
		r = look(&w, server, run, &view);
		if (r)
			break;
		clock_gettime(CLOCK_REALTIME, &now);
		view.now_unix_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
		compose(&view, w.nodes, line, sizeof(line));
		show_line(&w, &view, line);
		poll(NULL, 0, LOOK_MS);
	}
	if (r == 1)
		clear_line(&w);
	else if (w.tty)
		putchar('\n');
	return r == 1 ? 0 : r ? r : -EINTR;
}
