/* SPDX-License-Identifier: GPL-2.0-or-later
 * What nodes may ask for (results-schema/PROTOCOL.md). */
#include "server.h"
#include "log.h"

#include "../export/export.h"
#include "schema.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_BYTES (64 << 10)

/* Keeps what was not accepted, and says so to the node. */
static void refuse(struct server *s, struct request *rq, unsigned int status, const struct complaint *why)
{
	char what[600];

	snprintf(what, sizeof(what), "%s %s", rq->method, rq->path);
	conductor_refuse(s->conductor, moment_now(), rq->node ? conductor_node_name(rq->node) : NULL, what,
	                 why, rq->body, rq->length);
	request_reply(rq, status,
	              json_pack("{s{ss ss}}", "error", "path", why->path, "message", why->message));
}

/* The body as JSON that fits SCHEMA; else NULL, and the reply is there. WITHIN: the member to be checked, or
 * NULL. Takes the lock. */
static json_t *body_json(struct server *s, struct request *rq, const char *schema, const char *within)
{
	struct complaint why = {.path = ""};
	struct schema_error wrong;
	json_error_t parse;
	json_t *json = json_loadb(rq->body ? rq->body : "", rq->length, JSON_REJECT_DUPLICATES, &parse);
	json_t *part = within ? json_object_get(json, within) : json;

	if (!json) {
		snprintf(why.message, sizeof(why.message), "not JSON: line %d, column %d: %s", parse.line,
		         parse.column, parse.text);
	} else if (!part || (within && json_object_size(json) != 1)) {
		snprintf(why.message, sizeof(why.message), "an object with the one member \"%s\" is wanted",
		         within);
	} else if (schema_check(schema, part, &wrong)) {
		snprintf(why.path, sizeof(why.path), "%s%s%.*s", within ? "/" : "", within ? within : "", 400,
		         wrong.path);
		snprintf(why.message, sizeof(why.message), "%s", wrong.message);
	} else {
		return json;
	}
	json_decref(json);
	pthread_mutex_lock(&s->lock);
	refuse(s, rq, 422, &why);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void take(struct request *rq, struct reply reply)
{
	request_reply(rq, reply.status, reply.body);
}

static void post_hello(struct server *s, struct request *rq)
{
	struct complaint why = {.path = ""};
	char id[80];
	json_t *hello = body_json(s, rq, "hello.json", NULL);

	if (!hello)
		return;
	image_id(s, id, sizeof(id));
	pthread_mutex_lock(&s->lock);
	struct reply reply = conductor_hello(s->conductor, moment_now(), rq->token, hello, id, &why);
	if (reply.status == 422)
		refuse(s, rq, 422, &why);
	else
		take(rq, reply);
	pthread_mutex_unlock(&s->lock);
	json_decref(hello);
}

/* The node may have said hello from another boot since its headers came. */
static bool still_its_boot(struct server *s, struct request *rq)
{
	rq->node = conductor_auth(s->conductor, rq->token);
	if (!rq->node)
		request_error(rq, 401, "the token is not that of the node's present boot");
	return rq->node;
}

static void get_next(struct server *s, struct request *rq)
{
	pthread_mutex_lock(&s->lock);
	if (still_its_boot(s, rq)) {
		conductor_next(s->conductor, moment_now(), rq->node, &rq->hold);
		request_suspend(rq);
	}
	pthread_mutex_unlock(&s->lock);
}

static void post_barrier(struct server *s, struct request *rq)
{
	json_t *barrier = body_json(s, rq, "barrier.json", NULL);

	if (!barrier)
		return;
	rq->quiet = !strcmp(json_string_value(json_object_get(barrier, "name")), "ready");
	pthread_mutex_lock(&s->lock);
	if (still_its_boot(s, rq)) {
		conductor_barrier(s->conductor, moment_now(), rq->node, barrier, &rq->hold);
		request_suspend(rq);
	}
	pthread_mutex_unlock(&s->lock);
	json_decref(barrier);
}

static void post_step(struct server *s, struct request *rq)
{
	json_t *step = body_json(s, rq, "step.json", NULL);

	if (!step)
		return;
	pthread_mutex_lock(&s->lock);
	if (still_its_boot(s, rq)) {
		json_t *error = conductor_step(s->conductor, moment_now(), rq->node,
		                               json_string_value(json_object_get(step, "step")),
		                               json_string_value(json_object_get(step, "text")));

		request_reply(rq, error ? 410 : 204, error ? json_pack("{so}", "error", error) : NULL);
	}
	pthread_mutex_unlock(&s->lock);
	json_decref(step);
}

static void post_error(struct server *s, struct request *rq)
{
	json_t *body = body_json(s, rq, "error.json", "error");

	if (!body)
		return;
	pthread_mutex_lock(&s->lock);
	if (still_its_boot(s, rq))
		take(rq,
		     conductor_error(s->conductor, moment_now(), rq->node, json_object_get(body, "error")));
	pthread_mutex_unlock(&s->lock);
	json_decref(body);
}

static bool decimal(const char *text, int64_t *out)
{
	char *end;

	if (*text < '1' || *text > '9')
		return false;
	errno = 0;
	*out = strtoll(text, &end, 10);
	return !*end && !errno;
}

/* RUN/CELL/BOOT/SAMPLE; cuts PATH into pieces. */
static bool parse_key(char *path, struct result_key *key)
{
	char *part[4], *save = NULL;

	for (size_t i = 0; i < 4; i++) {
		part[i] = strtok_r(i ? NULL : path, "/", &save);
		if (!part[i])
			return false;
	}
	key->run = part[0];
	key->cell_id = part[1];
	return !strtok_r(NULL, "/", &save) && decimal(part[2], &key->boot) && decimal(part[3], &key->sample);
}

static void put_result(struct server *s, struct request *rq)
{
	char path[sizeof(rq->path)];
	struct complaint why = {.path = ""};
	struct result_key key;

	strcpy(path, rq->path + strlen(rq->route->path));
	if (!parse_key(path, &key)) {
		request_error(rq, 404, "the address of a result is /v1/results/RUN/CELL/BOOT/SAMPLE");
		return;
	}
	json_t *result = body_json(s, rq, "result.json", NULL);
	if (!result)
		return;
	pthread_mutex_lock(&s->lock);
	if (still_its_boot(s, rq)) {
		struct reply reply = conductor_result(s->conductor, moment_now(), rq->node, &key, result,
		                                      rq->body, rq->length, &why);

		if (reply.status == 422 || reply.status == 404 || reply.status == 409)
			refuse(s, rq, reply.status, &why);
		else
			take(rq, reply);
	}
	pthread_mutex_unlock(&s->lock);
	json_decref(result);
}

/* By a connection of its own to the database: the conductor goes on meanwhile. */
static void get_metrics(struct server *s, struct request *rq)
{
	struct store *store = NULL;
	char *text = NULL;
	size_t size;

	if (!s->metrics) {
		request_error(rq, 404, "start `assay serve` with --metrics for this");
		return;
	}
	FILE *out = open_memstream(&text, &size);
	int r = out ? store_open(s->database, STORE_EXISTING, stderr, &store) : -errno;
	if (!r)
		r = metrics_print(store, moment_now().unix_ns, out);
	store_close(store);
	if (out && fclose(out) && !r)
		r = -errno;
	if (r) {
		free(text);
		request_error(rq, 500, "the database could not be read: %s", strerror(-r));
		return;
	}
	rq->status = 200;
	rq->text = text;
	rq->type = METRICS_TYPE;
}

static const struct route routes[] = {
    {"GET", "/boot.ipxe", 0, 0, ipxe_boot},
    {"GET", "/image/", 0, 0, image_get},
    {"GET", "/metrics", 0, 0, get_metrics},
    {"POST", "/v1/hello", RESULT_MAX_BYTES, ROUTE_TOKEN, post_hello},
    {"GET", "/v1/next", 0, ROUTE_NODE, get_next},
    {"POST", "/v1/step", SMALL_BYTES, ROUTE_NODE, post_step},
    {"POST", "/v1/barrier", SMALL_BYTES, ROUTE_NODE, post_barrier},
    {"PUT", "/v1/results/", RESULT_MAX_BYTES, ROUTE_NODE, put_result},
    {"POST", "/v1/error", SMALL_BYTES * 4, ROUTE_NODE, post_error},
};

const struct route *api_route(const char *method, const char *path, unsigned int *status)
{
	*status = 404;
	if (!strcmp(method, "HEAD"))
		method = "GET";
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		size_t length = strlen(routes[i].path);
		bool prefix = routes[i].path[length - 1] == '/';

		if (prefix ? strncmp(path, routes[i].path, length) : strcmp(path, routes[i].path))
			continue;
		if (!strcmp(method, routes[i].method))
			return &routes[i];
		*status = 405;
	}
	return NULL;
}

/* Whether the token is one that the route takes; MAC: of the NIC that it was made for. */
static bool token_fits(struct server *s, struct request *rq, char mac[18])
{
	if (rq->route->flags & ROUTE_NODE) {
		if (!still_its_boot(s, rq))
			return false;
		strcpy(mac, conductor_node_mac(rq->node));
		return true;
	}
	int r = conductor_token_mac(s->conductor, rq->token, mac);
	if (r < 0)
		request_error(rq, 503, "%s", store_message(s->store));
	else if (!r)
		request_error(rq, 401, "the token is unknown: reboot through PXE");
	return r == 1;
}

bool api_authorise(struct server *s, struct request *rq)
{
	char mac[18];

	if (!rq->route->flags)
		return true;
	if (!*rq->token) {
		request_error(rq, 401, "Authorization: Bearer TOKEN is missing");
		return false;
	}
	pthread_mutex_lock(&s->lock);
	bool allowed = token_fits(s, rq, mac);
	pthread_mutex_unlock(&s->lock);
	if (!allowed)
		return false;
	int r = neighbour_check(s, rq->address, mac);
	if (r) {
		log_seldom(NULL, "token", "the token of %s was shown by %s, which %s: refused", mac,
		           inet_ntoa(rq->address),
		           r == -EPERM ? "has another MAC" : "is not known on the lab's interface");
		request_error(rq, 403, "the token was made for %s, and this request comes from elsewhere",
		              mac);
	}
	return !r;
}
