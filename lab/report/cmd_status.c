/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay status: what every node does now. */
#include "watch.h"

#include "../cli.h"
#include "../operator/operator.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *member(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
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
		status_print(status, stdout);
	result = json_object_get(status, "trouble") ? ASSAY_SYSTEM : ASSAY_OK;
	json_decref(status);
	return result;
}
