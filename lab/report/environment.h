/* SPDX-License-Identifier: GPL-2.0-or-later
 * What was measured with, as queries: each takes the run. */
#ifndef ASSAY_ENVIRONMENT_H
#define ASSAY_ENVIRONMENT_H

#include <stddef.h>

struct fact {
	const char *name, *sql; /* a row for each different answer */
};
extern const struct fact environment_facts[];
extern const size_t environment_fact_count;

/* Nodes of QEMU name themselves so in their DMI; what they measure is the emulation. */
extern const char environment_virtual_sql[];
/* Node, and what it said of its hardware when the run's boots began. */
extern const char environment_warnings_sql[];

#endif
