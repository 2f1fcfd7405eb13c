/* SPDX-License-Identifier: GPL-2.0-or-later
 * Compiles schemas: every keyword is looked up once here, so that checking does not. */
#include "schema_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct loader {
	struct schema_set *set;
	const char *file;
	struct schema_error *error;
};

static int compile(struct loader *l, const json_t *source, struct schema **out);

__attribute__((format(printf, 2, 3))) static int fault(struct loader *l, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(l->error->message, sizeof(l->error->message), format, args);
	va_end(args);
	snprintf(l->error->path, sizeof(l->error->path), "%s", l->file);
	return -EINVAL;
}

static const struct {
	const char *name;
	enum schema_type type;
} type_names[] = {
    {"object", SCHEMA_OBJECT},   {"array", SCHEMA_ARRAY},   {"string", SCHEMA_STRING},
    {"integer", SCHEMA_INTEGER}, {"number", SCHEMA_NUMBER}, {"boolean", SCHEMA_BOOLEAN},
    {"null", SCHEMA_NULL},
};

static int add_type(struct loader *l, struct schema *s, const json_t *name)
{
	for (size_t i = 0; json_is_string(name) && i < sizeof(type_names) / sizeof(type_names[0]); i++)
		if (!strcmp(json_string_value(name), type_names[i].name)) {
			s->types |= type_names[i].type;
			return 0;
		}
	return fault(l, "unknown type");
}

static int load_type(struct loader *l, struct schema *s, const json_t *value)
{
	json_t *item;
	size_t i;
	int r = 0;

	if (!json_is_array(value))
		return add_type(l, s, value);
	json_array_foreach (value, i, item) {
		if (!r)
			r = add_type(l, s, item);
	}
	return r;
}

static int load_const(struct loader *l, struct schema *s, const json_t *value)
{
	(void)l;
	s->constant = value;
	return 0;
}

static int load_enum(struct loader *l, struct schema *s, const json_t *value)
{
	s->one_of_values = value;
	return json_is_array(value) && json_array_size(value) ? 0 : fault(l, "enum is not a list");
}

static int load_pattern(struct loader *l, struct schema *s, const json_t *value)
{
	s->pattern_text = json_string_value(value);
	if (!s->pattern_text || regcomp(&s->pattern, s->pattern_text, REG_EXTENDED | REG_NOSUB))
		return fault(l, "pattern is not an extended regular expression: %s",
		             s->pattern_text ? s->pattern_text : "not a string");
	s->has_pattern = true;
	return 0;
}

static int load_required(struct loader *l, struct schema *s, const json_t *value)
{
	s->required = value;
	return json_is_array(value) ? 0 : fault(l, "required is not a list");
}

static int load_properties(struct loader *l, struct schema *s, const json_t *value)
{
	const char *name;
	json_t *member;
	int r = 0;

	if (!json_is_object(value))
		return fault(l, "properties is not an object");
	s->properties = calloc(json_object_size(value) + 1, sizeof(*s->properties));
	if (!s->properties)
		return -ENOMEM;
	json_object_foreach ((json_t *)value, name, member) {
		struct schema_property *p = &s->properties[s->property_count];

		p->name = name;
		r = compile(l, member, &p->schema);
		if (r)
			return r;
		s->property_count++;
	}
	return 0;
}

/* $defs are compiled even if nothing refers to them, so that a fault in them shows. */
static int load_defs(struct loader *l, struct schema *s, const json_t *value)
{
	struct schema *ignored;
	const char *name;
	json_t *member;
	int r = 0;

	(void)s;
	json_object_foreach ((json_t *)value, name, member) {
		if (!r)
			r = compile(l, member, &ignored);
	}
	return r;
}

static const json_t *follow_pointer(const json_t *value, const char *pointer)
{
	char name[128];

	while (value && *pointer == '/') {
		size_t n = strcspn(++pointer, "/");

		if (n >= sizeof(name))
			return NULL;
		memcpy(name, pointer, n);
		name[n] = '\0';
		value = json_object_get(value, name);
		pointer += n;
	}
	return *pointer ? NULL : value;
}

static int load_ref(struct loader *l, struct schema *s, const json_t *value)
{
	const char *text = json_is_string(value) ? json_string_value(value) : "";
	const char *hash = strchr(text, '#'), *file = l->file, *before = l->file;
	size_t n = hash ? (size_t)(hash - text) : strlen(text);
	const json_t *target;
	char name[128];
	int r;

	if (n >= sizeof(name))
		return fault(l, "$ref is too long");
	memcpy(name, text, n);
	name[n] = '\0';
	if (n)
		file = name;
	target = follow_pointer(json_object_get(l->set->files, file), hash ? hash + 1 : "");
	if (!target)
		return fault(l, "$ref leads nowhere: %s", text);
	l->file = file;
	r = compile(l, target, &s->ref);
	l->file = before;
	return r;
}

static int load_list(struct loader *l, struct schema_list *list, const json_t *value)
{
	json_t *item;
	size_t i;
	int r;

	if (!json_is_array(value) || !json_array_size(value))
		return fault(l, "allOf, anyOf and oneOf take a list of schemas");
	list->items = calloc(json_array_size(value), sizeof(struct schema *));
	if (!list->items)
		return -ENOMEM;
	json_array_foreach (value, i, item) {
		r = compile(l, item, &list->items[i]);
		if (r)
			return r;
		list->count++;
	}
	return 0;
}

static int load_all_of(struct loader *l, struct schema *s, const json_t *value)
{
	return load_list(l, &s->all_of, value);
}

static int load_any_of(struct loader *l, struct schema *s, const json_t *value)
{
	return load_list(l, &s->any_of, value);
}

static int load_one_of(struct loader *l, struct schema *s, const json_t *value)
{
	return load_list(l, &s->one_of, value);
}

static int load_minimum(struct loader *l, struct schema *s, const json_t *value)
{
	s->has_minimum = true;
	s->minimum = json_integer_value(value);
	return json_is_integer(value) ? 0 : fault(l, "minimum is not an integer");
}

static int load_maximum(struct loader *l, struct schema *s, const json_t *value)
{
	s->has_maximum = true;
	s->maximum = json_integer_value(value);
	return json_is_integer(value) ? 0 : fault(l, "maximum is not an integer");
}

static int load_nothing(struct loader *l, struct schema *s, const json_t *value)
{
	(void)l, (void)s, (void)value;
	return 0;
}

/* Keywords with code of their own. */
static const struct {
	const char *name;
	int (*load)(struct loader *l, struct schema *s, const json_t *value);
} keywords[] = {
    {"$schema", load_nothing}, {"$id", load_nothing},         {"$comment", load_nothing},
    {"title", load_nothing},   {"description", load_nothing}, {"$defs", load_defs},
    {"$ref", load_ref},        {"type", load_type},           {"const", load_const},
    {"enum", load_enum},       {"pattern", load_pattern},     {"minimum", load_minimum},
    {"maximum", load_maximum}, {"required", load_required},   {"properties", load_properties},
    {"allOf", load_all_of},    {"anyOf", load_any_of},        {"oneOf", load_one_of},
};

#define AT(member) offsetof(struct schema, member)
/* Keywords whose value is one schema, and those whose value is a count. */
static const struct {
	const char *name;
	size_t at;
} schema_keywords[] =
    {
        {"items", AT(items)},
        {"additionalProperties", AT(additional)},
        {"propertyNames", AT(property_names)},
        {"if", AT(condition)},
        {"then", AT(then)},
        {"else", AT(otherwise)},
},
  count_keywords[] = {
      {"minLength", AT(min_length)},         {"maxLength", AT(max_length)},
      {"minItems", AT(min_items)},           {"maxItems", AT(max_items)},
      {"minProperties", AT(min_properties)}, {"maxProperties", AT(max_properties)},
};

static int load_keyword(struct loader *l, struct schema *s, const char *name, const json_t *value)
{
	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
		if (!strcmp(name, keywords[i].name))
			return keywords[i].load(l, s, value);
	for (size_t i = 0; i < sizeof(schema_keywords) / sizeof(schema_keywords[0]); i++)
		if (!strcmp(name, schema_keywords[i].name))
			return compile(l, value,
			               (struct schema **)(void *)((char *)s + schema_keywords[i].at));
	for (size_t i = 0; i < sizeof(count_keywords) / sizeof(count_keywords[0]); i++)
		if (!strcmp(name, count_keywords[i].name)) {
			*(json_int_t *)(void *)((char *)s + count_keywords[i].at) = json_integer_value(value);
			return json_is_integer(value) && json_integer_value(value) >= 0
			           ? 0
			           : fault(l, "%s is not a count", name);
		}
	return fault(l, "keyword outside the supported subset: %s", name);
}

static int compile(struct loader *l, const json_t *source, struct schema **out)
{
	struct schema *s;
	const char *name;
	json_t *value;
	int r = 0;

	for (s = l->set->schemas; s; s = s->next)
		if (s->source == source && json_is_object(source)) {
			*out = s;
			return 0;
		}
	if (!json_is_object(source) && !json_is_boolean(source))
		return fault(l, "a schema is an object, true or false");
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->source = source;
	s->never = json_is_false(source);
	s->min_length = s->max_length = s->min_items = s->max_items = -1;
	s->min_properties = s->max_properties = -1;
	s->next = l->set->schemas;
	l->set->schemas = s;
	*out = s;
	json_object_foreach ((json_t *)source, name, value) {
		if (!r)
			r = load_keyword(l, s, name, value);
	}
	return r;
}

int schema_set_load(const struct schema_text *texts, size_t count, struct schema_set **out,
                    struct schema_error *error)
{
	struct schema_set *set = calloc(1, sizeof(*set));
	struct loader l = {.set = set, .error = error};
	json_error_t syntax;
	struct schema *ignored;
	int r = 0;

	*error = (struct schema_error){0};
	*out = NULL;
	if (!set)
		return -ENOMEM;
	set->files = json_object();
	for (size_t i = 0; !r && i < count; i++) {
		json_t *file = json_loadb(texts[i].text, texts[i].size,
		                          JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &syntax);

		l.file = texts[i].name;
		if (!file)
			r = fault(&l, "line %d: %s", syntax.line, syntax.text);
		else if (json_object_set_new(set->files, texts[i].name, file))
			r = -ENOMEM;
	}
	for (size_t i = 0; !r && i < count; i++) {
		l.file = texts[i].name;
		r = compile(&l, json_object_get(set->files, texts[i].name), &ignored);
	}
	if (r) {
		schema_set_free(set);
		return r;
	}
	*out = set;
	return 0;
}

void schema_set_free(struct schema_set *set)
{
	if (!set)
		return;
	for (struct schema *s = set->schemas, *next; s; s = next) {
		next = s->next;
		if (s->has_pattern)
			regfree(&s->pattern);
		free(s->properties);
		free(s->all_of.items);
		free(s->any_of.items);
		free(s->one_of.items);
		free(s);
	}
	json_decref(set->files);
	free(set);
}

const struct schema *schema_set_find(const struct schema_set *set, const char *name)
{
	const json_t *source = json_object_get(set->files, name);

	for (const struct schema *s = set->schemas; source && s; s = s->next)
		if (s->source == source)
			return s;
	return NULL;
}
