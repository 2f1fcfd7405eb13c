/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "regs.h"
#include "ring.h"

/* Against counting by hand, for every position of small rings. */
static void ready(void **state)
{
	(void)state;
	for (uint32_t count = 1; count <= 9; count++) {
		for (uint32_t head = 0; head < count; head++) {
			for (uint32_t tail = 0; tail < count; tail++) {
				uint32_t steps = 0;

				for (uint32_t at = head; at != tail; at = ring_next(at, count))
					steps++;
				assert_int_equal(ring_ready(head, tail, count), steps);
			}
		}
	}
}

/* What a driver writes is not to be trusted. */
static void nonsense(void **state)
{
	(void)state;
	assert_int_equal(ring_ready(0, 0, 0), 0);
	assert_int_equal(ring_ready(0, 5, 0), 0);
	assert_int_equal(ring_ready(8, 0, 8), 0);
	assert_int_equal(ring_ready(0, 8, 8), 0);
	assert_int_equal(ring_ready(0xffff, 0xffff, 8), 0);
	assert_int_equal(ring_next(7, 8), 0);
	assert_int_equal(ring_next(70, 8), 0);
}

static void buffers(void **state)
{
	(void)state;
	assert_int_equal(ring_buffers(60, 2048), 1);
	assert_int_equal(ring_buffers(2048, 2048), 1);
	assert_int_equal(ring_buffers(2049, 2048), 2);
	assert_int_equal(ring_buffers(9018, 2048), 5);
	assert_int_equal(ring_buffers(9710, 1024), 10);
}

/* The masks that the driver's register test (ethtool -t) checks. */
static void masks(void **state)
{
	(void)state;
	assert_int_equal(ring_register_mask(RING_BAL) & 0x7f, 0);
	assert_int_equal(ring_register_mask(RING_BAH), 0xffffffff);
	assert_int_equal(ring_register_mask(RING_LEN), 0x000fff80);
	assert_int_equal(ring_register_mask(RING_TAIL), 0xffff);
	assert_int_equal(ring_register_mask(RING_CTL) & RING_FLUSH, 0);
	assert_int_equal(ring_register_mask(RING_CTL) & RING_ENABLE, RING_ENABLE);
}

static void places(void **state)
{
	(void)state;
	assert_int_equal(rx_ring_at(0), 0x1000);
	assert_int_equal(rx_ring_at(63), 0x1fc0);
	assert_int_equal(rx_ring_at(64), 0xd000);
	assert_int_equal(rx_ring_at(127), 0xdfc0);
	assert_int_equal(tx_ring_at(127), 0x7fc0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ready), cmocka_unit_test(nonsense), cmocka_unit_test(buffers),
	    cmocka_unit_test(masks), cmocka_unit_test(places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
