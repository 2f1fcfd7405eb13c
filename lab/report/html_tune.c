/* SPDX-License-Identifier: GPL-2.0-or-later
 * The path of a tuning plan: what was tried, what was kept, and what to install. */
#include "html.h"

static void print_path(const struct report *report, FILE *out)
{
	tune_print(report->store, report->run, report->tune, out);
}

void html_tune(const struct page *p)
{
	html_printed(p, NULL, print_path);
}
