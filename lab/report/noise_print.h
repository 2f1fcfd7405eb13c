/* SPDX-License-Identifier: GPL-2.0-or-later
 * Noise certificates of a run's samples. */
#ifndef ASSAY_NOISE_PRINT_H
#define ASSAY_NOISE_PRINT_H

#include "report.h"

#include <stdio.h>

/* For each node the worst of its certificates, of samples that count; nothing where there is none. */
void noise_print(const struct report *report, FILE *out);

#endif
