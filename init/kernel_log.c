/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define RECORD_BYTES 8192

/* Calls EACH with every line of TEXT: "6,123,456,-;ixgbe 0000:03:00.0: …"; lines that begin with a blank are
 * keys. */
static void each_line(char *text, void (*each)(void *ctx, const char *line), void *ctx)
{
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *words = strchr(line, ';');

		if (*line != ' ')
			each(ctx, words ? words + 1 : line);
	}
}

static void read_all(int fd, void (*each)(void *ctx, const char *line), void *ctx)
{
	char text[RECORD_BYTES];
	ssize_t n;

	/* Each read gives one record. EPIPE: older ones were overwritten meanwhile. */
	while ((n = read(fd, text, sizeof(text) - 1)) > 0 || (n < 0 && (errno == EPIPE || errno == EINTR))) {
		if (n < 0)
			continue;
		text[n] = '\0';
		each_line(text, each, ctx);
	}
}

void kernel_log_each(const char *path, void (*each)(void *ctx, const char *line), void *ctx)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return;
	read_all(fd, each, ctx);
	close(fd);
}

int kernel_log_mark(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	lseek(fd, 0, SEEK_END);
	return fd;
}

struct text {
	char *buf;
	size_t size, used;
};

static void append(void *ctx, const char *line)
{
	struct text *text = ctx;
	int n;

	if (text->used >= text->size)
		return;
	n = snprintf(text->buf + text->used, text->size - text->used, "%s\n", line);
	text->used += n > 0 ? (size_t)n : 0;
}

void kernel_log_since(int log, char *buf, size_t size)
{
	struct text text = {.buf = buf, .size = size};

	if (buf)
		*buf = '\0';
	if (buf && log >= 0)
		read_all(log, append, &text);
	if (log >= 0)
		close(log);
}
