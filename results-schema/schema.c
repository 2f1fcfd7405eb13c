/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schema_internal.h"
#include "factor.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 128 }; /* levels of value and $ref together */

struct walk {
	schema_report *report;
	void *context;
	unsigned int errors, depth;
	unsigned int foreign; /* while trying a branch: how surely it is for another kind of value, 0 to 2 */
	const json_t *branch_value;
	size_t length;
	char path[sizeof(((struct schema_error *)0)->path)];
};

static void check(struct walk *w, const struct schema *s, const json_t *value);

__attribute__((format(printf, 2, 3))) static void fail(struct walk *w, const char *format, ...)
{
	struct schema_error error = {.at_key = false};
	va_list args;

	w->errors++;
	if (!w->report)
		return;
	va_start(args, format);
	vsnprintf(error.message, sizeof(error.message), format, args);
	va_end(args);
	memcpy(error.path, w->path, w->length + 1);
	w->report(w->context, &error);
}

/* Appends /NAME with JSON pointer's escapes; gives the length to go back to. A path that is too long ends at
 * the last member that fits. */
static size_t enter(struct walk *w, const char *name)
{
	size_t before = w->length, at = before;

	w->path[at++] = '/';
	for (; *name && at + 3 < sizeof(w->path); name++) {
		if (*name == '~' || *name == '/') {
			w->path[at++] = '~';
			w->path[at++] = *name == '~' ? '0' : '1';
		} else {
			w->path[at++] = *name;
		}
	}
	if (*name || at + 3 >= sizeof(w->path))
		at = before;
	w->path[at] = '\0';
	w->length = at;
	return before;
}

static void leave(struct walk *w, size_t before)
{
	w->length = before;
	w->path[before] = '\0';
}

static unsigned int type_of(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return SCHEMA_OBJECT;
	case JSON_ARRAY:
		return SCHEMA_ARRAY;
	case JSON_STRING:
		return SCHEMA_STRING;
	case JSON_INTEGER:
		return SCHEMA_INTEGER | SCHEMA_NUMBER;
	case JSON_REAL:
		/* 1.0 is an integer in JSON Schema; jansson keeps it as a real, and so do we: none of our
		 * writers sends one. */
		return SCHEMA_NUMBER;
	case JSON_TRUE:
	case JSON_FALSE:
		return SCHEMA_BOOLEAN;
	case JSON_NULL:
		return SCHEMA_NULL;
	}
	return 0;
}

static const char *type_text(unsigned int types, char *out, size_t size)
{
	static const char *const names[] = {"an object", "a list",        "a string", "a whole number",
	                                    "a number",  "true or false", "null"};
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && n < size; i++)
		if (types & 1u << i)
			n += (size_t)snprintf(out + n, size - n, "%s%s", n ? " or " : "", names[i]);
	return out;
}

static bool check_type(struct walk *w, const struct schema *s, const json_t *value)
{
	unsigned int is = type_of(value);
	char want[128], have[128];

	if (!s->types || s->types & is)
		return true;
	if (is & SCHEMA_INTEGER)
		is = SCHEMA_INTEGER;
	fail(w, "must be %s, not %s%s", type_text(s->types, want, sizeof(want)),
	     type_text(is, have, sizeof(have)),
	     s->types & SCHEMA_STRING && !(is & (SCHEMA_OBJECT | SCHEMA_ARRAY)) ? " (put it in quotes)" : "");
	if (value == w->branch_value)
		w->foreign = 2;
	return false;
}

static void list_values(const json_t *values, char *out, size_t size)
{
	json_t *item;
	size_t n = 0, i;

	out[0] = '\0';
	json_array_foreach (values, i, item) {
		char *text = json_dumps(item, JSON_ENCODE_ANY | JSON_COMPACT);
		const char *shown = json_is_string(item) ? json_string_value(item) : text;

		if (n < size)
			n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", shown ? shown : "?");
		free(text);
	}
}

static const char *nearest_value(const json_t *values, const char *word)
{
	unsigned int best = UINT_MAX;
	const char *nearest = NULL;
	json_t *item;
	size_t i;

	json_array_foreach (values, i, item) {
		unsigned int d =
		    json_is_string(item) ? edit_distance(word, json_string_value(item)) : UINT_MAX;

		if (d < best) {
			best = d;
			nearest = json_string_value(item);
		}
	}
	return best <= 3 && best < strlen(word) ? nearest : NULL;
}

static void check_values(struct walk *w, const struct schema *s, const json_t *value)
{
	char list[256];
	const char *nearest;
	json_t *item;
	size_t i;

	if (s->constant && !json_equal(s->constant, value)) {
		char *text = json_dumps(s->constant, JSON_ENCODE_ANY | JSON_COMPACT);

		w->foreign = 2;
		fail(w, "must be %s", text ? text : "?");
		free(text);
	}
	if (!s->one_of_values)
		return;
	json_array_foreach (s->one_of_values, i, item) {
		if (json_equal(item, value))
			return;
	}
	if (!w->foreign)
		w->foreign = 1;
	list_values(s->one_of_values, list, sizeof(list));
	nearest = json_is_string(value) ? nearest_value(s->one_of_values, json_string_value(value)) : NULL;
	fail(w, "must be one of %s%s%s%s", list, nearest ? "; did you mean " : "", nearest ? nearest : "",
	     nearest ? "?" : "");
}

static void check_number(struct walk *w, const struct schema *s, const json_t *value)
{
	bool integer = json_is_integer(value);
	json_int_t i = integer ? json_integer_value(value) : 0;
	double d = json_number_value(value);

	if (s->has_minimum && (integer ? i < s->minimum : d < (double)s->minimum))
		fail(w, "must be at least %" JSON_INTEGER_FORMAT, s->minimum);
	if (s->has_maximum && (integer ? i > s->maximum : d > (double)s->maximum))
		fail(w, "must be at most %" JSON_INTEGER_FORMAT, s->maximum);
}

static json_int_t code_points(const char *text)
{
	json_int_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static void check_string(struct walk *w, const struct schema *s, const json_t *value)
{
	const char *text = json_string_value(value);

	if (s->min_length >= 0 && code_points(text) < s->min_length)
		fail(w, s->min_length == 1 ? "must not be empty" : "is too short");
	if (s->max_length >= 0 && code_points(text) > s->max_length)
		fail(w, "must not be longer than %" JSON_INTEGER_FORMAT " characters", s->max_length);
	if (s->has_pattern && regexec(&s->pattern, text, 0, NULL, 0)) {
		const char *meant = json_string_value(json_object_get(s->source, "description"));

		fail(w, "\"%.100s\" %s %s", text, meant ? "is not" : "does not match",
		     meant ? meant : s->pattern_text);
	}
}

static void check_array(struct walk *w, const struct schema *s, const json_t *value)
{
	json_int_t count = (json_int_t)json_array_size(value);
	json_t *item;
	char name[24];
	size_t i;

	if (s->min_items >= 0 && count < s->min_items)
		fail(w, "must have at least %" JSON_INTEGER_FORMAT " entries", s->min_items);
	if (s->max_items >= 0 && count > s->max_items)
		fail(w, "must have at most %" JSON_INTEGER_FORMAT " entries", s->max_items);
	if (!s->items)
		return;
	json_array_foreach (value, i, item) {
		size_t before;

		snprintf(name, sizeof(name), "%zu", i);
		before = enter(w, name);
		check(w, s->items, item);
		leave(w, before);
	}
}

static void unknown_key(struct walk *w, const struct schema *s, const char *name)
{
	struct schema_error error = {.at_key = true};
	unsigned int best = UINT_MAX;
	const char *nearest = NULL;

	w->errors++;
	if (!w->report)
		return;
	for (size_t i = 0; i < s->property_count; i++) {
		unsigned int d = edit_distance(name, s->properties[i].name);

		if (d < best) {
			best = d;
			nearest = s->properties[i].name;
		}
	}
	memcpy(error.path, w->path, w->length + 1);
	if (nearest)
		snprintf(error.message, sizeof(error.message),
		         "unknown key \"%.100s\"; the nearest valid key is \"%s\"", name, nearest);
	else
		snprintf(error.message, sizeof(error.message),
		         "unknown key \"%.100s\"; no key is allowed here", name);
	w->report(w->context, &error);
}

static const struct schema *property_schema(const struct schema *s, const char *name)
{
	for (size_t i = 0; i < s->property_count; i++)
		if (!strcmp(name, s->properties[i].name))
			return s->properties[i].schema;
	return NULL;
}

static void check_member(struct walk *w, const struct schema *s, const char *name, const json_t *member)
{
	const struct schema *p = property_schema(s, name);
	size_t before = enter(w, name);

	if (s->property_names) {
		json_t *key = json_string(name);

		if (key)
			check(w, s->property_names, key);
		json_decref(key);
	}
	if (p)
		check(w, p, member);
	else if (s->additional && s->additional->never)
		unknown_key(w, s, name);
	else if (s->additional)
		check(w, s->additional, member);
	leave(w, before);
}

static void check_object(struct walk *w, const struct schema *s, const json_t *value)
{
	json_int_t count = (json_int_t)json_object_size(value);
	const char *name;
	json_t *member;
	size_t i;

	json_array_foreach (s->required, i, member) {
		if (!json_object_get(value, json_string_value(member)))
			fail(w, "lacks \"%s\"", json_string_value(member));
	}
	if (s->min_properties >= 0 && count < s->min_properties)
		fail(w, "must have at least %" JSON_INTEGER_FORMAT " keys", s->min_properties);
	if (s->max_properties >= 0 && count > s->max_properties)
		fail(w, "must have at most %" JSON_INTEGER_FORMAT " keys", s->max_properties);
	if (!s->property_count && !s->additional && !s->property_names)
		return;
	json_object_foreach ((json_t *)value, name, member) {
		check_member(w, s, name, member);
	}
}

/* VALUE against S, without reporting: how many errors, with *FOREIGN as in struct walk. */
static unsigned int attempt(struct walk *w, const struct schema *s, const json_t *value,
                            unsigned int *foreign)
{
	struct walk trial = {.depth = w->depth, .branch_value = value};

	check(&trial, s, value);
	*foreign = trial.foreign;
	return trial.errors;
}

/* "size | count", where every branch does nothing but to require members. */
static bool only_required(const struct schema_list *list, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct schema *s = list->items[i];
		char names[100];

		if (!s->required || json_object_size(s->source) != 1)
			return false;
		list_values(s->required, names, sizeof(names));
		if (n < size)
			n += (size_t)snprintf(out + n, size - n, "%s\"%s\"", n ? ", " : "", names);
	}
	return true;
}

static void check_branches(struct walk *w, const struct schema_list *list, const json_t *value,
                           bool exactly_one)
{
	unsigned int best_errors = UINT_MAX, best_foreign = UINT_MAX;
	const struct schema *best = NULL;
	size_t matches = 0;
	char names[256];

	for (size_t i = 0; i < list->count; i++) {
		unsigned int foreign, errors = attempt(w, list->items[i], value, &foreign);

		matches += errors == 0;
		if (foreign < best_foreign || (foreign == best_foreign && errors < best_errors)) {
			best = list->items[i];
			best_foreign = foreign;
			best_errors = errors;
		}
	}
	if (matches == 1 || (matches && !exactly_one))
		return;
	if (only_required(list, names, sizeof(names)))
		fail(w, matches ? "must have only one of %s" : "must have one of %s", names);
	else if (matches)
		fail(w, "fits %zu of the forms it can have, and must fit just one", matches);
	else
		check(w, best, value);
}

static void check_combined(struct walk *w, const struct schema *s, const json_t *value)
{
	unsigned int ignored;

	for (size_t i = 0; i < s->all_of.count; i++)
		check(w, s->all_of.items[i], value);
	if (s->any_of.count)
		check_branches(w, &s->any_of, value, false);
	if (s->one_of.count)
		check_branches(w, &s->one_of, value, true);
	if (!s->condition)
		return;
	if (!attempt(w, s->condition, value, &ignored)) {
		if (s->then)
			check(w, s->then, value);
	} else if (s->otherwise) {
		check(w, s->otherwise, value);
	}
}

static void check(struct walk *w, const struct schema *s, const json_t *value)
{
	if (w->depth >= DEPTH_MAX) {
		fail(w, "is nested too deeply");
		return;
	}
	w->depth++;
	if (s->never)
		fail(w, "is not allowed here");
	if (check_type(w, s, value)) {
		check_values(w, s, value);
		if (json_is_number(value))
			check_number(w, s, value);
		else if (json_is_string(value))
			check_string(w, s, value);
		else if (json_is_array(value))
			check_array(w, s, value);
		else if (json_is_object(value))
			check_object(w, s, value);
		if (s->ref)
			check(w, s->ref, value);
		check_combined(w, s, value);
	}
	w->depth--;
}

int schema_walk(const struct schema *schema, const json_t *value, schema_report *report, void *context)
{
	struct walk w = {.report = report, .context = context};

	check(&w, schema, value);
	return w.errors ? -EINVAL : 0;
}
