/* SPDX-License-Identifier: GPL-2.0-or-later
 * ethtool's two interfaces: the ioctl, to read; netlink, to set, since it says in words why it refuses. */
#ifndef ASSAY_ETHTOOL_H
#define ASSAY_ETHTOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One ethtool request on NIC: DATA is one of linux/ethtool.h's structures, which begins with its command. 0
 * or -errno. */
int ethtool(const char *nic, void *data);

/* One attribute of a message: ETHTOOL_A_RINGS_RX … */
struct ethtool_attribute {
	uint16_t attribute;
	bool flag; /* a u8; else a u32 */
	uint32_t value;
};

/* Sends MESSAGE (ETHTOOL_MSG_RINGS_SET …) for NIC with COUNT values. 0 or -errno; WORDS gets what the kernel
 * says beside its errno, or "". */
int ethtool_set(const char *nic, uint8_t message, const struct ethtool_attribute *values, size_t count,
                char *words, size_t size);

#endif
