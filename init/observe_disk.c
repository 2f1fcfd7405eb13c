/* SPDX-License-Identifier: GPL-2.0-or-later
 * Observer: what iostat shows, from /sys/block/NAME/stat (Documentation/block/stat.rst) of the disk under
 * test and of every device made on top of one. */
#include "observe_source.h"
#include "observe_text.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { DISKS = 32, STAT_NUMBERS = 17, SECTOR_BYTES = 512 };

static const struct observe_field fields[] = {
    COUNTER("read_ios"),   COUNTER("read_merges"),  COUNTER("read_bytes"),  COUNTER("read_ms"),
    COUNTER("write_ios"),  COUNTER("write_merges"), COUNTER("write_bytes"), COUNTER("write_ms"),
    COUNTER("busy_ms"),    COUNTER("queue_ms"),     COUNTER("discard_ios"), COUNTER("discard_bytes"),
    COUNTER("discard_ms"), COUNTER("flush_ios"),    COUNTER("flush_ms"),    GAUGE("in_flight"),
};

enum { FIELDS = sizeof(fields) / sizeof(*fields) };

/* Which number of the file it is, and what it is multiplied with. */
static const struct {
	unsigned char number;
	unsigned short times;
} from[FIELDS] = {
    {0, 1},  {1, 1},  {2, SECTOR_BYTES}, {3, 1},
    {4, 1},  {5, 1},  {6, SECTOR_BYTES}, {7, 1},
    {9, 1},  {10, 1}, {11, 1},           {13, SECTOR_BYTES},
    {14, 1}, {15, 1}, {16, 1},           {8, 1},
};

static struct {
	int fd, column;
} disks[DISKS];
static size_t disk_count;

static void add(struct observer *o, const char *name)
{
	int fd = observe_open("%s/block/%s/stat", o->place.sys, name);

	if (fd < 0 || disk_count == DISKS)
		return;
	disks[disk_count].fd = fd;
	disks[disk_count].column = observe_add(o, "disk", name, fields, FIELDS);
	if (disks[disk_count].column >= 0)
		disk_count++;
}

/* Devices that stand on others have no hardware of their own. */
static bool is_stacked(const struct observer *o, const char *name)
{
	static const char *const others[] = {"loop", "ram", "zram", "nbd", "fd"};
	char path[512];

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strncmp(name, others[i], strlen(others[i])))
			return false;
	snprintf(path, sizeof(path), "%s/block/%s/device", o->place.sys, name);
	return access(path, F_OK) != 0;
}

static void open_disks(struct observer *o)
{
	struct dirent *entry;
	char path[512];
	DIR *dir;

	disk_count = 0;
	if (o->place.disk[0])
		add(o, o->place.disk);
	snprintf(path, sizeof(path), "%s/block", o->place.sys);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, o->place.disk) != 0 &&
		    is_stacked(o, entry->d_name))
			add(o, entry->d_name);
	if (dir)
		closedir(dir);
}

static void look(struct observer *o)
{
	for (size_t i = 0; i < disk_count; i++) {
		int64_t numbers[STAT_NUMBERS] = {0};
		const char *text = o->text;

		if (observe_read(o, disks[i].fd) <= 0 || text_numbers(&text, 10, numbers, STAT_NUMBERS) < 11)
			continue;
		for (size_t f = 0; f < FIELDS; f++)
			o->row[(size_t)disks[i].column + f] = numbers[from[f].number] * from[f].times;
	}
}

const struct observe_source observe_disk = {.open = open_disks, .look = look};
