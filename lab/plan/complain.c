/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "complain.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void complain_at(struct complaints *c, int line, int column, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	for (size_t i = 0; text && i < c->count; i++)
		if (c->items[i].line == line && c->items[i].column == column &&
		    !strcmp(c->items[i].text, text)) {
			free(text);
			return;
		}
	if (!text || c->count == COMPLAINTS_MAX) {
		c->dropped++;
		free(text);
		return;
	}
	c->items[c->count++] = (struct complaint){line, column, text};
}

static int by_place(const void *a, const void *b)
{
	const struct complaint *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->column != y->column)
		return x->column < y->column ? -1 : 1;
	return strcmp(x->text, y->text);
}

void complaints_print(struct complaints *c, const char *path, FILE *to)
{
	qsort(c->items, c->count, sizeof(c->items[0]), by_place);
	for (size_t i = 0; i < c->count; i++) {
		const struct complaint *item = &c->items[i];

		if (item->line)
			fprintf(to, "%s:%d:%d: %s\n", path, item->line, item->column, item->text);
		else
			fprintf(to, "%s: %s\n", path, item->text);
	}
	if (c->dropped)
		fprintf(to, "%s: and %zu more\n", path, c->dropped);
	complaints_free(c);
}

void complaints_free(struct complaints *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->items[i].text);
	c->count = c->dropped = 0;
}
