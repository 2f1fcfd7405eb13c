/* SPDX-License-Identifier: GPL-2.0-or-later
 * Running a tool: its output, its status, its time. */
#include "command.h"

#include "file.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct command_result result;

static int sh(const char *script, long timeout_ms)
{
	const char *const argv[] = {"sh", "-c", script, NULL};

	return command_run(argv, timeout_ms, &result);
}

static void test_output(void **state)
{
	(void)state;
	assert_int_equal(sh("echo out; echo err >&2; cat", 10000), 0);
	assert_string_equal(result.output, "out\nerr\n");
	assert_false(result.truncated);
}

static void test_status(void **state)
{
	const char *const none[] = {"no-such-tool-here", NULL};

	(void)state;
	assert_int_equal(sh("echo no; exit 20", 10000), -EREMOTEIO);
	assert_int_equal(result.status, 20);
	assert_string_equal(result.output, "no\n");
	assert_int_equal(sh("kill -9 $$", 10000), -EREMOTEIO);
	assert_int_equal(result.status, 128 + SIGKILL);
	assert_int_equal(command_run(none, 10000, &result), -ENOENT);
}

static void test_flood(void **state)
{
	(void)state;
	assert_int_equal(sh("dd if=/dev/zero bs=1000 count=1000 2>/dev/null | tr '\\0' x", 10000), 0);
	assert_true(result.truncated);
	assert_int_equal(strlen(result.output), sizeof(result.output) - 1);
}

static void test_timeout(void **state)
{
	long long start_ns = now_ns();

	(void)state;
	/* The child of the tool holds the pipe: it must go as well. */
	assert_int_equal(sh("echo started; sleep 600", 200), -ETIMEDOUT);
	assert_string_equal(result.output, "started\n");
	/* A daemon that the tool left behind is not waited for. */
	assert_int_equal(sh("sleep 3 & echo done", 100000), 0);
	assert_string_equal(result.output, "done\n");
	assert_true(now_ns() - start_ns < 2900000000LL);
}

static void test_text(void **state)
{
	const char *const argv[] = {"a", "bc", "d", NULL};
	char text[16], small[4];

	(void)state;
	command_text(argv, text, sizeof(text));
	assert_string_equal(text, "a bc d");
	command_text(argv, small, sizeof(small));
	assert_true(strlen(small) < sizeof(small));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_output),  cmocka_unit_test(test_status), cmocka_unit_test(test_flood),
	    cmocka_unit_test(test_timeout), cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
