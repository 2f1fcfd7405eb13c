/* SPDX-License-Identifier: GPL-2.0-or-later
 * Checks JSON against the schemas of this folder: the subset of JSON Schema 2020-12 that they use. A schema
 * with a keyword outside the subset is refused when it is loaded, never ignored. */
#ifndef ASSAY_SCHEMA_H
#define ASSAY_SCHEMA_H

#include <jansson.h>
#include <stddef.h>

struct schema_error {
	char path[512];    /* JSON pointer to what is wrong, "" is the whole */
	char message[512]; /* what is wrong with it, and the nearest valid key for an unknown one */
};

/* VALUE against the schema NAME ("result.json"), which is compiled into the program. 0, -EINVAL with *ERROR
 * filled, or -ENOENT (no such schema). */
int schema_check(const char *name, const json_t *value, struct schema_error *error);

#endif
