/* SPDX-License-Identifier: GPL-2.0-or-later
 * A small /sys and /proc made for each test, with files for disks. */
#ifndef ASSAY_TEST_DISK_SYS_H
#define ASSAY_TEST_DISK_SYS_H

#include "disk.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB (1024LL * 1024)

static char sys[80], proc[80], dev[80];
static struct disk_roots roots = {.sys = sys, .proc = proc, .dev = dev};

static void put_attribute(const char *disk, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "sys/block/%s/%s", disk, name);
	put(path, text);
}

static void make_disk(const char *name, const char *serial, long long bytes)
{
	char path[256], sectors[32];

	snprintf(sectors, sizeof(sectors), "%lld\n", bytes / 512);
	put_attribute(name, "size", sectors);
	put_attribute(name, "serial", serial);
	put_attribute(name, "removable", "0\n");
	put_attribute(name, "ro", "0\n");
	put_attribute(name, "dev", name[2] == 'a' ? "254:0\n" : "254:16\n");
	put_attribute(name, "queue/logical_block_size", "512\n");
	put_attribute(name, "queue/physical_block_size", "4096\n");
	put_attribute(name, "queue/scheduler", "[mq-deadline] none\n");
	snprintf(path, sizeof(path), "dev/%s", name);
	put(path, "");
	snprintf(path, sizeof(path), "%s/%s", dev, name);
	assert_int_equal(truncate(path, bytes), 0);
}

__attribute__((unused)) static void write_disk(const char *name, off_t offset, const char *bytes,
                                               size_t length)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dev, name);
	fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, length, offset), length);
	close(fd);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(root, "/tmp/assay-disk.XXXXXX");
	assert_non_null(mkdtemp(root));
	snprintf(sys, sizeof(sys), "%s/sys", root);
	snprintf(proc, sizeof(proc), "%s/proc", root);
	snprintf(dev, sizeof(dev), "%s/dev", root);
	put("proc/self/mountinfo", "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n");
	put("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n");
	make_disk("vda", "  SCRATCH-1\n", 64 * MIB);
	make_disk("vdb", "SYSTEM-1\n", 64 * MIB);
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static json_t *wanted(const char *serial, const char *consent, const char *covers)
{
	json_t *disk = json_pack("{s:s, s:s, s:I, s:I}", "serial", serial, "consent", consent, "min_bytes",
	                         (json_int_t)(32 * MIB), "max_bytes", (json_int_t)(128 * MIB));

	if (covers)
		json_object_set_new(disk, "covers", json_pack("[s]", covers));
	return disk;
}

#endif
