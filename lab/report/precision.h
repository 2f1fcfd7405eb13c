/* SPDX-License-Identifier: GPL-2.0-or-later
 * How many boots and samples a precision takes, from a pilot run. */
#ifndef ASSAY_PRECISION_H
#define ASSAY_PRECISION_H

#include "report.h"

/* Prints for each cell of PILOT the samples a boot and the boots after which half the 95 % interval of its
 * figure's median is expected within PRECISION (0.01 for 1 %) of it, and how long that takes, by the pilot's
 * own times. 0, -errno; -ENODATA, which was explained, where no cell can tell. */
int precision_print(const struct report *pilot, double precision, FILE *out);

#endif
