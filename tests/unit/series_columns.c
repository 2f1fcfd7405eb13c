/* SPDX-License-Identifier: GPL-2.0-or-later
 * What observers saw: what is written is read again, the example comes from another implementation, and what
 * contradicts itself is refused. */
#include "series.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { ROWS = 5000 };

static void round_trip(const int64_t *values, size_t rows)
{
	size_t size = series_encode_column(values, rows, NULL, 0);
	unsigned char *bytes = malloc(size + 1);
	int64_t *again = calloc(rows + 1, sizeof(*again));

	assert_int_equal(series_encode_column(values, rows, bytes, size), size);
	assert_int_equal(series_decode_column(bytes, size, again, rows), size);
	assert_memory_equal(again, values, rows * sizeof(*values));
	/* Cut anywhere, it is not a column. */
	for (size_t cut = 0; cut < size && cut < 64; cut++)
		assert_int_equal(series_decode_column(bytes, cut, again, rows), 0);
	free(bytes);
	free(again);
}

static void test_round_trip(void **state)
{
	static int64_t values[ROWS];
	uint64_t random = 1;

	(void)state;
	round_trip((int64_t[]){0}, 1);
	round_trip((int64_t[]){-1, -1, -1}, 3);
	round_trip((int64_t[]){INT64_MIN, INT64_MAX, INT64_MIN, 0, INT64_MAX, -1}, 6);
	round_trip((int64_t[]){0, 0, 0, 5, 5, 5, 5, 4}, 8);
	round_trip(values, ROWS);
	for (size_t i = 0; i < ROWS; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		/* Of every magnitude, often the same as before */
		values[i] = random >> 62 ? (int64_t)random >> (random >> 33) % 64 : i ? values[i - 1] : 0;
	}
	round_trip(values, ROWS);
}

static void test_bytes(void **state)
{
	static const int64_t values[] = {0, 0, 0, 64, 63, 63};
	static const unsigned char wanted[] = {0, 2, 0x80, 1, 1, 0, 0};
	unsigned char bytes[16];

	(void)state;
	assert_int_equal(series_encode_column(values, 6, bytes, sizeof(bytes)), sizeof(wanted));
	assert_memory_equal(bytes, wanted, sizeof(wanted));
}

/* An hour of 200 busy columns stays small. */
static void test_size(void **state)
{
	enum { HOUR = 3600, COLUMNS = 200 };
	static int64_t values[HOUR];
	uint64_t random = 7;
	size_t size;

	(void)state;
	for (size_t i = 1; i < HOUR; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		values[i] = values[i - 1] + 40000 + (int64_t)(random >> 52);
	}
	size = series_encode_column(values, HOUR, NULL, 0);
	assert_true(size <= 3 * HOUR);
	assert_true(COLUMNS * size / 3 * 4 < 3 << 20);
}

static json_t *example(void)
{
	json_t *result = json_load_file("results-schema/examples/valid/result--series.json", 0, NULL);
	json_t *series = json_deep_copy(json_object_get(json_object_get(result, "evidence"), "series"));

	assert_non_null(series);
	json_decref(result);
	return series;
}

static void test_example(void **state)
{
	json_t *json = example();
	const struct series_column *c;
	struct series *s;

	(void)state;
	assert_int_equal(series_load(json, &s), 0);
	assert_int_equal(s->rows, 5);
	assert_int_equal(s->column_count, 7);
	assert_int_equal(s->time_ns[1], 1000012345);
	assert_int_equal(s->time_ns[4], 3210000000);
	assert_int_equal(s->begin_ns, 150000000);
	assert_int_equal(s->cost_ns, 4200000);
	c = series_find(s, "disk", "vda", "write_bytes");
	assert_non_null(c);
	assert_false(c->gauge);
	assert_int_equal(c->values[4], 2097152);
	assert_true(series_rate(s, c, 1) > 655340 && series_rate(s, c, 1) < 655360);
	c = series_find(s, "tcp", "10.99.0.1:7788-10.99.0.2:41234", "rtt_us");
	assert_true(c && c->gauge);
	assert_int_equal(c->values[2], -1);
	assert_int_equal(c->values[4], 310);
	assert_null(series_find(s, "disk", "vdb", "write_bytes"));
	series_free(s);
	json_decref(json);
}

/* Written again, it is the same to the letter. */
static void test_json(void **state)
{
	json_t *json = example(), *again;
	struct series *s;

	(void)state;
	assert_int_equal(series_load(json, &s), 0);
	again = series_json(s);
	json_object_del(json, "notes");
	assert_true(json_equal(json, again));
	json_decref(again);
	json_decref(json);
	series_free(s);
}

static void refused(const char *key, json_t *value)
{
	json_t *json = example();
	struct series *s;

	json_object_set_new(json, key, value);
	assert_int_equal(series_load(json, &s), -EBADMSG);
	assert_null(s);
	json_decref(json);
}

static void test_refused(void **state)
{
	(void)state;
	refused("layout", json_string("delta-2"));
	refused("rows", json_integer(0));
	refused("rows", json_integer(4));
	refused("rows", json_integer(6));
	refused("rows", json_integer(SERIES_ROWS_MAX + 1));
	refused("data", json_string("AAA"));
	refused("data", json_string(""));
	refused("data", json_string("AAAA"));
	refused("data", json_null());
	refused("objects", json_array());
	refused("objects", json_pack("[{s:s, s:s, s:[s], s:[]}]", "source", "a source of too many letters",
	                             "object", "x", "counters", "y", "gauges"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_round_trip), cmocka_unit_test(test_bytes), cmocka_unit_test(test_size),
	    cmocka_unit_test(test_example),    cmocka_unit_test(test_json),  cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
