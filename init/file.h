/* SPDX-License-Identifier: GPL-2.0-or-later
 * Small files, as the kernel has them under /proc and /sys: read and written in one go, always bounded. */
#ifndef ASSAY_FILE_H
#define ASSAY_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the formatted text (at most 4095 bytes) to PATH in one write(2); creates nothing, but truncates a
 * regular file. 0 or -errno (-EIO: a short write; -E2BIG: the text does not fit). */
__attribute__((format(printf, 2, 3))) int write_file(const char *path, const char *format, ...);

/* As write_file(), but creates PATH with mode 0644. */
__attribute__((format(printf, 2, 3))) int create_file(const char *path, const char *format, ...);

/* Reads PATH to BUF, at most SIZE - 1 bytes, closes it with a NUL and strips white space at the end. The
 * length, or -errno (*BUF is "" then). A longer file is cut. */
int read_file(const char *path, char *buf, size_t size);

/* As read_file(), of the path that FORMAT makes. */
__attribute__((format(printf, 3, 4))) int read_file_at(char *buf, size_t size, const char *format, ...);

/* The whole of PATH, at most LIMIT bytes (-EFBIG beyond), NUL-terminated; the caller frees *OUT. 0
 * with *LENGTH (may be NULL) set, or -errno. */
int read_file_alloc(const char *path, size_t limit, char **out, size_t *length);

/* The integer that PATH starts with (any base of strtoll), or -errno; *VALUE is untouched then. */
int read_integer(const char *path, long long *value);

/* The last part of the link that FORMAT names (".../driver" -> "ixgbe"). 0 or -errno, *BUF is "" then. */
__attribute__((format(printf, 3, 4))) int read_link_name(char *buf, size_t size, const char *format, ...);

/* CLOCK_MONOTONIC in nanoseconds. */
long long now_ns(void);

/* The CPU time of this process, all its threads, in nanoseconds. */
long long process_cpu_ns(void);

/* CLOCK_BOOTTIME in nanoseconds: the machine's uptime. */
long long uptime_ns(void);

#endif
