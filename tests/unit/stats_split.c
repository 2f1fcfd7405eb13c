/* SPDX-License-Identifier: GPL-2.0-or-later
 * The split of variance by level and the repetitions it leads to, against numbers worked out by hand. */
#include "stats_near.h"

/* Two cells of two boots of two samples. Cell A: boot means 11 and 15, B: 21 and 29. Within boots every
 * sample is 1 from its mean: S_1^2 = 8 squares of 1 over 4 = 2. S_2^2: A 8, B 32, pooled 20; T_2^2 = 20 - 2/2
 * = 19. Cell means 13 and 25: 72, less 20/2 for their boots: 62. F = 2 * 20 / 2 = 20 with 2 and 4 degrees of
 * freedom: p = (1 + 2 * 20 / 4)^-2. */
static void test_split(void **state)
{
	static const double values[] = {10, 12, 14, 16, 20, 22, 28, 30};
	struct stats_split v;

	(void)state;
	stats_split(values, 2, 2, 2, &v);
	near(v.s2[0], 2);
	near(v.s2[1], 20);
	near(v.s2[2], 72);
	near(v.t2[0], 2);
	near(v.t2[1], 19);
	near(v.t2[2], 62);
	near(v.boot_p, 1.0 / 121);
	near(v.mean, 19);
	assert_true(v.known[0] && v.known[1] && v.known[2]);
}

/* Boot means 11, 11: what boots add is not negative. */
static void test_split_nothing(void **state)
{
	static const double values[] = {10, 12, 12, 10};
	struct stats_split v;

	(void)state;
	stats_split(values, 1, 2, 2, &v);
	near(v.t2[0], 2);
	near(v.t2[1], 0);
	near(v.t2[2], 0);
	near(v.boot_p, 1);
	assert_false(v.known[2]);
	/* One boot: cell means 11 and 14; 4.5, less 2/2 for their samples. */
	static const double one_boot[] = {10, 12, 13, 15};

	stats_split(one_boot, 2, 1, 2, &v);
	assert_false(v.known[1]);
	near(v.t2[2], 3.5);
	/* One sample a boot: 1 and 3, 5 and 9; boots and samples together (1 + 1 + 4 + 4) / 2, cells 12.5 -
	 * 5/2. */
	static const double alone[] = {1, 3, 5, 9};

	stats_split(alone, 2, 2, 1, &v);
	assert_false(v.known[0]);
	near(v.t2[1], 5);
	near(v.t2[2], 10);
}

/* Mode a, b by history 0, 1: means 10 12 20 26 around 17: 164. Modes 11 and 23: 144; histories 15 and 19: 16.
 */
static void test_eta(void **state)
{
	static const double means[] = {10, 12, 20, 26}, same[] = {5, 5, 5, 5};
	static const unsigned int mode[] = {0, 0, 1, 1}, history[] = {0, 1, 0, 1}, each[] = {0, 1, 2, 3};

	(void)state;
	near(stats_eta_squared(means, mode, 4), 144.0 / 164);
	near(stats_eta_squared(means, history, 4), 16.0 / 164);
	near(stats_eta_squared(means, each, 4), 1);
	near(stats_eta_squared(same, mode, 4), 0);
}

/* A boot's mean that deviates by PERCENT of the mean, its samples not at all. */
static struct stats_repeats of_boots(double percent)
{
	const struct stats_split pilot = {.t2 = {0, percent * percent, 0}, .mean = 100};

	return stats_repeats(&pilot, 60, 240, 0.01, 0.95);
}

/* Samples of 60 s that deviate by 2 %, boots of 240 s by 1 %: sqrt(240 / 60 * 4 / 1) = 4 samples a boot. t =
 * 2.447, 2.110, 2.026 with 6, 17, 37 degrees of freedom: t * S / sqrt(n) is within 1 % first with 7, 18, 38
 * boots whose means deviate by 1, 2, 3 %. */
static void test_repeats(void **state)
{
	const struct stats_split pilot = {.t2 = {4, 1, 0}, .mean = 100};
	struct stats_repeats r = stats_repeats(&pilot, 60, 240, 0.01, 0.95);

	(void)state;
	assert_int_equal(r.samples, 4);
	near(r.cost, (double)r.boots * (240 + 4 * 60));
	assert_true(r.boots >= r.boots_mean);
	assert_int_equal(of_boots(1).boots_mean, 7);
	assert_int_equal(of_boots(2).boots_mean, 18);
	assert_int_equal(of_boots(3).boots_mean, 38);
	assert_int_equal(of_boots(1).samples, 1);
	assert_int_equal(of_boots(0).boots, 6);
	/* Boots that add nothing: one boot's samples would do, but six boots it is. */
	const struct stats_split quiet = {.t2 = {4, 0, 0}, .mean = 100};

	r = stats_repeats(&quiet, 60, 240, 0.01, 0.95);
	assert_int_equal(r.samples, 4);
}

/* The lowest pair of order statistics that covers the median with 95 % of 20 is the 6th from both ends:
 * Blom's score (6 - 0.375) / 20.25 is 0.2778, and the normal quantile there -0.5895. */
static void test_boots_for(void **state)
{
	(void)state;
	assert_int_equal(stats_boots_for(0, 0.01, 0.95), 6);
	assert_true(stats_boots_for(0.01, 0.005895 + 1e-5, 0.95) <= 20);
	assert_int_equal(stats_boots_for(1, 1e-9, 0.95), 10000);
	for (double precision = 0.1; precision > 0.005; precision /= 1.3)
		assert_true(stats_boots_for(0.02, precision / 1.3, 0.95) >=
		            stats_boots_for(0.02, precision, 0.95));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_split),   cmocka_unit_test(test_split_nothing), cmocka_unit_test(test_eta),
	    cmocka_unit_test(test_repeats), cmocka_unit_test(test_boots_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
