/* SPDX-License-Identifier: GPL-2.0-or-later
 * Schemas as schema_load.c compiles them and schema.c walks them. */
#ifndef ASSAY_SCHEMA_INTERNAL_H
#define ASSAY_SCHEMA_INTERNAL_H

#include "schema.h"

#include <regex.h>

struct schema_text {
	const char *name;
	const char *text;
	size_t size;
};

/* Generated: every schema of this folder. */
extern const struct schema_text schema_texts[];
extern const size_t schema_text_count;

enum schema_type {
	SCHEMA_OBJECT = 1,
	SCHEMA_ARRAY = 2,
	SCHEMA_STRING = 4,
	SCHEMA_INTEGER = 8,
	SCHEMA_NUMBER = 16,
	SCHEMA_BOOLEAN = 32,
	SCHEMA_NULL = 64,
};

struct schema_list {
	struct schema **items;
	size_t count;
};

struct schema_property {
	const char *name;
	struct schema *schema;
};

/* One (sub)schema. Pointers are NULL, limits -1 (lengths, counts) where the keyword is absent. */
struct schema {
	const json_t *source;
	struct schema *next; /* all of a set, for lookup by source and for freeing */
	bool never;          /* the schema `false` */
	unsigned int types;  /* enum schema_type, or-ed; 0: any */
	const json_t *constant, *one_of_values, *required;
	bool has_pattern, has_minimum, has_maximum;
	const char *pattern_text;
	regex_t pattern;
	json_int_t minimum, maximum;
	json_int_t min_length, max_length, min_items, max_items, min_properties, max_properties;
	struct schema *ref, *items, *additional, *property_names, *condition, *then, *otherwise;
	struct schema_property *properties;
	size_t property_count;
	struct schema_list all_of, any_of, one_of;
};

struct schema_set {
	json_t *files;          /* name -> parsed schema */
	struct schema *schemas; /* list of all */
};

/* Compiles COUNT schemas. 0, or -EINVAL/-ENOMEM with *ERROR filled: path is FILE#/pointer. */
int schema_set_load(const struct schema_text *texts, size_t count, struct schema_set **set,
                    struct schema_error *error);
void schema_set_free(struct schema_set *set);
const struct schema *schema_set_find(const struct schema_set *set, const char *name);

/* VALUE against SCHEMA; REPORT (may be NULL) is called for every error. 0 or -EINVAL. */
int schema_walk(const struct schema *schema, const json_t *value, schema_report *report, void *context);

#endif
