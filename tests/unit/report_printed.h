/* SPDX-License-Identifier: GPL-2.0-or-later
 * The report of a made-up run, as it is printed. */
#ifndef REPORT_PRINTED_H
#define REPORT_PRINTED_H

#include "conductor_sim.h"

/* The caller frees it. */
static char *printed(struct sim *sim)
{
	struct report *report;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(report_load(sim->store, sim->run, &report), 1);
	report_print(report, out);
	report_free(report);
	fclose(out);
	return text;
}

#endif
