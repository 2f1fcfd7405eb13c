/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "operator.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A server that writes to a slow disk, or makes the report of a large run. */
#define ASK_S 600L

struct operator_link {
	CURL *curl;
	char *database;
	char message[1024];
};

struct text {
	char *data;
	size_t length;
};

static size_t on_body(char *data, size_t size, size_t count, void *ctx)
{
	struct text *text = ctx;
	char *larger = realloc(text->data, text->length + size * count + 1);

	if (!larger)
		return 0;
	text->data = larger;
	memcpy(text->data + text->length, data, size * count);
	text->length += size * count;
	return size * count;
}

struct operator_link *operator_new(const char *database)
{
	struct operator_link *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->database = strdup(database);
	o->curl = curl_easy_init();
	if (o->database && o->curl)
		return o;
	operator_free(o);
	return NULL;
}

void operator_free(struct operator_link *o)
{
	if (!o)
		return;
	if (o->curl)
		curl_easy_cleanup(o->curl);
	free(o->database);
	free(o);
}

const char *operator_message(const struct operator_link *o)
{
	return o->message;
}

static int explain(struct operator_link *o, int r)
{
	if (r == -ENOENT || r == -ECONNREFUSED)
		snprintf(o->message, sizeof(o->message),
		         "no server works on %s: start assay serve, or name its database with --db",
		         o->database);
	else if (r == -EACCES)
		snprintf(
		    o->message, sizeof(o->message),
		    "the server of %s does not take orders from you: its socket %s.run/%s is for its own "
		    "user and the group of assay serve --operators",
		    o->database, o->database, OPERATOR_SOCKET);
	else
		snprintf(o->message, sizeof(o->message), "the server of %s: %s", o->database, strerror(-r));
	return r;
}

static int perform(struct operator_link *o, int folder)
{
	char socket[64];
	long error = 0;
	CURLcode code;

	/* The address of a Unix socket has 107 bytes at most; a folder may be deeper. */
	snprintf(socket, sizeof(socket), "/proc/self/fd/%d/%s", folder, OPERATOR_SOCKET);
	curl_easy_setopt(o->curl, CURLOPT_UNIX_SOCKET_PATH, socket);
	code = curl_easy_perform(o->curl);
	if (code == CURLE_OK)
		return 0;
	curl_easy_getinfo(o->curl, CURLINFO_OS_ERRNO, &error);
	if (code == CURLE_COULDNT_CONNECT)
		return error ? -(int)error : -ECONNREFUSED;
	/* It was killed while it answered. */
	return code == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT : -ECONNREFUSED;
}

int operator_ask(struct operator_link *o, const char *method, const char *path, const json_t *body,
                 long *status, json_t **answer)
{
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL, *folder_name = NULL, url[512];
	struct text got = {0};
	int folder = -1, r = -ENOMEM;

	*answer = NULL;
	*status = 0;
	if ((body && !text) || asprintf(&folder_name, "%s.run", o->database) < 0)
		goto out;
	folder = open(folder_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0) {
		r = -errno;
		goto out;
	}
	snprintf(url, sizeof(url), "http://server%s", path);
	curl_easy_reset(o->curl);
	curl_easy_setopt(o->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(o->curl, CURLOPT_PROXY, "");
	curl_easy_setopt(o->curl, CURLOPT_TIMEOUT, ASK_S);
	curl_easy_setopt(o->curl, CURLOPT_FRESH_CONNECT, 1L);
	curl_easy_setopt(o->curl, CURLOPT_FORBID_REUSE, 1L);
	curl_easy_setopt(o->curl, CURLOPT_URL, url);
	curl_easy_setopt(o->curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(o->curl, CURLOPT_WRITEDATA, &got);
	if (strcmp(method, "GET")) {
		curl_easy_setopt(o->curl, CURLOPT_POST, 1L);
		curl_easy_setopt(o->curl, CURLOPT_POSTFIELDS, text ? text : "");
	}
	r = perform(o, folder);
	if (r)
		goto out;
	curl_easy_getinfo(o->curl, CURLINFO_RESPONSE_CODE, status);
	if (got.length)
		*answer = json_loadb(got.data, got.length, 0, NULL);
out:
	if (folder >= 0)
		close(folder);
	free(folder_name);
	free(text);
	free(got.data);
	return r ? explain(o, r) : 0;
}
