/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptor ring arithmetic. Positions count descriptors of 16 bytes; a ring of n takes n - 1 at most. */
#ifndef NIC_RING_H
#define NIC_RING_H

#include <stdint.h>

#define RING_DESCRIPTOR_BYTES 16

/* Descriptors that hardware may use: from head up to, without, tail. 0 for a ring without length or a head
 * beyond it. */
static inline uint32_t ring_ready(uint32_t head, uint32_t tail, uint32_t count)
{
	if (!count || head >= count || tail >= count)
		return 0;
	return (tail + count - head) % count;
}

static inline uint32_t ring_next(uint32_t position, uint32_t count)
{
	return position + 1 >= count ? 0 : position + 1;
}

/* Buffers of buffer_bytes (> 0) that a frame takes. */
static inline uint32_t ring_buffers(uint32_t frame_bytes, uint32_t buffer_bytes)
{
	return (frame_bytes + buffer_bytes - 1) / buffer_bytes;
}

/* The part of a ring register that the hardware keeps; offset is that within the ring. The driver's self-test
 * relies on it. */
uint32_t ring_register_mask(uint32_t offset);

#endif
