/* SPDX-License-Identifier: GPL-2.0-or-later
 * The split of variance, against numbers worked out by hand. */
#include "../../lab/report/variance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void near(double got, double wanted)
{
	if (fabs(got - wanted) > 1e-9 * fmax(1, fabs(wanted)))
		fail_msg("%.12g is not %.12g", got, wanted);
}

/* Two cells of two boots of two samples. Cell A: boot means 11 and 15, B: 21 and 29. Within boots every
 * sample is 1 from its mean: S_1^2 = 8 squares of 1 over 4 = 2. S_2^2: A 8, B 32, pooled 20; T_2^2 = 20 - 2/2
 * = 19. Cell means 13 and 25: 72, less 20/2 for their boots: 62. F = 2 * 20 / 2 = 20 with 2 and 4 degrees of
 * freedom: p = (1 + 2 * 20 / 4)^-2. */
static void test_split(void **state)
{
	static const double values[] = {10, 12, 14, 16, 20, 22, 28, 30};
	struct variance v;

	(void)state;
	variance_split(values, 2, 2, 2, &v);
	near(v.sample, 2);
	near(v.boot, 19);
	near(v.cells, 62);
	near(v.boot_p, 1.0 / 121);
	assert_true(v.boot_known && v.cells_known);
}

/* Boot means 11, 11: what boots add is not negative. */
static void test_split_nothing(void **state)
{
	static const double values[] = {10, 12, 12, 10};
	struct variance v;

	(void)state;
	variance_split(values, 1, 2, 2, &v);
	near(v.sample, 2);
	near(v.boot, 0);
	near(v.cells, 0);
	near(v.boot_p, 1);
	assert_false(v.cells_known);
	/* One boot: cell means 11 and 14; 4.5, less 2/2 for their samples. */
	static const double one_boot[] = {10, 12, 13, 15};

	variance_split(one_boot, 2, 1, 2, &v);
	assert_false(v.boot_known);
	near(v.cells, 3.5);
}

/* Mode a, b by history 0, 1: means 10 12 20 26 around 17: 164. Modes 11 and 23: 144; histories 15 and 19: 16.
 */
static void test_eta(void **state)
{
	static const double means[] = {10, 12, 20, 26}, same[] = {5, 5, 5, 5};
	static const unsigned int mode[] = {0, 0, 1, 1}, history[] = {0, 1, 0, 1}, each[] = {0, 1, 2, 3};

	(void)state;
	near(variance_eta_squared(means, mode, 4), 144.0 / 164);
	near(variance_eta_squared(means, history, 4), 16.0 / 164);
	near(variance_eta_squared(means, each, 4), 1);
	near(variance_eta_squared(same, mode, 4), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_split),
	    cmocka_unit_test(test_split_nothing),
	    cmocka_unit_test(test_eta),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
