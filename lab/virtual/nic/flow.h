/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flow control by pause frames (802.3x): what they look like, and when a receiver sends one. */
#ifndef NIC_FLOW_H
#define NIC_FLOW_H

#include <stdbool.h>
#include <stdint.h>
#include "frame.h"

/* A quantum is the time of 512 bits, here at 10 Gb/s. */
static inline int64_t flow_quanta_ns(uint32_t quanta)
{
	return (int64_t)quanta * 512 / 10;
}

/* The quanta that a pause frame to everybody, or to station, asks for (0: go on); -1 if it is another frame.
 */
int flow_parse(const uint8_t *frame, uint32_t bytes, const uint8_t station[6]);

void flow_build(uint8_t frame[FRAME_MIN_BYTES], const uint8_t station[6], uint16_t quanta);

enum flow_step { FLOW_NOTHING, FLOW_XOFF, FLOW_XON };

/* What a receive buffer that holds bytes has to say; stopped: an XOFF went out and no XON since. */
enum flow_step flow_step(uint64_t bytes, uint32_t high_bytes, uint32_t low_bytes, bool stopped);

#endif
