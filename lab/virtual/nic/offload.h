/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the card does to a packet on its way out: checksums, and the cutting of large segments. */
#ifndef NIC_OFFLOAD_H
#define NIC_OFFLOAD_H

#include <stdbool.h>
#include <stdint.h>

enum offload_l4 { OFFLOAD_UDP, OFFLOAD_TCP, OFFLOAD_SCTP };

/* A context descriptor, decoded. Lengths are bytes. */
struct offload {
	int mac_bytes, ip_bytes, l4_bytes; /* of the headers */
	bool ipv4;
	enum offload_l4 l4;
	int mss;
	uint16_t vlan_tag;
};

/* words: the four little-endian words of the descriptor, in host order. */
struct offload offload_decode(const uint32_t words[4]);

/*
 * Fills in checksums in place. The driver has put the pseudo header's sum into the TCP or UDP checksum field.
 * A context that does not fit the packet leaves it as it is.
 */
void offload_checksums(const struct offload *o, uint8_t *packet, int bytes, bool ip, bool l4);

/*
 * Cuts packet into segments of o->mss payload bytes with headers and checksums of their own, handing each to
 * emit(). Returns their number, or -EINVAL if the context does not fit the packet. scratch holds one segment:
 * the headers and o->mss bytes.
 */
int offload_segment(const struct offload *o, const uint8_t *packet, int bytes, uint8_t *scratch,
                    void (*emit)(void *opaque, uint8_t *frame, int bytes), void *opaque);

#endif
