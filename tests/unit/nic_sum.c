/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Internet checksum in its fast form, against the definition of RFC 1071. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "frame.h"

static uint32_t by_definition(uint32_t sum, const uint8_t *p, int bytes)
{
	for (int i = 0; i < bytes; i++) {
		sum += i & 1 ? p[i] : (uint32_t)p[i] << 8;
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return sum;
}

/* RFC 1071, section 3 */
static void published(void **state)
{
	static const uint8_t bytes[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};

	(void)state;
	assert_int_equal(sum_fold(sum16(0, bytes, sizeof(bytes))), 0xddf2);
}

static void every_length_and_alignment(void **state)
{
	static uint8_t data[66000];
	uint32_t random = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++) {
		random = random * 1664525 + 1013904223;
		data[i] = (uint8_t)(random >> 24);
	}
	for (int bytes = 0; bytes < 200; bytes++) {
		for (int at = 0; at < 8; at++)
			assert_int_equal(sum_fold(sum16(0x1fffe, data + at, bytes)),
			                 sum_fold(by_definition(0x1fffe, data + at, bytes)));
	}
	assert_int_equal(sum_fold(sum16(0, data, 65999)), sum_fold(by_definition(0, data, 65999)));
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = 0xff;
	assert_int_equal(sum_fold(sum16(0, data, 65998)), 0xffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(published),
	                                   cmocka_unit_test(every_length_and_alignment)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
