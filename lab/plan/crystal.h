/* SPDX-License-Identifier: GPL-2.0-or-later
 * CrystalDiskMark 3's lines, in the order in which it measures and shows them. */
#ifndef ASSAY_PLAN_CRYSTAL_H
#define ASSAY_PLAN_CRYSTAL_H

enum { CRYSTAL_LINES = 8 };

struct crystal_line {
	const char *name;
	int bs_bytes, depth, random_percent, read_percent;
};

extern const struct crystal_line crystal_lines[CRYSTAL_LINES];

#endif
