/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include "counters.h"
#include "frame.h"
#include "regs.h"

void count(uint32_t *reg, unsigned offset)
{
	if (reg[offset / 4] != UINT32_MAX)
		reg[offset / 4]++;
}

void count_bytes(uint32_t *reg, unsigned offset, uint64_t n)
{
	n += reg[offset / 4] | (uint64_t)reg[offset / 4 + 1] << 32;
	reg[offset / 4] = (uint32_t)n;
	reg[offset / 4 + 1] = n >> 32 & 0xf;
}

/* Frames are counted by size, with their FCS, in six registers from first on. */
static void count_size(uint32_t *reg, unsigned first, uint32_t wire_bytes)
{
	static const uint32_t limit[] = {64, 127, 255, 511, 1023};
	unsigned bin = 0;

	while (bin < sizeof(limit) / sizeof(*limit) && wire_bytes > limit[bin])
		bin++;
	count(reg, first + 4 * bin);
}

static bool is_broadcast(const uint8_t *frame)
{
	return (frame[0] & frame[1] & frame[2] & frame[3] & frame[4] & frame[5]) == 0xff;
}

void count_arrived(uint32_t *reg, uint32_t bytes)
{
	count(reg, TPR);
	count_bytes(reg, TORL, bytes + FRAME_FCS_BYTES);
}

void count_received(uint32_t *reg, const uint8_t *frame, uint32_t bytes)
{
	count(reg, GPRC);
	count_bytes(reg, GORCL, bytes + FRAME_FCS_BYTES);
	count_size(reg, PRC64, bytes + FRAME_FCS_BYTES);
	if (is_broadcast(frame))
		count(reg, BPRC);
	else if (frame[0] & 1)
		count(reg, MPRC);
}

void count_sent(uint32_t *reg, const uint8_t *frame, uint32_t bytes)
{
	count(reg, GPTC);
	count(reg, TPT);
	count_bytes(reg, GOTCL, bytes + FRAME_FCS_BYTES);
	count_size(reg, PTC64, bytes + FRAME_FCS_BYTES);
	if (is_broadcast(frame))
		count(reg, BPTC);
	else if (frame[0] & 1)
		count(reg, MPTC);
}

/* Sixteen sets of counters for 128 queues: a byte per queue says which one. The driver leaves them all at 0,
 * and counts for itself. */
static unsigned set_of(const uint32_t *reg, unsigned map, unsigned q)
{
	return reg[map / 4 + q / 4] >> 8 * (q % 4) & 0xf;
}

void count_rx_queue(uint32_t *reg, unsigned q, uint32_t bytes)
{
	unsigned ring = RX_RINGS + set_of(reg, RQSMR0, q) * RING_STRIDE;

	count(reg, ring + RING_PACKETS);
	count_bytes(reg, ring + RING_BYTES, bytes + FRAME_FCS_BYTES);
}

void count_rx_queue_drop(uint32_t *reg, unsigned q)
{
	count(reg, QPRDC0 + set_of(reg, RQSMR0, q) * RING_STRIDE);
}

void count_tx_queue(uint32_t *reg, unsigned q, uint32_t bytes)
{
	unsigned set = set_of(reg, TQSMR0, q);

	count(reg, TX_RINGS + set * RING_STRIDE + RING_PACKETS);
	count_bytes(reg, QBTC0 + 8 * set, bytes);
}
