/* SPDX-License-Identifier: GPL-2.0-or-later
 * The server's log: one line an event on stderr, with time, node and step. */
#ifndef ASSAY_LOG_H
#define ASSAY_LOG_H

#include <stdbool.h>

/* NODE and STEP may be NULL. */
__attribute__((format(printf, 3, 4))) void log_event(const char *node, const char *step, const char *format,
                                                     ...);

/* Nothing is printed from now on: for tests. */
void log_quiet(bool quiet);

#endif
