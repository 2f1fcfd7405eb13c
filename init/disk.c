/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "disk.h"

#include "disk_health.h"
#include "disk_use.h"
#include "file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct disk_roots disk_roots_real = {.sys = "/sys", .proc = "/proc", .dev = "/dev"};

enum { MAX_DISKS = 256 };

static const char *const not_disks[] = {"loop", "ram", "zram", "drbd", "dm-", "md", "sr", "fd", "nbd", "mtd"};

static bool is_disk(const char *name)
{
	if (name[0] == '.')
		return false;
	for (size_t i = 0; i < sizeof(not_disks) / sizeof(*not_disks); i++)
		if (!strncmp(name, not_disks[i], strlen(not_disks[i])))
			return false;
	return true;
}

/* Without spaces and unprintable bytes at both ends, as firmware pads with either. */
static void trim(char *text)
{
	size_t start = 0, end = strlen(text);

	while (text[start] && !isgraph((unsigned char)text[start]))
		start++;
	while (end > start && !isgraph((unsigned char)text[end - 1]))
		end--;
	memmove(text, text + start, end - start);
	text[end - start] = '\0';
	for (char *p = text; *p; p++)
		if (!isprint((unsigned char)*p))
			*p = '?';
}

/* SCSI page 0x80: four bytes of header, the last of them the length. */
static int read_vpd_serial(const char *block, char *serial, size_t size)
{
	char path[512];
	unsigned char page[260];
	size_t length;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/device/vpd_pg80", block);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, page, sizeof(page));
	close(fd);
	if (n <= 4)
		return -ENODATA;
	length = (size_t)n - 4 < page[3] ? (size_t)n - 4 : page[3];
	snprintf(serial, size, "%.*s", (int)length, (const char *)page + 4);
	return 0;
}

static void read_identity(const char *block, struct disk *disk)
{
	if (read_file_at(disk->serial, sizeof(disk->serial), "%s/serial", block) <= 0 &&
	    read_vpd_serial(block, disk->serial, sizeof(disk->serial)))
		read_file_at(disk->serial, sizeof(disk->serial), "%s/device/serial", block);
	trim(disk->serial);
	if (read_file_at(disk->wwn, sizeof(disk->wwn), "%s/wwid", block) <= 0)
		read_file_at(disk->wwn, sizeof(disk->wwn), "%s/device/wwid", block);
	trim(disk->wwn);
	read_file_at(disk->model, sizeof(disk->model), "%s/device/model", block);
	trim(disk->model);
}

static long long number(const char *block, const char *file, long long missing)
{
	char path[512];
	long long value = missing;

	snprintf(path, sizeof(path), "%s/%s", block, file);
	read_integer(path, &value);
	return value;
}

/* "[mq-deadline] none" -> "mq-deadline" */
static void read_scheduler(const char *block, struct disk *disk)
{
	char text[256], *open_bracket, *close_bracket;

	read_file_at(text, sizeof(text), "%s/queue/scheduler", block);
	open_bracket = strchr(text, '[');
	close_bracket = open_bracket ? strchr(open_bracket, ']') : NULL;
	if (close_bracket)
		*close_bracket = '\0';
	snprintf(disk->scheduler, sizeof(disk->scheduler), "%.31s", close_bracket ? open_bracket + 1 : text);
}

/* By what stands in the path of its device in sysfs, the outermost first: a USB bridge has a SCSI host. */
static void read_transport(const char *block, struct disk *disk)
{
	static const struct {
		const char *part, *name;
	} ways[] = {{"/usb", "usb"}, {"/session", "iscsi"}, {"/rport-", "fc"}, {"/end_device-", "sas"},
	            {"/ata", "ata"}, {"/nvme", "nvme"},     {"/host", "scsi"}};
	char subsystem[64], *path = realpath(block, NULL);

	for (size_t i = 0; path && i < sizeof(ways) / sizeof(*ways) && !*disk->transport; i++)
		if (strstr(path, ways[i].part))
			snprintf(disk->transport, sizeof(disk->transport), "%s", ways[i].name);
	if (!*disk->transport && !read_link_name(subsystem, sizeof(subsystem), "%s/device/subsystem", block))
		snprintf(disk->transport, sizeof(disk->transport), "%.15s", subsystem);
	free(path);
}

static void read_content(const char *block, struct disk *disk)
{
	int fd = open(disk->device, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int r;

	if (fd < 0) {
		disk->read_error = errno;
		return;
	}
	disk_ask_health(fd, block, disk);
	/* What the page cache holds of the ends may be older than what DRBD or direct I/O wrote. */
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	r = disk->size_bytes ? disk_signatures(fd, disk->size_bytes, &disk->signatures) : 0;
	if (r)
		disk->read_error = -r;
	close(fd);
}

static void read_disk(const struct disk_roots *roots, const char *name, struct disk *disk)
{
	char block[320];

	memset(disk, 0, sizeof(*disk));
	snprintf(disk->name, sizeof(disk->name), "%.31s", name);
	snprintf(disk->device, sizeof(disk->device), "%s/%s", roots->dev, disk->name);
	snprintf(block, sizeof(block), "%s/block/%s", roots->sys, disk->name);
	read_identity(block, disk);
	disk->size_bytes = (uint64_t)number(block, "size", 0) * 512;
	disk->logical_sector_bytes = (unsigned int)number(block, "queue/logical_block_size", 512);
	disk->physical_sector_bytes = (unsigned int)number(block, "queue/physical_block_size", 512);
	disk->rotational = number(block, "queue/rotational", 0);
	disk->removable = number(block, "removable", 0);
	disk->read_only = number(block, "ro", 0);
	read_file_at(disk->write_cache, sizeof(disk->write_cache), "%s/queue/write_cache", block);
	read_scheduler(block, disk);
	read_transport(block, disk);
	disk_in_use(roots, disk->name, disk->in_use_by, sizeof(disk->in_use_by));
	read_content(block, disk);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct disk *)a)->name, ((const struct disk *)b)->name);
}

int disk_scan(const struct disk_roots *roots, struct disk *disks, size_t max)
{
	char path[320];
	struct dirent *entry;
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/block", roots->sys);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (n < max && (entry = readdir(dir))) {
		if (!is_disk(entry->d_name))
			continue;
		read_disk(roots, entry->d_name, &disks[n++]);
	}
	closedir(dir);
	qsort(disks, n, sizeof(*disks), by_name);
	return (int)n;
}

static bool is_first(const struct disk_signatures *signatures, size_t which)
{
	for (size_t i = 0; i < which; i++)
		if (!strcmp(signatures->items[i].name, signatures->items[which].name))
			return false;
	return true;
}

/* Each as in inventory.json's "found"; to NAMES, each name once. */
static json_t *signatures_json(const struct disk_signatures *signatures, json_t *names)
{
	json_t *found = json_array();

	for (size_t i = 0; i < signatures->count; i++) {
		const struct disk_signature *s = &signatures->items[i];

		if (is_first(signatures, i))
			json_array_append_new(names, json_string(s->name));
		json_array_append_new(found, json_pack("{s:s, s:I, s:s, s:b}", "name", s->name,
		                                       "offset_bytes", (json_int_t)s->offset_bytes, "label",
		                                       s->label, "ours", s->ours));
	}
	return found;
}

json_t *disk_json(const struct disk *disk)
{
	json_t *names = json_array(), *found = signatures_json(&disk->signatures, names);
	json_t *json = json_pack(
	    "{s:s, s:s, s:s, s:s, s:I, s:i, s:i, s:b, s:b, s:b, s:s, s:s, s:s, s:o, s:o, s:s, s:s, s:s}",
	    "device", disk->device, "serial", disk->serial, "wwn", disk->wwn, "model", disk->model,
	    "size_bytes", (json_int_t)disk->size_bytes, "logical_sector_bytes", disk->logical_sector_bytes,
	    "physical_sector_bytes", disk->physical_sector_bytes, "rotational", disk->rotational, "removable",
	    disk->removable, "read_only", disk->read_only, "write_cache", disk->write_cache, "scheduler",
	    disk->scheduler, "transport", disk->transport, "signatures", names, "found", found, "in_use_by",
	    disk->in_use_by, "health", disk_health_names[disk->health], "health_text", disk->health_text);

	if (json && disk->read_error)
		json_object_set_new(json, "read_error", json_string(strerror(disk->read_error)));
	return json;
}

int disk_list(json_t *array)
{
	struct disk *disks = calloc(MAX_DISKS, sizeof(*disks));
	int n = disks ? disk_scan(&disk_roots_real, disks, MAX_DISKS) : -ENOMEM;
	int r = n < 0 ? n : 0;

	for (int i = 0; i < n && !r; i++)
		if (json_array_append_new(array, disk_json(&disks[i])))
			r = -ENOMEM;
	free(disks);
	return r;
}
