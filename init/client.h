/* SPDX-License-Identifier: GPL-2.0-or-later
 * HTTP to the lab server, one connection, with the boot token. */
#ifndef ASSAY_CLIENT_H
#define ASSAY_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct client; /* private to client.c */

struct client_answer {
	long status;       /* HTTP's; 0: no answer, or none that the lab gives */
	long wait_ms;      /* that the server asks to wait before the next try; 0: it does not */
	json_t *body;      /* NULL where there is none or it is no JSON */
	char reason[1024]; /* without an answer, or with an error: what it says, on one line */
};

/* A client of SERVER (URL without a slash at its end) with TOKEN. NULL: out of memory. */
struct client *client_new(const char *server, const char *token);
void client_free(struct client *client);

/* Other pauses than 0.5 s to 8 s between tries. */
void client_set_backoff(struct client *client, long min_ms, long max_ms);

/* One request, once: METHOD ("GET", "POST", "PUT"), PATH ("/v1/hello"), BODY of LENGTH bytes (NULL: none), at
 * most TIMEOUT_MS. 0 where there is an answer with whatever status; -ETIMEDOUT, -ECONNREFUSED, -EIO …
 * without, with ANSWER->reason. -EPROTO: what answered is not the lab: a redirect, which is not followed, or
 * a body that does not say it is JSON. The caller ends it with client_answer_clear() in any case. */
int client_request(struct client *client, const char *method, const char *path, const char *body,
                   size_t length, long timeout_ms, struct client_answer *answer);

struct client_retry {
	long timeout_ms;  /* of one try */
	const char *kept; /* said once, where the first try fails; NULL: nothing */
};

/* The same until there is an answer that is none of 403 (the lab does not see this node where it expects it),
 * 429 and 5xx: repeated after 0.5 s doubling to 8 s, or as long as the server asks for, at most a minute,
 * without end. The reason is said each time it changes. */
void client_request_until(struct client *client, const char *method, const char *path, const char *body,
                          size_t length, const struct client_retry *retry, struct client_answer *answer);

void client_answer_clear(struct client_answer *answer);

#endif
