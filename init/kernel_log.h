/* SPDX-License-Identifier: GPL-2.0-or-later
 * The kernel's own words, for errors that it tells by a number only. */
#ifndef ASSAY_KERNEL_LOG_H
#define ASSAY_KERNEL_LOG_H

#include <jansson.h>
#include <stddef.h>

/* The kernel log from here on: a descriptor for kernel_log_since(), or -errno. */
int kernel_log_mark(void);

/* What came since the mark LOG (also a negative one: nothing), a line each, to BUF (may be NULL); closes it.
 */
void kernel_log_since(int log, char *buf, size_t size);

/* Calls EACH with every line in PATH, which is /dev/kmsg or a file of its format, without the head. */
void kernel_log_each(const char *path, void (*each)(void *ctx, const char *line), void *ctx);

/* The kernel's lines of level warning or worse in PATH (as above) since SINCE_US microseconds after it was
 * started, the first 32, each cut to 255 bytes; the caller owns them. Messages that user space wrote there
 * are left out. */
json_t *kernel_log_warnings(const char *path, long long since_us);

#endif
