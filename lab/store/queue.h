/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ASSAY_STORE_QUEUE_H
#define ASSAY_STORE_QUEUE_H

#include "../plan/plan.h"
#include "store.h"

#include <time.h>

#define RUN_ID_SIZE 64

/* Puts PLAN (whose text is PLAN_TEXT) into the queue of GROUP, whole, in one transaction; LAB is what the run
 * is bound to. RUN gets its id, "smoke-20261130-2117-ab12". 0 or -errno. */
int queue_run(struct store *store, const struct plan *plan, const char *plan_text, const json_t *lab,
              const char *group, char run[RUN_ID_SIZE]);

/* The id of a run of the plan NAME that begins at NOW. 0 or -EIO. */
int queue_run_id(const char *name, struct timespec now, char run[RUN_ID_SIZE]);
/* Adds PLAN's cells, but for those that RUN has, and its visits, in blocks behind the first BLOCKS_BEFORE. To
 * be called within a transaction. 0 or -errno. */
int queue_cells(struct store *store, const struct plan *plan, const char *run, unsigned int blocks_before);

#endif
