/* SPDX-License-Identifier: GPL-2.0-or-later
 * Another program, started so that nothing of ours gets into it. */
#ifndef ASSAY_CHILD_H
#define ASSAY_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* Starts PROGRAM (looked for in PATH where it has no slash) as ARGV in ENVIRONMENT, its input /dev/null, its
 * output and errors to the descriptor OUT, no other descriptor open, no signal blocked. OWN_GROUP: in a
 * process group of its own, so that whoever ends it can end its children too. 0 and *PID, which the caller
 * waits for, or -errno. */
int child_start(const char *program, const char *const argv[], char *const environment[], int out,
                bool own_group, pid_t *pid);

#endif
