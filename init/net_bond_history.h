/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a bond went through before anything is measured on it. */
#ifndef ASSAY_NET_BOND_HISTORY_H
#define ASSAY_NET_BOND_HISTORY_H

#include "net_bond.h"

/* Does the state's down-up cycles, address changes and MTU changes on NET's bond, which bears its address,
 * and counts them in NET. 0 or -errno. */
int bond_history(struct net *net, long long deadline_ns, struct failure *why);

#endif
