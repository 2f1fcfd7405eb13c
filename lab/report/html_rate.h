/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ASSAY_HTML_RATE_H
#define ASSAY_HTML_RATE_H

#include "html.h"

/* What the observers of the measuring node saw of one sample, over SECONDS, each line of at most POINTS;
 * nothing where there is none. */
void html_observers(const struct page *p, const struct report_cell *cell, int64_t boot, int64_t sample,
                    int64_t attempt, double seconds, size_t points);

#endif
