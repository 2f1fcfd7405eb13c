/* SPDX-License-Identifier: GPL-2.0-or-later
 * The histogram beside exact, sorted data. */
#include "histogram.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

enum { N = 200000 };

static struct histogram h, other;
static const uint32_t asked_ppm[] = {1, 10000, 500000, 750000, 900000, 990000, 999000, 999900, 1000000};

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Even over the orders of magnitude: as many between 1 and 2 ns as between 32 and 64 s. */
static int64_t wide(uint64_t *state)
{
	uint64_t bits = next_random(state) % 36,
	         ns = (UINT64_C(1) << bits) | (next_random(state) >> (64 - bits) % 64);

	return (int64_t)(bits ? ns % HISTOGRAM_MAX_NS + 1 : 1);
}

static void percentiles_have_three_digits(void **state)
{
	int64_t *sorted = malloc(N * sizeof(*sorted));
	uint64_t seed = 1, sum = 0;

	(void)state;
	assert_non_null(sorted);
	histogram_clear(&h);
	for (size_t i = 0; i < N; i++) {
		sorted[i] = wide(&seed);
		sum += (uint64_t)sorted[i];
		histogram_record(&h, sorted[i]);
	}
	qsort(sorted, N, sizeof(*sorted), by_size);
	for (size_t i = 0; i < sizeof(asked_ppm) / sizeof(*asked_ppm); i++) {
		size_t rank = ((size_t)asked_ppm[i] * N + 999999) / 1000000;
		uint64_t exact = (uint64_t)sorted[rank - 1], got = histogram_percentile_ns(&h, asked_ppm[i]);

		assert_in_range(got, exact, exact + exact / 1000);
	}
	assert_int_equal(h.count, N);
	assert_int_equal(h.sum_ns, sum);
	assert_int_equal(h.min_ns, sorted[0]);
	assert_int_equal(h.max_ns, sorted[N - 1]);
	assert_int_equal(histogram_percentile_ns(&h, 1000000), sorted[N - 1]);
	free(sorted);
}

/* Buckets follow each other without gap or overlap, each narrower than a thousandth of its values. */
static void buckets_have_no_gap(void **state)
{
	unsigned int before = histogram_index(1);

	(void)state;
	for (uint64_t ns = 2; ns <= HISTOGRAM_MAX_NS; ns += 1 + ns / 4096) {
		unsigned int at = histogram_index(ns);

		assert_in_range(at, before, before + 1);
		assert_in_range(histogram_index(ns + ns / 1000), at, at + (ns < 2048 ? 2 : 3));
		before = at;
	}
	assert_int_equal(histogram_index(HISTOGRAM_MAX_NS), HISTOGRAM_BUCKETS - 1);
	assert_int_equal(histogram_index(2047), 2047);
	assert_int_equal(histogram_index(2048), 2048);
	assert_int_equal(histogram_index(2049), 2048);
}

static void ends_are_kept(void **state)
{
	(void)state;
	histogram_clear(&h);
	assert_int_equal(histogram_percentile_ns(&h, 500000), 0);
	histogram_record(&h, 0);
	histogram_record(&h, -5);
	assert_int_equal(h.min_ns, 1);
	assert_int_equal(histogram_percentile_ns(&h, 500000), 1);
	histogram_record(&h, 3 * HISTOGRAM_MAX_NS);
	assert_int_equal(h.over, 1);
	assert_int_equal(h.max_ns, 3 * HISTOGRAM_MAX_NS);
	assert_int_equal(histogram_percentile_ns(&h, 999900), 3 * HISTOGRAM_MAX_NS);
}

static void merge_is_recording_both(void **state)
{
	static struct histogram both;
	uint64_t seed = 7;

	(void)state;
	histogram_clear(&h);
	histogram_clear(&other);
	histogram_clear(&both);
	for (size_t i = 0; i < 10000; i++) {
		int64_t ns = wide(&seed);

		histogram_record(i % 3 ? &h : &other, ns);
		histogram_record(&both, ns);
	}
	histogram_merge(&h, &other);
	assert_memory_equal(&h, &both, sizeof(h));
}

static void json_goes_both_ways(void **state)
{
	uint64_t seed = 3;
	json_t *json;
	char *text;

	(void)state;
	histogram_clear(&h);
	for (size_t i = 0; i < 5000; i++)
		histogram_record(&h, 80000 + (int64_t)(next_random(&seed) % 40000));
	json = histogram_json(&h);
	text = json_dumps(json, JSON_COMPACT);
	assert_non_null(text);
	json_decref(json);
	json = json_loads(text, 0, NULL);
	assert_int_equal(histogram_read(json, &other), 0);
	assert_memory_equal(&h, &other, sizeof(h));
	json_decref(json);
	free(text);
	histogram_clear(&h);
	json = histogram_json(&h);
	assert_int_equal(histogram_read(json, &other), 0);
	assert_memory_equal(&h, &other, sizeof(h));
	json_decref(json);
}

static void wrong_json_is_refused(void **state)
{
	static const char *const buckets[] = {
	    "[[5,1]]",     "[[5,1],[4,1]]", "[[5,1],[5,1]]", "[[5,3]]",     "[[5,0],[6,2]]",
	    "[[27389,2]]", "[[-1,2]]",      "[[5]]",         "[[5,\"2\"]]", "[5,2]",
	    "{}",          "[[5.0,2]]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(buckets) / sizeof(*buckets); i++) {
		json_t *list = json_loads(buckets[i], 0, NULL);
		json_t *json =
		    json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:o}", "layout", "hdr-1024", "count", 2,
		              "sum_ns", 10, "over", 0, "min_ns", 5, "max_ns", 5, "buckets", list);

		assert_non_null(json);
		assert_int_equal(histogram_read(json, &h), -EINVAL);
		json_object_set_new(json, "buckets", json_loads("[[5,2]]", 0, NULL));
		assert_int_equal(histogram_read(json, &h), 0);
		json_object_set_new(json, "layout", json_string("hdr-2048"));
		assert_int_equal(histogram_read(json, &h), -EINVAL);
		json_decref(json);
	}
	assert_int_equal(histogram_read(NULL, &h), -EINVAL);
}

static void percentiles_are_named(void **state)
{
	json_t *json;

	(void)state;
	histogram_clear(&h);
	for (int ns = 1; ns <= 1000; ns++)
		histogram_record(&h, ns);
	json = histogram_percentiles_json(&h);
	assert_int_equal(json_integer_value(json_object_get(json, "p50")), 500);
	assert_int_equal(json_integer_value(json_object_get(json, "p99")), 990);
	assert_int_equal(json_integer_value(json_object_get(json, "p99_9")), 999);
	assert_int_equal(json_integer_value(json_object_get(json, "p99_99")), 1000);
	assert_int_equal(json_integer_value(json_object_get(json, "max")), 1000);
	assert_int_equal(json_integer_value(json_object_get(json, "mean")), 500);
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(percentiles_have_three_digits),
	    cmocka_unit_test(buckets_have_no_gap),
	    cmocka_unit_test(ends_are_kept),
	    cmocka_unit_test(merge_is_recording_both),
	    cmocka_unit_test(json_goes_both_ways),
	    cmocka_unit_test(wrong_json_is_refused),
	    cmocka_unit_test(percentiles_are_named),
	};

	return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
