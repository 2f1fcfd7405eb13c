/* SPDX-License-Identifier: GPL-2.0-or-later
 * Disks with any bytes at all at both ends: whatever libblkid and we make of them, nothing breaks, what is
 * found lies on the disk, and its texts can be printed. */
#include "disk_signature.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte says how much of the rest stands at the start of a disk of 2 MiB, and how many sectors less.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	off_t disk_bytes = 2 << 20;
	struct disk_signatures found;
	size_t start;

	if (size < 2 || size > (1 << 20))
		return 0;
	if (fd < 0)
		fd = memfd_create("disk", MFD_CLOEXEC);
	disk_bytes -= 512 * (data[0] & 15);
	start = (size - 1) * (data[0] >> 4) / 15;
	if (fd < 0 || ftruncate(fd, 0) || ftruncate(fd, disk_bytes) ||
	    pwrite(fd, data + 1, start, 0) != (ssize_t)start ||
	    pwrite(fd, data + 1 + start, size - 1 - start, disk_bytes - (off_t)(size - 1 - start)) < 0)
		abort();
	if (disk_signatures(fd, (uint64_t)disk_bytes, &found))
		return 0;
	for (size_t i = 0; i < found.count; i++) {
		const struct disk_signature *s = &found.items[i];

		if (!*s->name || s->offset_bytes >= (uint64_t)disk_bytes)
			abort();
		for (const char *c = s->label; *c; c++)
			if (!isascii((unsigned char)*c) || !isprint((unsigned char)*c))
				abort();
	}
	return 0;
}
