/* SPDX-License-Identifier: GPL-2.0-or-later
 * The machine's state around a sample. */
#ifndef ASSAY_OBSERVE_H
#define ASSAY_OBSERVE_H

#include "drbd_argv.h"
#include "drbd_state.h"
#include "net_bond_lacp.h"

#include <jansson.h>
#include <stdbool.h>

struct observe_roots {
	const char *sys, *proc;
};

extern const struct observe_roots observe_roots_real;

struct observe_slave {
	char name[IFNAMSIZ], mac[24], mii[24];
	long long speed_mbps, link_failures, tx_bytes, rx_bytes;
	long long aggregator_id; /* in 802.3ad; -1: none */
	struct lacp_ports lacp;
};

/* One look. Everything is in it: looking allocates nothing. */
struct observation {
	bool has_bond, has_drbd;
	char bond_mode[32], active_slave[IFNAMSIZ];
	bool arp_monitored;
	char lacp_partner[24]; /* MAC; "" but in 802.3ad */
	long long lacp_aggregator, lacp_ports;
	struct observe_slave slaves[NET_MAX_NICS];
	size_t slave_count;
	struct drbd_state drbd;
	char proc_drbd[8192];
	long long interrupts, context_switches, cpu_busy_ns;
};

/* Looks at the bond (if BOND is not NULL, its name), at DRBD (if asked) and at the CPUs. What is not there
 * stays empty; 0 or -errno of what must be there. */
int observe(const struct observe_roots *roots, const char *bond, bool drbd, struct observation *o);

/* *O as evidence's `before` or `after`; the caller owns it. */
json_t *observation_json(const struct observation *o);

/* What happened to the bond between BEFORE and AFTER that makes a sample invalid, to BUF; "" if nothing. */
void observe_bond_fault(const struct observation *before, const struct observation *after, char *buf,
                        size_t size);

/* What is worth saying of the bond's traffic between BEFORE and AFTER, though the sample may be valid, to
 * BUF; "" if nothing: a mode that spreads what is sent over several slaves sent it through one. */
void observe_bond_note(const struct observation *before, const struct observation *after, char *buf,
                       size_t size);

#endif
