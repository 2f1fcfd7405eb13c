/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay status: what every node does now. */
#include "watch.h"

#include "../cli.h"
#include "../operator/operator.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* The server's own words; where none is there, what its database says. NULL: said on stderr. */
static json_t *ask(const char *database)
{
	struct operator_link *o = operator_new(database);
	struct store *store = NULL;
	json_t *status = NULL;
	long code;

	if (!o)
		return NULL;
	int r = operator_ask(o, "GET", "/status", NULL, &code, &status);
	if (!r && code != 200) {
		fprintf(stderr, "assay status: the server answers %ld: %s\n", code,
		        member(json_object_get(status, "error"), "message"));
		json_decref(status);
		status = NULL;
	} else if (r == -ENOENT || r == -ECONNREFUSED) {
		if (!store_open(database, STORE_EXISTING, stderr, &store))
			status = status_json(store);
		store_close(store);
	} else if (r) {
		fprintf(stderr, "assay status: %s\n", operator_message(o));
	}
	operator_free(o);
	return status;
}

int cmd_status(int argc, char **argv)
{
	const char *database = "assay.db";
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
	json_t *status = ask(database);
	if (!status)
		return ASSAY_SYSTEM;
	if (json)
		json_dumpf(status, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY), putchar('\n');
	else
		print_status(status);
	result = json_object_get(status, "trouble") ? ASSAY_SYSTEM : ASSAY_OK;
	json_decref(status);
	return result;
}
