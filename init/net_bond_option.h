/* SPDX-License-Identifier: GPL-2.0-or-later
 * The bond's options: set by rtnetlink one by one, so that a refusal names its option; read back from sysfs.
 */
#ifndef ASSAY_NET_BOND_OPTION_H
#define ASSAY_NET_BOND_OPTION_H

#include "net_bond.h"

/* Makes NET_BOND, down and without slaves, with the mode and every option that the state has. 0, or -errno
 * with *WHY filled: which option the kernel refused, and its own words. */
int bond_create(const struct net *net, struct failure *why);

/* Makes SLAVE the active one of NET_BOND. 0 or -errno. */
int bond_activate(const char *slave);

/* The options in force to IN_FORCE, those that NET's state has. 0 or -ENOMEM. */
int bond_options_in_force(const struct net *net, const char *sys, json_t *in_force);

/* As fail(), with what the kernel said appended to the message: EXTENDED (extended ack, may be "") or else
 * the last line of the kernel log since KMSG (kmsg_open()); all of these lines go to WHY->log. */
int bond_refused(struct failure *why, int r, const char *object, const char *what, const char *extended,
                 int kmsg);

/* The kernel's log from now on, as a descriptor for bond_refused(), to be closed. -1: it cannot be read. */
int kmsg_open(void);

#endif
