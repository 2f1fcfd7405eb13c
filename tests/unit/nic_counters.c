/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "counters.h"
#include "regs.h"

static uint32_t reg[REG_BYTES / 4];
static const uint8_t unicast[6] = {0x00, 0x1b, 0x21, 0, 0, 1};
static const uint8_t multicast[6] = {0x01, 0x00, 0x5e, 0, 0, 1};
static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static int clear(void **state)
{
	(void)state;
	memset(reg, 0, sizeof(reg));
	return 0;
}

static void sticks(void **state)
{
	(void)state;
	reg[MPC0 / 4] = UINT32_MAX - 1;
	count(reg, MPC0);
	count(reg, MPC0);
	assert_int_equal(reg[MPC0 / 4], UINT32_MAX);
}

static void wraps_at_36_bits(void **state)
{
	(void)state;
	reg[GORCL / 4] = UINT32_MAX;
	reg[GORCL / 4 + 1] = 0xf;
	count_bytes(reg, GORCL, 2);
	assert_int_equal(reg[GORCL / 4], 1);
	assert_int_equal(reg[GORCL / 4 + 1], 0);
}

/* The datasheet's bins, in bytes with FCS: 64, -127, -255, -511, -1023, more. */
static void sizes(void **state)
{
	static const struct {
		uint32_t bytes;
		unsigned at;
	} cases[] = {
	    {60, 0x405c},  {61, 0x4060},  {123, 0x4060},  {124, 0x4064},  {251, 0x4064},  {252, 0x4068},
	    {507, 0x4068}, {508, 0x406c}, {1019, 0x406c}, {1020, 0x4070}, {1518, 0x4070}, {9014, 0x4070},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		clear(state);
		count_received(reg, unicast, cases[i].bytes);
		assert_int_equal(reg[cases[i].at / 4], 1);
		clear(state);
		count_sent(reg, unicast, cases[i].bytes);
		assert_int_equal(reg[(cases[i].at + 0x7c) / 4], 1); /* PTC64 is at 0x40d8 */
	}
}

static void kinds(void **state)
{
	(void)state;
	count_received(reg, unicast, 60);
	count_received(reg, multicast, 60);
	count_received(reg, broadcast, 60);
	count_received(reg, broadcast, 60);
	assert_int_equal(reg[GPRC / 4], 4);
	assert_int_equal(reg[GORCL / 4], 4 * 64);
	assert_int_equal(reg[MPRC / 4], 1);
	assert_int_equal(reg[BPRC / 4], 2);
	count_sent(reg, multicast, 1514);
	assert_int_equal(reg[GPTC / 4], 1);
	assert_int_equal(reg[GOTCL / 4], 1518);
	assert_int_equal(reg[MPTC / 4], 1);
	assert_int_equal(reg[BPTC / 4], 0);
}

/* RQSMR and TQSMR say which of 16 counters is a queue's; all at 0 is how they come out of reset. */
static void queues(void **state)
{
	(void)state;
	count_rx_queue(reg, 5, 60);
	count_rx_queue_drop(reg, 127);
	assert_int_equal(reg[0x1030 / 4], 1);
	assert_int_equal(reg[0x1034 / 4], 64);
	assert_int_equal(reg[0x1430 / 4], 1);
	reg[(RQSMR0 + 4) / 4] = 0x0300; /* queue 5 */
	count_rx_queue(reg, 5, 60);
	assert_int_equal(reg[(0x1030 + 3 * 0x40) / 4], 1);
	reg[(TQSMR0 + 124) / 4] = 0x0f000000; /* queue 127 */
	count_tx_queue(reg, 127, 9014);
	assert_int_equal(reg[(0x6030 + 15 * 0x40) / 4], 1);
	assert_int_equal(reg[(0x8700 + 15 * 8) / 4], 9014);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(sticks, clear), cmocka_unit_test_setup(wraps_at_36_bits, clear),
	    cmocka_unit_test_setup(sizes, clear),  cmocka_unit_test_setup(kinds, clear),
	    cmocka_unit_test_setup(queues, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
