/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ASSAY_ETHTOOL_LINK_H
#define ASSAY_ETHTOOL_LINK_H

#include <stddef.h>
#include <stdint.h>

struct ethtool_link {
	int port;       /* PORT_FIBRE … */
	long best_mbps; /* of what NIC and transceiver can do; 0: the driver does not say, or what is not
	                   known here */
};

/* What NIC's link can be. 0 or -errno. */
int ethtool_link(const char *nic, struct ethtool_link *link);

/* The fastest of a mask of link modes (bits ETHTOOL_LINK_MODE_…) of COUNT words, in Mb/s; 0: none known. */
long ethtool_best_mbps(const uint32_t *mask, size_t count);

#endif
