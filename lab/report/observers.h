/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the nodes' observers saw while samples ran. */
#ifndef ASSAY_OBSERVERS_H
#define ASSAY_OBSERVERS_H

#include "report.h"

/* What was at its limit in samples that count, and what looking took; nothing where nothing was looked at. */
void observers_print(const struct report *report, FILE *out);

/* Every value of the samples that count, of all cells or (not 0) of the one with that number, one a line. 0
 * or -errno. */
int observers_csv(struct report *report, int64_t cell, FILE *out);

#endif
