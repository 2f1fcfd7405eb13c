/* SPDX-License-Identifier: GPL-2.0-or-later
 * Looking at a run from outside, while the server conducts it. */
#ifndef ASSAY_WATCH_H
#define ASSAY_WATCH_H

#include "../operator/operator.h"
#include "../store/store.h"

#include <jansson.h>
#include <stdbool.h>

struct run_view {
	char run[64], group[64], state[16], plan[64];
	int64_t cells, samples_wanted, samples_done, attempts_bad;
	int64_t started_unix_ns, ended_unix_ns, now_unix_ns;
	/* the sample in the works; cell 0: none */
	int64_t cell, boot, sample, attempt;
	char label[128];
	int64_t left_s; /* -1: not known yet */
	bool server_runs;
};

/* 1, 0 (no such run) or -errno. RUN NULL: the latest. */
int view_run(struct store *store, const char *run, struct run_view *view);
/* "n1: measure 12 s | n2: absent": the nodes of RUN's group, for people; TIMES: since when. */
int view_nodes(struct store *store, const char *run, bool times, char *text, size_t size);

/* All of it, for `assay status`; what the store refused is in its member "trouble". */
json_t *status_json(struct store *store);
/* How far RUN is, and as text what is new since the error with the id LAST_ERROR (-1: all of this run's) and
 * the attempt that was closed at LAST_CLOSED_NS. 0 (the caller owns *OUT), -ENOENT or another -errno. */
int progress_json(struct store *store, const char *run, int64_t last_error, int64_t last_closed_ns,
                  json_t **out);

/* Shows RUN as it goes on, until it ends or *STOP is set; waits for a server that is away. 0, -EINTR, or
 * another -errno, said on stderr. */
int watch_run(struct operator_link *server, const char *run, const volatile int *stop);

/* Prints error.json ERROR (as text) for people, indented. */
void error_print(FILE *out, const char *error);

#endif
