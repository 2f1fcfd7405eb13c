/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEXT_SIZE 4096

static int vwrite_file(const char *path, int flags, const char *format, va_list args)
{
	char text[TEXT_SIZE];
	int length = vsnprintf(text, sizeof(text), format, args);
	ssize_t n;
	int fd, r = 0;

	if (length < 0)
		return -EINVAL;
	if ((size_t)length >= sizeof(text))
		return -E2BIG;
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | flags, 0644);
	if (fd < 0)
		return -errno;
	do
		n = write(fd, text, length);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		r = -errno;
	else if (n != length)
		r = -EIO;
	if (close(fd) && !r)
		r = -errno;
	return r;
}

int write_file(const char *path, const char *format, ...)
{
	va_list args;
	int r;

	va_start(args, format);
	r = vwrite_file(path, 0, format, args);
	va_end(args);
	return r;
}

int create_file(const char *path, const char *format, ...)
{
	va_list args;
	int r;

	va_start(args, format);
	r = vwrite_file(path, O_CREAT, format, args);
	va_end(args);
	return r;
}

/* Reads until SIZE bytes or the end. */
static ssize_t read_all(int fd, char *buf, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = read(fd, buf + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += n;
	}
	return done;
}

int read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	buf[0] = '\0';
	if (fd < 0)
		return -errno;
	n = read_all(fd, buf, size - 1);
	close(fd);
	if (n < 0) {
		buf[0] = '\0';
		return n;
	}
	while (n > 0 && isspace((unsigned char)buf[n - 1]))
		n--;
	buf[n] = '\0';
	return n;
}

int read_file_at(char *buf, size_t size, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	buf[0] = '\0';
	if (length < 0 || (size_t)length >= sizeof(path))
		return -ENAMETOOLONG;
	return read_file(path, buf, size);
}

int read_file_alloc(const char *path, size_t limit, char **out, size_t *length)
{
	size_t size = 4096, done = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC), r = 0;
	char *buf = NULL, *larger;
	ssize_t n;

	*out = NULL;
	if (fd < 0)
		return -errno;
	/* Sizes of files in /proc and /sys are not to be believed: read until the end. */
	for (;;) {
		larger = realloc(buf, size + 1);
		if (!larger) {
			r = -ENOMEM;
			goto out;
		}
		buf = larger;
		n = read_all(fd, buf + done, size - done);
		if (n < 0) {
			r = n;
			goto out;
		}
		done += n;
		if (done > limit) {
			r = -EFBIG;
			goto out;
		}
		if (done < size)
			break;
		size *= 2;
	}
	buf[done] = '\0';
	*out = buf;
	buf = NULL;
	if (length)
		*length = done;
out:
	free(buf);
	close(fd);
	return r;
}

int read_integer(const char *path, long long *value)
{
	char text[64], *end;
	long long number;
	int r = read_file(path, text, sizeof(text));

	if (r < 0)
		return r;
	errno = 0;
	number = strtoll(text, &end, 0);
	if (end == text || errno)
		return -EINVAL;
	*value = number;
	return 0;
}

int read_link_name(char *buf, size_t size, const char *format, ...)
{
	char path[PATH_MAX], target[PATH_MAX], *name;
	va_list args;
	ssize_t n;

	va_start(args, format);
	n = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	buf[0] = '\0';
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	name = strrchr(target, '/');
	name = name ? name + 1 : target;
	if (strlen(name) >= size)
		return -ENAMETOOLONG;
	strcpy(buf, name);
	return 0;
}

static long long clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

long long now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

long long process_cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

long long uptime_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}
