/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the tests of lab/stats share. */
#include "../../lab/stats/stats.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static inline void near_at(double got, double wanted, double within, int line)
{
	if (!(fabs(got - wanted) <= within * fmax(1, fabs(wanted))))
		fail_msg("line %d: %.12g is not %.12g", line, got, wanted);
}

#define near(got, wanted)           near_at(got, wanted, 1e-9, __LINE__)
#define within(got, wanted, within) near_at(got, wanted, within, __LINE__)
