/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ASSAY_ETHTOOL_H
#define ASSAY_ETHTOOL_H

/* One ethtool request on NIC: DATA is one of linux/ethtool.h's structures, which begins with its command. 0
 * or -errno. */
int ethtool(const char *nic, void *data);

#endif
