/* SPDX-License-Identifier: GPL-2.0-or-later
 * LACP as the bonding driver sees it: one octet of states for a slave's own port and one for the partner's
 * (IEEE 802.1AX, 6.4.2.3). Only what both ends collect and distribute carries traffic for sure. */
#ifndef ASSAY_NET_BOND_LACP_H
#define ASSAY_NET_BOND_LACP_H

#include "net_bond.h"

/* Both ports of one slave; -1: not known. */
struct lacp_ports {
	long long actor, partner;
};

/* Of slave NAME, from SYS (/sys). */
struct lacp_ports lacp_ports_of(const char *sys, const char *name);

/* Whether both ports aggregate, are in sync, collect and distribute, from what the partner itself said
 * lately. */
bool lacp_ports_ready(const struct lacp_ports *ports);

/* "aggregation+synchronization", of one port, to BUF; "nothing", "unknown". */
void lacp_states_text(long long states, char *buf, size_t size);

/* The same as JSON; the caller owns it. */
json_t *lacp_states_json(long long states);

/* What of NET's slaves is not yet in use by both ends, in words, to BUF; "" if all of them are, in one
 * aggregator. */
void lacp_lacks(const struct net *net, const char *sys, char *buf, size_t size);

/* Waits until that is "". At the slow rate a LACPDU that was lost comes again after 30 s, and a partner that
 * is gone is forgotten after 90 s. */
int lacp_wait(const struct net *net, long long deadline_ns, struct failure *why);

#endif
