/* SPDX-License-Identifier: GPL-2.0-or-later
 * What `assay status` sees of the nodes: kept in memory, and written some times a second at most. */
#include "conduct_internal.h"

#include <stdarg.h>
#include <string.h>

void live(struct node *n, struct moment now, const char *step, const char *format, ...)
{
	char what[sizeof(n->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	whole_text(what);
	if (strcmp(n->step, step) || strcmp(n->text, what)) {
		copy_text(n->step, sizeof(n->step), step);
		copy_text(n->text, sizeof(n->text), what);
		n->since_unix_ns = now.unix_ns;
	}
	n->seen_unix_ns = now.unix_ns;
	n->dirty = true;
}

void live_flush(struct conductor *c)
{
	bool begun = false;
	int r = 0;

	for (size_t i = 0; i < c->node_count && !r; i++) {
		struct node *n = &c->nodes[i];

		if (!n->dirty)
			continue;
		if (!begun)
			r = store_begin(c->store);
		begun = begun || !r;
		if (!r)
			r = store_do(
			    c->store,
			    "INSERT INTO nodes (node, group_name, step, text, since_unix_ns, seen_unix_ns) "
			    "VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (node) DO UPDATE SET group_name = "
			    "?2, "
			    "step = ?3, text = ?4, since_unix_ns = ?5, seen_unix_ns = ?6",
			    "ssssii", n->name, n->group->name, n->step, n->text, n->since_unix_ns,
			    n->seen_unix_ns);
	}
	if (begun)
		r = store_end(c->store, r);
	if (r)
		store_failed(c, "status", r);
	for (size_t i = 0; i < c->node_count && !r; i++)
		c->nodes[i].dirty = false;
}
