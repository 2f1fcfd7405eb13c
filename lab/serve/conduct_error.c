/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "conduct_internal.h"
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

json_t *error_new(const char *node, const char *step, const char *object, const char *scope,
                  const char *remedy, const char *format, ...)
{
	char message[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	return json_pack("{ss ss ss ss ss ss}", "node", node, "step", step, "object", object, "message",
	                 message, "remedy", remedy, "scope", scope);
}

int error_store(struct conductor *c, struct moment now, const char *run, const struct group *g,
                const json_t *error)
{
	char *body = json_dumps(error, JSON_COMPACT | JSON_SORT_KEYS);
	int r;

	if (!body)
		return -ENOMEM;
	log_event(text(error, "node"), text(error, "step"), "error (%s): %s: %s. %s", text(error, "scope"),
	          text(error, "object"), text(error, "message"), text(error, "remedy"));
	r = store_do(
	    c->store,
	    "INSERT INTO errors (at_unix_ns, run, group_name, node, scope, body) VALUES (?, ?, ?, ?, ?, ?)",
	    "isssss", now.unix_ns, run, g ? g->name : NULL, text(error, "node"), text(error, "scope"), body);
	free(body);
	return r;
}
