/* SPDX-License-Identifier: GPL-2.0-or-later
 * What was built on this node for the cell in force, and its building, up to where the peer is needed. */
#ifndef ASSAY_CELL_BUILD_H
#define ASSAY_CELL_BUILD_H

#include "cell.h"
#include "disk.h"
#include "drbd.h"
#include "irq_apply.h"
#include "knob.h"
#include "net_bond.h"
#include "net_bond_watch.h"
#include "net_path.h"
#include "noise.h"
#include "nic_apply.h"
#include "nic_driver.h"
#include "observe.h"
#include "observe_series.h"
#include "quiet.h"
#include "stack.h"
#include "workload_fill.h"

#include <sys/types.h>

/* What was built on this node for the cell in force. */
struct cell_build {
	const json_t *state; /* in node->assignment */
	bool measure;        /* this node's role */
	bool proven;         /* the whole state was in force once */
	bool broken;         /* some step failed: nothing of it is to be trusted */
	unsigned int states_before;
	char node[64], peer[64];

	struct disk disk;
	struct knob_place place;
	struct knob_changes knobs;
	struct quiet quiet;
	bool has_net, has_drbd;
	struct net net;
	struct nic_changes nic;
	struct nic_drivers drivers;
	struct irq_changes irq;
	struct net_path paths[NET_MAX_NICS + 1]; /* legs, then the whole */
	size_t path_count;
	char peer_address[48];
	bool breaks_bond;          /* what happens to the bond is what the workload measures */
	bool renews_data;          /* so is a new generation of DRBD's data */
	unsigned int service_port; /* of workloads that need the peer */
	pid_t service;             /* the peer's end of one; 0: none runs */
	struct drbd drbd;
	struct stack stack;

	struct workload_filled filled;
	char workload_fault[1024]; /* why the workload's own figure does not count */
	struct observation before, after;
	struct bond_watch watch; /* of the bond, between the two */
	char generation[32];     /* of DRBD's data, before */
	json_t *irq_counts;      /* before */

	struct observer *observer; /* of the sample that runs */
	char observer_fault[160];  /* why there is none */
	struct noise *noise;       /* around it */
	char noise_fault[512];
};

/* Parts of an assignment: its cell's state; a deadline ("apply_ms"), and when it will be over (now_ns()). */
const json_t *cell_state(const json_t *assignment);
long cell_deadline_ms(const json_t *assignment, const char *which);
long long cell_deadline_ns(const json_t *assignment, const char *which);

/* Builds NODE->build, which is empty, for ASSIGNMENT, which must outlive it. 0 or -errno with *WHY filled. */
int cell_build_all(struct cell_node *node, const json_t *assignment, cell_progress *progress, void *ctx,
                   struct failure *why);

#endif
