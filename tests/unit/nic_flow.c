/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "buffer.h"
#include "flow.h"

static const uint8_t us[6] = {0x00, 0x1b, 0x21, 0x77, 0x01, 0x01};
static const uint8_t them[6] = {0x00, 0x1b, 0x21, 0x77, 0x02, 0x01};

/* 802.3 annex 31B, byte for byte */
static void as_the_standard_has_it(void **state)
{
	static const uint8_t wanted[18] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 0x00, 0x1b, 0x21,
	                                   0x77, 0x01, 0x01, 0x88, 0x08, 0x00, 0x01, 0xff, 0xfe};
	uint8_t frame[FRAME_MIN_BYTES];

	(void)state;
	memset(frame, 0xee, sizeof(frame));
	flow_build(frame, us, 0xfffe);
	assert_memory_equal(frame, wanted, sizeof(wanted));
	for (size_t i = sizeof(wanted); i < sizeof(frame); i++)
		assert_int_equal(frame[i], 0);
}

static void parse(void **state)
{
	uint8_t frame[FRAME_MIN_BYTES];

	(void)state;
	flow_build(frame, them, 0xffff);
	assert_int_equal(flow_parse(frame, sizeof(frame), us), 0xffff);
	assert_int_equal(flow_parse(frame, 17, us), -1);
	memcpy(frame, us, 6);
	assert_int_equal(flow_parse(frame, sizeof(frame), us), 0xffff);
	assert_int_equal(flow_parse(frame, sizeof(frame), them), -1);
	flow_build(frame, them, 0);
	assert_int_equal(flow_parse(frame, sizeof(frame), us), 0);
	frame[14] = 1; /* priority flow control, opcode 0101 */
	assert_int_equal(flow_parse(frame, sizeof(frame), us), -1);
	flow_build(frame, them, 0);
	frame[13] = 0x09;
	assert_int_equal(flow_parse(frame, sizeof(frame), us), -1);
}

static void marks(void **state)
{
	(void)state;
	assert_int_equal(flow_step(1000, 1000, 500, false), FLOW_NOTHING);
	assert_int_equal(flow_step(1001, 1000, 500, false), FLOW_XOFF);
	assert_int_equal(flow_step(1001, 1000, 500, true), FLOW_NOTHING);
	assert_int_equal(flow_step(501, 1000, 500, true), FLOW_NOTHING);
	assert_int_equal(flow_step(500, 1000, 500, true), FLOW_XON);
	assert_int_equal(flow_step(500, 1000, 500, false), FLOW_NOTHING);
	assert_int_equal(flow_quanta_ns(0xffff), 3355392);
}

static void buffer_in_order(void **state)
{
	struct buffer b = {0};
	uint32_t bytes = 0;

	(void)state;
	assert_null(buffer_first(&b, &bytes));
	buffer_remove(&b);
	for (uint8_t i = 1; i <= 3; i++)
		assert_int_equal(buffer_add(&b, &i, 1), 0);
	assert_int_equal(b.bytes, 3);
	for (uint8_t i = 1; i <= 2; i++) {
		assert_int_equal(*buffer_first(&b, &bytes), i);
		assert_int_equal(bytes, 1);
		buffer_remove(&b);
	}
	assert_int_equal(buffer_add(&b, us, 6), 0);
	assert_int_equal(b.bytes, 7);
	buffer_clear(&b);
	assert_int_equal(b.bytes, 0);
	assert_null(buffer_first(&b, &bytes));
	assert_int_equal(buffer_add(&b, us, 6), 0);
	buffer_clear(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(as_the_standard_has_it),
	    cmocka_unit_test(parse),
	    cmocka_unit_test(marks),
	    cmocka_unit_test(buffer_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
