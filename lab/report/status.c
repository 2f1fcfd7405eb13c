/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the server says of itself, its nodes and its runs, as JSON: for `assay status` and `assay run`. */
#include "watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static json_t *column_json(sqlite3_stmt *row, int column)
{
	switch (sqlite3_column_type(row, column)) {
	case SQLITE_NULL:
		return json_null();
	case SQLITE_INTEGER:
		return json_integer(sqlite3_column_int64(row, column));
	default:
		return json_string(store_text(row, column));
	}
}

/* The rows of a query as a JSON array of objects. */
static int rows(struct store *store, const char *sql, json_t **out)
{
	sqlite3_stmt *row;
	int r = store_ask(store, &row, sql, "");

	*out = json_array();
	if (r)
		return r;
	while ((r = store_row(store, row)) == 1) {
		json_t *object = json_object();

		for (int i = 0; i < sqlite3_column_count(row); i++)
			json_object_set_new(object, sqlite3_column_name(row, i), column_json(row, i));
		json_array_append_new(*out, object);
	}
	return r;
}

static json_t *view_json(const struct run_view *v)
{
	return json_pack("{ss ss ss ss sI sI sI sI sI sI sI sI ss sI sb}", "run", v->run, "group", v->group,
	                 "state", v->state, "plan", v->plan, "cells", (json_int_t)v->cells, "samples_done",
	                 (json_int_t)v->samples_done, "samples_wanted", (json_int_t)v->samples_wanted,
	                 "attempts_bad", (json_int_t)v->attempts_bad, "cell", (json_int_t)v->cell, "boot",
	                 (json_int_t)v->boot, "sample", (json_int_t)v->sample, "attempt",
	                 (json_int_t)v->attempt, "label", v->label, "left_s", (json_int_t)v->left_s,
	                 "server_runs", (int)v->server_runs);
}

static json_t *run_json(struct store *store, const char *run)
{
	struct run_view v;

	return view_run(store, run, &v) == 1 ? view_json(&v) : json_null();
}

/* Runs that are queued or running, or else the latest one. */
static json_t *runs_json(struct store *store)
{
	json_t *names, *out = json_array(), *name;
	size_t i;

	if (rows(store,
	         "SELECT run FROM runs WHERE state IN ('queued', 'running') OR number = (SELECT max(number) "
	         "FROM runs) ORDER BY "
	         "number",
	         &names) == 0) {
		json_array_foreach (names, i, name)
			json_array_append_new(out, run_json(store,
			                                    json_string_value(json_object_get(name, "run"))));
	}
	json_decref(names);
	return out;
}

json_t *status_json(struct store *store)
{
	json_t *server, *nodes, *warnings, *errors, *strangers;
	int r = rows(store, "SELECT url, pid, started_unix_ns, beat_unix_ns FROM server", &server);

	/* Every node of the server's lab, also those that have not come yet. */
	r |= rows(store,
	          "SELECT g.key AS \"group\", n.value AS node, coalesce(step, 'absent') AS step, "
	          "coalesce(text, 'has not come "
	          "yet') AS text, since_unix_ns, seen_unix_ns FROM server, json_each(server.lab, '$.groups') "
	          "g, json_each(g.value, "
	          "'$.nodes') n LEFT JOIN nodes ON nodes.node = n.value ORDER BY 1, 2",
	          &nodes);
	r |= rows(store,
	          "SELECT node, warning.value AS text FROM boots, json_each(inventory, '$.warnings') warning "
	          "WHERE hello_order = (SELECT max(hello_order) FROM boots AS b WHERE b.node = boots.node) "
	          "ORDER BY node",
	          &warnings);
	r |= rows(store, "SELECT id, at_unix_ns, run, node, scope, body FROM errors ORDER BY id DESC LIMIT 5",
	          &errors);
	r |= rows(store, "SELECT mac, uuid, seen_unix_ns FROM strangers ORDER BY seen_unix_ns DESC LIMIT 10",
	          &strangers);
	json_t *status =
	    json_pack("{so so so so so so}", "server", server, "nodes", nodes, "warnings", warnings, "runs",
	              runs_json(store), "errors", errors, "strangers", strangers);
	if (r)
		json_object_set_new(status, "trouble", json_string(store_message(store)));
	return status;
}

/* What is new of a run. */
struct news {
	struct store *store;
	const char *run;
	FILE *out;
	int64_t last_error, last_closed_ns;
};

/* An error of scope run is shown by show_errors(). */
static int show_attempts(struct news *w)
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
		fprintf(w->out, "  %s, boot %s, sample %s, attempt %s %s: ", store_text(row, 0),
		        store_text(row, 1), store_text(row, 2), store_text(row, 3), store_text(row, 4));
		if (*store_text(row, 5))
			fprintf(w->out, "%s\n", store_text(row, 5));
		else
			error_print(w->out, store_text(row, 6));
		w->last_closed_ns = sqlite3_column_int64(row, 7);
	}
	return r;
}

static int show_errors(struct news *w, const char *group)
{
	sqlite3_stmt *row;
	int r = store_ask(w->store, &row,
	                  "SELECT id, body FROM errors WHERE id > ? AND (run = ? OR (run IS NULL AND "
	                  "group_name = ?)) ORDER BY id",
	                  "iss", w->last_error, w->run, group);

	if (r)
		return r;
	while ((r = store_row(w->store, row)) == 1) {
		fputs("  error: ", w->out);
		error_print(w->out, store_text(row, 1));
		w->last_error = sqlite3_column_int64(row, 0);
	}
	return r;
}

int progress_json(struct store *store, const char *run, int64_t last_error, int64_t last_closed_ns,
                  json_t **out)
{
	struct news news = {.store = store,
	                    .run = run,
	                    .last_error = last_error,
	                    .last_closed_ns = last_closed_ns};
	char nodes[1024], times[1024];
	struct run_view v;
	char *text = NULL;
	size_t size;
	int r = view_run(store, run, &v);

	*out = NULL;
	if (r != 1)
		return r ? r : -ENOENT;
	if (last_error < 0)
		r = store_int(store, &news.last_error,
		              "SELECT coalesce(max(id), 0) FROM errors WHERE run IS NOT ?", "s", run);
	if (r < 0)
		return r;
	news.out = open_memstream(&text, &size);
	if (!news.out)
		return -ENOMEM;
	r = show_attempts(&news);
	if (!r)
		r = show_errors(&news, v.group);
	if (fclose(news.out))
		r = -ENOMEM;
	if (!r)
		r = view_nodes(store, run, false, nodes, sizeof(nodes));
	if (!r)
		r = view_nodes(store, run, true, times, sizeof(times));
	if (!r)
		*out = json_pack("{so sb ss* ss* ss* sI sI sI}", "view", view_json(&v), "ended",
		                 v.ended_unix_ns != 0, "nodes", nodes, "nodes_times", times, "news", text,
		                 "last_error", (json_int_t)news.last_error, "last_closed_ns",
		                 (json_int_t)news.last_closed_ns, "now_unix_ns", (json_int_t)v.now_unix_ns);
	free(text);
	return r || *out ? r : -ENOMEM;
}
