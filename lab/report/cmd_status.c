/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay status: what every node does now. */
#include "watch.h"

#include "../cli.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

static json_t *run_json(struct store *store, const char *run)
{
	struct run_view v;

	if (view_run(store, run, &v) != 1)
		return json_null();
	return json_pack("{ss ss ss ss sI sI sI sI sI sI sI sI ss sI sb}", "run", v.run, "group", v.group,
	                 "state", v.state, "plan", v.plan, "cells", (json_int_t)v.cells, "samples_done",
	                 (json_int_t)v.samples_done, "samples_wanted", (json_int_t)v.samples_wanted,
	                 "attempts_bad", (json_int_t)v.attempts_bad, "cell", (json_int_t)v.cell, "boot",
	                 (json_int_t)v.boot, "sample", (json_int_t)v.sample, "attempt", (json_int_t)v.attempt,
	                 "label", v.label, "left_s", (json_int_t)v.left_s, "server_runs", (int)v.server_runs);
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

static json_t *status_json(struct store *store)
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

static int64_t age_s(const json_t *object, const char *key)
{
	return time(NULL) - json_integer_value(json_object_get(object, key)) / INT64_C(1000000000);
}

static const char *member(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

static void print_runs(const json_t *runs)
{
	json_t *run;
	size_t i;

	json_array_foreach (runs, i, run) {
		int64_t left = json_integer_value(json_object_get(run, "left_s"));
		int64_t cell = json_integer_value(json_object_get(run, "cell"));

		printf("run %s on %s: %s, %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " samples",
		       member(run, "run"), member(run, "group"), member(run, "state"),
		       json_integer_value(json_object_get(run, "samples_done")),
		       json_integer_value(json_object_get(run, "samples_wanted")));
		if (left >= 0 && !strcmp(member(run, "state"), "running"))
			printf(", about %" PRId64 " s left", left);
		putchar('\n');
		if (cell)
			printf("  now cell %" PRId64 " (%s), boot %" JSON_INTEGER_FORMAT
			       ", sample %" JSON_INTEGER_FORMAT ", attempt %" JSON_INTEGER_FORMAT "\n",
			       cell, member(run, "label"), json_integer_value(json_object_get(run, "boot")),
			       json_integer_value(json_object_get(run, "sample")),
			       json_integer_value(json_object_get(run, "attempt")));
	}
}

static void print_status(const json_t *status)
{
	const json_t *server = json_array_get(json_object_get(status, "server"), 0);
	const char *group = "";
	json_t *item;
	size_t i;

	if (server && age_s(server, "beat_unix_ns") < 20)
		printf("server: %s, process %" JSON_INTEGER_FORMAT ", up for %" PRId64 " s\n",
		       member(server, "url"), json_integer_value(json_object_get(server, "pid")),
		       age_s(server, "started_unix_ns"));
	else
		puts("server: does not run (assay serve LAB)");
	json_array_foreach (json_object_get(status, "nodes"), i, item) {
		if (strcmp(group, member(item, "group")))
			printf("group %s\n", member(item, "group"));
		group = member(item, "group");
		printf("  %-12s %-10s ", member(item, "node"), member(item, "step"));
		if (json_is_null(json_object_get(item, "seen_unix_ns")))
			printf("%s\n", member(item, "text"));
		else
			printf("for %5" PRId64 " s  %s (last heard of %" PRId64 " s ago)\n",
			       age_s(item, "since_unix_ns"), member(item, "text"),
			       age_s(item, "seen_unix_ns"));
	}
	json_array_foreach (json_object_get(status, "warnings"), i, item)
		printf("warning: node %s, %s\n", member(item, "node"), member(item, "text"));
	print_runs(json_object_get(status, "runs"));
	json_array_foreach (json_object_get(status, "errors"), i, item) {
		printf("error %" PRId64 " s ago: ", age_s(item, "at_unix_ns"));
		error_print(stdout, member(item, "body"));
	}
	json_array_foreach (json_object_get(status, "strangers"), i, item)
		printf("not in the lab file, asked to boot %" PRId64 " s ago: MAC %s %s\n",
		       age_s(item, "seen_unix_ns"), member(item, "mac"), member(item, "uuid"));
}

int cmd_status(int argc, char **argv)
{
	const char *database = "assay.db";
	struct store *store = NULL;
	bool json = false;
	const struct cli_row rows[] = {
	    {"db", "FILE", "the database (default: assay.db)", .text = &database},
	    {"json", NULL, "the same for programs", .set = &json},
	    {0},
	};
	const struct cli_command command = {"",
	                                    "The server, every group, what each node does and since when, "
	                                    "how far the run is, the last errors.",
	                                    NULL, rows};
	int result = cli_parse(argc, argv, &command);

	if (result != CLI_GO)
		return result;
	if (optind < argc)
		return cli_usage("status", "it takes no argument");
	if (store_open(database, STORE_EXISTING, stderr, &store))
		return ASSAY_SYSTEM;
	json_t *status = status_json(store);
	if (json)
		json_dumpf(status, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY), putchar('\n');
	else
		print_status(status);
	result = json_object_get(status, "trouble") ? ASSAY_SYSTEM : ASSAY_OK;
	json_decref(status);
	store_close(store);
	return result;
}
