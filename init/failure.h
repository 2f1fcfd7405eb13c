/* SPDX-License-Identifier: GPL-2.0-or-later
 * Why something did not work, so that the operator can act on it: becomes error.json. */
#ifndef ASSAY_FAILURE_H
#define ASSAY_FAILURE_H

#include <jansson.h>

/* UNSUPPORTED: the node's hardware or kernel refuses a level of the cell; trying again would not help, and
 * nothing is wrong with the run. */
enum failure_scope { FAILURE_SAMPLE, FAILURE_CELL, FAILURE_RUN, FAILURE_UNSUPPORTED };

struct failure {
	int error; /* errno value; 0: no system call failed */
	enum failure_scope scope;
	char step[64];
	char object[256];
	char message[6144];
	char remedy[1024];
	char log[8192]; /* what a tool printed; may be empty */
};

/* Fills *WHY and returns R (a -errno, or -EIO where R is 0), so that callers write `return fail(why, r, …)`.
 * The message is formatted; "strerror" is appended by failure_json(), not here. */
__attribute__((format(printf, 7, 8))) int fail(struct failure *why, int r, enum failure_scope scope,
                                               const char *step, const char *object, const char *remedy,
                                               const char *format, ...);

/* The scope of a kernel's refusal of a level with R (-errno): UNSUPPORTED where it says that it does not have
 * or take it, else CELL (an I/O error, no memory). */
enum failure_scope failure_refusal(int r);

/* "EINVAL" for EINVAL; "" for a number without a known name. */
const char *errno_name(int error);

/* TEXT as a JSON string, cut at 65,535 bytes. Where it is not UTF-8, every byte beyond ASCII becomes "?". The
 * caller owns it. */
json_t *json_text(const char *text);

/* *WHY as error.json of node NODE; the caller owns it. */
json_t *failure_json(const struct failure *why, const char *node);

#endif
