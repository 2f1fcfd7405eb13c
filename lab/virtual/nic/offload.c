/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include "frame.h"
#include "offload.h"

#define TCP_FIN_PSH 0x09
#define TCP_CWR     0x80

static const struct {
	int protocol, header_bytes, checksum_at;
} l4_kind[] = {
    [OFFLOAD_UDP] = {PROTOCOL_UDP, 8, 6},
    [OFFLOAD_TCP] = {PROTOCOL_TCP, 20, 16},
    [OFFLOAD_SCTP] = {PROTOCOL_SCTP, 12, 8},
};

struct offload offload_decode(const uint32_t words[4])
{
	uint32_t type = words[2] >> 11 & 3;

	return (struct offload){
	    .ip_bytes = words[0] & 0x1ff,
	    .mac_bytes = words[0] >> 9 & 0x7f,
	    .vlan_tag = (uint16_t)(words[0] >> 16),
	    .ipv4 = words[2] & 0x400,
	    .l4 = type == 1   ? OFFLOAD_TCP
	          : type == 0 ? OFFLOAD_UDP
	                      : OFFLOAD_SCTP,
	    .l4_bytes = words[3] >> 8 & 0xff,
	    .mss = (int)(words[3] >> 16),
	};
}

/* An all-zero UDP checksum would say that there is none. */
static uint16_t l4_checksum(uint32_t sum, enum offload_l4 l4)
{
	uint16_t checksum = (uint16_t)~sum_fold(sum);

	return checksum || l4 == OFFLOAD_TCP ? checksum : 0xffff;
}

static void put_ip_checksum(uint8_t *ip, int bytes)
{
	put16(ip + 10, 0);
	put16(ip + 10, (uint16_t)~sum_fold(sum16(0, ip, bytes)));
}

void offload_checksums(const struct offload *o, uint8_t *packet, int bytes, bool ip, bool l4)
{
	uint8_t *transport = packet + o->mac_bytes + o->ip_bytes;
	int left = bytes - o->mac_bytes - o->ip_bytes;
	uint8_t *field = transport + l4_kind[o->l4].checksum_at;

	if (ip && o->ip_bytes >= 20 && left >= 0)
		put_ip_checksum(packet + o->mac_bytes, o->ip_bytes);
	if (!l4 || left < l4_kind[o->l4].header_bytes)
		return;
	if (o->l4 == OFFLOAD_SCTP) {
		uint32_t crc;

		put32(field, 0);
		crc = crc32c_of(transport, left);
		for (int i = 0; i < 4; i++)
			field[i] = (uint8_t)(crc >> 8 * i);
	} else {
		put16(field, l4_checksum(sum16(0, transport, left), o->l4));
	}
}

/* One segment's own headers; offset is that of its payload within the whole payload. */
static void segment_headers(const struct offload *o, uint8_t *frame, int bytes, int index, int offset,
                            bool last)
{
	uint8_t *ip = frame + o->mac_bytes;
	uint8_t *transport = ip + o->ip_bytes;
	uint8_t *field = transport + l4_kind[o->l4].checksum_at;
	int l4_bytes = bytes - o->mac_bytes - o->ip_bytes;

	if (o->ipv4) {
		put16(ip + 2, (uint32_t)(bytes - o->mac_bytes));
		put16(ip + 4, get16(ip + 4) + (uint32_t)index);
		put_ip_checksum(ip, o->ip_bytes);
	} else {
		put16(ip + 4, (uint32_t)(bytes - o->mac_bytes - 40));
	}
	if (o->l4 == OFFLOAD_TCP) {
		put32(transport + 4, get32(transport + 4) + (uint32_t)offset);
		if (!last)
			transport[13] &= (uint8_t)~TCP_FIN_PSH;
		if (index)
			transport[13] &= (uint8_t)~TCP_CWR;
	} else {
		put16(transport + 4, (uint32_t)l4_bytes);
	}
	put16(field, 0);
	put16(field, l4_checksum(sum16(sum_pseudo(ip, !o->ipv4, l4_kind[o->l4].protocol, l4_bytes), transport,
	                               l4_bytes),
	                         o->l4));
}

int offload_segment(const struct offload *o, const uint8_t *packet, int bytes, uint8_t *scratch,
                    void (*emit)(void *opaque, uint8_t *frame, int bytes), void *opaque)
{
	int headers = o->mac_bytes + o->ip_bytes + o->l4_bytes;
	int payload = bytes - headers, count = 0;

	if (o->mss < 1 || payload < 1 || o->mac_bytes < FRAME_HEADER_BYTES || o->l4 == OFFLOAD_SCTP ||
	    o->ip_bytes < (o->ipv4 ? 20 : 40) || o->l4_bytes < l4_kind[o->l4].header_bytes)
		return -EINVAL;
	for (int offset = 0; offset < payload; offset += o->mss, count++) {
		int part = payload - offset < o->mss ? payload - offset : o->mss;

		memcpy(scratch, packet, (size_t)headers);
		memcpy(scratch + headers, packet + headers + offset, (size_t)part);
		segment_headers(o, scratch, headers + part, count, offset, offset + part == payload);
		emit(opaque, scratch, headers + part);
	}
	return count;
}
