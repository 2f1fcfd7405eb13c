/* SPDX-License-Identifier: GPL-2.0-or-later
 * A resync or an online verify, watched: what looks at /proc/drbd show, and what follows from them. */
#ifndef ASSAY_WORKLOAD_SYNC_WATCH_H
#define ASSAY_WORKLOAD_SYNC_WATCH_H

#include "drbd_state.h"
#include "workload_failover_watch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SYNC_LOOK_LEAST_NS = 10000000, SYNC_LOOK_MOST_NS = 200000000 };

enum sync_phase { SYNC_WAITING, SYNC_RUNNING, SYNC_DONE, SYNC_BROKEN };

/* All times since the command that began it; the caller presets `verify`, the two logs, and what was sent and
 * received before. */
struct sync_watch {
	bool verify;
	uint64_t *second_bytes;   /* what was done in each second from start_ns on */
	long long *second_finish; /* DRBD's own estimate, at the end of each, of the seconds left */
	size_t seconds;           /* length of both */

	enum sync_phase phase;
	int64_t last_ns;  /* the look before */
	int64_t start_ns; /* when it was first seen to run */
	int64_t end_ns;   /* when it was first seen to be done */
	uint64_t total_bytes, left_bytes;
	uint64_t sent_first, received_first, sent_bytes, received_bytes; /* over the network while it ran */
	struct failover_states states;
};

/* A look at NS. Once it gives SYNC_DONE or SYNC_BROKEN (the peer went away), it is over. */
enum sync_phase sync_watch_add(struct sync_watch *watch, int64_t ns, const struct drbd_state *state,
                               const struct drbd_progress *progress);

/* How long to wait for the next look: looking costs CPU, and only the end must be seen when it comes. */
int64_t sync_watch_pause_ns(const struct sync_watch *watch);

#endif
