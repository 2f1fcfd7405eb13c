/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the operator reads on VGA and on every serial port. */
#ifndef ASSAY_CONSOLE_H
#define ASSAY_CONSOLE_H

#include <stddef.h>

/* Opens every console that the kernel uses (/sys/class/tty/console/active); /dev/console where that cannot be
 * read. Before it, say() writes to standard error. */
void console_open(void);

/* One line with the uptime on every console, and in the kernel's log (so that a crash dump has it). Never
 * while a workload runs. A console that does not take the text within 200 ms is left out this time. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/* The end of the kernel's log, which has what say() said, as text: at most SIZE - 1 bytes, whole lines. */
void console_tail(char *buf, size_t size);

/* A shell on every console, until one of them ends. Says so where there is none. */
void console_rescue(void);

#endif
