/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the operator's commands ask of the server (lab/operator/), through a Unix socket. Each request has a
 * thread and a connection to the store of its own: the report of a large run holds up nobody, least of all a
 * node. */
#include "log.h"
#include "server.h"

#include "../operator/operator.h"
#include "../plan/plan.h"
#include "../report/report.h"
#include "../report/watch.h"
#include "../store/queue.h"

#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define BODY_MAX_BYTES (8 << 20) /* a plan of 1 MiB, each byte escaped */
#define PLAN_MAX_BYTES (1 << 20)
#define CONNECTIONS    64
#define IDLE_TIMEOUT_S 60

struct orders {
	struct MHD_Daemon *daemon;
};

struct order {
	struct server *server;
	struct store *store;
	struct MHD_Connection *connection;
	char run[64]; /* of the address */
};

struct body {
	size_t length, size;
	char *text;
	bool too_long;
};

static json_t *error_json(const char *message)
{
	return json_pack("{s{ss}}", "error", "message", message);
}

/* --- what may be asked: each gives a status, and *ANSWER --- */

static unsigned int get_status(struct order *o, const json_t *body, json_t **answer)
{
	(void)body;
	*answer = status_json(o->store);
	return 200;
}

static int64_t argument(const struct order *o, const char *name, int64_t otherwise)
{
	const char *text = MHD_lookup_connection_value(o->connection, MHD_GET_ARGUMENT_KIND, name);

	return text ? strtoll(text, NULL, 10) : otherwise;
}

static unsigned int get_run(struct order *o, const json_t *body, json_t **answer)
{
	(void)body;
	int r = progress_json(o->store, o->run, argument(o, "errors", -1), argument(o, "closed", 0), answer);

	if (r)
		*answer = error_json(r == -ENOENT ? "no such run" : store_message(o->store));
	return r == -ENOENT ? 404 : r ? 500 : 200;
}

static unsigned int get_report(struct order *o, const json_t *body, json_t **answer)
{
	struct report *report = NULL;
	char *text = NULL;
	size_t size;
	FILE *out;

	(void)body;
	int r = report_load(o->store, o->run, &report);
	if (r != 1) {
		*answer = error_json(r ? store_message(o->store) : "no such run");
		return r ? 500 : 404;
	}
	out = open_memstream(&text, &size);
	if (out) {
		report_print(report, out);
		fclose(out);
		*answer = json_pack("{ss si}", "text", text, "exit", report_exit(report));
	}
	report_free(report);
	free(text);
	return *answer ? 200 : 500;
}

static unsigned int post_cancel(struct order *o, const json_t *body, json_t **answer)
{
	int64_t known = 0;

	(void)body;
	int r = store_int(o->store, &known,
	                  "SELECT 1 FROM runs WHERE run = ? AND state IN ('queued', 'running')", "s", o->run);
	/* A queued run ends here; a running one is ended by the conductor, which sees the state. */
	if (!r && known)
		r = store_do(
		    o->store,
		    "UPDATE runs SET state = 'cancelled', ended_unix_ns = CASE state WHEN 'queued' THEN ?1 "
		    "END WHERE run = ?2",
		    "is", moment_now().unix_ns, o->run);
	if (r)
		*answer = error_json(store_message(o->store));
	else if (!known)
		*answer = error_json("no such run is queued or running");
	else
		*answer = json_pack("{ss}", "run", o->run);
	return r ? 500 : known ? 200 : 404;
}

/* The plan of ORDER, as far as it can be measured in this lab; NULL: what is wrong is in COMPLAINTS. */
static struct plan *read_plan(const struct server *s, const json_t *order, FILE *complaints,
                              const char **group)
{
	const json_t *scale = json_object_get(order, "scale");
	const char *path = json_string_value(json_object_get(order, "path"));
	const char *text = json_string_value(json_object_get(order, "text"));
	const struct plan_options options = {
	    .seed = (uint64_t)json_integer_value(json_object_get(order, "seed")),
	    .scale = {.numerator = (unsigned int)json_integer_value(json_array_get(scale, 0)),
	              .denominator = (unsigned int)json_integer_value(json_array_get(scale, 1))},
	    .boots = (uint64_t)json_integer_value(json_object_get(order, "boots")),
	    .samples = (uint64_t)json_integer_value(json_object_get(order, "samples")),
	    .as_published = json_is_true(json_object_get(order, "as_published")),
	};
	struct plan *plan = NULL;

	if (!path || !text || strlen(text) > PLAN_MAX_BYTES) {
		fprintf(complaints, "%s: %s\n", path ? path : "-",
		        text ? "larger than 1048576 bytes" : "no text of a plan came with it");
		return NULL;
	}
	if (plan_load_text(path, text, &options, complaints, &plan))
		return NULL;
	if (!plan_fits_lab(plan, s->lab, json_string_value(json_object_get(order, "group")), complaints,
	                   group))
		return plan;
	plan_free(plan);
	return NULL;
}

/* Before the disk is full: a run that could not be finished is better not begun. */
static bool is_full(struct server *s, const struct plan *plan)
{
	pthread_mutex_lock(&s->lock);
	int64_t needed = conductor_room_needed(s->conductor, plan->nodes);
	pthread_mutex_unlock(&s->lock);
	return server_room(s) < needed;
}

static unsigned int queue(struct order *o, const struct plan *plan, const char *text, const char *group,
                          json_t **answer)
{
	char id[RUN_ID_SIZE];
	int64_t before = 0;
	int r = queue_run(o->store, plan, text, o->server->lab, group, id);

	if (!r)
		r = store_int(
		    o->store, &before,
		    "SELECT count(*) FROM runs WHERE group_name = ? AND run <> ? AND state IN ('queued', "
		    "'running')",
		    "ss", group, id);
	*answer = r ? error_json(store_message(o->store))
	            : json_pack("{ss ss sI sI}", "run", id, "group", group, "cells",
	                        (json_int_t)plan->cell_count, "before", (json_int_t)before);
	return r ? 500 : 200;
}

static unsigned int post_run(struct order *o, const json_t *body, json_t **answer)
{
	const char *group = NULL;
	unsigned int status = 422;
	char *text = NULL;
	size_t size;
	FILE *complaints = open_memstream(&text, &size);

	if (!complaints)
		return 500;
	struct plan *plan = read_plan(o->server, body, complaints, &group);
	fclose(complaints);
	if (!plan) {
		*answer = json_pack("{ss}", "complaints", text);
	} else if (is_full(o->server, plan)) {
		status = 507;
		*answer = error_json("the disk that has the lab's database is nearly full: make room there, "
		                     "then ask again");
	} else {
		status = queue(o, plan, json_string_value(json_object_get(body, "text")), group, answer);
	}
	plan_free(plan);
	free(text);
	return status;
}

static const struct {
	const char *method, *before, *after; /* the address is BEFORE, or BEFORE RUN AFTER */
	unsigned int (*handle)(struct order *order, const json_t *body, json_t **answer);
} routes[] = {
    {"GET", "/status", NULL, get_status},
    {"POST", "/runs", NULL, post_run},
    {"GET", "/runs/", "", get_run},
    {"GET", "/runs/", "/report", get_report},
    {"POST", "/runs/", "/cancel", post_cancel},
};

/* Whether PATH is that route's; the run in it to RUN. */
static bool matches(size_t i, const char *path, char run[64])
{
	size_t before = strlen(routes[i].before), length = strlen(path);

	if (!routes[i].after)
		return !strcmp(path, routes[i].before);
	size_t after = strlen(routes[i].after);
	if (length <= before + after || length - before - after >= 64 ||
	    strncmp(path, routes[i].before, before) || strcmp(path + length - after, routes[i].after))
		return false;
	snprintf(run, 64, "%.*s", (int)(length - before - after), path + before);
	return !strchr(run, '/');
}

static unsigned int handle(struct server *s, struct MHD_Connection *connection, const char *method,
                           const char *path, const struct body *sent, json_t **answer)
{
	struct order o = {.server = s, .connection = connection};
	unsigned int status = 404;

	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		if (strcmp(method, routes[i].method) || !matches(i, path, o.run))
			continue;
		if (store_open(s->database, STORE_EXISTING, stderr, &o.store))
			return 500;
		json_t *body = sent->text ? json_loadb(sent->text, sent->length, 0, NULL) : NULL;
		status = routes[i].handle(&o, body, answer);
		json_decref(body);
		store_close(o.store);
		break;
	}
	return status;
}

static enum MHD_Result reply(struct MHD_Connection *connection, unsigned int status, json_t *answer)
{
	char *text = answer ? json_dumps(answer, JSON_COMPACT) : NULL;
	struct MHD_Response *response =
	    MHD_create_response_from_buffer(text ? strlen(text) : 0, text ? text : "",
	                                    text ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);

	json_decref(answer);
	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
	enum MHD_Result result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static void log_who(struct MHD_Connection *connection, const char *path)
{
	const union MHD_ConnectionInfo *info =
	    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct ucred who;
	socklen_t size = sizeof(who);

	if (info && !getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED, &who, &size))
		log_event(NULL, "operator", "user %d asks for %s", (int)who.uid, path);
}

static enum MHD_Result take_body(struct body *body, const char *data, size_t *length)
{
	size_t n = *length;

	*length = 0;
	body->too_long = body->too_long || body->length + n > BODY_MAX_BYTES;
	if (body->too_long)
		return MHD_YES;
	if (body->length + n > body->size) {
		size_t size = 2 * (body->length + n);
		char *text = realloc(body->text, size);

		if (!text)
			return MHD_NO;
		body->text = text;
		body->size = size;
	}
	memcpy(body->text + body->length, data, n);
	body->length += n;
	return MHD_YES;
}

static enum MHD_Result on_order(void *ctx, struct MHD_Connection *connection, const char *path,
                                const char *method, const char *version, const char *data, size_t *length,
                                void **context)
{
	struct server *s = ctx;
	struct body *body = *context;
	json_t *answer = NULL;

	(void)version;
	if (!body) {
		*context = calloc(1, sizeof(*body));
		return *context ? MHD_YES : MHD_NO;
	}
	if (*length)
		return take_body(body, data, length);
	if (!strcmp(method, "POST"))
		log_who(connection, path);
	unsigned int status = body->too_long ? 413 : handle(s, connection, method, path, body, &answer);
	return reply(connection, status, answer);
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code)
{
	struct body *body = *context;

	(void)ctx;
	(void)connection;
	(void)code;
	if (body)
		free(body->text);
	free(body);
	*context = NULL;
}

int orders_start(struct server *s)
{
	s->orders = calloc(1, sizeof(*s->orders));
	if (!s->orders)
		return -ENOMEM;
	s->orders->daemon =
	    MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL |
	                         MHD_USE_ERROR_LOG,
	                     0, NULL, NULL, on_order, s, MHD_OPTION_LISTEN_SOCKET, s->operator_socket,
	                     MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
	                     IDLE_TIMEOUT_S, MHD_OPTION_NOTIFY_COMPLETED, on_completed, s, MHD_OPTION_END);
	if (s->orders->daemon)
		return 0;
	fprintf(stderr, "assay serve: the operator's socket could not be served (memory, or open files: "
	                "`ulimit -n`)\n");
	return -EIO;
}

void orders_stop(struct server *s)
{
	if (s->orders && s->orders->daemon)
		MHD_stop_daemon(s->orders->daemon);
	free(s->orders);
	s->orders = NULL;
}
