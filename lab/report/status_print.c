/* SPDX-License-Identifier: GPL-2.0-or-later
 * The status for people: of a terminal, or of a page. */
#include "watch.h"

#include <inttypes.h>
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

static void print_runs(const json_t *runs, FILE *out)
{
	json_t *run;
	size_t i;

	json_array_foreach (runs, i, run) {
		int64_t left = json_integer_value(json_object_get(run, "left_s"));
		int64_t cell = json_integer_value(json_object_get(run, "cell"));

		fprintf(out, "run %s on %s: %s, %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " samples",
		        member(run, "run"), member(run, "group"), member(run, "state"),
		        json_integer_value(json_object_get(run, "samples_done")),
		        json_integer_value(json_object_get(run, "samples_wanted")));
		if (left >= 0 && !strcmp(member(run, "state"), "running"))
			fprintf(out, ", about %" PRId64 " s left", left);
		fputc('\n', out);
		if (cell)
			fprintf(out,
			        "  now cell %" PRId64 " (%s), boot %" JSON_INTEGER_FORMAT
			        ", sample %" JSON_INTEGER_FORMAT ", attempt %" JSON_INTEGER_FORMAT "\n",
			        cell, member(run, "label"), json_integer_value(json_object_get(run, "boot")),
			        json_integer_value(json_object_get(run, "sample")),
			        json_integer_value(json_object_get(run, "attempt")));
	}
}

void status_print(const json_t *status, FILE *out)
{
	const json_t *server = json_array_get(json_object_get(status, "server"), 0);
	const char *group = "";
	json_t *item;
	size_t i;

	if (server && age_s(server, "beat_unix_ns") < 20)
		fprintf(out, "server: %s, process %" JSON_INTEGER_FORMAT ", up for %" PRId64 " s\n",
		        member(server, "url"), json_integer_value(json_object_get(server, "pid")),
		        age_s(server, "started_unix_ns"));
	else
		fputs("server: does not run (assay serve LAB)\n", out);
	json_array_foreach (json_object_get(status, "nodes"), i, item) {
		if (strcmp(group, member(item, "group")))
			fprintf(out, "group %s\n", member(item, "group"));
		group = member(item, "group");
		fprintf(out, "  %-12s %-10s ", member(item, "node"), member(item, "step"));
		if (json_is_null(json_object_get(item, "seen_unix_ns")))
			fprintf(out, "%s\n", member(item, "text"));
		else
			fprintf(out, "for %5" PRId64 " s  %s (last heard of %" PRId64 " s ago)\n",
			        age_s(item, "since_unix_ns"), member(item, "text"),
			        age_s(item, "seen_unix_ns"));
	}
	json_array_foreach (json_object_get(status, "warnings"), i, item)
		fprintf(out, "warning: node %s, %s\n", member(item, "node"), member(item, "text"));
	print_runs(json_object_get(status, "runs"), out);
	json_array_foreach (json_object_get(status, "errors"), i, item) {
		fprintf(out, "error %" PRId64 " s ago: ", age_s(item, "at_unix_ns"));
		error_print(out, member(item, "body"));
	}
	json_array_foreach (json_object_get(status, "strangers"), i, item)
		fprintf(out, "not in the lab file, asked to boot %" PRId64 " s ago: MAC %s %s\n",
		        age_s(item, "seen_unix_ns"), member(item, "mac"), member(item, "uuid"));
}
