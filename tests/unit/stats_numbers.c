/* SPDX-License-Identifier: GPL-2.0-or-later
 * Medians, intervals, ratios, corrections and decisions against numbers worked out by hand. */
#include "stats_near.h"

static void test_median(void **state)
{
	double values[] = {20, 1, 10, 2};

	(void)state;
	near(stats_median(values, 1), 20);
	near(stats_median(values, 2), 10.5);
	near(stats_median(values, 3), 10);
	near(stats_median(values, 4), 6);
	assert_true(isnan(stats_median(values, 0)));
	near(stats_quantile(values, 4, 0), 1);
	near(stats_quantile(values, 4, 0.5), 6);
	near(stats_quantile(values, 4, 0.9), 17); /* 10 + 0.7 * 10 */
	near(stats_quantile(values, 4, 1), 20);
}

/* min to max of 5 covers the median with 1 - 2/32, of 6 with 1 - 2/64; of 9 the second from each end with
 * 1 - 2 (1 + 9) / 512. */
static void test_median_interval(void **state)
{
	double values[] = {9, 8, 7, 6, 5, 4, 3, 2, 1};
	struct stats_interval i = stats_median_interval(values, 5, 0.95);

	(void)state;
	near(i.low, 5);
	near(i.high, 9);
	near(i.confidence, 0.9375);
	i = stats_median_interval(values, 6, 0.95);
	near(i.low, 4);
	near(i.confidence, 0.96875);
	i = stats_median_interval(values, 9, 0.95);
	near(i.low, 2);
	near(i.high, 8);
	near(i.confidence, 1 - 20.0 / 512);
	near(stats_median_interval(values, 1, 0.95).confidence, 0);
	near(stats_median_interval(values, 0, 0.95).confidence, 0);
	near(stats_median_interval(values, 2, 0.95).confidence, 0.5);
	assert_int_equal(stats_median_needs(0.95), 6);
	assert_int_equal(stats_median_needs(0.99), 8);
}

/* Boots of 3, 1 and 2 samples: medians 2, 10, 6. */
static void test_figure(void **state)
{
	const struct stats_sample samples[] = {{1, 7, 0},  {3, 7, 0}, {2, 7, 0},
	                                       {10, 2, 0}, {5, 2, 1}, {7, 2, 1}};
	struct stats_figure f;
	double medians[6];

	(void)state;
	assert_int_equal(stats_boot_medians(samples, 6, medians), 3);
	near(medians[0], 10); /* node 0, boot 2 */
	near(medians[1], 2);
	near(medians[2], 6);
	assert_int_equal(stats_figure(samples, 6, 0.95, &f), 0);
	near(f.median, 6);
	near(f.interval.low, 2);
	near(f.interval.high, 10);
	near(f.interval.confidence, 0.75);
	assert_int_equal(f.basis, STATS_BOOTS);
	assert_false(f.enough);
	assert_int_equal(f.boots_needed, 3);
	near(f.smallest, 1);
	near(f.largest, 10);
}

/* However many samples one boot has, they give no interval that is called enough. */
static void test_one_boot(void **state)
{
	struct stats_sample samples[20];
	struct stats_figure f;

	(void)state;
	for (size_t i = 0; i < 20; i++)
		samples[i] = (struct stats_sample){(double)i, 1, 0};
	assert_int_equal(stats_figure(samples, 20, 0.95, &f), 0);
	assert_int_equal(f.basis, STATS_SAMPLES);
	assert_false(f.enough);
	assert_true(f.interval.confidence >= 0.95);
	near(f.interval.low, 5); /* the 6th of 20 */
	near(f.median, 9.5);
	assert_int_equal(f.boots_needed, 5);
	assert_int_equal(stats_figure(samples, 1, 0.95, &f), 0);
	assert_int_equal(f.basis, STATS_NOTHING);
	near(f.interval.confidence, 0);
	assert_int_equal(stats_figure(samples, 0, 0.95, &f), -EINVAL);
	for (size_t i = 0; i < 20; i++)
		samples[i].boot = (uint32_t)i % 6;
	assert_int_equal(stats_figure(samples, 20, 0.95, &f), 0);
	assert_true(f.enough && f.basis == STATS_BOOTS && f.boots == 6);
}

/* 4 and 4 values, all of B above all of A: one order of 70. */
static void test_ratio(void **state)
{
	static const double a[] = {10, 11, 12, 13}, b[] = {20, 22, 24, 26};
	struct stats_ratio r;

	(void)state;
	assert_int_equal(stats_ratio(a, 4, b, 4, 0.02, 0.95, &r), 0);
	near(r.p_above, 1.0 / 70);
	near(r.p_below, 1);
	near(r.p_differs, 2.0 / 70);
	near(r.p_apart, 1);
	near(r.interval.low, 20.0 / 13);
	near(r.interval.high, 2.6);
	near(r.interval.confidence, 1 - 2.0 / 70);
	near(r.median, 2); /* 22/11 = 24/12 = 26/13 = 20/10, in the middle of 16 */
	assert_true(r.enough);
	assert_int_equal(stats_verdict(&r, true, r.p_differs, r.p_apart, 0.05), STATS_BETTER);
	assert_int_equal(stats_verdict(&r, false, r.p_differs, r.p_apart, 0.05), STATS_WORSE);
	/* three against three can never be: one order of 20 */
	assert_int_equal(stats_ratio(a, 3, b, 3, 0, 0.95, &r), 0);
	near(r.p_differs, 0.1);
	assert_false(r.enough);
	near(r.interval.confidence, 0.9);
	assert_int_equal(stats_verdict(&r, true, r.p_differs, r.p_apart, 0.05), STATS_UNDECIDED);
	assert_int_equal(stats_ratio_needs(0.05, 1), 4);
	assert_int_equal(stats_ratio_needs(0.1, 1), 3);
	assert_int_equal(stats_ratio_needs(0.05, 10), 6); /* 1 of 924 is below 0.0025, 1 of 252 is not */
	assert_int_equal(stats_ratio(a, 4, (double[]){1, 0}, 2, 0, 0.95, &r), -EINVAL);
	assert_int_equal(stats_ratio(a, 0, b, 4, 0, 0.95, &r), -EINVAL);
}

static void test_same(void **state)
{
	static const double a[] = {100, 100.1, 100.2, 100.3}, b[] = {100.15, 100.05, 100.25, 99.9};
	struct stats_ratio r;

	(void)state;
	assert_int_equal(stats_ratio(a, 4, b, 4, 0.02, 0.95, &r), 0);
	near(r.p_apart, 1.0 / 70);
	assert_int_equal(stats_verdict(&r, true, r.p_differs, r.p_apart, 0.05), STATS_SAME);
	/* a difference that is sure, but within the margin, is none that counts */
	static const double c[] = {101, 101.1, 101.2, 101.3};

	assert_int_equal(stats_ratio(a, 4, c, 4, 0, 0.95, &r), 0);
	assert_int_equal(stats_verdict(&r, true, r.p_differs, r.p_apart, 0.05), STATS_BETTER);
	assert_int_equal(stats_ratio(a, 4, c, 4, 0.02, 0.95, &r), 0);
	assert_int_equal(stats_verdict(&r, true, r.p_differs, r.p_apart, 0.05), STATS_SAME);
}

/* Logarithms deviate by 0.1 on both sides and lie 0.2 apart: (1.96 + 0.8416)^2 * 0.02 / 0.04 * pi / 3 = 4.11.
 */
static void test_ratio_more(void **state)
{
	const double d = 0.1 / sqrt(2), a[] = {exp(-d), exp(d)}, b[] = {exp(0.2 - d), exp(0.2 + d)};

	(void)state;
	assert_int_equal(stats_ratio_more(a, 2, b, 2, 0, 0.05), 5);
	assert_int_equal(stats_ratio_more(b, 2, a, 2, 0, 0.05), 5);
	assert_int_equal(stats_ratio_more(a, 2, b, 2, expm1(0.2), 0.05), 0); /* on the edge */
	assert_int_equal(stats_ratio_more(a, 1, b, 2, 0, 0.05), 0);
}

static void test_holm(void **state)
{
	double p[] = {0.01, 0.04, 0.03, 0.005}, one[] = {0.2};

	(void)state;
	assert_int_equal(stats_holm(p, 4), 0);
	near(p[3], 0.02);
	near(p[0], 0.03);
	near(p[2], 0.06);
	near(p[1], 0.06);
	assert_int_equal(stats_holm(one, 1), 0);
	near(one[0], 0.2);
	assert_int_equal(stats_holm(NULL, 0), 0);
}

static void test_outliers(void **state)
{
	/* median 10, deviations 1 0 0 1 10: MAD 1, scores of 1.4826 */
	static const double five[] = {9, 10, 10, 11, 0}, alike[] = {10, 10, 10, 10, 10.05},
	                    four[] = {1, 1, 1, 50};
	static const double stuck[] = {10, 10, 10, 10, 10, 10, 10, 5};
	double score[8];
	bool out[8];

	(void)state;
	assert_int_equal(stats_outliers(five, 5, score, out), 1);
	assert_true(out[4] && !out[0]);
	near(score[4], -10 / 1.4826);
	assert_int_equal(stats_outliers(alike, 5, score, out), 0); /* half a percent */
	assert_int_equal(stats_outliers(four, 4, score, out), 0);
	assert_int_equal(stats_outliers(stuck, 8, score, out), 1); /* MAD 0: mean deviation 0.625 */
	near(score[7], -5 / (1.2533 * 0.625));
}

static void fill(struct stats_sample *samples, size_t boots, double first, double step)
{
	for (size_t i = 0; i < boots; i++)
		samples[i] = (struct stats_sample){first + step * (double)i, (uint32_t)i, 0};
}

static void test_accept(void **state)
{
	struct stats_sample s[8];
	struct stats_decision d;

	(void)state;
	fill(s, 6, 801, 1); /* interval 801 to 806 */
	assert_int_equal(stats_accept(s, 6, true, 800, 0.95, &d), 0);
	assert_int_equal(d.acceptance, STATS_PASS);
	assert_int_equal(stats_accept(s, 6, false, 800, 0.95, &d), 0);
	assert_int_equal(d.acceptance, STATS_FAIL);
	assert_int_equal(stats_accept(s, 6, false, 806, 0.95, &d), 0);
	assert_int_equal(d.acceptance, STATS_PASS);
	assert_int_equal(stats_accept(s, 6, true, 803, 0.95, &d), 0);
	assert_int_equal(d.acceptance, STATS_INCONCLUSIVE);
	assert_true(d.more_boots > 0);
	/* all are above, but five boots are too few to say */
	assert_int_equal(stats_accept(s, 5, true, 700, 0.95, &d), 0);
	assert_int_equal(d.acceptance, STATS_INCONCLUSIVE);
	assert_int_equal(d.more_boots, 1);
	assert_int_equal(stats_accept(s, 1, true, 700, 0.95, &d), 0);
	assert_int_equal(d.more_boots, 5);
	assert_int_equal(stats_accept(s, 6, true, 803.5, 0.95, &d), 0); /* the median itself */
	assert_int_equal(d.more_boots, 0);
}

static void test_precise(void **state)
{
	struct stats_sample s[8];
	struct stats_figure f;

	(void)state;
	fill(s, 6, 98, 1); /* 98 to 103 around 100.5 */
	assert_int_equal(stats_figure(s, 6, 0.95, &f), 0);
	assert_true(stats_precise(&f, 0.025));
	assert_false(stats_precise(&f, 0.024));
	fill(s, 5, 100, 0);
	assert_int_equal(stats_figure(s, 5, 0.95, &f), 0);
	assert_false(stats_precise(&f, 0.5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_median),     cmocka_unit_test(test_median_interval),
	    cmocka_unit_test(test_figure),     cmocka_unit_test(test_one_boot),
	    cmocka_unit_test(test_ratio),      cmocka_unit_test(test_same),
	    cmocka_unit_test(test_ratio_more), cmocka_unit_test(test_holm),
	    cmocka_unit_test(test_outliers),   cmocka_unit_test(test_accept),
	    cmocka_unit_test(test_precise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
