/* SPDX-License-Identifier: GPL-2.0-or-later
 * Data where a workload will read: a disk answers for what nobody wrote without looking. */
#ifndef ASSAY_WORKLOAD_FILL_H
#define ASSAY_WORKLOAD_FILL_H

#include "failure.h"

#include <stdint.h>

/* The part of the target that holds data of ours. */
struct workload_filled {
	uint64_t from, to;
};

/* Writes TARGET's bytes FROM … TO, widened to whole blocks of 4 KiB, with what no controller can compress,
 * directly, in at most TIMEOUT_MS; TO of UINT64_MAX is its end. 0 or -errno with *WHY filled. */
int fill_area(const char *target, uint64_t from, uint64_t to, long timeout_ms, struct failure *why);

/* FROM … TO have data of ours now. Of two parts that do not touch, only the later is known. */
void workload_filled_add(struct workload_filled *filled, uint64_t from, uint64_t to);

/* As fill_area(), unless FILLED, which is kept up to date, has it, or TARGET is no block device (a file on a
 * file system is written when its stack is made ready). *BYTES is what was written. */
int workload_fill(struct workload_filled *filled, const char *target, uint64_t from, uint64_t to,
                  long timeout_ms, uint64_t *bytes, struct failure *why);

#endif
