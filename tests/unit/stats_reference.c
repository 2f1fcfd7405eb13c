/* SPDX-License-Identifier: GPL-2.0-or-later
 * lab/stats against a second implementation: tests/data/stats/reference.py (scipy) made the values. */
#include "stats_near.h"

#include <jansson.h>
#include <stdlib.h>

enum { MOST = 512 };

static json_t *reference;

static double number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	assert_true(json_is_number(value));
	return json_number_value(value);
}

static size_t list(const json_t *object, const char *key, double *values)
{
	const json_t *array = json_object_get(object, key);

	assert_true(json_array_size(array) > 0 && json_array_size(array) <= MOST);
	for (size_t i = 0; i < json_array_size(array); i++)
		values[i] = json_number_value(json_array_get(array, i));
	return json_array_size(array);
}

/* The cases of NAME; there are some. */
static const json_t *cases(const char *name)
{
	const json_t *array = json_object_get(reference, name);

	assert_true(json_array_size(array) > 1);
	return array;
}

static void test_median(void **state)
{
	double values[MOST];
	const json_t *c;
	size_t i;

	(void)state;
	json_array_foreach (cases("median"), i, c) {
		size_t n = list(c, "values", values);
		struct stats_interval got = stats_median_interval(values, n, number(c, "confidence"));

		near(got.low, number(c, "low"));
		near(got.high, number(c, "high"));
		near(got.confidence, number(c, "covers"));
		near(stats_median(values, n), number(c, "median"));
	}
}

static void test_ratio(void **state)
{
	double a[MOST], b[MOST];
	const json_t *c;
	size_t i;

	(void)state;
	json_array_foreach (cases("ratio"), i, c) {
		size_t n = list(c, "a", a), m = list(c, "b", b);
		struct stats_ratio r;

		assert_int_equal(stats_ratio(a, n, b, m, number(c, "margin"), number(c, "confidence"), &r),
		                 0);
		near(r.median, number(c, "median"));
		near(r.p_above, number(c, "p_above"));
		near(r.p_below, number(c, "p_below"));
		near(r.p_apart, number(c, "p_apart"));
		assert_int_equal(r.enough, json_is_true(json_object_get(c, "enough")));
		if (!r.enough)
			continue;
		near(r.interval.low, number(c, "low"));
		near(r.interval.high, number(c, "high"));
	}
}

static void test_split(void **state)
{
	double values[MOST], r[3], t2[3];
	const json_t *c;
	size_t i;

	(void)state;
	json_array_foreach (cases("split"), i, c) {
		struct stats_split s;

		list(c, "values", values);
		list(c, "r", r);
		list(c, "t2", t2);
		stats_split(values, (size_t)r[0], (size_t)r[1], (size_t)r[2], &s);
		for (int level = 0; level < 3; level++)
			within(s.t2[level], t2[level], 1e-8);
		within(s.boot_p, number(c, "boot_p"), 1e-8);
	}
}

static void test_knee(void **state)
{
	double rounds[MOST];
	const json_t *c;
	size_t i, found = 0;

	(void)state;
	json_array_foreach (cases("knee"), i, c) {
		size_t n = list(c, "rounds", rounds);
		struct stats_knee k;

		assert_int_equal(stats_knee(rounds, n, &k), 0);
		within(k.gain, number(c, "gain"), 1e-7);
		near(k.threshold, number(c, "threshold"));
		assert_int_equal(k.found, json_is_true(json_object_get(c, "found")));
		if (!k.found)
			continue;
		found++;
		assert_int_equal(k.at, (size_t)number(c, "at"));
		near(k.before, number(c, "before"));
		near(k.after, number(c, "after"));
	}
	assert_true(found > 1 && found < i); /* both come up */
}

static void test_series(void **state)
{
	double values[MOST], numbers[MOST];
	unsigned int group[MOST];
	const json_t *c;
	size_t i;

	(void)state;
	json_array_foreach (cases("series"), i, c) {
		size_t n = list(c, "values", values);
		struct stats_test t;

		list(c, "group", numbers);
		for (size_t k = 0; k < n; k++)
			group[k] = (unsigned int)numbers[k];
		near(stats_lag1(values, n).statistic, number(c, "lag1"));
		near(stats_drift(values, n).statistic, number(c, "tau"));
		near(stats_drift(values, n).p, number(c, "drift_p"));
		assert_int_equal(stats_groups(values, group, n, &t), 0);
		near(t.statistic, number(c, "h"));
		near(t.p, number(c, "groups_p"));
	}
}

/* Other draws: the ends agree within a tenth of the width. */
static void test_bootstrap(void **state)
{
	struct stats_sample samples[MOST];
	double values[MOST], ratio;
	const json_t *c;
	size_t i;

	(void)state;
	json_array_foreach (cases("bootstrap"), i, c) {
		size_t n = list(c, "values", values), each = n / (size_t)number(c, "boots");
		double low = number(c, "low"), high = number(c, "high");
		struct stats_interval got, again;

		for (size_t k = 0; k < n; k++)
			samples[k] = (struct stats_sample){values[k], (uint32_t)(k / each), 0};
		assert_int_equal(stats_bootstrap_median(samples, n, 0.95, STATS_SEED, &got), 0);
		assert_true(fabs(got.low - low) < (high - low) / 10);
		assert_true(fabs(got.high - high) < (high - low) / 10);
		assert_int_equal(stats_bootstrap_median(samples, n, 0.95, STATS_SEED, &again), 0);
		assert_true(again.low == got.low && again.high == got.high);
		assert_int_equal(stats_bootstrap_ratio(samples, n, samples, n, 0.95, STATS_SEED, &ratio,
		                                       &got),
		                 0);
		near(ratio, 1);
		assert_true(got.low < 1 && got.high > 1);
	}
	assert_int_equal(stats_bootstrap_median(samples, 1, 0.95, 1, &(struct stats_interval){0}), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_median), cmocka_unit_test(test_ratio),  cmocka_unit_test(test_split),
	    cmocka_unit_test(test_knee),   cmocka_unit_test(test_series), cmocka_unit_test(test_bootstrap),
	};

	reference = json_load_file("tests/data/stats/reference.json", 0, NULL);
	if (!reference)
		return 1;
	int r = cmocka_run_group_tests(tests, NULL, NULL);
	json_decref(reference);
	return r;
}
