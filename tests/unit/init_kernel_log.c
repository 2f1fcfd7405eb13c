/* SPDX-License-Identifier: GPL-2.0-or-later
 * The kernel's own warnings, from a file in the form of /dev/kmsg. */
#include "kernel_log.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char path[] = "/tmp/assay-kmsg.XXXXXX";

static void write_log(const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void expect(long long since_us, const char *json)
{
	json_t *wanted = json_loads(json, 0, NULL), *got = kernel_log_warnings(path, since_us);

	assert_non_null(wanted);
	if (!json_equal(wanted, got))
		fail_msg("%s instead of %s", json_dumps(got, 0), json);
	json_decref(wanted);
	json_decref(got);
}

static void levels(void **state)
{
	(void)state;
	write_log("6,600,1000,-;ixgbe: a driver says hello\n"
	          "4,601,2000,-;a warning; with a semicolon\n"
	          " SUBSYSTEM=pci\n DEVICE=+pci:0000:03:00.0\n"
	          "3,602,3000,c;an error\n"
	          "12,603,4000,-;a warning of a program, not of the kernel\n"
	          "0,604,5000,-;an emergency\n"
	          "no record at all\n4,x;y\n");
	expect(0, "[\"a warning; with a semicolon\", \"an error\", \"an emergency\"]");
	expect(3000, "[\"an error\", \"an emergency\"]");
	expect(5001, "[]");
}

static void bounded(void **state)
{
	char text[16384], *to = text;
	json_t *got;

	(void)state;
	for (int i = 0; i < 40; i++)
		to += sprintf(to, "4,%d,%d,-;warning %d %0300d\n", i, i, i, 0);
	write_log(text);
	got = kernel_log_warnings(path, 0);
	assert_true(json_array_size(got) > 8 && json_array_size(got) <= 32);
	assert_int_equal(json_string_length(json_array_get(got, 0)), 255);
	json_decref(got);
}

static void missing(void **state)
{
	json_t *got = kernel_log_warnings("/nonexistent/kmsg", 0);

	(void)state;
	assert_int_equal(json_array_size(got), 0);
	json_decref(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(levels),
	    cmocka_unit_test(bounded),
	    cmocka_unit_test(missing),
	};
	int fd = mkstemp(path), r;

	if (fd < 0)
		return 1;
	close(fd);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return r;
}
