/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics registers. They are in the register file itself: 32 bits that stick at their maximum, or 36 bits
 * in two words that wrap; the driver's reads clear them. */
#ifndef NIC_COUNTERS_H
#define NIC_COUNTERS_H

#include <stdint.h>

/* One more in the 32-bit register at offset. */
void count(uint32_t *reg, unsigned offset);

/* n more in the 36-bit register whose low word is at offset, the high one after it. */
void count_bytes(uint32_t *reg, unsigned offset, uint64_t n);

/* A frame came in whole. bytes: without FCS. */
void count_arrived(uint32_t *reg, uint32_t bytes);

/* It was not filtered out. The 82599 counts it as good even if no buffer is left for it; the driver knows. */
void count_received(uint32_t *reg, const uint8_t *frame, uint32_t bytes);

/* Queue q has given a frame to the driver, or had no descriptor for one. */
void count_rx_queue(uint32_t *reg, unsigned q, uint32_t bytes);
void count_rx_queue_drop(uint32_t *reg, unsigned q);

/* A frame goes out; bytes: without FCS. Pause frames count too. */
void count_sent(uint32_t *reg, const uint8_t *frame, uint32_t bytes);

/* Queue q has done a packet (of many frames, if segmented). */
void count_tx_queue(uint32_t *reg, unsigned q, uint32_t bytes);

#endif
