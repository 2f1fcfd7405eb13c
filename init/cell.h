/* SPDX-License-Identifier: GPL-2.0-or-later
 * One cell on this node: build its state, prove it, measure, collect evidence, take it down again. */
#ifndef ASSAY_CELL_H
#define ASSAY_CELL_H

#include "failure.h"

#include <jansson.h>

/* The state in force on this node, and what was built so far since boot. Zero it before the first use. */
struct cell_node {
	char image_id[72];
	char management_nic[16]; /* never touched */
	json_t *state;           /* in force; NULL: everything is down */
	json_t *assignment;      /* that built it */
	unsigned int states_built;
	struct cell_build *build; /* private to cell.c: what was built, for restore */
};

/* Called with a step and a text, to be shown on the console and told to the lab; never while measuring. 0, or
 * -ECANCELED: the lab has called the sample off, and who waits for a peer shall stop. */
typedef int cell_progress(void *ctx, const char *step, const char *text);

/* Fills *WHY for a sample that the lab has called off; gives -ECANCELED. */
int cell_called_off(struct failure *why);

/* Makes the cell's state real: if it is in force already, does nothing; else takes down what is there and
 * builds it, up to where the peer is needed. ASSIGNMENT is the `measure` form of next.json. 0 or -errno with
 * *WHY filled. */
int cell_apply(struct cell_node *node, const json_t *assignment, cell_progress *progress, void *ctx,
               struct failure *why);

/* Second half, when every node has applied: paths proven by pings, DRBD connected and UpToDate, roles set,
 * everything read back. *EVIDENCE (caller owns it) gets all of evidence.json but `after`. Differences between
 * asked and in force are not a failure: they are in the evidence. */
int cell_prove(struct cell_node *node, const json_t *assignment, cell_progress *progress, void *ctx,
               json_t **evidence, struct failure *why);

/* Starts the observers, when all nodes are ready: on those that measure and on the others. */
void cell_watch(struct cell_node *node, const json_t *assignment);

/* Runs the workload, silently. *MEASUREMENT as in result.json. The observers end with it. */
int cell_measure(struct cell_node *node, const json_t *assignment, json_t **measurement, struct failure *why);

/* Adds `after` and the counters to EVIDENCE; *REASON (caller frees) says why the sample is invalid, or is
 * NULL. */
int cell_evidence_after(struct cell_node *node, const json_t *assignment, json_t *evidence, char **reason,
                        struct failure *why);

/* Takes everything down, in any state, also half-built. Cannot fail: says on the console what it could not
 * undo. */
void cell_restore(struct cell_node *node);

#endif
