/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel_log.h"
#include "failure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define RECORD_BYTES  8192
#define WARNING       4 /* KERN_WARNING; what is worse is less */
#define WARNINGS_MAX  32
#define WARNING_BYTES 256

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

struct warnings {
	json_t *list;
	long long since_us;
};

/* Keeps RECORD ("4,123,456789,-;text": facility * 8 + level, number, microseconds) if it is a warning of the
 * kernel. */
static void keep_warning(struct warnings *w, const char *record)
{
	unsigned int priority;
	long long at_us;
	char text[WARNING_BYTES];
	const char *words = strchr(record, ';');

	if (!words || sscanf(record, "%u,%*u,%lld,", &priority, &at_us) != 2 || priority > WARNING ||
	    at_us < w->since_us || json_array_size(w->list) >= WARNINGS_MAX)
		return;
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(words + 1, "\n"), words + 1);
	json_array_append_new(w->list, json_text(text));
}

json_t *kernel_log_warnings(const char *path, long long since_us)
{
	struct warnings w = {.list = json_array(), .since_us = since_us};
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char text[RECORD_BYTES];
	ssize_t n;

	while (fd >= 0 && ((n = read(fd, text, sizeof(text) - 1)) > 0 ||
	                   (n < 0 && (errno == EPIPE || errno == EINTR)))) {
		char *save = NULL;

		text[n > 0 ? n : 0] = '\0';
		for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
			keep_warning(&w, line);
	}
	if (fd >= 0)
		close(fd);
	return w.list;
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
