/* SPDX-License-Identifier: GPL-2.0-or-later
 * DRBD from nothing to what a cell says, and back to nothing from wherever it is. */
#ifndef ASSAY_DRBD_H
#define ASSAY_DRBD_H

#include "cell.h"
#include "command.h"
#include "drbd_argv.h"
#include "drbd_state.h"

struct drbd {
	struct drbd_setup setup;
	json_t *commands; /* what was run, as text */
	char show[8192];  /* `drbdsetup show --show-defaults`, read while connected where the cell connects */
};

/* Creates metadata, attaches, connects (where the cell connects at all). Waits for nothing. */
int drbd_build(struct drbd *drbd, struct failure *why);

/* Waits for the peer, makes the data equal (MEASURE says which node does so), reads the configuration back,
 * disconnects if the cell says so, and makes this node primary if it measures. Until DEADLINE_NS (now_ns()).
 */
int drbd_prove(struct drbd *drbd, bool measure, long long deadline_ns, cell_progress *progress, void *ctx,
               struct failure *why);

/* drbdsetup's OUTPUT says SS_IN_TRANSIENT_STATE (drbd_strings.c of the kernel): the other side changes its
 * state at the same moment, and DRBD asks to be asked again. */
bool drbd_is_transient(const char *output);

/* Runs STEP's command, which is noted, with what it said in *RESULT; for up to ten seconds again while DRBD
 * is in a transient state. 0 or -errno with *WHY filled. */
int drbd_command(const struct drbd *drbd, enum drbd_step step, struct command_result *result,
                 struct failure *why);

/* Reads /proc/drbd to *STATE and TEXT. 0 or -errno. */
int drbd_read_state(struct drbd_state *state, char *text, size_t size);

/* The current data generation to BUF, "" where it cannot be read. It changes when a primary loses its peer
 * and writes on, also if the peer is back since. */
void drbd_generation(char *buf, size_t size);

/* What is wrong with STATE for a cell in force, to BUF; "" where nothing is. */
void drbd_state_fault(const struct drbd_setup *setup, bool measure, const struct drbd_state *state, char *buf,
                      size_t size);

/* Takes the resource down, in any state. 0 also where there is none; -errno. */
int drbd_down(void);

#endif
