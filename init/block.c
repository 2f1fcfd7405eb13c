/* SPDX-License-Identifier: GPL-2.0-or-later
 * Queues of the block devices of the stack: the disk under test, and the layers on it. By sysfs, since a
 * secondary DRBD device cannot be opened for an ioctl. */
#include "file.h"
#include "knob.h"
#include "module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void queue_path(const struct knob *knob, const struct knob_place *place, char *path, size_t size)
{
	const char *name = knob->on == KNOB_TOP     ? place->top
	                   : knob->on >= KNOB_LAYER ? place->layer[knob->on - KNOB_LAYER]
	                                            : place->disk;

	snprintf(path, size, "%s/block/%s/queue/%s", place->sys, name, knob->file);
}

static int queue_read(const struct knob *knob, const struct knob_place *place, char *buf, size_t size)
{
	char path[256];
	int r;

	queue_path(knob, place, path, sizeof(path));
	r = read_file(path, buf, size);
	return r < 0 ? r : 0;
}

static int queue_write(const struct knob *knob, const struct knob_place *place, const char *level)
{
	char path[256];

	queue_path(knob, place, path, sizeof(path));
	return write_file(path, "%s", level);
}

/* "write back" is the level write-back. */
static int cache_read(const struct knob *knob, const struct knob_place *place, char *buf, size_t size)
{
	int r = queue_read(knob, place, buf, size);
	char *space = strchr(buf, ' ');

	if (space)
		*space = '-';
	return r;
}

static int cache_write(const struct knob *knob, const struct knob_place *place, const char *level)
{
	char words[KNOB_TEXT];
	char *dash;

	snprintf(words, sizeof(words), "%s", level);
	dash = strchr(words, '-');
	if (dash)
		*dash = ' ';
	return queue_write(knob, place, words);
}

/* "[none] mq-deadline" */
static int scheduler_read(const struct knob *knob, const struct knob_place *place, char *buf, size_t size)
{
	char text[256];
	const char *open = text, *close;
	char path[256];
	int r;

	queue_path(knob, place, path, sizeof(path));
	r = read_file(path, text, sizeof(text));
	if (r < 0)
		return r;
	/* A device without requests says "none", without brackets. */
	open = strchr(text, '[');
	open = open ? open + 1 : text;
	close = open + strcspn(open, "] ");
	snprintf(buf, size, "%.*s", (int)(close - open), open);
	return 0;
}

static int scheduler_write(const struct knob *knob, const struct knob_place *place, const char *level)
{
	/* The kernel would ask modprobe for it, which is not here. Where it cannot be loaded, or is built in,
	 * the kernel's answer to the write is the one that counts. */
	if (strcmp(level, "none") != 0)
		module_load(!strcmp(level, "kyber") ? "kyber-iosched" : level, NULL);
	return queue_write(knob, place, level);
}

static int read_ahead_read(const struct knob *knob, const struct knob_place *place, char *buf, size_t size)
{
	int r = queue_read(knob, place, buf, size);

	if (!r)
		snprintf(buf, size, "%lld", strtoll(buf, NULL, 10) * 2);
	return r;
}

static int read_ahead_write(const struct knob *knob, const struct knob_place *place, const char *level)
{
	char kib[32];

	snprintf(kib, sizeof(kib), "%lld", strtoll(level, NULL, 10) / 2);
	return queue_write(knob, place, kib);
}

const struct knob block_knobs[] = {
    {.factor = FACTOR_BLOCK_DISK_SCHEDULER,
     .on = KNOB_DISK,
     .file = "scheduler",
     .read = scheduler_read,
     .write = scheduler_write},
    {.factor = FACTOR_BLOCK_DISK_NR_REQUESTS,
     .on = KNOB_DISK,
     .file = "nr_requests",
     .read = queue_read,
     .write = queue_write},
    {.factor = FACTOR_BLOCK_DISK_READ_AHEAD,
     .on = KNOB_DISK,
     .file = "read_ahead_kb",
     .whole_pages = true,
     .read = read_ahead_read,
     .write = read_ahead_write},
    {.factor = FACTOR_BLOCK_DISK_WRITE_CACHE,
     .on = KNOB_DISK,
     .file = "write_cache",
     .read = cache_read,
     .write = cache_write},
    {.factor = FACTOR_BLOCK_READ_AHEAD,
     .when = KNOB_LAST,
     .on = KNOB_TOP,
     .file = "read_ahead_kb",
     .whole_pages = true,
     .read = read_ahead_read,
     .write = read_ahead_write},
    {.factor = FACTOR_BLOCK_DRBD_READ_AHEAD,
     .when = KNOB_LAST,
     .on = KNOB_LAYER + STACK_DRBD,
     .file = "read_ahead_kb",
     .whole_pages = true,
     .read = read_ahead_read,
     .write = read_ahead_write},
    {.factor = FACTOR_BLOCK_DRBD_WRITE_CACHE,
     .when = KNOB_LAST,
     .on = KNOB_LAYER + STACK_DRBD,
     .file = "write_cache",
     .read = cache_read,
     .write = cache_write},
    {.factor = FACTOR_BLOCK_DM_LINEAR_READ_AHEAD,
     .when = KNOB_LAST,
     .on = KNOB_LAYER + STACK_DM_LINEAR,
     .file = "read_ahead_kb",
     .whole_pages = true,
     .read = read_ahead_read,
     .write = read_ahead_write},
    {.factor = FACTOR_BLOCK_LVM_READ_AHEAD,
     .when = KNOB_LAST,
     .on = KNOB_LAYER + STACK_LVM,
     .file = "read_ahead_kb",
     .whole_pages = true,
     .read = read_ahead_read,
     .write = read_ahead_write},
    {.factor = FACTOR_BLOCK_LUKS_READ_AHEAD,
     .when = KNOB_LAST,
     .on = KNOB_LAYER + STACK_LUKS,
     .file = "read_ahead_kb",
     .whole_pages = true,
     .read = read_ahead_read,
     .write = read_ahead_write},
    {0},
};
