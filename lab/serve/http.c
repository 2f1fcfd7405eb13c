/* SPDX-License-Identifier: GPL-2.0-or-later
 * HTTP by libmicrohttpd: few threads for any number of connections; requests that wait are suspended. */
#include "server.h"
#include "log.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS        4
#define PER_ADDRESS    256
#define IDLE_TIMEOUT_S 60
#define RETRY_AFTER_S  "2"
#define SWALLOW_BYTES  (64 << 20) /* of a body that is too long, so that its sender reads the 413 */

struct http {
	struct MHD_Daemon *daemon;
	struct peers *peers;
};

struct moment moment_now(void)
{
	struct timespec mono, real;

	clock_gettime(CLOCK_BOOTTIME, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	return (struct moment){
	    .mono_ns = mono.tv_sec * INT64_C(1000000000) + mono.tv_nsec,
	    .unix_ns = real.tv_sec * INT64_C(1000000000) + real.tv_nsec,
	};
}

static void stage(struct http *http, struct MHD_Connection *connection, enum peer_stage stage)
{
	const union MHD_ConnectionInfo *info =
	    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	peer_stage(http->peers, info ? info->socket_context : NULL, stage);
}

static void on_connection(void *ctx, struct MHD_Connection *connection, void **peer,
                          enum MHD_ConnectionNotificationCode code)
{
	struct http *http = ((struct server *)ctx)->http;

	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		*peer = peer_add(
		    http->peers,
		    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
	else
		peer_remove(http->peers, *peer);
}

void http_tick(struct server *server, struct moment now)
{
	peers_tick(server->http->peers, now);
}

const char *request_argument(const struct request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

void request_reply(struct request *request, unsigned int status, json_t *json)
{
	request->status = status;
	json_decref(request->json);
	request->json = json;
}

void request_error(struct request *request, unsigned int status, const char *format, ...)
{
	char message[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	request_reply(request, status, json_pack("{s{ss}}", "error", "message", message));
}

static const char *header(const struct request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

static void wake(struct hold *hold)
{
	struct request *request = hold->ctx;

	if (request->held)
		MHD_resume_connection(request->connection);
}

static bool alive(struct hold *hold)
{
	struct request *request = hold->ctx;
	const union MHD_ConnectionInfo *info =
	    MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	char byte;

	if (!info || !request->held)
		return true;
	ssize_t n = recv(info->connect_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return true;
	hold->reply.status = 503;
	MHD_resume_connection(request->connection);
	return false;
}

void request_suspend(struct request *request)
{
	struct server *server = request->server;

	if (!request->hold.reply.status && server->stopping) {
		conductor_drop(server->conductor, &request->hold);
		request->hold.reply.status = MHD_HTTP_SERVICE_UNAVAILABLE;
	}
	if (request->hold.reply.status)
		return;
	request->held = true;
	MHD_suspend_connection(request->connection);
}

static struct MHD_Response *response_of(struct request *request, const char **type)
{
	struct stat st;
	char *body;

	*type = "application/json";
	if (request->file >= 0) {
		*type = "application/octet-stream";
		if (fstat(request->file, &st))
			return NULL;
		int fd = request->file;
		request->file = -1;
		struct MHD_Response *response = MHD_create_response_from_fd64((uint64_t)st.st_size, fd);
		if (!response)
			close(fd);
		return response;
	}
	if (request->text) {
		*type = request->type ? request->type : "text/plain; charset=utf-8";
		body = request->text;
		request->text = NULL;
		return MHD_create_response_from_buffer(strlen(body), body, MHD_RESPMEM_MUST_FREE);
	}
	if (!request->json)
		return MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
	body = json_dumps(request->json, JSON_COMPACT | JSON_ENCODE_ANY);
	if (!body)
		return NULL;
	return MHD_create_response_from_buffer(strlen(body), body, MHD_RESPMEM_MUST_FREE);
}

static enum MHD_Result send_reply(struct request *request)
{
	const char *type;
	struct MHD_Response *response = response_of(request, &type);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	request->finished = true;
	if (request->json || strcmp(type, "application/json"))
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (request->status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	if (request->status == MHD_HTTP_TOO_MANY_REQUESTS || request->status == MHD_HTTP_SERVICE_UNAVAILABLE)
		MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, RETRY_AFTER_S);
	if (request->status == MHD_HTTP_TOO_MANY_REQUESTS || request->status == MHD_HTTP_BAD_REQUEST)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	stage(request->server->http, request->connection, PEER_REPLY);
	result = MHD_queue_response(request->connection, request->status ? request->status : 500, response);
	MHD_destroy_response(response);
	return result;
}

static struct in_addr peer_address(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
	    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	return info && info->client_addr && info->client_addr->sa_family == AF_INET
	           ? ((const struct sockaddr_in *)info->client_addr)->sin_addr
	           : (struct in_addr){0};
}

/* Fills what is known from the head; false: the reply is there already. */
static bool read_head(struct request *request, const char *url)
{
	struct server *server = request->server;
	const char *value = header(request, MHD_HTTP_HEADER_AUTHORIZATION);

	if (strlen(url) >= sizeof(request->path)) {
		request_error(request, MHD_HTTP_URI_TOO_LONG, "no address here is that long");
		return false;
	}
	for (const char *c = url; *c; c++) {
		if (*c <= ' ' || *c > '~') {
			request_error(request, MHD_HTTP_BAD_REQUEST, "no address here has such characters");
			return false;
		}
	}
	if (header(request, MHD_HTTP_HEADER_CONTENT_LENGTH) &&
	    header(request, MHD_HTTP_HEADER_TRANSFER_ENCODING)) {
		request_error(request, MHD_HTTP_BAD_REQUEST, "two lengths of one body");
		return false;
	}
	strcpy(request->path, url);
	if (value && !strncasecmp(value, "Bearer ", 7) && strlen(value + 7) < sizeof(request->token))
		strcpy(request->token, value + 7);
	request->route = api_route(request->method, url, &request->status);
	if (!request->route) {
		request_error(request, request->status, "%s %s: no such thing", request->method, url);
		return false;
	}
	return api_authorise(server, request);
}

/* As read_head(). Whoever is not a node that is up has few tries: guessing, and asking for scripts without
 * end, is slow. */
static bool admit(struct request *request, const char *url)
{
	struct server *server = request->server;
	bool fine = read_head(request, url);

	if (request->route && request->route->flags && fine)
		return true;
	if (limit_take(server->limit, request->address.s_addr, moment_now()))
		return fine;
	request_error(request, MHD_HTTP_TOO_MANY_REQUESTS, "too many requests from this address");
	return false;
}

/* Whether a body comes that can be read to its end. A reply before that may not reach a client that still
 * sends. */
static bool body_follows(struct request *request)
{
	const char *length = header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);

	if (header(request, MHD_HTTP_HEADER_TRANSFER_ENCODING))
		return true;
	return length && strcmp(length, "0") && strtoull(length, NULL, 10) <= SWALLOW_BYTES;
}

static enum MHD_Result begin(struct server *server, struct MHD_Connection *connection, const char *method,
                             const char *url, void **context)
{
	struct request *request = calloc(1, sizeof(*request));

	if (!request)
		return MHD_NO;
	*context = request;
	request->server = server;
	request->connection = connection;
	request->method = method;
	request->file = -1;
	request->hold = (struct hold){.wake = wake, .alive = alive, .ctx = request};
	stage(server->http, connection, PEER_BODY);
	MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned int)IDLE_TIMEOUT_S);
	request->address = peer_address(connection);
	request->settled = !admit(request, url);
	return request->settled && !body_follows(request) ? send_reply(request) : MHD_YES;
}

static enum MHD_Result take_body(struct request *request, const char *data, size_t *length)
{
	size_t n = *length;

	*length = 0;
	if (request->finished)
		return MHD_YES;
	request->length += n;
	if (request->settled || request->length > request->route->limit_bytes) {
		request->too_long = true;
		return request->length > SWALLOW_BYTES ? MHD_NO : MHD_YES;
	}
	if (request->length > request->size) {
		size_t size = request->length < 65536 ? 65536 : 2 * request->length;
		char *body = realloc(request->body, size);

		if (!body)
			return MHD_NO;
		request->body = body;
		request->size = size;
	}
	memcpy(request->body + request->length - n, data, n);
	return MHD_YES;
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data, size_t *length,
                                  void **context)
{
	struct server *server = ctx;
	struct request *request = *context;

	(void)version;
	if (!request)
		return begin(server, connection, method, url, context);
	if (*length)
		return take_body(request, data, length);
	if (request->finished)
		return MHD_YES;
	if (!request->held) {
		stage(server->http, connection, PEER_REPLY);
		if (request->settled)
			return send_reply(request);
		if (request->too_long)
			request_error(request, MHD_HTTP_CONTENT_TOO_LARGE, "at most %zu bytes are taken here",
			              request->route->limit_bytes);
		else
			request->route->handle(server, request);
		if (request->held)
			return MHD_YES;
	}
	pthread_mutex_lock(&server->lock);
	if (request->hold.reply.status) {
		request->status = request->hold.reply.status;
		request->json = request->hold.reply.body;
		request->hold.reply = (struct reply){0};
	}
	pthread_mutex_unlock(&server->lock);
	return send_reply(request);
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code)
{
	struct server *server = ctx;
	struct request *request = *context;

	(void)code;
	/* Closing the connection would be a packet, and an interrupt, in the midst of what is measured. */
	if (request && request->quiet)
		MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
	stage(server->http, connection, request && request->quiet ? PEER_QUIET : PEER_HEAD);
	if (!request)
		return;
	pthread_mutex_lock(&server->lock);
	if (server->conductor)
		conductor_drop(server->conductor, &request->hold);
	pthread_mutex_unlock(&server->lock);
	json_decref(request->hold.reply.body);
	json_decref(request->json);
	if (request->file >= 0)
		close(request->file);
	free(request->text);
	free(request->body);
	free(request);
	*context = NULL;
}

int http_start(struct server *server)
{
	struct http *http = calloc(1, sizeof(*http));

	if (!http)
		return -ENOMEM;
	server->http = http;
	http->peers = peers_new();
	server->limit = limit_new();
	if (!http->peers || !server->limit)
		return -ENOMEM;
	int fd = listen_open(server);
	if (fd < 0)
		return fd;
	snprintf(server->url, sizeof(server->url), "http://%s:%u", server->address, server->port);
	http->daemon =
	    MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG,
	                     server->port, NULL, NULL, on_request, server, MHD_OPTION_LISTEN_SOCKET, fd,
	                     MHD_OPTION_THREAD_POOL_SIZE, THREADS, MHD_OPTION_CONNECTION_LIMIT,
	                     listen_connections(), MHD_OPTION_PER_IP_CONNECTION_LIMIT, PER_ADDRESS,
	                     MHD_OPTION_CONNECTION_TIMEOUT, IDLE_TIMEOUT_S,
	                     MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)65536, MHD_OPTION_NOTIFY_COMPLETED,
	                     on_completed, server, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
	                     MHD_OPTION_END);
	if (!http->daemon) {
		close(fd);
		fprintf(stderr, "assay serve: the HTTP server could not be started (memory, or open files: "
		                "`ulimit -n`)\n");
		return -EIO;
	}
	return 0;
}

void http_stop(struct server *server)
{
	if (!server->http)
		return;
	if (server->http->daemon) {
		pthread_mutex_lock(&server->lock);
		server->stopping = true;
		conductor_release(server->conductor);
		pthread_mutex_unlock(&server->lock);
		MHD_stop_daemon(server->http->daemon);
	}
	peers_free(server->http->peers);
	limit_free(server->limit);
	free(server->http);
	server->http = NULL;
}
