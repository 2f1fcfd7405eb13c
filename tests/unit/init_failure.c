/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "failure.h"

#include "../../results-schema/schema.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#undef fail /* cmocka has a macro of our name, which its fail_msg() needs */
#define broken(...) (print_error(__VA_ARGS__), _fail(__FILE__, __LINE__))

/* As error.json, which is what it is for. */
static json_t *error_of(const struct failure *why)
{
	json_t *error = failure_json(why, "alpha");
	struct schema_error wrong;

	assert_non_null(error);
	if (schema_check("error.json", error, &wrong))
		broken("%s: %s", wrong.path, wrong.message);
	return error;
}

/* With the errno in the message, whose number and name come along. */
static void system_error(void **state)
{
	struct failure why;
	json_t *error;

	(void)state;
	assert_int_equal(fail(&why, -EBUSY, FAILURE_CELL, "drbd", "/dev/vda", "Stop it.", "cannot open %s",
	                      "vda"),
	                 -EBUSY);
	error = error_of(&why);
	assert_string_equal(json_string_value(json_object_get(error, "node")), "alpha");
	assert_string_equal(json_string_value(json_object_get(error, "step")), "drbd");
	assert_string_equal(json_string_value(json_object_get(error, "object")), "/dev/vda");
	assert_int_equal(json_integer_value(json_object_get(error, "errno")), EBUSY);
	assert_string_equal(json_string_value(json_object_get(error, "errno_name")), "EBUSY");
	assert_non_null(strstr(json_string_value(json_object_get(error, "message")), "cannot open vda: "));
	assert_string_equal(json_string_value(json_object_get(error, "remedy")), "Stop it.");
	assert_string_equal(json_string_value(json_object_get(error, "scope")), "cell");
	assert_null(json_object_get(error, "log"));
	json_decref(error);
}

static void no_system_error(void **state)
{
	struct failure why;
	json_t *error;

	(void)state;
	assert_int_equal(fail(&why, 0, FAILURE_RUN, NULL, NULL, NULL, "%s", ""), -EIO);
	error = error_of(&why);
	/* The schema wants both at least one character long. */
	assert_string_equal(json_string_value(json_object_get(error, "step")), "unknown");
	assert_string_equal(json_string_value(json_object_get(error, "message")), "no message");
	assert_string_equal(json_string_value(json_object_get(error, "object")), "");
	assert_string_equal(json_string_value(json_object_get(error, "scope")), "run");
	assert_null(json_object_get(error, "errno"));
	json_decref(error);
}

static void bytes_that_are_no_text(void **state)
{
	struct failure why;
	json_t *error;

	(void)state;
	fail(&why, 0, FAILURE_SAMPLE, "disk", "serial \xff\xfe", "", "a\xc3 b");
	strcpy(why.log, "ol\xe9");
	error = error_of(&why);
	assert_string_equal(json_string_value(json_object_get(error, "object")), "serial ??");
	assert_string_equal(json_string_value(json_object_get(error, "message")), "a? b");
	assert_string_equal(json_string_value(json_object_get(error, "log")), "ol?");
	json_decref(error);
}

static void long_texts_are_cut(void **state)
{
	struct failure why;
	char *text = malloc(100001);
	json_t *error, *value;

	(void)state;
	memset(text, 'x', 100000);
	text[100000] = '\0';
	fail(&why, -EIO, FAILURE_SAMPLE, text, text, text, "%s", text);
	error = error_of(&why);
	assert_int_equal(json_string_length(json_object_get(error, "step")), 63);
	assert_int_equal(json_string_length(json_object_get(error, "object")), 255);
	assert_in_range(json_string_length(json_object_get(error, "message")), 2047, 8192);
	value = json_text(text);
	assert_int_equal(json_string_length(value), 65535);
	json_decref(value);
	json_decref(error);
	free(text);
}

static void names_of_errors(void **state)
{
	(void)state;
	assert_string_equal(errno_name(ETIMEDOUT), "ETIMEDOUT");
	assert_string_equal(errno_name(EAGAIN), "EAGAIN");
	assert_string_equal(errno_name(99999), "");
}

static void refusals(void **state)
{
	struct failure why;
	json_t *error;

	(void)state;
	assert_int_equal(failure_refusal(-EOPNOTSUPP), FAILURE_UNSUPPORTED);
	assert_int_equal(failure_refusal(-EINVAL), FAILURE_UNSUPPORTED);
	assert_int_equal(failure_refusal(-ENOENT), FAILURE_UNSUPPORTED);
	assert_int_equal(failure_refusal(-EIO), FAILURE_CELL);
	assert_int_equal(failure_refusal(-ENOMEM), FAILURE_CELL);
	assert_int_equal(failure_refusal(0), FAILURE_CELL);
	fail(&why, -EINVAL, failure_refusal(-EINVAL), "unsupported", "cpu.smt", "", "no");
	error = error_of(&why);
	assert_string_equal(json_string_value(json_object_get(error, "scope")), "unsupported");
	json_decref(error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(system_error),       cmocka_unit_test(refusals),
	    cmocka_unit_test(no_system_error),    cmocka_unit_test(bytes_that_are_no_text),
	    cmocka_unit_test(long_texts_are_cut), cmocka_unit_test(names_of_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
