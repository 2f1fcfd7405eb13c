/* SPDX-License-Identifier: GPL-2.0-or-later
 * The server's log: one line an event on stderr, with time, node and step. */
#ifndef ASSAY_LOG_H
#define ASSAY_LOG_H

#include <stdbool.h>
#include <time.h>

/* NODE and STEP may be NULL. */
void log_event(const char *node, const char *step, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As log_event(), for what may happen again and again: a line that was printed less than a minute ago is only
 * counted, and the next one of its kind says how often. */
void log_seldom(const char *node, const char *step, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether LINE may be printed at NOW_S (a clock that does not jump); *MORE: how often it was not since it
 * last was. */
bool log_is_due(const char *line, time_t now_s, unsigned int *more);

/* For tests: nothing is printed any more. */
void log_quiet(bool quiet);

#endif
