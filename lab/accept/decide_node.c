/* SPDX-License-Identifier: GPL-2.0-or-later
 * Facts: of each node what its worst row says, and counts over the run. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The verdict of NODE and this metric, from FIRST on. */
static struct accept_verdict *find(struct criterion *c, size_t first, const char *node)
{
	char subject[160];

	snprintf(subject, sizeof(subject), *node ? "node %s" : "the run%s", node);
	for (size_t i = first; i < c->to->count; i++) {
		size_t length = strlen(subject);

		if (!strncmp(c->to->verdicts[i].subject, subject, length) &&
		    (!c->to->verdicts[i].subject[length] || c->to->verdicts[i].subject[length] == ','))
			return &c->to->verdicts[i];
	}
	return verdict_add(c, strdup(subject));
}

/* Keeps VALUE where it is the worst so far, with what OBJECT it is of. */
static int take(struct accept_verdict *v, const char *object, double value)
{
	char *subject = NULL;

	if (v->known && (v->at_least ? value >= v->value : value <= v->value))
		return 0;
	verdict_of_fact(v, value);
	if (!*object)
		return 0;
	if (asprintf(&subject, "%.*s, %s", (int)strcspn(v->subject, ","), v->subject, object) < 0)
		return -ENOMEM;
	free(v->subject);
	v->subject = subject;
	return 0;
}

int decide_nodes(struct criterion *c)
{
	size_t first = c->to->count;
	sqlite3_stmt *row;
	int r = store_ask(c->store, &row, c->metric->source, "s", c->run);

	if (r)
		return r;
	while ((r = store_row(c->store, row)) == 1) {
		struct accept_verdict *v = find(c, first, store_text(row, 0));

		r = v ? 0 : -ENOMEM;
		if (v && sqlite3_column_type(row, 2) != SQLITE_NULL)
			r = take(v, store_text(row, 1), sqlite3_column_double(row, 2));
		if (r) {
			store_reset(row);
			return r;
		}
	}
	if (!r && c->to->count == first && !verdict_add(c, strdup("the nodes")))
		r = -ENOMEM;
	for (size_t i = first; !r && i < c->to->count; i++)
		if (!c->to->verdicts[i].known)
			snprintf(c->to->verdicts[i].why, sizeof(c->to->verdicts[i].why),
			         "nothing in the store tells it");
	return r;
}
