/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which fields are hashed, by packet and by register MRQC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "regs.h"
#include "rss.h"

#define ALL (MRQC_RSSEN | MRQC_TCP4 | MRQC_IP4 | MRQC_IP6 | MRQC_TCP6 | MRQC_UDP4 | MRQC_UDP6)

/* A frame whose bytes tell where they came from: address bytes count up from 1, ports from 0x81. */
static int frame_of(uint8_t *frame, bool ipv6, int protocol, bool fragment)
{
	int header = ipv6 ? 40 : 20, l4 = 14 + header, bytes = l4 + 20;
	uint8_t *ip = frame + 14;

	memset(frame, 0, (size_t)bytes);
	put16(frame + 12, ipv6 ? 0x86dd : 0x0800);
	ip[0] = ipv6 ? 0x60 : 0x45;
	if (ipv6) {
		put16(ip + 4, 20);
		ip[6] = (uint8_t)protocol;
	} else {
		put16(ip + 2, 40);
		put16(ip + 6, fragment ? 0x2000 : 0x4000);
		ip[9] = (uint8_t)protocol;
	}
	for (int i = 0; i < (ipv6 ? 32 : 8); i++)
		ip[(ipv6 ? 8 : 12) + i] = (uint8_t)(i + 1);
	for (int i = 0; i < 4; i++)
		frame[l4 + i] = (uint8_t)(0x81 + i);
	return bytes;
}

static void chooses(void **state)
{
	static const struct {
		bool ipv6;
		int protocol;
		bool fragment;
		uint32_t mrqc;
		enum rss_type type;
		int bytes;
	} cases[] = {
	    {false, PROTOCOL_TCP, false, ALL, RSS_TCP4, 12},
	    {false, PROTOCOL_UDP, false, ALL, RSS_UDP4, 12},
	    {false, PROTOCOL_SCTP, false, ALL, RSS_IP4, 8},
	    {false, PROTOCOL_TCP, true, ALL, RSS_IP4, 8},
	    {true, PROTOCOL_TCP, false, ALL, RSS_TCP6, 36},
	    {true, PROTOCOL_UDP, false, ALL, RSS_UDP6, 36},
	    {true, 58, false, ALL, RSS_IP6, 32},
	    {false, PROTOCOL_UDP, false, ALL & ~MRQC_UDP4, RSS_IP4, 8},
	    {false, PROTOCOL_UDP, false, MRQC_RSSEN | MRQC_TCP4, RSS_NONE, 0},
	    {true, PROTOCOL_TCP, false, MRQC_RSSEN | MRQC_TCP4 | MRQC_IP4, RSS_NONE, 0},
	    {false, PROTOCOL_TCP, false, ALL & ~MRQC_RSSEN, RSS_NONE, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t frame[128], input[RSS_INPUT_BYTES];
		enum rss_type type;
		struct headers h;
		int addresses = cases[i].ipv6 ? 32 : 8;

		headers_find(frame, frame_of(frame, cases[i].ipv6, cases[i].protocol, cases[i].fragment), &h);
		assert_int_equal(rss_input(cases[i].mrqc, frame, &h, input, &type), cases[i].bytes);
		assert_int_equal(type, cases[i].type);
		for (int at = 0; at < cases[i].bytes; at++)
			assert_int_equal(input[at], at < addresses ? at + 1 : 0x81 + at - addresses);
	}
}

static void not_ip(void **state)
{
	uint8_t frame[60] = {0}, input[RSS_INPUT_BYTES];
	enum rss_type type = RSS_IP4;
	struct headers h;

	(void)state;
	put16(frame + 12, 0x0806);
	headers_find(frame, sizeof(frame), &h);
	assert_int_equal(rss_input(ALL, frame, &h, input, &type), 0);
	assert_int_equal(type, RSS_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(chooses),
	    cmocka_unit_test(not_ip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
