/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dm.h"

#include "module.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { ROOM = 16384 };

/* A request with room for what follows it. The caller frees it. */
static struct dm_ioctl *request_new(const char *name)
{
	struct dm_ioctl *rq = calloc(1, ROOM);

	if (!rq)
		return NULL;
	rq->version[0] = 4; /* the interface's first; the kernel takes what is not newer than its own */
	rq->data_size = ROOM;
	rq->data_start = sizeof(*rq);
	snprintf(rq->name, sizeof(rq->name), "%s", name);
	return rq;
}

static int control(unsigned long command, struct dm_ioctl *rq)
{
	int fd = open("/dev/mapper/control", O_RDWR | O_CLOEXEC);
	int r = 0;

	if (fd < 0)
		return -errno;
	while (ioctl(fd, command, rq)) {
		r = -errno;
		if (r != -EINTR)
			break;
		r = 0;
	}
	close(fd);
	return r;
}

/* One command that takes but the name. 0 or -errno. */
static int simple(unsigned long command, const char *name)
{
	struct dm_ioctl *rq = request_new(name);
	int r = rq ? control(command, rq) : -ENOMEM;

	free(rq);
	return r;
}

static int load(const char *name, uint64_t sectors, const char *target, const char *params)
{
	struct dm_ioctl *rq = request_new(name);
	struct dm_target_spec *spec;
	int r;

	if (!rq)
		return -ENOMEM;
	spec = (struct dm_target_spec *)((char *)rq + rq->data_start);
	rq->target_count = 1;
	spec->length = sectors;
	snprintf(spec->target_type, sizeof(spec->target_type), "%s", target);
	snprintf((char *)(spec + 1), 1024, "%s", params);
	spec->next = (unsigned int)(sizeof(*spec) + strlen((char *)(spec + 1)) + 1 + 7) & ~7u;
	r = control(DM_TABLE_LOAD, rq);
	free(rq);
	return r;
}

int dm_create(const char *name, uint64_t sectors, const char *target, const char *params)
{
	char node[160], device[32];
	struct dm_table table;
	int r = module_load("dm-mod", NULL);

	if (!r)
		r = simple(DM_DEV_CREATE, name);
	if (r)
		return r;
	r = load(name, sectors, target, params);
	/* Without the suspend flag this resumes, which puts the loaded table in force. */
	if (!r)
		r = simple(DM_DEV_SUSPEND, name);
	if (!r)
		r = dm_read_table(name, &table);
	if (!r) {
		snprintf(node, sizeof(node), DM_FOLDER "%s", name);
		snprintf(device, sizeof(device), "../dm-%u", table.minor);
		r = symlink(device, node) && errno != EEXIST ? -errno : 0;
	}
	if (r)
		dm_remove(name);
	return r;
}

int dm_read_table(const char *name, struct dm_table *table)
{
	struct dm_ioctl *rq = request_new(name);
	const struct dm_target_spec *spec;
	int r;

	memset(table, 0, sizeof(*table));
	if (!rq)
		return -ENOMEM;
	rq->flags = DM_STATUS_TABLE_FLAG;
	r = control(DM_TABLE_STATUS, rq);
	/* Without the module there is no such device either. */
	if (r == -ENOENT || r == -ENODEV)
		r = -ENXIO;
	if (!r && rq->flags & DM_BUFFER_FULL_FLAG)
		r = -E2BIG;
	if (!r) {
		spec = (const struct dm_target_spec *)((const char *)rq + rq->data_start);
		table->minor = (unsigned int)(rq->dev & 0xff) | (unsigned int)(rq->dev >> 12 & 0xfff00);
		table->targets = rq->target_count;
		if (rq->target_count) {
			table->start = spec->sector_start;
			table->sectors = spec->length;
			snprintf(table->target, sizeof(table->target), "%.15s", spec->target_type);
			snprintf(table->params, sizeof(table->params), "%.1023s", (const char *)(spec + 1));
		}
	}
	/* It may have held a key. */
	explicit_bzero(rq, ROOM);
	free(rq);
	return r;
}

int dm_remove(const char *name)
{
	char node[160];
	int r = simple(DM_DEV_REMOVE, name);

	if (r == -ENXIO || r == -ENOENT || r == -ENODEV)
		r = 0;
	if (!r) {
		snprintf(node, sizeof(node), DM_FOLDER "%s", name);
		unlink(node);
	}
	return r;
}
