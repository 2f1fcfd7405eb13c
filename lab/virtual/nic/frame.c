/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <endian.h>
#include <string.h>
#include "frame.h"

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define IPV4_BYTES     20
#define IPV6_BYTES     40

static void find_ipv4(const uint8_t *frame, int bytes, struct headers *h)
{
	const uint8_t *ip = frame + h->l3;
	int header, total;

	if (bytes < h->l3 + IPV4_BYTES)
		return;
	header = (ip[0] & 0xf) * 4;
	total = get16(ip + 2);
	if (header < IPV4_BYTES || total < header || h->l3 + total > bytes)
		return;
	h->ipv4 = true;
	h->protocol = ip[9];
	h->fragment = get16(ip + 6) & 0x3fff;
	h->l4 = h->l3 + header;
	h->l4_bytes = total - header;
}

static void find_ipv6(const uint8_t *frame, int bytes, struct headers *h)
{
	const uint8_t *ip = frame + h->l3;
	int payload;

	if (bytes < h->l3 + IPV6_BYTES)
		return;
	payload = get16(ip + 4);
	if (h->l3 + IPV6_BYTES + payload > bytes)
		return;
	h->ipv6 = true;
	h->protocol = ip[6];
	h->l4 = h->l3 + IPV6_BYTES;
	h->l4_bytes = payload;
}

void headers_find(const uint8_t *frame, int bytes, struct headers *h)
{
	int type = get16(frame + 12);

	memset(h, 0, sizeof(*h));
	h->l3 = FRAME_HEADER_BYTES;
	if (type == ETHERTYPE_VLAN && bytes >= FRAME_HEADER_BYTES + 4) {
		type = get16(frame + 16);
		h->l3 += 4;
	}
	if (type == ETHERTYPE_IPV4)
		find_ipv4(frame, bytes, h);
	else if (type == ETHERTYPE_IPV6)
		find_ipv6(frame, bytes, h);
}

/* Four bytes at a time: the order of bytes matters to the result of such a sum, not to the summing. */
uint32_t sum16(uint32_t sum, const uint8_t *p, int bytes)
{
	uint64_t wide = 0;
	uint32_t word;

	for (; bytes > 3; bytes -= 4, p += 4) {
		memcpy(&word, p, sizeof(word));
		wide += word;
	}
	while (wide >> 16)
		wide = (wide & 0xffff) + (wide >> 16);
	sum += be16toh((uint16_t)wide);
	for (; bytes > 1; bytes -= 2, p += 2)
		sum += get16(p);
	sum = (sum & 0xffff) + (sum >> 16);
	return bytes ? sum + ((uint32_t)p[0] << 8) : sum;
}

uint16_t sum_fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

uint32_t sum_pseudo(const uint8_t *ip, bool ipv6, int protocol, int l4_bytes)
{
	uint32_t sum = ipv6 ? sum16(0, ip + 8, 32) : sum16(0, ip + 12, 8);

	return sum + (uint32_t)protocol + ((uint32_t)l4_bytes & 0xffff) + ((uint32_t)l4_bytes >> 16);
}

uint32_t crc32c_of(const uint8_t *p, int bytes)
{
	uint32_t crc = 0xffffffff;

	while (bytes-- > 0) {
		crc ^= *p++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}
