/* SPDX-License-Identifier: GPL-2.0-or-later
 * What keeps one address, and one line of the log, from being all that there is. */
#include "serve/log.h"
#include "serve/server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define SECOND_NS INT64_C(1000000000)

static unsigned int allowed(struct limit *limit, uint32_t address, int64_t at_ns, unsigned int tries)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < tries; i++)
		n += limit_take(limit, address, (struct moment){.mono_ns = at_ns});
	return n;
}

static void a_burst_then_a_rate(void **state)
{
	struct limit *limit = limit_new();

	(void)state;
	assert_int_equal(allowed(limit, 1, SECOND_NS, 1000), 200);
	assert_int_equal(allowed(limit, 1, SECOND_NS, 1000), 0);
	assert_int_equal(allowed(limit, 2, SECOND_NS, 1000), 200);
	assert_int_equal(allowed(limit, 1, 2 * SECOND_NS, 1000), 20);
	assert_int_equal(allowed(limit, 1, 4 * SECOND_NS, 1000), 40);
	/* Ten seconds fill it, and no more than full. */
	assert_int_equal(allowed(limit, 1, 100 * SECOND_NS, 1000), 200);
	limit_free(limit);
}

/* More addresses than are remembered: who asks most is still held back. */
static void many_addresses(void **state)
{
	struct limit *limit = limit_new();
	unsigned int n = 0;

	(void)state;
	for (uint32_t address = 10; address < 100010; address++) {
		assert_int_equal(allowed(limit, address, SECOND_NS, 1), 1);
		n += allowed(limit, 5, SECOND_NS, 1);
	}
	assert_in_range(n, 200, 1000);
	limit_free(limit);
}

static void a_line_once_a_minute(void **state)
{
	unsigned int more = 9;
	char line[32];

	(void)state;
	assert_true(log_is_due("- store: full", 1000, &more));
	assert_int_equal(more, 0);
	for (int i = 0; i < 599; i++)
		assert_false(log_is_due("- store: full", 1000 + i / 10, &more));
	assert_true(log_is_due("- store: locked", 1001, &more));
	assert_true(log_is_due("- store: full", 1060, &more));
	assert_int_equal(more, 599);
	assert_false(log_is_due("- store: full", 1061, &more));
	/* Other lines push it out, and it is said again. */
	for (int i = 0; i < 100; i++) {
		snprintf(line, sizeof(line), "n%d boot: x", i);
		assert_true(log_is_due(line, 1062, &more));
	}
	assert_true(log_is_due("- store: full", 1063, &more));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_burst_then_a_rate),
	    cmocka_unit_test(many_addresses),
	    cmocka_unit_test(a_line_once_a_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
