/* SPDX-License-Identifier: GPL-2.0-or-later
 * What becomes of a bond while a sample runs. The kernel tells of every change by rtnetlink, at once; it
 * waits in a socket's buffer until the sample is over. So nothing of ours runs meanwhile, and a change there
 * and back is seen, however short: a look a second would miss it. */
#ifndef ASSAY_NET_BOND_WATCH_H
#define ASSAY_NET_BOND_WATCH_H

#include "net_bond_nic.h"

#include <jansson.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>

enum { BOND_WATCH_STEPS = 32 };

/* A slave as the kernel last told of it. */
struct bond_watch_slave {
	unsigned int index;
	char name[IFNAMSIZ];
	unsigned int state; /* BOND_STATE_ACTIVE, BOND_STATE_BACKUP */
	unsigned int mii;   /* BOND_LINK_UP, _FAIL, _DOWN, _BACK */
};

struct bond_watch {
	int fd; /* -1: not listening */
	unsigned int bond;
	bool arp_monitored; /* by ARP a backup may be down at any time */
	struct bond_watch_slave slaves[NET_MAX_NICS];
	size_t slave_count;
	/* Indices of the active slaves, the first from before the sample; 0: none. */
	unsigned int active[BOND_WATCH_STEPS];
	size_t active_count;
	char changes[BOND_WATCH_STEPS][48]; /* of slaves */
	size_t change_count;
	bool begun, lost; /* LOST: more was told than there was room for */
};

/* Begins to listen to interface BOND. 0 or -errno, then WATCH->fd is -1. */
int bond_watch_start(struct bond_watch *watch, const char *bond, bool arp_monitored);

/* Ends it; WATCH has all that happened since. Does nothing where it was not begun. */
void bond_watch_stop(struct bond_watch *watch);

/* SIZE bytes of rtnetlink messages, as the kernel sent them (for bond_watch_stop(), and tests). */
void bond_watch_take(struct bond_watch *watch, const void *messages, size_t size);

/* evidence's `during`; the caller owns it. */
json_t *bond_watch_json(const struct bond_watch *watch);

/* Why the sample is invalid, to BUF; "" if it is not. */
void bond_watch_fault(const struct bond_watch *watch, char *buf, size_t size);

#endif
