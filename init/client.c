/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client.h"

#include "console.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define ANSWER_MAX     (4UL << 20)
#define CONNECT_MS     5000L
#define BACKOFF_MIN_MS 500
#define BACKOFF_MAX_MS 8000
#define WAIT_MAX_MS    60000L /* whatever the server asks for */

struct client {
	CURL *curl;
	struct curl_slist *headers;
	char server[256];
	char error[CURL_ERROR_SIZE];
	char *text; /* of the answer */
	size_t length;
	long backoff_min_ms, backoff_max_ms;
};

static size_t on_body(char *data, size_t size, size_t count, void *ctx)
{
	struct client *client = ctx;
	size_t n = size * count;
	char *larger;

	if (client->length + n > ANSWER_MAX)
		return 0;
	larger = realloc(client->text, client->length + n + 1);
	if (!larger)
		return 0;
	client->text = larger;
	memcpy(client->text + client->length, data, n);
	client->length += n;
	client->text[client->length] = '\0';
	return n;
}

struct client *client_new(const char *server, const char *token)
{
	struct client *client = calloc(1, sizeof(*client));
	struct curl_slist *headers;
	char line[192];

	if (!client || curl_global_init(CURL_GLOBAL_DEFAULT))
		goto fail;
	client->curl = curl_easy_init();
	client_set_backoff(client, BACKOFF_MIN_MS, BACKOFF_MAX_MS);
	snprintf(client->server, sizeof(client->server), "%s", server);
	snprintf(line, sizeof(line), "Authorization: Bearer %s", token);
	client->headers = curl_slist_append(NULL, line);
	headers =
	    client->headers ? curl_slist_append(client->headers, "Content-Type: application/json") : NULL;
	/* Without it curl asks for leave before each body, and waits a second for the answer. */
	headers = headers ? curl_slist_append(headers, "Expect:") : NULL;
	if (!client->curl || !headers)
		goto fail;
	return client;
fail:
	client_free(client);
	return NULL;
}

void client_free(struct client *client)
{
	if (!client)
		return;
	curl_slist_free_all(client->headers);
	if (client->curl)
		curl_easy_cleanup(client->curl);
	free(client->text);
	free(client);
}

void client_set_backoff(struct client *client, long min_ms, long max_ms)
{
	client->backoff_min_ms = min_ms;
	client->backoff_max_ms = max_ms;
}

static void set_options(struct client *client, const char *method, const char *body, size_t length,
                        long timeout_ms)
{
	CURL *curl = client->curl;

	/* Forgets the last request's options, keeps the connection. */
	curl_easy_reset(curl);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, client->headers);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, client->error);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, timeout_ms);
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, client);
	if (strcmp(method, "GET")) {
		curl_easy_setopt(curl, CURLOPT_POST, 1L);
		curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body ? body : "");
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
	}
}

static int code_errno(CURLcode code)
{
	switch (code) {
	case CURLE_COULDNT_CONNECT:
		return -ECONNREFUSED;
	case CURLE_OPERATION_TIMEDOUT:
		return -ETIMEDOUT;
	case CURLE_OUT_OF_MEMORY:
		return -ENOMEM;
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
		return -EINVAL;
	default:
		return -EIO;
	}
}

/* What the answer's body says went wrong: its "error" (text, or error.json), else its beginning. */
static void explain(const struct client *client, struct client_answer *answer)
{
	const json_t *error = json_object_get(answer->body, "error");
	const char *text = json_is_object(error) ? json_string_value(json_object_get(error, "message"))
	                                         : json_string_value(error);

	if (!text)
		text = client->text ? client->text : "";
	snprintf(answer->reason, sizeof(answer->reason), "HTTP %ld%s%.900s", answer->status,
	         *text ? ": " : "", text);
	for (char *c = answer->reason; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
}

/* Whether the answer can be the lab's; else it is none, and ANSWER->reason says what came. A portal or a
 * proxy in the way must not be taken for an acknowledgement, or for a refusal. */
static bool is_labs(const struct client *client, struct client_answer *answer)
{
	const char *type = NULL, *to = NULL;

	curl_easy_getinfo(client->curl, CURLINFO_CONTENT_TYPE, &type);
	curl_easy_getinfo(client->curl, CURLINFO_REDIRECT_URL, &to);
	if (answer->status >= 300 && answer->status < 400)
		snprintf(answer->reason, sizeof(answer->reason),
		         "HTTP %ld, a redirect%s%.200s: not the lab's answer", answer->status,
		         to ? " to " : "", to ? to : "");
	else if (client->length && (!type || strncasecmp(type, "application/json", 16)))
		snprintf(answer->reason, sizeof(answer->reason), "HTTP %ld with %.100s: not the lab's answer",
		         answer->status, type ? type : "a body of no type");
	else
		return true;
	answer->status = 0;
	return false;
}

int client_request(struct client *client, const char *method, const char *path, const char *body,
                   size_t length, long timeout_ms, struct client_answer *answer)
{
	char url[1024];
	curl_off_t after_s = 0;
	CURLcode code;

	memset(answer, 0, sizeof(*answer));
	free(client->text);
	client->text = NULL;
	client->length = 0;
	*client->error = '\0';
	set_options(client, method, body, length, timeout_ms);
	snprintf(url, sizeof(url), "%s%s", client->server, path);
	curl_easy_setopt(client->curl, CURLOPT_URL, url);
	code = curl_easy_perform(client->curl);
	if (code != CURLE_OK) {
		snprintf(answer->reason, sizeof(answer->reason), "%s",
		         *client->error ? client->error : curl_easy_strerror(code));
		return code_errno(code);
	}
	curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &answer->status);
	curl_easy_getinfo(client->curl, CURLINFO_RETRY_AFTER, &after_s);
	answer->wait_ms = after_s < WAIT_MAX_MS / 1000 ? (long)after_s * 1000 : WAIT_MAX_MS;
	if (!is_labs(client, answer))
		return -EPROTO;
	if (client->length)
		answer->body = json_loadb(client->text, client->length, JSON_REJECT_DUPLICATES, NULL);
	if (answer->status >= 300)
		explain(client, answer);
	return 0;
}

void client_answer_clear(struct client_answer *answer)
{
	json_decref(answer->body);
	answer->body = NULL;
}

/* The part of REASON that tells one fault from another: times in milliseconds change from try to try. */
static bool same_reason(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strspn(a, "0123456789");
		b += strspn(b, "0123456789");
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
}

void client_request_until(struct client *client, const char *method, const char *path, const char *body,
                          size_t length, const struct client_retry *retry, struct client_answer *answer)
{
	char reason[sizeof(answer->reason)] = "";
	long status = -1, pause_ms;
	long wait_ms = client->backoff_min_ms;
	struct timespec pause;
	int r;

	for (;;) {
		r = client_request(client, method, path, body, length, retry->timeout_ms, answer);
		if (r == 0 && answer->status != 403 && answer->status != 429 && answer->status < 500)
			break;
		if (status < 0 && retry->kept)
			say("%s", retry->kept);
		if (status != answer->status || !same_reason(reason, answer->reason)) {
			status = answer->status;
			snprintf(reason, sizeof(reason), "%s", answer->reason);
			say("%s %s%s: %s; tried again until it works", method, client->server, path, reason);
		}
		pause_ms = answer->wait_ms > wait_ms ? answer->wait_ms : wait_ms;
		client_answer_clear(answer);
		pause = (struct timespec){.tv_sec = pause_ms / 1000, .tv_nsec = pause_ms % 1000 * 1000000};
		nanosleep(&pause, NULL);
		wait_ms = wait_ms * 2 < client->backoff_max_ms ? wait_ms * 2 : client->backoff_max_ms;
	}
	if (*reason)
		say("%s %s: the server answers again", method, path);
}
