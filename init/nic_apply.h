/* SPDX-License-Identifier: GPL-2.0-or-later
 * A cell's NIC settings: applied to its storage NICs, read back, and put back to what was found. */
#ifndef ASSAY_NIC_APPLY_H
#define ASSAY_NIC_APPLY_H

#include "failure.h"
#include "net_bond_nic.h"
#include "nic_knob.h"

/* What was changed. Zero it before the first use. */
struct nic_changes {
	size_t count;
	struct nic_change {
		char name[IFNAMSIZ];
		bool changed[NIC_KNOBS];
		long long found[NIC_KNOBS];
	} nic[NET_MAX_NICS];
};

/* Sets what STATE asks for on the first USED of NICS, which are up and have a link, and waits until all have
 * a link again (SYS: "/sys"), until DEADLINE_NS (now_ns()). Remembers in CHANGES what was there, also where
 * it fails. 0 or -errno with *WHY filled: a setting that the driver refuses is the cell's fault. */
int nic_apply(struct nic_changes *changes, const struct net_nics *nics, size_t used, const json_t *state,
              const char *sys, long long deadline_ns, struct failure *why);

/* The levels in force on the first USED of NICS to IN_FORCE: of every factor that STATE asks for, and of
 * those others that are the same on all of them. 0 or -ENOMEM. */
int nic_in_force(const struct net_nics *nics, size_t used, const json_t *state, json_t *in_force);

/* Every level that NIC's driver tells of; the caller owns it. NULL: out of memory. */
json_t *nic_settings(const char *nic);

/* Puts back what CHANGES says, and empties it. Cannot fail: says on the console what it could not undo. */
void nic_restore(struct nic_changes *changes);

#endif
