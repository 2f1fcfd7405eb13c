/* SPDX-License-Identifier: GPL-2.0-or-later
 * The storage network: NICs up, one address, on a bond or on the first NIC alone. */
#ifndef ASSAY_NET_BOND_H
#define ASSAY_NET_BOND_H

#include "net_bond_nic.h"

#include <stdbool.h>

#define NET_BOND "bond0"

struct net {
	struct net_nics nics;           /* all storage NICs; those that the cell uses first */
	unsigned int leg[NET_MAX_NICS]; /* of each, its number in the lab file, from 1 */
	size_t used;                    /* how many of them the cell uses, from the first */
	bool bond;
	const json_t *state;   /* the cell's */
	char device[IFNAMSIZ]; /* that carries the address */
	char address[48], peer[48];
	unsigned int prefix_bits, mtu_bytes;
	unsigned int cycles_done, address_changes_done, mtu_changes_done;
};

/* Chooses the NICs that STATE (which must outlive NET) uses, sets each up alone, with the state's MTU, and
 * waits for its carrier until DEADLINE_NS. */
int net_legs_up(struct net *net, const json_t *state, long long deadline_ns, struct failure *why);

/* Makes the bond (or takes the first NIC), adds the address, waits until all of it is up, does the state's
 * down-up cycles, address and MTU changes. */
int net_build(struct net *net, long long deadline_ns, struct failure *why);

/* Whether the bond's mode can work on legs that are all in one network (SHARED), or each a network of its
 * own. 0, or -EINVAL with *WHY filled. */
int net_legs_suit(const struct net *net, bool shared, struct failure *why);

/* Polls FILE of interface NAME in sysfs until it says WANTED. 0 or -ETIMEDOUT. */
int net_wait_for(const char *name, const char *file, const char *wanted, long long deadline_ns);

/* Waits until the bond can use each of its slaves (one of them, where ARP tells which; in 802.3ad, until both
 * ends collect and distribute on each). */
int net_wait_slaves(const struct net *net, long long deadline_ns, struct failure *why);

/* Adds ADDRESS to DEVICE. 0 or -errno. */
int net_add_address(const char *device, const char *address, unsigned int prefix_bits, struct failure *why);

/* What is in force of nic.mtu and of all bond factors that the state has, to IN_FORCE. 0 or -ENOMEM. */
int net_in_force(const struct net *net, const char *sys, json_t *in_force);

/* The bond gone, every NIC down, without address, at MTU 1500; also of a half-built network. 0, or the first
 * -errno, after which the rest was done all the same. */
int net_down(const struct net *net);

#endif
