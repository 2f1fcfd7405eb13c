/* SPDX-License-Identifier: GPL-2.0-or-later
 * Simulations, from a fixed seed: intervals cover the truth as often as they say, and tests of what is not
 * there find something no more often than they say. */
#include "stats_near.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

static gsl_rng *rng;

/* COUNT samples of BOOTS boots around a median of 100, from a skewed distribution: boots and samples within
 * deviate by BOOT and SAMPLE on the logarithm. */
static void draw(struct stats_sample *s, size_t boots, size_t each, double boot, double sample)
{
	for (size_t b = 0; b < boots; b++) {
		double level = 100 * exp(gsl_ran_gaussian(rng, boot));

		for (size_t k = 0; k < each; k++)
			s[b * each + k] =
			    (struct stats_sample){level * exp(gsl_ran_gaussian(rng, sample)), (uint32_t)b, 0};
	}
}

/* SHARE of ROUNDS is WANTED or more, as far as three standard deviations of chance let it be seen. */
static void at_least(size_t hits, size_t rounds, double wanted)
{
	double share = (double)hits / (double)rounds,
	       chance = 3 * sqrt(wanted * (1 - wanted) / (double)rounds);

	if (share < wanted - chance)
		fail_msg("%.3f of %zu, not %.3f", share, rounds, wanted);
}

static void test_figure(void **state)
{
	static const struct {
		size_t boots, each;
	} shapes[] = {{6, 4}, {9, 1}, {15, 3}};
	struct stats_sample s[64];
	struct stats_figure f;

	(void)state;
	for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
		size_t hits = 0, rounds = 2000;
		double says = 0;

		for (size_t i = 0; i < rounds; i++) {
			draw(s, shapes[k].boots, shapes[k].each, 0.1, 0.05);
			assert_int_equal(stats_figure(s, shapes[k].boots * shapes[k].each, 0.95, &f), 0);
			assert_true(f.enough);
			hits += f.interval.low <= 100 && f.interval.high >= 100;
			says = f.interval.confidence;
		}
		at_least(hits, rounds, says);
		assert_true(says >= 0.95 &&
		            (double)hits / (double)rounds < says + 0.015); /* not wider than need be */
	}
}

/* The interval of one boot's samples does not cover what other boots have: why it is not called one. */
static void test_one_boot(void **state)
{
	struct stats_sample s[20];
	struct stats_figure f;
	size_t hits = 0;

	(void)state;
	for (size_t i = 0; i < 500; i++) {
		draw(s, 1, 20, 0.1, 0.02);
		assert_int_equal(stats_figure(s, 20, 0.95, &f), 0);
		hits += f.interval.low <= 100 && f.interval.high >= 100;
	}
	assert_true(hits < 150);
}

/* B is 1.05 times A. */
static void test_ratio(void **state)
{
	const size_t rounds = 2000;
	size_t hits = 0, better = 0, worse = 0;
	double a[6], b[5];
	struct stats_ratio r;

	(void)state;
	for (size_t i = 0; i < rounds; i++) {
		for (size_t k = 0; k < 6; k++)
			a[k] = 100 * exp(gsl_ran_gaussian(rng, 0.03));
		for (size_t k = 0; k < 5; k++)
			b[k] = 105 * exp(gsl_ran_gaussian(rng, 0.03));
		assert_int_equal(stats_ratio(a, 6, b, 5, 0.05, 0.95, &r), 0);
		assert_true(r.enough);
		hits += r.interval.low <= 1.05 && r.interval.high >= 1.05;
		/* exactly on the margin: neither more nor less, but by chance */
		better += r.p_differs <= 0.05 && r.p_above < r.p_below;
		worse += r.p_differs <= 0.05 && r.p_below < r.p_above;
	}
	at_least(hits, rounds, r.interval.confidence);
	at_least(rounds - better, rounds, 0.975);
	assert_int_equal(worse, 0);
}

/* Of one side's median, and of the ratio of two. Of 1500 rounds and 6, 8, 12, 20 boots 0.941, 0.957, 0.957
 * and 0.955 covered the median, 0.961, 0.975, 0.968 and 0.969 the ratio: six boots are a little less than
 * they say. */
static void test_bootstrap(void **state)
{
	static const size_t boots[] = {6, 12};
	const size_t rounds = 150;
	struct stats_sample s[36], other[36];
	struct stats_interval i;
	double ratio;

	(void)state;
	for (size_t b = 0; b < sizeof(boots) / sizeof(boots[0]); b++) {
		size_t hits = 0, ratios = 0, n = boots[b] * 3;

		for (size_t k = 0; k < rounds; k++) {
			draw(s, boots[b], 3, 0.1, 0.05);
			draw(other, boots[b], 3, 0.1, 0.05);
			assert_int_equal(stats_bootstrap_median(s, n, 0.95, k + 1, &i), 0);
			hits += i.low <= 100 && i.high >= 100;
			assert_int_equal(stats_bootstrap_ratio(s, n, other, n, 0.95, k + 1, &ratio, &i), 0);
			ratios += i.low <= 1 && i.high >= 1;
			near(i.confidence, 0.95);
		}
		print_message("bootstrap of %zu boots covers: median %.3f, ratio %.3f\n", boots[b],
		              (double)hits / (double)rounds, (double)ratios / (double)rounds);
		at_least(hits, rounds, boots[b] > 6 ? 0.95 : 0.94);
		at_least(ratios, rounds, 0.95);
	}
	/* two boots: what lies between them, half of the time */
	draw(s, 2, 3, 0.1, 0.05);
	assert_int_equal(stats_bootstrap_median(s, 6, 0.95, 1, &i), 0);
	near(i.confidence, 0.5);
}

/* Up to 30 boots around 100, as a run with `precision: 1.5%` measures them, which looks at the interval of
 * confidence LOOK after each. How many stop early; *HITS: of these, whose 95 % interval covers; *ALL: with
 * those that go on to the end. */
static size_t stop_early(double look, size_t rounds, size_t *hits, size_t *all)
{
	struct stats_sample s[30];
	size_t stopped = 0;

	*hits = *all = 0;
	for (size_t i = 0; i < rounds; i++) {
		struct stats_figure f = {0};
		size_t boots = 6;

		draw(s, 30, 1, 0.02, 0);
		while (boots < 30 && (stats_figure(s, boots, look, &f) || !stats_precise(&f, 0.015)))
			boots++;
		assert_int_equal(stats_figure(s, boots, STATS_CONFIDENCE, &f), 0);
		bool hit = f.interval.low <= 100 && f.interval.high >= 100;

		stopped += boots < 30;
		*hits += boots < 30 && hit;
		*all += hit;
	}
	print_message("looking at %.1f %%: stopped early %zu of %zu, of which %.3f cover; of all %.3f\n",
	              100 * look, stopped, rounds, (double)*hits / (double)stopped,
	              (double)*all / (double)rounds);
	return stopped;
}

/* Stopping at the first interval that is narrow enough costs coverage; looking at a wider one than is
 * reported makes up for it. */
static void test_stopping(void **state)
{
	const size_t rounds = 4000;
	size_t hits, all, stopped = stop_early(STATS_CONFIDENCE_TO_STOP, rounds, &hits, &all);

	(void)state;
	assert_true(stopped > rounds / 2);
	at_least(hits, stopped, 0.95);
	at_least(all, rounds, 0.95);
	stopped = stop_early(STATS_CONFIDENCE, rounds, &hits, &all);
	assert_true((double)hits / (double)stopped < 0.945); /* it is not idle */
}

static void test_false_alarms(void **state)
{
	const size_t rounds = 2000;
	size_t lag1 = 0, drift = 0, groups = 0, knee = 0, outlier = 0;
	unsigned int group[40];
	double x[60], score[60];
	bool out[60];

	(void)state;
	for (size_t k = 0; k < rounds; k++) {
		struct stats_test t;
		struct stats_knee found;

		for (size_t i = 0; i < 60; i++)
			x[i] = 500 + gsl_ran_gaussian(rng, 50);
		for (size_t i = 0; i < 40; i++)
			group[i] = (unsigned int)i % 4;
		lag1 += stats_lag1(x, 40).p <= 0.05;
		drift += stats_drift(x, 40).p <= 0.05;
		assert_int_equal(stats_groups(x, group, 40, &t), 0);
		groups += t.p <= 0.05;
		assert_int_equal(stats_knee(x, 60, &found), 0);
		knee += found.found;
		outlier += stats_outliers(x, 12, score, out) > 0;
	}
	at_least(rounds - lag1, rounds, 0.95);
	at_least(rounds - drift, rounds, 0.95);
	at_least(rounds - groups, rounds, 0.95);
	at_least(rounds - knee, rounds, 0.95);
	assert_true(lag1 > rounds / 50 && drift > rounds / 50 && groups > rounds / 50); /* they do work */
	assert_true(outlier < rounds / 5);
}

/* EACH samples of each cell in each boot, the cells in another order each time, boots that differ by BOOT:
 * nothing else explains anything, and that cells' medians are taken out makes no test see more. */
static void order_of(size_t boots, unsigned int cell_count, unsigned int each, double boot)
{
	const size_t rounds = 300;
	size_t drift = 0, lag1 = 0, place = 0, before = 0;
	struct stats_measured m[90];
	struct stats_order o;

	for (size_t k = 0; k < rounds; k++) {
		unsigned int cells[10];
		size_t n = 0;

		for (unsigned int c = 0; c < cell_count; c++)
			cells[c] = c;
		for (size_t b = 0; b < boots; b++) {
			gsl_ran_shuffle(rng, cells, cell_count, sizeof(cells[0]));
			for (size_t c = 0; c < cell_count; c++) {
				double level = exp(gsl_ran_gaussian(rng, boot)) * (100 + 50 * cells[c]);

				for (unsigned int s = 0; s < each; s++)
					m[n++] =
					    (struct stats_measured){level * exp(gsl_ran_gaussian(rng, 0.05)),
					                            cells[c], s + 1};
			}
		}
		assert_int_equal(stats_order(m, n, &o), 0);
		drift += o.drift.p <= 0.05;
		lag1 += o.lag1.p <= 0.05;
		place += o.place.p <= 0.05;
		before += o.before.p <= 0.05;
	}
	print_message("%zu boots of %u cells of %u: drift %zu, lag 1 %zu, place %zu, before %zu of %zu\n",
	              boots, cell_count, each, drift, lag1, place, before, rounds);
	at_least(rounds - lag1, rounds, 0.95);
	assert_true(lag1 > rounds / 100); /* it does work */
	at_least(rounds - place, rounds, 0.95);
	if (boot >
	    0) /* what differs from boot to boot is correlated within it: these tests are not for that */
		return;
	at_least(rounds - drift, rounds, 0.95);
	at_least(rounds - before, rounds, 0.95);
}

static void test_order(void **state)
{
	(void)state;
	order_of(6, 5, 3, 0);
	order_of(3, 10, 3, 0);
	order_of(1, 10, 3, 0);
	order_of(6, 5, 3, 0.1);
	order_of(8, 5, 1, 0);
}

/* Of what the last sample was off by each has seven tenths: found in most runs of 6 boots of 3 cells of 5. */
static void test_autocorrelation(void **state)
{
	const size_t rounds = 100;
	size_t found = 0;

	(void)state;
	for (size_t k = 0; k < rounds; k++) {
		struct stats_measured m[90];
		struct stats_order o;
		double off = 0;

		for (unsigned int i = 0; i < 90; i++) {
			off = 0.7 * off + gsl_ran_gaussian(rng, 0.05);
			m[i] = (struct stats_measured){100 * exp(off), i / 5 % 3, i % 5 + 1};
		}
		assert_int_equal(stats_order(m, 90, &o), 0);
		found += o.lag1.p <= 0.05 && o.lag1.statistic > 0;
	}
	print_message("autocorrelation of 0.7 found in %zu of %zu\n", found, rounds);
	assert_true(found > rounds / 2);
}

/* A rate that wanders (autocorrelation 0.6) has no knee; one that falls by a third has. */
static void test_knee_of_wandering(void **state)
{
	const size_t rounds = 1000;
	size_t false_knees = 0, found = 0, close = 0;
	double x[60];

	(void)state;
	for (size_t k = 0; k < rounds; k++) {
		double noise = 0;
		struct stats_knee knee;

		for (size_t i = 0; i < 60; i++) {
			noise = 0.6 * noise + gsl_ran_gaussian(rng, 24);
			x[i] = 600 + noise;
		}
		assert_int_equal(stats_knee(x, 60, &knee), 0);
		false_knees += knee.found;
		for (size_t i = 10; i < 60; i++)
			x[i] -= 200;
		assert_int_equal(stats_knee(x, 60, &knee), 0);
		found += knee.found;
		close += knee.found && knee.at >= 9 && knee.at <= 11;
	}
	print_message(
	    "knees where the rate only wanders: %zu of %zu; of a fall by a third found: %zu, within a "
	    "round: %zu\n",
	    false_knees, rounds, found, close);
	assert_true(false_knees < rounds / 10);
	at_least(close, rounds, 0.95);
}

/* Whatever is multiplied, verdicts stay; turned round, better becomes worse. */
static void test_properties(void **state)
{
	double a[5], b[5], p[8], q[8];
	struct stats_ratio r, times, turned;

	(void)state;
	for (size_t k = 0; k < 200; k++) {
		for (size_t i = 0; i < 5; i++) {
			a[i] = 1 + gsl_rng_uniform(rng);
			b[i] = 1.3 + gsl_rng_uniform(rng);
		}
		assert_int_equal(stats_ratio(a, 5, b, 5, 0.01, 0.95, &r), 0);
		assert_int_equal(stats_ratio(b, 5, a, 5, 0.01, 0.95, &turned), 0);
		near(r.p_above, turned.p_below);
		near(r.p_apart, turned.p_apart);
		near(r.interval.low, 1 / turned.interval.high);
		assert_true(r.interval.low <= r.median && r.median <= r.interval.high);
		for (size_t i = 0; i < 5; i++) {
			a[i] *= 1024;
			b[i] *= 1024;
		}
		assert_int_equal(stats_ratio(a, 5, b, 5, 0.01, 0.95, &times), 0);
		near(times.p_above, r.p_above);
		near(times.median, r.median);
		for (size_t i = 0; i < 8; i++)
			p[i] = q[i] = gsl_rng_uniform(rng);
		assert_int_equal(stats_holm(q, 8), 0);
		for (size_t i = 0; i < 8; i++) {
			assert_true(q[i] >= p[i] && q[i] <= fmin(1, 8 * p[i]));
			for (size_t j = 0; j < 8; j++)
				assert_true(p[i] > p[j] || q[i] <= q[j]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_figure),
	    cmocka_unit_test(test_one_boot),
	    cmocka_unit_test(test_ratio),
	    cmocka_unit_test(test_bootstrap),
	    cmocka_unit_test(test_stopping),
	    cmocka_unit_test(test_false_alarms),
	    cmocka_unit_test(test_knee_of_wandering),
	    cmocka_unit_test(test_order),
	    cmocka_unit_test(test_autocorrelation),
	    cmocka_unit_test(test_properties),
	};

	rng = gsl_rng_alloc(gsl_rng_mt19937);
	if (!rng)
		return 1;
	gsl_rng_set(rng, 1);
	int r = cmocka_run_group_tests(tests, NULL, NULL);
	gsl_rng_free(rng);
	return r;
}
