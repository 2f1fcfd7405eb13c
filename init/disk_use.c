/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "disk_use.h"

#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One whole disk or partition: PATH is its folder in sysfs, NAME its device's. */
static bool part_in_use(const struct disk_roots *roots, const char *path, const char *name,
                        const char *mounts, const char *swaps, char *buf, size_t size)
{
	char holders[512], number[32], pattern[64];
	const char *mount;
	struct dirent *entry;
	DIR *dir;

	snprintf(holders, sizeof(holders), "%s/holders", path);
	dir = opendir(holders);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.') {
			snprintf(buf, size, "%s holds %s", entry->d_name, name);
			closedir(dir);
			return true;
		}
	if (dir)
		closedir(dir);
	/* mountinfo: id, parent, MAJOR:MINOR, root, mount point */
	if (read_file_at(number, sizeof(number), "%s/dev", path) > 0) {
		snprintf(pattern, sizeof(pattern), " %s ", number);
		mount = strstr(mounts, pattern);
		if (mount) {
			char point[128] = "?";

			sscanf(mount + strlen(pattern), "%*s %127s", point);
			snprintf(buf, size, "%s is mounted on %s", name, point);
			return true;
		}
	}
	snprintf(pattern, sizeof(pattern), "%s/%s", roots->dev, name);
	for (const char *p = swaps; (p = strstr(p, pattern)); p++)
		if ((p == swaps || p[-1] == '\n') && strchr(" \t", p[strlen(pattern)])) {
			snprintf(buf, size, "%s is swap space", name);
			return true;
		}
	return false;
}

/* The last word has the kernel: an exclusive open of a block device fails where anything claims it. */
static bool claimed(const struct disk_roots *roots, const char *name, char *buf, size_t size)
{
	char path[320];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", roots->dev, name);
	if (stat(path, &st)) {
		snprintf(buf, size, "%s: %s", path, strerror(errno));
		return true;
	}
	if (!S_ISBLK(st.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		snprintf(buf, size, "%s cannot be opened exclusively: %s", name, strerror(errno));
		return true;
	}
	close(fd);
	return false;
}

void disk_in_use(const struct disk_roots *roots, const char *name, char *buf, size_t size)
{
	char path[320], part[640], *mounts = NULL, *swaps = NULL;
	struct dirent *entry;
	bool used;
	DIR *dir;
	int r;

	buf[0] = '\0';
	snprintf(path, sizeof(path), "%s/self/mountinfo", roots->proc);
	r = read_file_alloc(path, 4 << 20, &mounts, NULL);
	if (r) {
		snprintf(buf, size, "%s: %s", path, strerror(-r));
		return;
	}
	/* A kernel without swap has no such file. */
	snprintf(path, sizeof(path), "%s/swaps", roots->proc);
	if (read_file_alloc(path, 1 << 20, &swaps, NULL))
		swaps = NULL;
	snprintf(path, sizeof(path), "%s/block/%s", roots->sys, name);
	used = part_in_use(roots, path, name, mounts, swaps ? swaps : "", buf, size);
	dir = opendir(path);
	while (!used && dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, name, strlen(name)))
			continue;
		snprintf(part, sizeof(part), "%s/%s", path, entry->d_name);
		used = part_in_use(roots, part, entry->d_name, mounts, swaps ? swaps : "", buf, size);
	}
	if (dir)
		closedir(dir);
	if (!used)
		claimed(roots, name, buf, size);
	free(mounts);
	free(swaps);
}
