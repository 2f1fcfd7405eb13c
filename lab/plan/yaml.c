/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "yaml.h"
#include "yaml_scalar.h"
#include "schema.h"

#include <errno.h>
#include <libfyaml.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 32, NODES_MAX = 100000, PATH_MAX_BYTES = 2048 };

struct anchor {
	char *name;
	json_t *value;
	size_t nodes;
};

struct builder {
	struct yaml_doc *doc;
	struct fy_parser *parser;
	struct anchor *anchors;
	size_t anchor_count, nodes;
	unsigned int depth;
	size_t length;
	char path[PATH_MAX_BYTES];
};

static int build(struct builder *b, struct fy_event *event, json_t **out);

static int event_line(struct fy_event *event, int *column)
{
	const struct fy_mark *mark = event ? fy_event_start_mark(event) : NULL;

	/* An alias' mark is behind its asterisk. */
	*column = mark ? mark->column + (event->type != FYET_ALIAS) : 0;
	return mark ? mark->line + 1 : 0;
}

#define FATAL(b, event, ...)                                                                                 \
	({                                                                                                   \
		int column_, line_ = event_line(event, &column_);                                            \
		complain_at((b)->doc->complaints, line_, column_, __VA_ARGS__);                              \
		-EINVAL;                                                                                     \
	})

static int add_mark(struct builder *b, struct fy_event *key, struct fy_event *value)
{
	struct yaml_doc *d = b->doc;
	struct yaml_mark m = {.pointer = strdup(b->path)};

	m.line = event_line(value, &m.column);
	m.key_line = key ? event_line(key, &m.key_column) : m.line;
	if (!key)
		m.key_column = m.column;
	if (!m.line) { /* an empty value has no place of its own */
		m.line = m.key_line;
		m.column = m.key_column;
	}
	if (d->mark_count == d->mark_room) {
		size_t room = d->mark_room ? 2 * d->mark_room : 64;
		struct yaml_mark *grown = realloc(d->marks, room * sizeof(*grown));

		if (!grown || !m.pointer) {
			free(m.pointer);
			return -ENOMEM;
		}
		d->marks = grown;
		d->mark_room = room;
	}
	d->marks[d->mark_count++] = m;
	return m.pointer ? 0 : -ENOMEM;
}

static int enter(struct builder *b, struct fy_event *at, const char *name)
{
	if (b->length + 2 * strlen(name) + 2 >= sizeof(b->path))
		return FATAL(b, at, "the path of keys to this is too long");
	b->path[b->length++] = '/';
	for (; *name; name++) {
		if (*name == '~' || *name == '/')
			b->path[b->length++] = '~';
		b->path[b->length++] = *name == '~' ? '0' : *name == '/' ? '1' : *name;
	}
	b->path[b->length] = '\0';
	return 0;
}

static void leave(struct builder *b, size_t length)
{
	b->length = length;
	b->path[length] = '\0';
}

static int next(struct builder *b, struct fy_event **event)
{
	*event = fy_parser_parse(b->parser);
	return *event ? 0 : -EINVAL; /* the parser's own diagnostics say why */
}

/* A mapping key as text; the caller frees it. */
static int key_text(struct builder *b, struct fy_event *event, char **out)
{
	const char *text;
	size_t n;

	if (event->type != FYET_SCALAR)
		return FATAL(b, event, "a key must be plain text");
	text = fy_token_get_text(event->scalar.value, &n);
	if (n && memchr(text, '\0', n))
		return FATAL(b, event, "a key must not contain a NUL");
	*out = strndup(n ? text : "", n);
	return *out ? 0 : -ENOMEM;
}

static int build_pair(struct builder *b, struct fy_event *key, json_t *object)
{
	struct fy_event *value = NULL;
	size_t before = b->length;
	json_t *member = NULL;
	char *name = NULL;
	int r = key_text(b, key, &name);

	if (!r && json_object_get(object, name))
		r = FATAL(b, key, "duplicate key \"%s\"", name);
	if (!r)
		r = enter(b, key, name);
	if (!r)
		r = next(b, &value);
	if (!r)
		r = add_mark(b, key, value);
	if (!r)
		r = build(b, value, &member);
	if (!r && json_object_set_new(object, name, member))
		r = FATAL(b, key, "the key is not UTF-8");
	leave(b, before);
	fy_parser_event_free(b->parser, value);
	free(name);
	return r;
}

static int build_mapping(struct builder *b, json_t **out)
{
	json_t *object = json_object();
	int r = object ? 0 : -ENOMEM;

	while (!r) {
		struct fy_event *key;
		bool end;

		r = next(b, &key);
		if (r)
			break;
		end = key->type == FYET_MAPPING_END;
		if (!end)
			r = build_pair(b, key, object);
		fy_parser_event_free(b->parser, key);
		if (end) {
			*out = object;
			return 0;
		}
	}
	json_decref(object);
	return r;
}

static int build_item(struct builder *b, struct fy_event *item, json_t *array)
{
	size_t before = b->length;
	json_t *value = NULL;
	char index[24];
	int r;

	snprintf(index, sizeof(index), "%zu", json_array_size(array));
	r = enter(b, item, index);
	if (!r)
		r = add_mark(b, NULL, item);
	if (!r)
		r = build(b, item, &value);
	if (!r && json_array_append_new(array, value))
		r = -ENOMEM;
	leave(b, before);
	return r;
}

static int build_sequence(struct builder *b, json_t **out)
{
	json_t *array = json_array();
	int r = array ? 0 : -ENOMEM;

	while (!r) {
		struct fy_event *item;
		bool end;

		r = next(b, &item);
		if (r)
			break;
		end = item->type == FYET_SEQUENCE_END;
		if (!end)
			r = build_item(b, item, array);
		fy_parser_event_free(b->parser, item);
		if (end) {
			*out = array;
			return 0;
		}
	}
	json_decref(array);
	return r;
}

static int build_scalar(struct builder *b, struct fy_event *event, json_t **out)
{
	struct fy_token *token = event->scalar.value;
	const char *text = "", *why = NULL;
	size_t n = 0;
	bool plain = true;

	if (token) {
		text = fy_token_get_text(token, &n);
		plain = fy_token_scalar_style(token) == FYSS_PLAIN;
	}
	*out = yaml_scalar(text ? text : "", n, plain, &why);
	return *out ? 0 : FATAL(b, event, "%s", why);
}

static int build_alias(struct builder *b, struct fy_event *event, json_t **out)
{
	size_t n;
	const char *name = fy_token_get_text(event->alias.anchor, &n);

	/* The latest anchor of a name counts. */
	for (size_t i = b->anchor_count; name && i-- > 0;) {
		struct anchor *a = &b->anchors[i];

		if (strlen(a->name) != n || memcmp(a->name, name, n))
			continue;
		b->nodes += a->nodes;
		if (b->nodes > NODES_MAX)
			return FATAL(b, event, "aliases make this larger than %d values", NODES_MAX);
		*out = json_deep_copy(a->value);
		return *out ? 0 : -ENOMEM;
	}
	return FATAL(b, event, "no anchor of this name is complete here");
}

static int keep_anchor(struct builder *b, struct fy_event *event, json_t *value, size_t nodes)
{
	struct fy_token *token = fy_event_get_anchor_token(event);
	struct anchor *grown;
	const char *name;
	size_t n;

	if (!token)
		return 0;
	name = fy_token_get_text(token, &n);
	grown = realloc(b->anchors, (b->anchor_count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	b->anchors = grown;
	grown[b->anchor_count] = (struct anchor){strndup(name ? name : "", n), json_incref(value), nodes};
	return grown[b->anchor_count++].name ? 0 : -ENOMEM;
}

static int build(struct builder *b, struct fy_event *event, json_t **out)
{
	size_t before = b->nodes;
	int r;

	if (++b->nodes > NODES_MAX)
		return FATAL(b, event, "more than %d values", NODES_MAX);
	if (event->type != FYET_ALIAS && fy_event_get_tag_token(event))
		return FATAL(b, event, "tags are not used here");
	if (b->depth == DEPTH_MAX)
		return FATAL(b, event, "nested deeper than %d levels", DEPTH_MAX);
	b->depth++;
	switch (event->type) {
	case FYET_MAPPING_START:
		r = build_mapping(b, out);
		break;
	case FYET_SEQUENCE_START:
		r = build_sequence(b, out);
		break;
	case FYET_SCALAR:
		r = build_scalar(b, event, out);
		break;
	case FYET_ALIAS:
		r = build_alias(b, event, out);
		break;
	default:
		r = FATAL(b, event, "a value is missing");
	}
	b->depth--;
	if (!r && event->type != FYET_ALIAS) {
		r = keep_anchor(b, event, *out, b->nodes - before);
		if (r)
			json_decref(*out);
	}
	return r;
}

static int build_stream(struct builder *b)
{
	int r = 0;

	for (;;) {
		struct fy_event *event;
		enum fy_event_type type;

		r = next(b, &event);
		if (r)
			return r;
		type = event->type;
		if (type == FYET_DOCUMENT_START && b->doc->root)
			r = FATAL(b, event, "a second document; the file must have one");
		else if (type != FYET_STREAM_START && type != FYET_STREAM_END &&
		         type != FYET_DOCUMENT_START && type != FYET_DOCUMENT_END)
			r = build(b, event, &b->doc->root);
		fy_parser_event_free(b->parser, event);
		if (r || type == FYET_STREAM_END)
			break;
	}
	if (!r && !b->doc->root)
		r = FATAL(b, NULL, "the file is empty");
	return r;
}

static void complain_of_syntax(struct builder *b, struct fy_diag *diag)
{
	struct fy_diag_error *error;
	void *iterator = NULL;

	while ((error = fy_diag_errors_iterate(diag, &iterator)))
		complain_at(b->doc->complaints, error->line > 0 ? error->line : 0,
		            error->column > 0 ? error->column : 0, "%s", error->msg);
	if (!b->doc->complaints->count)
		complain_at(b->doc->complaints, 0, 0, "not YAML");
}

int yaml_parse(const char *text, size_t size, struct complaints *complaints, struct yaml_doc *doc)
{
	struct fy_diag_cfg diag_cfg;
	struct fy_parse_cfg cfg = {.flags = FYPCF_DEFAULT_VERSION_1_2 | FYPCF_QUIET | FYPCF_DISABLE_MMAP_OPT};
	struct builder b = {.doc = doc};
	int r = -ENOMEM, line, column;
	const char *refused = yaml_refuse_text(text, size, &line, &column);

	*doc = (struct yaml_doc){.complaints = complaints, .size = size, .text = malloc(size + 1)};
	if (!doc->text)
		return -ENOMEM;
	memcpy(doc->text, text, size);
	doc->text[size] = '\0';
	if (refused) {
		complain_at(complaints, line, column, "%s", refused);
		return -EINVAL;
	}
	fy_diag_cfg_default(&diag_cfg);
	diag_cfg.fp = NULL;
	cfg.diag = fy_diag_create(&diag_cfg);
	if (!cfg.diag)
		return -ENOMEM;
	fy_diag_set_collect_errors(cfg.diag, true);
	b.parser = fy_parser_create(&cfg);
	if (b.parser && !fy_parser_set_string(b.parser, doc->text, size)) {
		r = build_stream(&b);
		if (r == -EINVAL && !complaints->count)
			complain_of_syntax(&b, cfg.diag);
	}
	if (b.parser)
		fy_parser_destroy(b.parser);
	fy_diag_destroy(cfg.diag);
	for (size_t i = 0; i < b.anchor_count; i++) {
		free(b.anchors[i].name);
		json_decref(b.anchors[i].value);
	}
	free(b.anchors);
	return r;
}
