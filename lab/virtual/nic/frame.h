/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ethernet frames: where their headers are, and Internet checksums. Lengths are bytes. */
#ifndef NIC_FRAME_H
#define NIC_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#define FRAME_HEADER_BYTES 14
#define FRAME_MIN_BYTES    60 /* without FCS */
#define FRAME_MAX_BYTES    16384
#define FRAME_FCS_BYTES    4
#define ETHERTYPE_VLAN     0x8100
#define PROTOCOL_TCP       6
#define PROTOCOL_UDP       17
#define PROTOCOL_SCTP      132

struct headers {
	int l3, l4; /* offsets; l4 is 0 unless ipv4 or ipv6 */
	bool ipv4, ipv6, fragment;
	int protocol;
	int l4_bytes; /* header and payload, without Ethernet's padding */
};

/* Finds the headers of a frame of at least FRAME_HEADER_BYTES. A malformed IP header counts as no IP. */
void headers_find(const uint8_t *frame, int bytes, struct headers *h);

/* Big-endian words added up, folded to at most 17 bits as it goes; an odd byte at the end counts as the high
 * half. */
uint32_t sum16(uint32_t sum, const uint8_t *p, int bytes);

uint16_t sum_fold(uint32_t sum);

/* The pseudo header of a TCP or UDP packet whose IP header is at ip. */
uint32_t sum_pseudo(const uint8_t *ip, bool ipv6, int protocol, int l4_bytes);

/* CRC-32C, as SCTP wants it, with initial value and final inversion. */
uint32_t crc32c_of(const uint8_t *p, int bytes);

static inline uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static inline void put16(uint8_t *p, uint32_t value)
{
	p[0] = (uint8_t)(value >> 8);
	p[1] = (uint8_t)value;
}

static inline void put32(uint8_t *p, uint32_t value)
{
	put16(p, value >> 16);
	put16(p + 2, value);
}

#endif
