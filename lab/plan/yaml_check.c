/* SPDX-License-Identifier: GPL-2.0-or-later
 * Complaints about values of a YAML file, told with their place. */
#include "yaml.h"
#include "schema.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct yaml_mark *find_mark(const struct yaml_doc *doc, const char *pointer, size_t length)
{
	for (size_t i = 0; i < doc->mark_count; i++)
		if (!strncmp(doc->marks[i].pointer, pointer, length) && !doc->marks[i].pointer[length])
			return &doc->marks[i];
	return NULL;
}

void yaml_complain(struct yaml_doc *doc, const char *pointer, bool at_key, const char *format, ...)
{
	const struct yaml_mark *mark = NULL;
	size_t length = strlen(pointer);
	int line = 1, column = 1;
	va_list args;
	char *text;

	while (length && !(mark = find_mark(doc, pointer, length))) {
		while (length && pointer[--length] != '/')
			;
	}
	if (mark) {
		line = at_key ? mark->key_line : mark->line;
		column = at_key ? mark->key_column : mark->column;
	}
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	complain_at(doc->complaints, line, column, "%s", text ? text : "out of memory");
	free(text);
}

/* What of POINTER is behind BASE ("" or "/..."), or NULL: it is not below it. */
static char *below(char *pointer, const char *base)
{
	size_t length = strlen(base);

	return !strncmp(pointer, base, length) && (!pointer[length] || pointer[length] == '/')
	           ? pointer + length
	           : NULL;
}

int yaml_move_marks(struct yaml_doc *doc, const char *from, const char *to)
{
	for (size_t i = 0; i < doc->mark_count; i++) {
		char *pointer = doc->marks[i].pointer, *rest = below(pointer, from), *moved;

		if (below(pointer, to))
			*pointer = '\0';
		if (!rest)
			continue;
		if (asprintf(&moved, "%s%s", to, rest) < 0)
			return -ENOMEM;
		free(pointer);
		doc->marks[i].pointer = moved;
	}
	return 0;
}

static void forward(void *context, const struct schema_error *error)
{
	const char *last = strrchr(error->path, '/');
	bool item = last && last[1] >= '0' && last[1] <= '9';

	if (!last)
		yaml_complain(context, error->path, false, "the file %s", error->message);
	else if (error->at_key || item || error->message[0] == '"')
		yaml_complain(context, error->path, error->at_key, "%s", error->message);
	else
		yaml_complain(context, error->path, false, "%s %s", last + 1, error->message);
}

bool yaml_check_schema(struct yaml_doc *doc, const char *name)
{
	return !schema_check_all(name, doc->root, forward, doc);
}
