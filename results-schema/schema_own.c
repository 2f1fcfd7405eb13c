/* SPDX-License-Identifier: GPL-2.0-or-later
 * The schemas of this folder, compiled once at first use. */
#include "schema_internal.h"

#include <errno.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct schema_set *own;
static struct schema_error own_error;
static int own_result;

static void load_own(void)
{
	own_result = schema_set_load(schema_texts, schema_text_count, &own, &own_error);
}

int schema_check_all(const char *name, const json_t *value, schema_report *report, void *context)
{
	const struct schema *s;

	pthread_once(&once, load_own);
	if (own_result) {
		report(context, &own_error);
		return own_result;
	}
	s = schema_set_find(own, name);
	return s ? schema_walk(s, value, report, context) : -ENOENT;
}

static void keep_first(void *context, const struct schema_error *error)
{
	struct schema_error *first = context;

	if (!first->message[0])
		*first = *error;
}

int schema_check(const char *name, const json_t *value, struct schema_error *error)
{
	*error = (struct schema_error){0};
	return schema_check_all(name, value, keep_first, error);
}
