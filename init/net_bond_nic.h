/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which interface a binding's storage NIC is. */
#ifndef ASSAY_NET_BOND_NIC_H
#define ASSAY_NET_BOND_NIC_H

#include "failure.h"

#include <jansson.h>
#include <net/if.h>
#include <stddef.h>

enum { NET_MAX_NICS = 16 };

struct net_nics {
	char name[NET_MAX_NICS][IFNAMSIZ];
	size_t count;
};

/* Finds WANTED (an array of MACs or PCI addresses, "0000:03:00.0" or "03:00.0") under SYS ("/sys"), in its
 * order. Refused, with *WHY naming the NIC and those there are: none wanted, one not there, one named twice,
 * the MANAGEMENT interface. 0 or -errno. */
int net_find_nics(const char *sys, const json_t *wanted, const char *management, struct net_nics *nics,
                  struct failure *why);

#endif
