/* SPDX-License-Identifier: GPL-2.0-or-later
 * YAML's core schema, places, limits; sizes and durations. */
#include "units.h"
#include "yaml.h"
#include "yaml_scalar.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void scalar_is(const char *text, json_t *wanted)
{
	const char *why = NULL;
	json_t *got = yaml_scalar(text, strlen(text), true, &why);

	if (!json_equal(got, wanted))
		fail_msg("\"%s\"", text);
	json_decref(got);
	json_decref(wanted);
}

static void test_scalars(void **state)
{
	static const char *const strings[] = {"no",         "yes",
	                                      "on",         "off",
	                                      "y",          "No",
	                                      "tRue",       "nULL",
	                                      "1_000",      "0b1",
	                                      "190:20:30",  "+0x1",
	                                      "0o8",        "0x",
	                                      "1.2.3",      ".",
	                                      "-",          "+",
	                                      "e3",         "1e",
	                                      "2026-11-30", "52:54:00:12:34:56",
	                                      "=",          "<<",
	                                      "4MiB",       "- 1"};

	(void)state;
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		scalar_is(strings[i], json_string(strings[i]));
	scalar_is("", json_null());
	scalar_is("~", json_null());
	scalar_is("TRUE", json_true());
	scalar_is("false", json_false());
	scalar_is("0", json_integer(0));
	scalar_is("-7", json_integer(-7));
	scalar_is("+7", json_integer(7));
	scalar_is("007", json_integer(7));
	scalar_is("0o17", json_integer(15));
	scalar_is("0xfF", json_integer(255));
	scalar_is("9223372036854775807", json_integer(INT64_MAX));
	scalar_is("1.5", json_real(1.5));
	scalar_is(".5", json_real(0.5));
	scalar_is("1.", json_real(1));
	scalar_is("1e3", json_real(1000));
}

static void test_refused_scalars(void **state)
{
	static const char *const texts[] = {"9223372036854775808", ".inf", "-.INF", ".nan", "1e999", "\xff",
	                                    "0xfffffffffffffffff"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *why = NULL;

		assert_null(yaml_scalar(texts[i], strlen(texts[i]), true, &why));
		assert_non_null(why);
	}
}

static void test_quoted(void **state)
{
	const char *why;
	json_t *got = yaml_scalar("7", 1, false, &why);

	(void)state;
	assert_string_equal(json_string_value(got), "7");
	json_decref(got);
}

static void refused_at(const char *text, size_t size, int line, int column)
{
	int at_line, at_column;
	const char *why = yaml_refuse_text(text, size, &at_line, &at_column);

	if (!line) {
		assert_null(why);
		return;
	}
	assert_non_null(why);
	assert_int_equal(at_line, line);
	assert_int_equal(at_column, column);
}

static void test_refused_text(void **state)
{
	static const char *const bad[] = {"\x80",
	                                  "\xc0\x80",
	                                  "\xc1\xbf",
	                                  "\xc3",
	                                  "\xe0\x9f\xbf",
	                                  "\xed\xa0\x80",
	                                  "\xe2\x82",
	                                  "\xf0\x8f\xbf\xbf",
	                                  "\xf4\x90\x80\x80",
	                                  "\xf5\x80\x80\x80",
	                                  "\xe2\x28\xa1",
	                                  "\xf0\x90\x28\xbc",
	                                  "\x01",
	                                  "\x7f",
	                                  "\x1b",
	                                  "%TAG",
	                                  "%YAML 1.1\n"};
	static const char *const good[] = {
	    "",       "\t\r\n",          "\xc2\x80", "\xed\x9f\xbf", "\xef\xbf\xbf", "\xf4\x8f\xbf\xbf",
	    "a %TAG", "%YAML 1.2\n---\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refused_at(bad[i], strlen(bad[i]), 1, 1);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		refused_at(good[i], strlen(good[i]), 0, 0);
	refused_at("a\0b", 3, 1, 2);
	refused_at("a\n\xc3\xb6\xff", 5, 2, 2);
	refused_at("a\n%b", 4, 2, 1);
}

static void test_places(void **state)
{
	static const char text[] = "a: 1\nb:\n  - x\n  - {c/d: y,\n     e: }\nf: &g [1]\nh: *g\n";
	struct complaints c = {0};
	struct yaml_doc doc;

	(void)state;
	assert_int_equal(yaml_parse(text, strlen(text), &c, &doc), 0);
	yaml_complain(&doc, "/a", false, "1");
	yaml_complain(&doc, "/a", true, "2");
	yaml_complain(&doc, "/b/1/c~1d", false, "3");
	yaml_complain(&doc, "/b/1/e", false, "4");
	yaml_complain(&doc, "/b/1/none/none", false, "5");
	yaml_complain(&doc, "", false, "6");
	yaml_complain(&doc, "/h/0", false, "7");
	yaml_complain(&doc, "/h/0", false, "7");
	static const int wanted[][2] = {{1, 4}, {1, 1}, {4, 11}, {5, 6}, {4, 5}, {1, 1}, {7, 4}};

	assert_int_equal(c.count, sizeof(wanted) / sizeof(wanted[0]));
	for (size_t i = 0; i < c.count; i++) {
		assert_int_equal(c.items[i].line, wanted[i][0]);
		assert_int_equal(c.items[i].column, wanted[i][1]);
	}
	assert_int_equal(json_integer_value(json_array_get(json_object_get(doc.root, "h"), 0)), 1);
	complaints_free(&c);
	yaml_free(&doc);
}

static void test_too_many_complaints(void **state)
{
	struct complaints c = {0};
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	(void)state;
	for (int i = 0; i < 2 * COMPLAINTS_MAX; i++)
		complain_at(&c, 1000 - i, 1, "x%d", i);
	complaints_print(&c, "f", to);
	fclose(to);
	assert_non_null(strstr(text, "f: and 100 more\n"));
	assert_true(!strncmp(text, "f:901:1: x99\n", 13));
	free(text);
}

static void size_is(const char *text, int r, uint64_t wanted)
{
	uint64_t bytes = 0;
	char why[200] = "";

	if (units_size(text, &bytes, why, sizeof(why)) != r || (!r && bytes != wanted))
		fail_msg("%s: %llu %s", text, (unsigned long long)bytes, why);
}

static void test_sizes(void **state)
{
	static const char *const bad[] = {
	    "",     "B",   "-1",    "1 M",  "1K",   "4KB",     "1.5MiB",
	    "0x10", "4 M", "4MiBx", "MiB4", "9PiB", "8193TiB", "99999999999999999999999"};
	char text[32];

	(void)state;
	size_is("512", 0, 512);
	size_is("4MiB", 0, 4 << 20);
	size_is("4 MiB", 0, 4 << 20);
	size_is("1GB", 0, 1000000000);
	size_is("32kB", 0, 32000);
	size_is("0", 0, 0);
	size_is("7B", 0, 7);
	size_is("8192TiB", 0, UINT64_C(1) << 53);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		size_is(bad[i], -EINVAL, 0);
	assert_string_equal(units_size_text(4 << 20, text, sizeof(text)), "4MiB");
	assert_string_equal(units_size_text(1536 << 10, text, sizeof(text)), "1536KiB");
	assert_string_equal(units_size_text(513, text, sizeof(text)), "513B");
	assert_string_equal(units_size_text(0, text, sizeof(text)), "0B");
	assert_string_equal(units_size_text(UINT64_C(1) << 40, text, sizeof(text)), "1TiB");
}

static void test_durations(void **state)
{
	static const char *const bad[] = {"60", "", "s", "0s", "-1s", "1m", "1day", "169h", "1.5s", "60S"};
	uint64_t ms;
	char why[200], text[32];

	(void)state;
	assert_int_equal(units_duration("200ms", &ms, why, sizeof(why)), 0);
	assert_int_equal(ms, 200);
	assert_int_equal(units_duration("5min", &ms, why, sizeof(why)), 0);
	assert_int_equal(ms, 300000);
	assert_int_equal(units_duration("168h", &ms, why, sizeof(why)), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (units_duration(bad[i], &ms, why, sizeof(why)) != -EINVAL)
			fail_msg("%s passes", bad[i]);
	assert_string_equal(units_duration_text(41500, text, sizeof(text)), "42 s");
	assert_string_equal(units_duration_text(200000, text, sizeof(text)), "3 min 20 s");
	assert_string_equal(units_duration_text(7500000, text, sizeof(text)), "2 h 5 min");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_scalars),   cmocka_unit_test(test_refused_scalars),
	    cmocka_unit_test(test_quoted),    cmocka_unit_test(test_places),
	    cmocka_unit_test(test_sizes),     cmocka_unit_test(test_too_many_complaints),
	    cmocka_unit_test(test_durations), cmocka_unit_test(test_refused_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
