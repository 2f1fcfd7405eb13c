/* SPDX-License-Identifier: GPL-2.0-or-later
 * What lies between the disk and the workload: the layers that the factor "stack" names, from the disk up.
 * What lies above DRBD is built on the measuring node only, once that is primary: a secondary cannot be
 * opened. */
#ifndef ASSAY_STACK_H
#define ASSAY_STACK_H

#include "cell.h"
#include "factor.h"
#include "stack_argv.h"

#include <stdbool.h>

/* One layer of the stack in force. */
struct stack_level {
	enum stack_layer layer;
	bool elsewhere; /* above DRBD on a node that does not measure */
	char lower[64],
	    device[64];      /* "/dev/vda", "/dev/mapper/assay-lvm"; of a file system its mount point */
	char geometry[4096]; /* what mkfs or dumpe2fs said; may be empty */
};

struct stack {
	struct stack_level levels[STACK_LAYER_COUNT];
	size_t count;
	json_t *commands; /* what was run, as text; NULL: nothing */
};

struct cell_build;

/* What is done for each layer; stack_kinds[] has one for each. */
struct stack_kind {
	int (*build)(struct cell_build *build, struct stack_level *level, struct failure *why);
	/* Whether it is as the cell says; "" to REAL, or what there is instead. Levels of its own factors go
	 * to IN_FORCE, its evidence to WHAT. */
	void (*read)(const struct cell_build *build, const struct stack_level *level, char *real, size_t size,
	             json_t *in_force, json_t *what);
	/* In any state. 0 also where there is nothing; -errno. */
	int (*down)(void);
	const char *device; /* what it makes */
};

/* "/proc/mounts"; another file in tests. */
extern const char *stack_mounts;

extern const struct stack_kind stack_dm_linear, stack_lvm, stack_luks, stack_drbd, stack_ext4, stack_xfs;

/* Lays out what the state of BUILD asks for, on its disk: device names, and where DRBD stands. Builds
 * nothing. 0 or -errno with *WHY filled. */
int stack_plan(struct cell_build *build, struct failure *why);

/* Builds up to DRBD, that included but not connected; all of it where there is none. 0 or -errno with *WHY
 * filled; what was built stays, for stack_down(). */
int stack_build(struct cell_build *build, struct failure *why);

/* With the peer: DRBD connected and in sync, then what lies above it. Of a build that was proven before it
 * only looks. 0 or -errno with *WHY filled. */
int stack_prove(struct cell_build *build, long long deadline_ns, cell_progress *progress, void *ctx,
                struct failure *why);

/* Levels that were read back, to IN_FORCE. 0 or -ENOMEM. */
int stack_in_force(const struct cell_build *build, json_t *in_force);

/* {layers, commands}, as evidence; the caller owns it. NULL: out of memory. */
json_t *stack_evidence(const struct cell_build *build);

/* Takes it down in reverse, in any state; with NULL whatever an earlier worker may have left. 0 or -errno of
 * the first that would not go; the others are tried all the same. */
int stack_down(struct cell_build *build);

/* What the workload opens: a device, or a file. */
const char *stack_target(const struct cell_build *build);

/* On a file system: makes the workload's file ready, which is written out to where the workload ends unless
 * it writes it anew itself. 0 or -errno with *WHY filled. */
int stack_prepare(struct cell_build *build, const json_t *workload, struct failure *why);

/* For the kinds: runs STEP for LEVEL, notes the command; what it said goes to OUTPUT (may be NULL). Where it
 * fails and OPTIONS, it is the cell's fault: step "unsupported". 0 or -errno with *WHY filled. */
int stack_run(struct cell_build *build, struct stack_level *level, enum stack_step step, const char *uuid,
              bool options, char *output, size_t size, struct failure *why);

/* A new UUID of Assay's own for LEVEL. 0 or -errno. */
int stack_new_uuid(const struct stack_level *level, char uuid[40]);

#endif
