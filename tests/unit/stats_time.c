/* SPDX-License-Identifier: GPL-2.0-or-later
 * What depends on the order of values: drift, autocorrelation, steady state, the knee. */
#include "stats_near.h"

static void test_lag1(void **state)
{
	static const double up[] = {1, 2, 3, 4}, turns[] = {1, -1, 1, -1, 1, -1, 1, -1};

	(void)state;
	/* deviations -1.5 -.5 .5 1.5: (.75 - .25 + .75) / 5 */
	near(stats_lag1(up, 4).statistic, 0.25);
	near(stats_lag1(up, 4).p, 1);
	near(stats_lag1(turns, 8).statistic, -7.0 / 8);
	assert_true(stats_lag1(turns, 8).p < 0.05);
	near(stats_lag1((double[]){5, 5, 5}, 3).statistic, 0);
}

static void test_drift(void **state)
{
	static const double up[] = {1, 2, 3, 4, 5, 6, 7, 8}, mixed[] = {2, 1, 3, 3}, same[] = {4, 4, 4};
	struct stats_test t = stats_drift(up, 8);

	(void)state;
	near(t.statistic, 1);
	/* S = 28, variance 8 * 7 * 21 / 18 = 65.33: z = 27 / 8.083 = 3.3405 */
	within(t.p, 8.36e-4, 1e-5);
	/* pairs: one down, four up, one tie: 3 / sqrt(6 * 5) */
	near(stats_drift(mixed, 4).statistic, 3 / sqrt(30));
	near(stats_drift(same, 3).statistic, 0);
	near(stats_drift(NULL, 0).p, 1);
	/* one order of 6! is all up, five have one pair down: 2 / 720, 2 * 6 / 720 */
	near(stats_drift(up, 6).p, 2.0 / 720);
	near(stats_drift((double[]){1, 2, 3, 4, 6, 5}, 6).p, 12.0 / 720);
	near(stats_drift((double[]){6, 5, 4, 3, 2, 1}, 6).p, 2.0 / 720);
	near(stats_drift((double[]){2, 1}, 2).p, 1);
	near(stats_drift(mixed, 4).p, 1);
}

/* Ranks 1 2 3 4 against 5 6 7 8: H = 12/72 * (10^2/4 + 26^2/4) - 27 = 16/3; p = erfc(sqrt(H / 2)). */
static void test_groups(void **state)
{
	static const double values[] = {1, 5, 2, 6, 3, 7, 4, 8};
	static const unsigned int group[] = {0, 9, 0, 9, 0, 9, 0, 9}, one[8] = {0};
	struct stats_test t;

	(void)state;
	assert_int_equal(stats_groups(values, group, 8, &t), 0);
	near(t.statistic, 16.0 / 3);
	near(t.p, erfc(sqrt(8.0 / 3)));
	assert_int_equal(stats_groups(values, one, 8, &t), 0);
	near(t.p, 1);
}

/* Two cells, 100 and 10, turn by turn; what they differ by does not count, that later is slower does. */
static void test_order(void **state)
{
	struct stats_measured m[20];
	struct stats_order o;

	(void)state;
	for (unsigned int i = 0; i < 20; i++)
		m[i] = (struct stats_measured){(i % 2 ? 10 : 100) * (1 - 0.01 * i), i % 2, i / 4 + 1};
	assert_int_equal(stats_order(m, 20, &o), 0);
	assert_int_equal(o.used, 20);
	assert_true(o.drift.statistic < -0.9 && o.drift.p < 0.001);
	assert_true(o.lag1.statistic > 0.5 && o.lag1.p < 0.01);
	near(o.place.p, 1); /* no cell's samples follow each other */
	assert_true(o.before.p > 0.05);
	/* the second sample of a boot is always faster; the run as a whole does not move */
	for (unsigned int i = 0; i < 20; i++)
		m[i] = (struct stats_measured){i % 2 ? 110 : 100, 0, i % 2 + 1};
	assert_int_equal(stats_order(m, 20, &o), 0);
	/* rank sums 10 and 20 of 10 boots: 12 / (10 * 2 * 3) * 500 - 90 = 10; p = erfc(sqrt(5)) */
	near(o.place.statistic, 10);
	near(o.place.p, erfc(sqrt(5)));
	assert_true(o.drift.p > 0.5);
	/* cells met once say nothing */
	for (unsigned int i = 0; i < 20; i++)
		m[i].cell = i;
	assert_int_equal(stats_order(m, 20, &o), 0);
	assert_int_equal(o.used, 0);
	near(o.drift.p, 1);
}

static void test_steady(void **state)
{
	static const double flat[] = {96, 98, 100, 102, 104};   /* range and slope 8 % */
	static const double slope[] = {94, 97, 100, 103, 106};  /* 12 %: the slope is too much */
	static const double range[] = {100, 111, 100, 89, 100}; /* 22 %, slope 3.2 / 100 * ... small */
	static const double settles[] = {200, 150, 120, 101, 100, 99, 100, 101};
	struct stats_steady s;

	(void)state;
	stats_steady(flat, 5, &s);
	assert_true(s.reached && s.first == 0);
	near(s.mean, 100);
	near(s.range_of_mean, 0.08);
	near(s.slope_of_mean, 0.08);
	stats_steady(slope, 5, &s);
	assert_false(s.reached);
	stats_steady(range, 5, &s);
	assert_false(s.reached);
	near(s.slope_of_mean, 0.088); /* (0 - 11 + 0 - 11 + 0) / 10 = -2.2 a round */
	stats_steady(settles, 8, &s);
	assert_true(s.reached);
	assert_int_equal(s.first, 3); /* 120 101 100 99 100 has a range of 20.2 % */
	stats_steady(flat, 4, &s);
	assert_false(s.reached);
	assert_true(isnan(s.mean));
}

/* A repeatable disturbance of at most 1. */
static double wobble(size_t i)
{
	return sin((double)(i * i) * 1.7);
}

static void test_knee(void **state)
{
	double x[60];
	struct stats_knee k;

	(void)state;
	for (size_t i = 0; i < 60; i++)
		x[i] = (i < 7 ? 600 : 240) + 20 * wobble(i);
	assert_int_equal(stats_knee(x, 60, &k), 0);
	assert_true(k.found);
	assert_int_equal(k.at, 7);
	within(k.before, 600, 0.04);
	within(k.after, 240, 0.04);
	/* drift is no knee */
	for (size_t i = 0; i < 60; i++)
		x[i] = 600 - 5 * (double)i + 10 * wobble(i);
	assert_int_equal(stats_knee(x, 60, &k), 0);
	assert_false(k.found);
	assert_int_equal(k.at, 60);
	/* nor is 2 %, however clear */
	for (size_t i = 0; i < 60; i++)
		x[i] = (i < 30 ? 600 : 588) + wobble(i);
	assert_int_equal(stats_knee(x, 60, &k), 0);
	assert_false(k.found);
	assert_int_equal(stats_knee((double[]){9, 9, 9, 1, 1}, 5, &k), 0);
	assert_false(k.found);
	near(k.after, 9);
	assert_int_equal(stats_knee((double[]){9, 9, 9, 1, 1, 1}, 6, &k), 0);
	assert_true(k.found);
	assert_int_equal(k.at, 3);
	assert_int_equal(stats_knee(NULL, 0, &k), 0);
	assert_false(k.found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_lag1),  cmocka_unit_test(test_drift),  cmocka_unit_test(test_groups),
	    cmocka_unit_test(test_order), cmocka_unit_test(test_steady), cmocka_unit_test(test_knee),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
