/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a cell measures: one row a kind of workload. */
#ifndef ASSAY_WORKLOAD_H
#define ASSAY_WORKLOAD_H

#include "cell_build.h"

/* What a workload may use, all of it proven. */
struct workload_run {
	const json_t *workload; /* cell.json's */
	const struct cell_build *build;
	const char *target; /* the device to write to */
	const char *folder; /* where the file system on top of the stack is mounted; NULL: there is none */
	long timeout_ms;
	struct workload_filled *filled; /* what of the target holds data of this build's workloads */
	char *fault; /* why the sample is invalid, though it has a figure; "" if it is not */
	size_t fault_size;
	struct observer *observer; /* to be told when the timed part begins: observer_begin() */
};

struct workload {
	const char *type;
	const char *what; /* its kind, where kinds differ in what they need; NULL: all */
	/* Runs it, silently. *MEASUREMENT as in result.json; 0 or -errno with *WHY filled. */
	int (*run)(const struct workload_run *run, json_t **measurement, struct failure *why);
	bool needs_peer;  /* the peer serves its connections meanwhile */
	bool breaks_bond; /* what happens to the bond is what it measures, no fault of the sample */
	bool renews_data; /* so is a new generation of DRBD's data, since the peer was away */
};

/* The workload of CELL's type, or NULL. */
const struct workload *workload_of(const json_t *cell);

int workload_stream_run(const struct workload_run *run, json_t **measurement, struct failure *why);
int workload_failover_run(const struct workload_run *run, json_t **measurement, struct failure *why);
int workload_role_run(const struct workload_run *run, json_t **measurement, struct failure *why);
int workload_resync_run(const struct workload_run *run, json_t **measurement, struct failure *why);
int workload_verify_run(const struct workload_run *run, json_t **measurement, struct failure *why);
int workload_rtt_run(const struct workload_run *run, json_t **measurement, struct failure *why);

/* BYTES in NS as a measurement: bytes, ns, mb_per_s, mib_per_s, second_bytes (of COUNT seconds), cpu_ns,
 * equivalent. The caller owns it. */
json_t *workload_measurement(uint64_t bytes, long long ns, const uint64_t *second_bytes, size_t count,
                             long long cpu_ns, const char *equivalent);

#endif
