/* SPDX-License-Identifier: GPL-2.0-or-later
 * How long a plan takes, roughly, and how often it boots. */
#ifndef ASSAY_ESTIMATE_H
#define ASSAY_ESTIMATE_H

#include "plan.h"

/* What is assumed; the first three can be given on the command line. */
struct assumptions {
	uint64_t mb_per_s;   /* of every workload, MB = 10^6 bytes */
	uint64_t boot_s;     /* firmware, PXE, kernel, hello */
	uint64_t sync_bytes; /* what a full initial synchronisation copies */
	uint64_t raw_ms;     /* to open a disk */
	uint64_t drbd_ms;    /* to create metadata, bring up the net, attach, connect */
	uint64_t cycle_ms;   /* one slave down and up again, until its carrier is back */
	uint64_t sample_ms;  /* around a sample: barriers, evidence, upload */
};

extern const struct assumptions assumptions_default;

struct estimate {
	uint64_t samples, bytes, builds, ms;
	uint64_t boots[16]; /* of each node, in the order of the group */
	unsigned int nodes; /* that the plan's cells use */
};

/* Boots as PROTOCOL.md has them: a node boots for every block, and before a state with boot: fresh if it
 * built another state since it booted. */
void plan_estimate(const struct plan *plan, const struct assumptions *a, struct estimate *out);

#endif
