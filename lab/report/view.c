/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "watch.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SILENT_NS      (60 * INT64_C(1000000000)) /* a poll is answered after 25 s at the latest */
#define SERVER_BEAT_NS (20 * INT64_C(1000000000))

static int64_t unix_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void read_head(sqlite3_stmt *row, struct run_view *v)
{
	snprintf(v->run, sizeof(v->run), "%s", store_text(row, 0));
	snprintf(v->group, sizeof(v->group), "%s", store_text(row, 1));
	snprintf(v->state, sizeof(v->state), "%s", store_text(row, 2));
	snprintf(v->plan, sizeof(v->plan), "%s", store_text(row, 3));
	v->started_unix_ns = sqlite3_column_int64(row, 4);
	v->ended_unix_ns = sqlite3_column_int64(row, 5);
	v->cells = sqlite3_column_int64(row, 6);
	v->samples_wanted = sqlite3_column_int64(row, 7);
	v->samples_done = sqlite3_column_int64(row, 8);
	v->attempts_bad = sqlite3_column_int64(row, 9);
}

static int view_open(struct store *store, struct run_view *v)
{
	sqlite3_stmt *row;
	int r = store_ask(store, &row,
	                  "SELECT c.ordinal, a.boot, a.sample, a.attempt, c.label FROM attempts a JOIN cells "
	                  "c USING (run, cell_id) "
	                  "WHERE a.run = ? AND a.state = 'open'",
	                  "s", v->run);

	if (!r)
		r = store_row(store, row);
	if (r != 1)
		return r;
	v->cell = sqlite3_column_int64(row, 0);
	v->boot = sqlite3_column_int64(row, 1);
	v->sample = sqlite3_column_int64(row, 2);
	v->attempt = sqlite3_column_int64(row, 3);
	snprintf(v->label, sizeof(v->label), "%s", store_text(row, 4));
	store_reset(row);
	return 0;
}

/* From the mean time from one valid sample to the next. While nothing was measured (the server was away, its
 * disk full) time went by that says nothing of those to come: such a pause counts as ten minutes, or as ten
 * times the median where that is more. */
static int view_left(struct store *store, struct run_view *v)
{
	int64_t mean_ns = 0, last_ns = 0;
	sqlite3_stmt *row;
	int r =
	    store_ask(store, &row,
	              "WITH i AS (SELECT closed_unix_ns AS closed, closed_unix_ns - lag(closed_unix_ns, 1, "
	              "?2) OVER (ORDER BY closed_unix_ns) AS ns FROM attempts WHERE run = ?1 AND state = "
	              "'valid'), m AS (SELECT max(10 * ns, 600000000000) AS most FROM i ORDER BY ns LIMIT "
	              "1 OFFSET (SELECT count(*) / 2 FROM i)) SELECT CAST(avg(min(ns, most)) AS INTEGER), "
	              "max(closed) FROM i, m",
	              "si", v->run, v->started_unix_ns);

	if (!r)
		r = store_row(store, row);
	if (r != 1)
		return r;
	mean_ns = sqlite3_column_int64(row, 0);
	last_ns = sqlite3_column_int64(row, 1);
	store_reset(row);
	if (!last_ns)
		return 0;
	int64_t since_ns = v->now_unix_ns - last_ns, left = v->samples_wanted - v->samples_done;
	if (since_ns > mean_ns || left == 0)
		since_ns = left ? mean_ns : 0;
	v->left_s = (mean_ns * left - since_ns) / INT64_C(1000000000);
	return 0;
}

int view_run(struct store *store, const char *run, struct run_view *v)
{
	int64_t beat = 0;
	sqlite3_stmt *row;
	int r = store_ask(store, &row,
	                  "SELECT run, group_name, state, plan_name, started_unix_ns, ended_unix_ns, (SELECT "
	                  "count(*) FROM cells c "
	                  "WHERE c.run = r.run), (SELECT count(*) FROM visits v JOIN cells c USING (run, "
	                  "cell_id) WHERE v.run = "
	                  "r.run AND NOT c.failed AND (c.enough IS NULL OR v.boot <= c.enough)) * samples, "
	                  "(SELECT count(*) FROM attempts a JOIN cells c "
	                  "USING (run, cell_id) "
	                  "WHERE a.run = r.run AND a.state = 'valid' AND NOT c.failed), (SELECT count(*) "
	                  "FROM attempts a WHERE "
	                  "a.run = r.run AND a.state NOT IN ('valid', 'open')) FROM runs r WHERE ?1 IS NULL "
	                  "OR run = ?1 ORDER BY "
	                  "number DESC LIMIT 1",
	                  "s", run);

	memset(v, 0, sizeof(*v));
	if (!r)
		r = store_row(store, row);
	if (r != 1)
		return r;
	read_head(row, v);
	store_reset(row);
	r = view_open(store, v);
	if (!r)
		r = store_int(store, &beat, "SELECT beat_unix_ns FROM server", "");
	v->now_unix_ns = unix_now();
	v->server_runs = v->now_unix_ns - beat < SERVER_BEAT_NS;
	v->left_s = -1;
	if (!r && v->server_runs)
		r = view_left(store, v);
	return r ? r : 1;
}

/* Appends to TEXT. */
__attribute__((format(printf, 4, 5))) static void add(char *text, size_t size, size_t *used,
                                                      const char *format, ...)
{
	va_list args;

	if (*used >= size)
		return;
	va_start(args, format);
	*used += (size_t)vsnprintf(text + *used, size - *used, format, args);
	va_end(args);
}

int view_nodes(struct store *store, const char *run, bool times, char *text, size_t size)
{
	int64_t now = unix_now();
	size_t used = 0;
	sqlite3_stmt *row;
	int r = store_ask(store, &row,
	                  "SELECT n.value, coalesce(step, 'absent'), coalesce(since_unix_ns, 0), "
	                  "coalesce(seen_unix_ns, 0) FROM runs "
	                  "r, json_each(r.lab, '$.groups.\"' || r.group_name || '\".nodes') n LEFT JOIN "
	                  "nodes ON nodes.node = "
	                  "n.value WHERE r.run = ? ORDER BY n.key",
	                  "s", run);

	text[0] = '\0';
	if (r)
		return r;
	while ((r = store_row(store, row)) == 1) {
		int64_t since = sqlite3_column_int64(row, 2), seen = sqlite3_column_int64(row, 3);

		add(text, size, &used, "%s%s: %s", used ? " | " : "", store_text(row, 0), store_text(row, 1));
		if (times && since)
			add(text, size, &used, " %" PRId64 " s", (now - since) / INT64_C(1000000000));
		if (seen && now - seen > SILENT_NS && strcmp(store_text(row, 1), "measure"))
			add(text, size, &used, " (silent)");
	}
	return r;
}

static const char *member(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

void error_print(FILE *out, const char *body)
{
	json_t *error = json_loads(body, 0, NULL);
	int number = (int)json_integer_value(json_object_get(error, "errno"));

	if (!error) {
		fprintf(out, "%s\n", body);
		return;
	}
	fprintf(out, "node %s, step %s, %s: %s", member(error, "node"), member(error, "step"),
	        member(error, "object"), member(error, "message"));
	if (number && !strstr(member(error, "message"), strerror(number)))
		fprintf(out, ": %s", strerror(number));
	fprintf(out, "\n    what to do: %s\n", member(error, "remedy"));
	json_decref(error);
}
