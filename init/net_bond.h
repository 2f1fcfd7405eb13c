/* SPDX-License-Identifier: GPL-2.0-or-later
 * The storage network: NICs up, one address, on a bond or on the first NIC alone. */
#ifndef ASSAY_NET_BOND_H
#define ASSAY_NET_BOND_H

#include "net_bond_nic.h"

#include <stdbool.h>

#define NET_BOND "bond0"

struct net {
	struct net_nics nics; /* all storage NICs */
	size_t used;          /* how many of them the cell uses, from the first */
	bool bond;
	char device[IFNAMSIZ]; /* that carries the address */
	char address[48];
	unsigned int prefix_bits, mtu_bytes, cycles_done;
};

/* Sets every used NIC up alone, with the state's MTU, and waits for its carrier until DEADLINE_NS. */
int net_legs_up(struct net *net, const json_t *state, long long deadline_ns, struct failure *why);

/* Makes the bond (or takes the first NIC), adds the address, waits until all of it is up, does the state's
 * down-up cycles. */
int net_build(struct net *net, const json_t *state, long long deadline_ns, struct failure *why);

/* Adds ADDRESS to DEVICE. 0 or -errno. */
int net_add_address(const char *device, const char *address, unsigned int prefix_bits, struct failure *why);

/* What is in force: nic.mtu, bond.mode, bond.miimon, bond.down-up-cycles, to IN_FORCE. 0 or -ENOMEM. */
int net_in_force(const struct net *net, const char *sys, json_t *in_force);

/* The bond gone, every NIC down, without address, at MTU 1500; also of a half-built network. 0, or the first
 * -errno, after which the rest was done all the same. */
int net_down(const struct net *net);

#endif
