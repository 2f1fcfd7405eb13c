/* SPDX-License-Identifier: GPL-2.0-or-later
 * Uploads to a server on loopback that does everything wrong that a server, or what stands in its place, can
 * do. */
#include "client.h"
#include "file.h"

#include "../../results-schema/canonical.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#undef fail

#define BODY_BYTES (256 << 10)
#define TRY_MS     400
#define JSON       "Content-Type: application/json\r\n"
#define ACTS_MAX   8

enum how {
	SAY,        /* TEXT, and the connection stays open */
	SAY_CLOSE,  /* TEXT, then the connection ends */
	EARLY,      /* TEXT once the head is there, while the body still comes; then the connection ends */
	CLOSE,      /* accepts, and closes */
	HANG,       /* reads, and says nothing until the client leaves */
	TRICKLE,    /* TEXT, a byte at a time, until the client leaves */
	ACKNOWLEDGE /* the digest of what came */
};

struct act {
	enum how how;
	const char *text;
};

static struct {
	int listener, console, console_before;
	pthread_t thread;
	struct act acts[ACTS_MAX];
	size_t act, whole; /* requests that came with their whole body */
	bool differed;     /* one was not what was sent first */
	struct client *client;
	char path[64], body[BODY_BYTES + 1], digest[SHA256_HEX_SIZE];
} t;

static void send_text(int fd, const char *text, size_t length)
{
	while (length) {
		ssize_t n = send(fd, text, length, MSG_NOSIGNAL);

		if (n <= 0)
			return;
		text += n;
		length -= (size_t)n;
	}
}

static void wait_until_left(int fd)
{
	char scrap[4096];

	while (read(fd, scrap, sizeof(scrap)) > 0)
		;
}

/* The head into BUF; how much of the body came with it, or -1: the client has left. */
static ssize_t read_head(int fd, char *buf, size_t size, char **body)
{
	size_t done = 0;

	for (;;) {
		ssize_t n = read(fd, buf + done, size - 1 - done);

		if (n <= 0)
			return -1;
		done += (size_t)n;
		buf[done] = '\0';
		*body = strstr(buf, "\r\n\r\n");
		if (*body) {
			*body += 4;
			return (ssize_t)done - (*body - buf);
		}
	}
}

static bool play(int fd, const struct act *act, const char *body)
{
	char answer[512], digest[SHA256_HEX_SIZE];
	struct pollfd left = {.fd = fd, .events = POLLIN};

	switch (act->how) {
	case SAY:
	case SAY_CLOSE:
	case EARLY:
		send_text(fd, act->text, strlen(act->text));
		return act->how == SAY;
	case TRICKLE:
		for (const char *c = act->text;; c = c[1] ? c + 1 : c) {
			send_text(fd, c, 1);
			if (poll(&left, 1, 20) > 0)
				return false;
		}
	case ACKNOWLEDGE:
		sha256_hex(body, strlen(body), digest);
		snprintf(answer, sizeof(answer),
		         "HTTP/1.1 200 OK\r\n" JSON "Content-Length: %zu\r\n\r\n{\"sha256\": \"%s\"}",
		         strlen(digest) + 14, digest);
		send_text(fd, answer, strlen(answer));
		return true;
	default:
		return false;
	}
}

/* One request; false: the connection ends. */
static bool serve_one(int fd)
{
	static char buf[BODY_BYTES + 4096];
	const struct act *act = &t.acts[t.act];
	char *body;

	if (act->how == CLOSE)
		return t.act++, false;
	ssize_t got = read_head(fd, buf, sizeof(buf), &body);
	if (got < 0)
		return false;
	t.act++;
	while (act->how != EARLY && got < BODY_BYTES) {
		ssize_t n = read(fd, body + got, (size_t)(BODY_BYTES - got));

		if (n <= 0)
			return false;
		got += n;
	}
	if (got == BODY_BYTES) {
		body[got] = '\0';
		t.whole++;
		t.differed |= strcmp(body, t.body) || !strstr(buf, "\r\nAuthorization: Bearer secret\r\n") ||
		              strncmp(buf, "PUT /v1/results/r/c/1/1 ", 24);
	}
	bool stays = play(fd, act, body);
	if (act->how == HANG || act->how == EARLY)
		wait_until_left(fd);
	return stays;
}

static void *serve(void *arg)
{
	int fd;

	(void)arg;
	while ((fd = accept(t.listener, NULL, NULL)) >= 0) {
		while (serve_one(fd))
			;
		close(fd);
	}
	return NULL;
}

static int setup(void **state)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	char url[64];

	(void)state;
	memset(&t, 0, sizeof(t));
	strcpy(t.path, "/v1/results/r/c/1/1");
	memset(t.body, 'x', BODY_BYTES);
	sha256_hex(t.body, BODY_BYTES, t.digest);
	t.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(t.listener, (struct sockaddr *)&address, length) || listen(t.listener, 8) ||
	    getsockname(t.listener, (struct sockaddr *)&address, &length))
		return -1;
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", ntohs(address.sin_port));
	t.client = client_new(url, "secret");
	client_set_backoff(t.client, 5, 10);
	/* What say() prints is the console here. */
	FILE *console = tmpfile();
	t.console = dup(fileno(console));
	fclose(console);
	t.console_before = dup(STDERR_FILENO);
	dup2(t.console, STDERR_FILENO);
	return t.client ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	client_free(t.client);
	shutdown(t.listener, SHUT_RDWR);
	close(t.listener);
	dup2(t.console_before, STDERR_FILENO);
	close(t.console_before);
	close(t.console);
	return pthread_join(t.thread, NULL);
}

/* Uploads the body past ACTS until there is an answer; what the console says then. */
static const char *upload(const struct act *acts, struct client_answer *answer)
{
	static char console[65536];
	char kept[128];
	const struct client_retry retry = {.timeout_ms = TRY_MS, .kept = kept};

	for (size_t i = 0; i < ACTS_MAX && (acts[i].text || acts[i].how); i++)
		t.acts[i] = acts[i];
	snprintf(kept, sizeof(kept), "the result is kept: sha256 %s", t.digest);
	assert_int_equal(pthread_create(&t.thread, NULL, serve, NULL), 0);
	client_request_until(t.client, "PUT", t.path, t.body, BODY_BYTES, &retry, answer);
	fflush(stderr);
	ssize_t n = pread(t.console, console, sizeof(console) - 1, 0);
	console[n > 0 ? n : 0] = '\0';
	return console;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

/* ACTS, then an acknowledgement: it is taken, after WHOLE whole uploads of the same bytes; the console has
 * the digest once, and REASON. */
static void retried(const struct act *acts, size_t whole, const char *reason)
{
	struct client_answer answer;
	const char *console = upload(acts, &answer);

	assert_int_equal(answer.status, 200);
	assert_string_equal(json_string_value(json_object_get(answer.body, "sha256")), t.digest);
	assert_false(t.differed);
	assert_int_equal(t.whole, whole);
	assert_int_equal(count(console, t.digest), 1);
	if (!strstr(console, reason))
		print_error("console: %s\n", console);
	assert_non_null(strstr(console, reason));
	assert_int_equal(count(console, "the server answers again"), 1);
	client_answer_clear(&answer);
}

#define RETRIED(name, whole, reason, ...)                                                                    \
	static void name(void **state)                                                                       \
	{                                                                                                    \
		static const struct act acts[ACTS_MAX] = {__VA_ARGS__, {ACKNOWLEDGE, NULL}};                 \
                                                                                                             \
		(void)state;                                                                                 \
		retried(acts, whole, reason);                                                                \
	}

RETRIED(a_500, 2, "HTTP 500: disk full",
        {SAY, "HTTP/1.1 500 Oops\r\n" JSON "Content-Length: 21\r\n\r\n{\"error\":\"disk full\"}"})
RETRIED(closed_at_once, 1, "tried again until it works", {CLOSE, NULL}, {CLOSE, NULL})
RETRIED(hangs, 2, "tried again until it works", {HANG, NULL})
RETRIED(trickles, 2, "tried again until it works",
        {TRICKLE, "HTTP/1.1 200 OK\r\n" JSON "Content-Length: 1000\r\n\r\n{\"sha256\": \""})
RETRIED(a_head_without_end, 2, "tried again until it works", {TRICKLE, "HTTP/1.1 200 OK\r\nX: y"})
RETRIED(truncated_200, 2, "tried again until it works",
        {SAY_CLOSE, "HTTP/1.1 200 OK\r\n" JSON "Content-Length: 80\r\n\r\n{\"sha256\": \""})
RETRIED(a_redirect, 2, "HTTP 302, a redirect to http://127.0.0.1:9/login: not the lab's answer",
        {SAY, "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/login\r\nContent-Length: 0\r\n\r\n"})
RETRIED(a_portal, 2, "HTTP 200 with text/html: not the lab's answer",
        {SAY, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>"})
RETRIED(a_portal_that_refuses, 2, "HTTP 401 with text/html: not the lab's answer",
        {SAY, "HTTP/1.1 401 No\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>"})
RETRIED(elsewhere, 2, "HTTP 403: made for another",
        {SAY, "HTTP/1.1 403 No\r\n" JSON "Content-Length: 28\r\n\r\n{\"error\":\"made for another\"} "})
RETRIED(no_http, 2, "tried again until it works", {SAY_CLOSE, "SSH-2.0-OpenSSH_9.2\r\n"})
RETRIED(an_endless_head, 2, "tried again until it works",
        {TRICKLE, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"})

/* Two seconds, of which the client knows only from the server. */
static void a_503_with_retry_after(void **state)
{
	static const struct act acts[ACTS_MAX] = {{SAY, "HTTP/1.1 503 Later\r\nRetry-After: 2\r\n" JSON
	                                                "Content-Length: 16\r\n\r\n{\"error\":\"full\"}"},
	                                          {ACKNOWLEDGE, NULL}};
	long long start = now_ns();

	(void)state;
	retried(acts, 2, "HTTP 503: full");
	assert_in_range(now_ns() - start, 2000000000LL, 10000000000LL);
}

/* A server that wants a node to be silent for years does not get that. */
static void an_absurd_retry_after(void **state)
{
	static const struct act acts[ACTS_MAX] = {
	    {SAY, "HTTP/1.1 503 Later\r\nRetry-After: 99999999\r\nContent-Length: 0\r\n\r\n"}};
	struct client_answer answer;

	(void)state;
	t.acts[0] = acts[0];
	assert_int_equal(pthread_create(&t.thread, NULL, serve, NULL), 0);
	assert_int_equal(client_request(t.client, "PUT", t.path, t.body, BODY_BYTES, TRY_MS, &answer), 0);
	assert_int_equal(answer.status, 503);
	assert_int_equal(answer.wait_ms, 60000);
	client_answer_clear(&answer);
}

/* While the body still comes: the answer is read all the same, and given to who asked. */
static void a_413_is_reported(void **state)
{
	static const struct act acts[ACTS_MAX] = {{EARLY,
	                                           "HTTP/1.1 413 Large\r\nConnection: close\r\n" JSON
	                                           "Content-Length: 19\r\n\r\n{\"error\":\"too long\"}"}};
	struct client_answer answer;

	(void)state;
	upload(acts, &answer);
	assert_int_equal(answer.status, 413);
	assert_non_null(strstr(answer.reason, "HTTP 413"));
	client_answer_clear(&answer);
}

/* More than any answer of the lab has. */
static void an_answer_without_end(void **state)
{
	static char flood[(5 << 20) + 128];
	struct client_answer answer;
	int n =
	    snprintf(flood, sizeof(flood), "HTTP/1.1 200 OK\r\n" JSON "Content-Length: %d\r\n\r\n", 5 << 20);

	(void)state;
	memset(flood + n, ' ', 5 << 20);
	t.acts[0] = (struct act){SAY_CLOSE, flood};
	assert_int_equal(pthread_create(&t.thread, NULL, serve, NULL), 0);
	assert_int_equal(client_request(t.client, "PUT", t.path, t.body, BODY_BYTES, 10 * TRY_MS, &answer),
	                 -EIO);
	assert_int_equal(answer.status, 0);
	client_answer_clear(&answer);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    test(a_500),
	    test(a_503_with_retry_after),
	    test(an_absurd_retry_after),
	    test(closed_at_once),
	    test(hangs),
	    test(trickles),
	    test(a_head_without_end),
	    test(an_endless_head),
	    test(a_413_is_reported),
	    test(truncated_200),
	    test(a_redirect),
	    test(a_portal),
	    test(a_portal_that_refuses),
	    test(elsewhere),
	    test(no_http),
	    test(an_answer_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
