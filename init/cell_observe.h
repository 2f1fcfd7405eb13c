/* SPDX-License-Identifier: GPL-2.0-or-later
 * Observers of a cell's sample: from `ready` on to the end of what is measured, on every node of it. */
#ifndef ASSAY_CELL_OBSERVE_H
#define ASSAY_CELL_OBSERVE_H

#include "cell_build.h"

/* Starts them; a sample goes on without them where they cannot be started, and its evidence says so. */
void cell_observe(struct cell_build *build, long duration_ms);

/* Ends them; to EVIDENCE (unless NULL) what they saw. 0 or -ENOMEM. */
int cell_observe_end(struct cell_build *build, json_t *evidence);

#endif
