/* SPDX-License-Identifier: GPL-2.0-or-later
 * The kernel's own words, for errors that it tells by a number only. */
#ifndef ASSAY_KERNEL_LOG_H
#define ASSAY_KERNEL_LOG_H

#include <stddef.h>

/* The kernel log from here on: a descriptor for kernel_log_since(), or -errno. */
int kernel_log_mark(void);

/* What came since the mark LOG (also a negative one: nothing), a line each, to BUF (may be NULL); closes it.
 */
void kernel_log_since(int log, char *buf, size_t size);

/* Calls EACH with every line in PATH, which is /dev/kmsg or a file of its format, without the head. */
void kernel_log_each(const char *path, void (*each)(void *ctx, const char *line), void *ctx);

#endif
