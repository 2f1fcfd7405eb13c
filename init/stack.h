/* SPDX-License-Identifier: GPL-2.0-or-later
 * What lies between the disk and the workload: one entry for each level of the factor "stack". */
#ifndef ASSAY_STACK_H
#define ASSAY_STACK_H

#include "cell_build.h"

struct stack {
	const char *level;
	/* Builds on the disk; 0 or -errno. NULL: nothing to do. */
	int (*build)(struct cell_build *build, struct failure *why);
	/* With the peer; also of a build that was proven before: then it only looks. NULL: nothing to do. */
	int (*prove)(struct cell_build *build, long long deadline_ns, cell_progress *progress, void *ctx,
	             struct failure *why);
	/* Levels that were read back, to IN_FORCE. 0 or -ENOMEM. */
	int (*in_force)(const struct cell_build *build, json_t *in_force);
	/* Takes it down in any state. 0 or -errno. */
	int (*down)(struct cell_build *build);
	/* What the workload opens. */
	const char *(*target)(const struct cell_build *build);
};

/* The stack of STATE; never NULL for a checked cell. */
const struct stack *stack_of(const json_t *state);

#endif
