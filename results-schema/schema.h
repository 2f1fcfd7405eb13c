/* SPDX-License-Identifier: GPL-2.0-or-later
 * Checks JSON against the schemas of this folder: the subset of JSON Schema 2020-12 that they use. A schema
 * with a keyword outside the subset is refused when it is loaded, never ignored. */
#ifndef ASSAY_SCHEMA_H
#define ASSAY_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct schema_error {
	char path[512];    /* JSON pointer to what is wrong, "" is the whole */
	char message[512]; /* what is wrong with it, and the nearest valid key for an unknown one */
	bool at_key;       /* the last member's name is what is wrong, not its value */
};

/* VALUE against the schema NAME ("result.json"), which is compiled into the program. 0, -EINVAL with *ERROR
 * filled with the first error, or -ENOENT (no such schema). Safe to call from several threads. */
int schema_check(const char *name, const json_t *value, struct schema_error *error);

/* The same, but REPORT is called with CONTEXT for every error. */
typedef void schema_report(void *context, const struct schema_error *error);
int schema_check_all(const char *name, const json_t *value, schema_report *report, void *context);

#endif
