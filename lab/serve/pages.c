/* SPDX-License-Identifier: GPL-2.0-or-later
 * Pages to read: the status, and reports. They have an address, a daemon and threads of their own, at low
 * priority: who reads must not hold up a node, and what is asked here changes nothing. */
#include "server.h"

#include "../report/html.h"
#include "../report/report.h"
#include "../report/watch.h"
#include "../web/web.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define CONNECTIONS    32
#define PER_ADDRESS    8
#define IDLE_TIMEOUT_S 20
#define RUNS_LISTED    "100"
#define NICE           10
#define WAIT_S         5 /* for the page of somebody else */

/* Pages carry their own style and script, and load nothing. */
#define POLICY                                                                                               \
	"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; "       \
	"form-action 'none'; frame-ancestors 'none'"

struct pages {
	struct MHD_Daemon *daemon;
	struct peers *peers;
	pthread_mutex_t busy; /* one report at a time */
};

static int write_runs(struct store *store, FILE *out)
{
	sqlite3_stmt *row;
	int r =
	    store_ask(store, &row,
	              "SELECT run, state, question FROM runs ORDER BY number DESC LIMIT " RUNS_LISTED, "");

	if (r)
		return r;
	fputs("<h2>Runs</h2>\n<table><tbody>\n", out);
	while ((r = store_row(store, row)) == 1) {
		/* A run's name has letters, digits and dashes. */
		fprintf(out, "<tr><th scope=\"row\"><a href=\"/runs/%s\">%s</a></th><td>%s</td><td>",
		        store_text(row, 0), store_text(row, 0), store_text(row, 1));
		html_text(out, store_text(row, 2));
		fputs("</td></tr>\n", out);
	}
	fputs("</tbody></table>\n", out);
	return r;
}

/* HTTP's status; the page is in OUT where it is 200. */
static unsigned int write_status(struct store *store, FILE *out)
{
	json_t *status = status_json(store);
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (memory) {
		status_print(status, memory);
		fclose(memory);
	}
	json_decref(status);
	fprintf(out,
	        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" "
	        "content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"refresh\" "
	        "content=\"10\"><title>Assay: status</title>\n<style>%s</style></head><body><main>\n"
	        "<h1>Status</h1><pre>",
	        web_report_css);
	html_text(out, text ? text : "");
	fputs("</pre>\n", out);
	free(text);
	int r = write_runs(store, out);
	fputs("</main></body></html>\n", out);
	return r ? 500 : 200;
}

static unsigned int write_report(struct store *store, const char *run, FILE *out)
{
	struct report *report = NULL;
	int r = report_load(store, run, &report);

	if (r != 1)
		return r ? 500 : 404;
	r = html_report(report, out);
	report_free(report);
	return r ? 500 : 200;
}

static unsigned int write_page(struct server *s, const char *path, FILE *out)
{
	bool status = !strcmp(path, "/status");
	struct store *store = NULL;
	struct timespec until;
	unsigned int code;

	if (!status && (strncmp(path, "/runs/", 6) || !path[6]))
		return 404;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	if (pthread_mutex_timedlock(&s->pages->busy, &until))
		return 503;
	if (store_open(s->database, STORE_EXISTING, stderr, &store))
		code = 500;
	else
		code = status ? write_status(store, out) : write_report(store, path + 6, out);
	store_close(store);
	pthread_mutex_unlock(&s->pages->busy);
	return code;
}

static enum MHD_Result reply(struct MHD_Connection *connection, unsigned int code, char *text, size_t size)
{
	struct MHD_Response *response;

	if (code != 200) {
		free(text);
		text = NULL;
		size = (size_t)asprintf(&text, "%u: %s\n", code,
		                        code == 404   ? "there are /status and /runs/RUN"
		                        : code == 503 ? "another page is being made"
		                        : code == 405 ? "pages are only read"
		                                      : "the database could not be read");
	}
	response = text ? MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE) : NULL;
	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
	                        code == 200 ? "text/html; charset=utf-8" : "text/plain; charset=utf-8");
	MHD_add_response_header(response, "Content-Security-Policy", POLICY);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	if (code == 503)
		MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "2");
	enum MHD_Result result = MHD_queue_response(connection, code, response);
	MHD_destroy_response(response);
	return result;
}

static struct peer *peer_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
	    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static enum MHD_Result on_page(void *ctx, struct MHD_Connection *connection, const char *path,
                               const char *method, const char *version, const char *data, size_t *length,
                               void **context)
{
	static int seen;
	struct server *s = ctx;
	char *text = NULL;
	size_t size = 0;

	(void)version;
	(void)data;
	if (!*context) { /* the head alone */
		*context = &seen;
		return MHD_YES;
	}
	if (*length) { /* whatever body comes is not looked at */
		*length = 0;
		return MHD_YES;
	}
	peer_stage(s->pages->peers, peer_of(connection), PEER_REPLY);
	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return reply(connection, 405, NULL, 0);
	setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
	FILE *out = open_memstream(&text, &size);
	unsigned int code = out ? write_page(s, path, out) : 500;
	if (out && fclose(out))
		code = 500;
	return reply(connection, code, text, size);
}

static void on_connection(void *ctx, struct MHD_Connection *connection, void **peer,
                          enum MHD_ConnectionNotificationCode code)
{
	struct pages *pages = ((struct server *)ctx)->pages;

	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		*peer = peer_add(
		    pages->peers,
		    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
	else
		peer_remove(pages->peers, *peer);
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code)
{
	(void)code;
	peer_stage(((struct server *)ctx)->pages->peers, peer_of(connection), PEER_HEAD);
	*context = NULL;
}

int pages_start(struct server *s)
{
	s->pages = calloc(1, sizeof(*s->pages));
	if (!s->pages)
		return -ENOMEM;
	pthread_mutex_init(&s->pages->busy, NULL);
	s->pages->peers = peers_new();
	if (!s->pages->peers)
		return -ENOMEM;
	s->pages->daemon =
	    MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL |
	                         MHD_USE_ERROR_LOG,
	                     0, NULL, NULL, on_page, s, MHD_OPTION_LISTEN_SOCKET, s->pages_socket,
	                     MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
	                     PER_ADDRESS, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_TIMEOUT_S,
	                     MHD_OPTION_NOTIFY_COMPLETED, on_completed, s, MHD_OPTION_NOTIFY_CONNECTION,
	                     on_connection, s, MHD_OPTION_END);
	if (s->pages->daemon)
		return 0;
	fprintf(stderr, "assay serve: pages could not be served (memory, or open files: `ulimit -n`)\n");
	return -EIO;
}

void pages_tick(struct server *s, struct moment now)
{
	if (s->pages)
		peers_tick(s->pages->peers, now);
}

void pages_stop(struct server *s)
{
	if (!s->pages)
		return;
	if (s->pages->daemon)
		MHD_stop_daemon(s->pages->daemon);
	peers_free(s->pages->peers);
	free(s->pages);
	s->pages = NULL;
}
