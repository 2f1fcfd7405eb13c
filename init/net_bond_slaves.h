/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which of the storage NICs a bond has, and in which order. */
#ifndef ASSAY_NET_BOND_SLAVES_H
#define ASSAY_NET_BOND_SLAVES_H

#include "net_bond.h"

/* Puts the NICs that WANTED (a level of bond.slaves: "all", "reversed", "2,1") names first in NET->nics, in
 * that order, with NET->used and NET->leg. Refused, with *WHY naming what is wrong: a number the node has no
 * storage NIC for, one twice, PRIMARY (a level of bond.primary) that is not among them. 0 or -errno. */
int bond_slaves_choose(struct net *net, const char *wanted, const char *primary, struct failure *why);

/* Refuses the used NICs that something else has enslaved already (SYS: "/sys"). 0 or -EBUSY. */
int bond_slaves_free(const struct net *net, const char *sys, struct failure *why);

#endif
