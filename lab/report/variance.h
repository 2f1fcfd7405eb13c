/* SPDX-License-Identifier: GPL-2.0-or-later
 * How much of what was measured comes from the cell, the boot, and the rest. */
#ifndef ASSAY_VARIANCE_H
#define ASSAY_VARIANCE_H

#include "report.h"

/* The report's lines on it, for each workload; nothing where there is nothing to split. */
void variance_print(const struct report *report, FILE *out);

#endif
