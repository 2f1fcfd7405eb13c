/* SPDX-License-Identifier: GPL-2.0-or-later
 * Runs a tool: no shell, its output caught, bounded in size and time. */
#ifndef ASSAY_COMMAND_H
#define ASSAY_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

struct command_result {
	int status;         /* exit status; 128 + signal where a signal ended it */
	bool truncated;     /* it said more than fits */
	size_t length;      /* bytes of output */
	char output[32768]; /* stdout and stderr, mixed as they came, NUL-terminated */
};

/* Runs ARGV (ending with NULL; a name without "/" is sought in PATH) with an empty stdin, until it ends or
 * TIMEOUT_MS are over, when it and its children are killed. 0: exit status 0. -EREMOTEIO: another status,
 * in *RESULT. -ETIMEDOUT. -ENOENT and the like: it could not be started. */
int command_run(const char *const argv[], long timeout_ms, struct command_result *result);

/* ARGV joined by spaces to BUF, for people to read; cut where it does not fit. */
void command_text(const char *const argv[], char *buf, size_t size);

#endif
