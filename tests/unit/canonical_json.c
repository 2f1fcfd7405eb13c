/* SPDX-License-Identifier: GPL-2.0-or-later
 * Canonical JSON: the same bytes whatever the order of members; SHA-256 against FIPS 180-4's own examples. */
#include "canonical.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void becomes(const char *text, const char *wanted)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
	char *out;

	assert_non_null(value);
	assert_int_equal(canonical_json(value, &out), 0);
	assert_string_equal(out, wanted);
	free(out);
	json_decref(value);
}

static void test_canonical(void **state)
{
	(void)state;
	becomes(" { \"b\" : 1 , \"a\" : [ true , null , -5 ] } ", "{\"a\":[true,null,-5],\"b\":1}");
	becomes("{\"b\":{\"z\":1,\"y\":2},\"B\":3,\"\":4}", "{\"\":4,\"B\":3,\"b\":{\"y\":2,\"z\":1}}");
	becomes("\"\\u00f6\\/\\n\\u0001\"", "\"\xc3\xb6/\\n\\u0001\"");
	becomes("\"\\u2028 \\\" \\\\\"", "\"\xe2\x80\xa8 \\\" \\\\\"");
	becomes("9223372036854775807", "9223372036854775807");
	becomes("[]", "[]");
	becomes("{\"\\u00e9\":1,\"z\":2}", "{\"z\":2,\"\xc3\xa9\":1}");
}

static void test_reals(void **state)
{
	static const char *const texts[] = {"1.5", "[1.0]", "{\"a\": {\"b\": [2, 1e3]}}"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *value = json_loads(texts[i], JSON_DECODE_ANY, NULL);
		char hex[SHA256_HEX_SIZE];
		char *out = (char *)"";

		assert_int_equal(canonical_json(value, &out), -EINVAL);
		assert_null(out);
		assert_int_equal(canonical_id(value, hex), -EINVAL);
		json_decref(value);
	}
}

static void test_sha256(void **state)
{
	char hex[SHA256_HEX_SIZE];

	(void)state;
	assert_int_equal(sha256_hex("abc", 3, hex), 0);
	assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_int_equal(sha256_hex("", 0, hex), 0);
	assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void test_id(void **state)
{
	json_t *one = json_loads("{\"a\": 1, \"b\": {\"c\": 2, \"d\": 3}}", 0, NULL);
	json_t *two = json_loads("{\"b\": {\"d\": 3, \"c\": 2}, \"a\": 1}", 0, NULL);
	char hex[2][SHA256_HEX_SIZE], text[SHA256_HEX_SIZE];
	static const char canonical[] = "{\"a\":1,\"b\":{\"c\":2,\"d\":3}}";

	(void)state;
	assert_int_equal(canonical_id(one, hex[0]), 0);
	assert_int_equal(canonical_id(two, hex[1]), 0);
	assert_string_equal(hex[0], hex[1]);
	assert_int_equal(sha256_hex(canonical, strlen(canonical), text), 0);
	assert_string_equal(hex[0], text);
	json_object_set_new(two, "a", json_integer(2));
	assert_int_equal(canonical_id(two, hex[1]), 0);
	assert_string_not_equal(hex[0], hex[1]);
	json_decref(one);
	json_decref(two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_canonical),
	    cmocka_unit_test(test_reals),
	    cmocka_unit_test(test_sha256),
	    cmocka_unit_test(test_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
