/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Receive side scaling: what of a frame is hashed. */
#ifndef NIC_RSS_H
#define NIC_RSS_H

#include <stdint.h>
#include "frame.h"

#define RSS_INPUT_BYTES 36

/* Types as the receive descriptor reports them. */
enum rss_type {
	RSS_NONE = 0,
	RSS_TCP4 = 1,
	RSS_IP4 = 2,
	RSS_TCP6 = 3,
	RSS_IP6 = 5,
	RSS_UDP4 = 7,
	RSS_UDP6 = 8,
};

/*
 * Chooses the fields that register MRQC wants hashed for this frame and puts them into input, addresses
 * first. Returns their bytes and sets *type; 0 and RSS_NONE if the frame is not hashed.
 */
int rss_input(uint32_t mrqc, const uint8_t *frame, const struct headers *h, uint8_t input[RSS_INPUT_BYTES],
              enum rss_type *type);

#endif
