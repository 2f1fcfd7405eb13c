/* SPDX-License-Identifier: GPL-2.0-or-later
 * What is seen while a slave is pulled, and what follows from it. */
#ifndef ASSAY_WORKLOAD_FAILOVER_WATCH_H
#define ASSAY_WORKLOAD_FAILOVER_WATCH_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAILOVER_BIN_MS = 10, FAILOVER_STATES = 16, FAILOVER_STATE_LENGTH = 96 };

/* Bytes written in each bin of 10 ms, and the longest times without any write done. All times since the
 * start. */
struct failover_flow {
	uint64_t *bin_bytes;
	size_t bins;
	int64_t last_ns;   /* when the last write was done */
	int64_t pulled_ns; /* -1: not yet */
	int64_t longest_before_ns, stall_ns;
	uint64_t bytes;
};

/* A write of BYTES was done at NS. */
void failover_flow_add(struct failover_flow *flow, int64_t ns, uint64_t bytes);

/* Mean bytes per second in the whole bins before the pull; 0 where there is none. */
double failover_flow_baseline(const struct failover_flow *flow);

/* How long after the pull a quarter of a second at 90 % of the baseline, or more, began with a write; -1:
 * never, until END_NS. */
int64_t failover_flow_recovered_ns(const struct failover_flow *flow, int64_t end_ns);

/* DRBD's states, each once, in the order of their coming. */
struct failover_states {
	char text[FAILOVER_STATES][FAILOVER_STATE_LENGTH];
	size_t count;
};

void failover_states_add(struct failover_states *states, const char *text);

/* The value of counter NAME of PROTOCOL ("Tcp", "TcpExt") in the text of /proc/net/snmp or netstat; -1: none.
 */
long long failover_counter(const char *text, const char *protocol, const char *name);

#endif
