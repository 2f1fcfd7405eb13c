/* SPDX-License-Identifier: GPL-2.0-or-later
 * File systems on top of the stack, and the file that the workload uses in them. */
#include "cell_build.h"
#include "command.h"
#include "file.h"
#include "module.h"
#include "mounts.h"
#include "stack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define WORK_FILE  STACK_MOUNT_POINT "/data"
#define FILL_BYTES (1 << 20)
#define LIMIT      (1 << 20) /* of /proc/mounts */

const char *stack_mounts = "/proc/mounts";

static const char *asked_mount(const struct cell_build *build, enum stack_layer layer)
{
	return factor_string(build->state, layer == STACK_EXT4 ? FACTOR_EXT4_MOUNT : FACTOR_XFS_MOUNT);
}

static const char *asked_mkfs(const struct cell_build *build, enum stack_layer layer)
{
	return factor_string(build->state, layer == STACK_EXT4 ? FACTOR_EXT4_MKFS : FACTOR_XFS_MKFS);
}

static int build_files(struct cell_build *build, struct stack_level *level, struct failure *why)
{
	bool ext4 = level->layer == STACK_EXT4;
	bool made_to_order = strcmp(asked_mkfs(build, level->layer), "default") != 0;
	bool mounted_to_order = strcmp(asked_mount(build, level->layer), "default") != 0;
	char uuid[40];
	int r = module_load(stack_layer_names[level->layer], NULL);

	if (!r)
		r = stack_new_uuid(level, uuid);
	if (r)
		return fail(why, r, FAILURE_CELL, "stack", stack_layer_names[level->layer],
		            "The layer filesystems must have the module; build it anew with `make layers`.",
		            "The file system's kernel module cannot be loaded");
	r = stack_run(build, level, ext4 ? STACK_MKFS_EXT4 : STACK_MKFS_XFS, uuid, made_to_order,
	              level->geometry, sizeof(level->geometry), why);
	if (!r && ext4)
		r = stack_run(build, level, STACK_DUMPE2FS, uuid, false, level->geometry,
		              sizeof(level->geometry), why);
	if (!r)
		r = stack_run(build, level, STACK_MOUNT, uuid, mounted_to_order, NULL, 0, why);
	return r;
}

/* All that ext4 has in force on DEVICE, the defaults too, one a line. */
static void read_ext4_options(const char *device, char *buf, size_t size)
{
	struct stat st;
	char name[64];

	buf[0] = '\0';
	if (!stat(device, &st) &&
	    !read_link_name(name, sizeof(name), "/sys/dev/block/%u:%u", major(st.st_rdev), minor(st.st_rdev)))
		read_file_at(buf, size, "/proc/fs/ext4/%s/options", name);
}

static void read_files(const struct cell_build *build, const struct stack_level *level, char *real,
                       size_t size, json_t *in_force, json_t *what)
{
	bool ext4 = level->layer == STACK_EXT4;
	enum factor_id mkfs = ext4 ? FACTOR_EXT4_MKFS : FACTOR_XFS_MKFS;
	enum factor_id mount = ext4 ? FACTOR_EXT4_MOUNT : FACTOR_XFS_MOUNT;
	const char *asked = asked_mount(build, level->layer), *name = stack_layer_names[level->layer];
	struct mount_entry entry;
	char *mounts = NULL, all[4096] = "";

	if (read_file_alloc(stack_mounts, LIMIT, &mounts, NULL) ||
	    mounts_find(mounts, STACK_MOUNT_POINT, &entry)) {
		snprintf(real, size, "not mounted");
	} else {
		if (strcmp(entry.type, name) != 0 || strcmp(entry.device, level->lower) != 0)
			snprintf(real, size, "%.20s of %.60s", entry.type, entry.device);
		json_object_set_new(what, "options", json_string(entry.options));
		if (ext4)
			read_ext4_options(level->lower, all, sizeof(all));
		if (level->geometry[0])
			json_object_set_new(what, "geometry", json_text(level->geometry));
		if (strcmp(asked, "default") != 0)
			json_object_set_new(in_force, factors[mount].name,
			                    json_string(mounts_have(entry.options, all, asked)
			                                    ? asked
			                                    : entry.options));
	}
	/* Not to be read back in one piece: it is what mkfs did, and the geometry shows it. */
	if (json_object_get(build->state, factors[mkfs].name))
		json_object_set_new(in_force, factors[mkfs].name,
		                    json_string(asked_mkfs(build, level->layer)));
	free(mounts);
}

static int unmount(void)
{
	static struct command_result result;
	struct mount_entry entry;
	struct stack_argv command;
	char *mounts = NULL;
	int r = read_file_alloc(stack_mounts, LIMIT, &mounts, NULL);

	if (!r && !mounts_find(mounts, STACK_MOUNT_POINT, &entry)) {
		stack_argv(STACK_UMOUNT, STACK_EXT4, NULL, "", "", &command);
		/* It writes out what is dirty. */
		r = command_run(command.argv, 600000, &result);
		if (r == -EREMOTEIO)
			r = -EBUSY;
	}
	free(mounts);
	return r;
}

const struct stack_kind stack_ext4 = {.build = build_files,
                                      .read = read_files,
                                      .down = unmount,
                                      .device = STACK_MOUNT_POINT};
const struct stack_kind stack_xfs = {.build = build_files,
                                     .read = read_files,
                                     .down = unmount,
                                     .device = STACK_MOUNT_POINT};

const char *stack_target(const struct cell_build *build)
{
	const struct stack *stack = &build->stack;

	if (factor_stack_is_files(factor_string(build->state, FACTOR_STACK)))
		return WORK_FILE;
	return stack->count ? stack->levels[stack->count - 1].device : build->disk.device;
}

static uint64_t bytes_of(const json_t *workload, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(workload, key));
}

/* Where WORKLOAD ends in its file, and whether what is there before must be data. */
static uint64_t end_of(const json_t *workload, bool *filled)
{
	const char *type = json_string_value(json_object_get(workload, "type"));
	const char *direction = json_string_value(json_object_get(workload, "direction"));

	*filled = true;
	if (type && !strcmp(type, "copy")) {
		*filled = direction && !strcmp(direction, "read");
		return bytes_of(workload, "seek_bytes") + bytes_of(workload, "size_bytes");
	}
	/* A tree of its own. */
	if (type && !strcmp(type, "files"))
		return 0;
	if (type && (!strcmp(type, "aio") || !strcmp(type, "precondition")))
		return bytes_of(workload, "offset_bytes") + bytes_of(workload, "span_bytes");
	return bytes_of(workload, "size_bytes");
}

/* Writes random bytes from the end of what is there to END. A short random piece again and again: a file
 * system does not look for what is alike. */
static int fill(int fd, uint64_t at, uint64_t end)
{
	char *data = malloc(FILL_BYTES);
	int r = data ? 0 : -ENOMEM;

	for (size_t got = 0; !r && got < FILL_BYTES; got += 256)
		r = getrandom(data + got, 256, 0) == 256 ? 0 : -EIO;
	while (!r && at < end) {
		ssize_t n =
		    pwrite(fd, data, end - at < FILL_BYTES ? (size_t)(end - at) : FILL_BYTES, (off_t)at);

		if (n > 0)
			at += (uint64_t)n;
		else if (n == 0 || errno != EINTR)
			r = n ? -errno : -ENOSPC;
	}
	if (!r && fsync(fd))
		r = -errno;
	free(data);
	return r;
}

int stack_prepare(struct cell_build *build, const json_t *workload, struct failure *why)
{
	bool filled;
	uint64_t end = end_of(workload, &filled), blocks;
	struct stat st;
	int fd, r;

	if (!factor_stack_is_files(factor_string(build->state, FACTOR_STACK)) || !build->measure || !end)
		return 0;
	fd = open(WORK_FILE, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	r = fd < 0 || fstat(fd, &st) ? -errno : 0;
	/* One with holes, which a copy with seek leaves, is written from the start. */
	blocks = r ? 0 : (uint64_t)st.st_blocks * 512;
	if (!r && filled && (blocks < end || (uint64_t)st.st_size < end))
		r = fill(fd, blocks < (uint64_t)st.st_size ? 0 : (uint64_t)st.st_size, end);
	if (fd >= 0)
		close(fd);
	if (r)
		return fail(why, r, r == -ENOSPC ? FAILURE_CELL : FAILURE_SAMPLE, "stack", WORK_FILE,
		            r == -ENOSPC ? "Make the workload smaller in the plan, or use a larger disk."
		                         : "See the node's kernel log.",
		            "The workload's file of %llu bytes cannot be made", (unsigned long long)end);
	return 0;
}
