/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Headers, checksums and segmentation, checked by adding up again what came out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "frame.h"
#include "offload.h"

#define MAX_BYTES 70000

/* A packet as the driver hands it over: the pseudo header's sum (length 0 if it is to be cut) in the checksum
 * field. */
static int packet_of(uint8_t *p, bool ipv6, int protocol, int payload, bool cut)
{
	int ip_bytes = ipv6 ? 40 : 20, l4_bytes = protocol == PROTOCOL_TCP   ? 20
	                                          : protocol == PROTOCOL_UDP ? 8
	                                                                     : 12;
	uint8_t *ip = p + 14, *l4 = ip + ip_bytes;
	int total = 14 + ip_bytes + l4_bytes + payload;

	memset(p, 0, (size_t)(14 + ip_bytes + l4_bytes));
	put16(p + 12, ipv6 ? 0x86dd : 0x0800);
	if (ipv6) {
		ip[0] = 0x60;
		put16(ip + 4, (uint32_t)(l4_bytes + payload));
		ip[6] = (uint8_t)protocol;
		memset(ip + 8, 0xfd, 32);
	} else {
		ip[0] = 0x45;
		put16(ip + 2, (uint32_t)(20 + l4_bytes + payload));
		put16(ip + 4, 0xfffe);
		put16(ip + 6, 0x4000);
		ip[8] = 64;
		ip[9] = (uint8_t)protocol;
		put32(ip + 12, 0x0a630001);
		put32(ip + 16, 0x0a630002);
	}
	put16(l4, 7788);
	put16(l4 + 2, 40000);
	if (protocol == PROTOCOL_TCP) {
		put32(l4 + 4, 0xfffffff0);
		l4[12] = 0x50;
		l4[13] = 0x99; /* CWR, ACK, PSH, FIN */
	} else if (protocol == PROTOCOL_UDP) {
		put16(l4 + 4, (uint32_t)(8 + payload));
	}
	for (int i = 0; i < payload; i++)
		l4[l4_bytes + i] = (uint8_t)(i * 31 + i / 256);
	if (protocol != PROTOCOL_SCTP)
		put16(l4 + (protocol == PROTOCOL_TCP ? 16 : 6),
		      sum_fold(sum_pseudo(ip, ipv6, protocol, cut ? 0 : l4_bytes + payload)));
	return total;
}

static struct offload offload_of(bool ipv6, enum offload_l4 l4, int mss)
{
	return (struct offload){
	    .mac_bytes = 14,
	    .ip_bytes = ipv6 ? 40 : 20,
	    .l4_bytes = l4 == OFFLOAD_TCP ? 20 : 8,
	    .ipv4 = !ipv6,
	    .l4 = l4,
	    .mss = mss,
	};
}

static void assert_sums(const uint8_t *frame, int bytes)
{
	struct headers h;

	headers_find(frame, bytes, &h);
	assert_true(h.ipv4 || h.ipv6);
	if (h.ipv4)
		assert_int_equal(sum_fold(sum16(0, frame + h.l3, h.l4 - h.l3)), 0xffff);
	assert_int_equal(sum_fold(sum16(sum_pseudo(frame + h.l3, h.ipv6, h.protocol, h.l4_bytes),
	                                frame + h.l4, h.l4_bytes)),
	                 0xffff);
}

static void checksums(void **state)
{
	static uint8_t p[MAX_BYTES];

	(void)state;
	for (int payload = 0; payload < 1500; payload += 77) {
		for (int ipv6 = 0; ipv6 < 2; ipv6++) {
			struct offload tcp = offload_of(ipv6, OFFLOAD_TCP, 0),
			               udp = offload_of(ipv6, OFFLOAD_UDP, 0);
			int bytes = packet_of(p, ipv6, PROTOCOL_TCP, payload, false);

			offload_checksums(&tcp, p, bytes, !ipv6, true);
			assert_sums(p, bytes);
			bytes = packet_of(p, ipv6, PROTOCOL_UDP, payload, false);
			offload_checksums(&udp, p, bytes, !ipv6, true);
			assert_sums(p, bytes);
		}
	}
}

/* A context that reaches beyond the packet must change nothing. */
static void checksum_out_of_reach(void **state)
{
	struct offload o = offload_of(false, OFFLOAD_TCP, 0);
	uint8_t p[60] = {0}, before[60];

	(void)state;
	o.mac_bytes = 50;
	memcpy(before, p, sizeof(p));
	offload_checksums(&o, p, sizeof(p), true, true);
	assert_memory_equal(p, before, sizeof(p));
}

/* RFC 3720, B.4: 32 zero bytes, 32 bytes of ones, 0 to 31. */
static void crc32c(void **state)
{
	uint8_t p[32] = {0};

	(void)state;
	assert_int_equal(crc32c_of(p, 32), 0x8a9136aa);
	memset(p, 0xff, sizeof(p));
	assert_int_equal(crc32c_of(p, 32), 0x62a8ab43);
	for (int i = 0; i < 32; i++)
		p[i] = (uint8_t)i;
	assert_int_equal(crc32c_of(p, 32), 0x46dd794e);
}

struct collected {
	const struct offload *o;
	int count, bytes, payload; /* bytes: of the payload seen; payload: all of it */
};

static void collect(void *opaque, uint8_t *frame, int bytes)
{
	struct collected *c = opaque;
	int header = c->o->mac_bytes + c->o->ip_bytes + c->o->l4_bytes;
	const uint8_t *ip = frame + 14, *l4 = ip + c->o->ip_bytes;
	int part = bytes - header;
	bool last = c->bytes + part == c->payload;

	assert_in_range(part, 1, c->o->mss);
	assert_true(last || part == c->o->mss);
	assert_sums(frame, bytes);
	if (c->o->ipv4)
		assert_int_equal(get16(ip + 4), (0xfffe + c->count) & 0xffff);
	if (c->o->l4 == OFFLOAD_TCP) {
		assert_int_equal(get32(l4 + 4), 0xfffffff0 + (uint32_t)c->bytes);
		assert_int_equal(l4[13], 0x10 | (c->count ? 0 : 0x80) | (last ? 0x09 : 0));
	}
	for (int i = 0; i < part; i++)
		assert_int_equal(frame[header + i], (uint8_t)((c->bytes + i) * 31 + (c->bytes + i) / 256));
	c->bytes += part;
	c->count++;
}

static void segments(void **state)
{
	static const int payloads[] = {1, 1447, 1448, 1449, 8947, 8948, 8949, 65000};
	static const int sizes[] = {536, 1448, 8948};
	static uint8_t p[MAX_BYTES], scratch[9100];

	(void)state;
	for (size_t k = 0; k < 8 * 3 * 4; k++) {
		int payload = payloads[k % 8], mss = sizes[k / 8 % 3];
		bool ipv6 = k / 24 & 1, udp = k / 48;
		struct offload o = offload_of(ipv6, udp ? OFFLOAD_UDP : OFFLOAD_TCP, mss);
		struct collected c = {.o = &o, .payload = payload};
		int bytes = packet_of(p, ipv6, udp ? PROTOCOL_UDP : PROTOCOL_TCP, payload, true);

		assert_int_equal(offload_segment(&o, p, bytes, scratch, collect, &c),
		                 (payload + mss - 1) / mss);
		assert_int_equal(c.bytes, payload);
	}
}

static void refuse(void *opaque, uint8_t *frame, int bytes)
{
	(void)opaque, (void)frame, (void)bytes;
	fail_msg("a segment was sent");
}

static void segment_nonsense(void **state)
{
	static uint8_t p[MAX_BYTES], scratch[2000];
	struct offload good = offload_of(false, OFFLOAD_TCP, 1448), o;
	int bytes = packet_of(p, false, PROTOCOL_TCP, 4000, true);

	(void)state;
	o = good, o.mss = 0;
	assert_int_equal(offload_segment(&o, p, bytes, scratch, refuse, NULL), -EINVAL);
	o = good, o.ip_bytes = 511;
	assert_int_equal(offload_segment(&o, p, 400, scratch, refuse, NULL), -EINVAL);
	o = good, o.l4_bytes = 8;
	assert_int_equal(offload_segment(&o, p, bytes, scratch, refuse, NULL), -EINVAL);
	o = good, o.mac_bytes = 0;
	assert_int_equal(offload_segment(&o, p, bytes, scratch, refuse, NULL), -EINVAL);
	o = good, o.l4 = OFFLOAD_SCTP;
	assert_int_equal(offload_segment(&o, p, bytes, scratch, refuse, NULL), -EINVAL);
	assert_int_equal(offload_segment(&good, p, 54, scratch, refuse, NULL), -EINVAL);
}

static void decodes(void **state)
{
	const uint32_t words[4] = {7u << 16 | 14 << 9 | 20, 0, 1 << 11 | 0x400,
	                           8948u << 16 | 32 << 8 | 1 << 4};
	struct offload o = offload_decode(words);

	(void)state;
	assert_int_equal(o.mac_bytes, 14);
	assert_int_equal(o.ip_bytes, 20);
	assert_int_equal(o.l4_bytes, 32);
	assert_int_equal(o.mss, 8948);
	assert_int_equal(o.vlan_tag, 7);
	assert_int_equal(o.l4, OFFLOAD_TCP);
	assert_true(o.ipv4);
}

/* Frames cut short, or whose headers lie, are no IP. Exact allocations let the sanitizer see a read too far.
 */
static void headers_of_broken_frames(void **state)
{
	static uint8_t whole[MAX_BYTES];

	(void)state;
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		int bytes = packet_of(whole, ipv6, PROTOCOL_TCP, 10, false);

		for (int part = FRAME_HEADER_BYTES; part <= bytes; part++) {
			uint8_t *p = malloc((size_t)part);
			struct headers h;

			memcpy(p, whole, (size_t)part);
			headers_find(p, part, &h);
			assert_int_equal(h.ipv4 || h.ipv6, part == bytes);
			free(p);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(checksums),
	    cmocka_unit_test(checksum_out_of_reach),
	    cmocka_unit_test(crc32c),
	    cmocka_unit_test(segments),
	    cmocka_unit_test(segment_nonsense),
	    cmocka_unit_test(decodes),
	    cmocka_unit_test(headers_of_broken_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
