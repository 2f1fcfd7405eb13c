/* SPDX-License-Identifier: GPL-2.0-or-later
 * What libblkid does not look for: DRBD's metadata but in the last 4 KiB of a disk, the header of a GPT that
 * is not sound, a boot sector without anything behind it. Layouts: user/shared/drbdmeta.c of drbd-utils; UEFI
 * 2.10, 5.3.2. */
#include "disk_signature.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define MIB (1024ULL * 1024)

/* A disk for the metadata of many devices has them by an index, 128 MiB each; as many are looked at. */
enum { DRBD_INDEXES = 32, ENDS_BYTES = 64 * 1024 };
#define DRBD_FIXED_BYTES (128 * MIB)

/* LENGTH bytes at OFFSET; a place outside the disk reads as zeros. */
static int read_at(int fd, uint64_t size, uint64_t offset, void *buf, size_t length)
{
	size_t done = 0;

	memset(buf, 0, length);
	if (offset > size || length > size - offset)
		return 0;
	while (done < length) {
		ssize_t n = pread(fd, (char *)buf + done, length - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;
		done += (size_t)n;
	}
	return 0;
}

/* Versions 0.7 to 9 have their magic at 60 (…6a to …6d); the device's UUID of 0.8 and 8.x is at 40. */
static int find_drbd_at(int fd, uint64_t size, uint64_t offset, struct disk_signatures *found)
{
	unsigned char block[64];
	uint64_t device_uuid;
	int r = read_at(fd, size, offset, block, sizeof(block));

	if (r || memcmp(block + 60, "\x83\x74\x02", 3) || block[63] < 0x6a || block[63] > 0x6d)
		return r;
	memcpy(&device_uuid, block + 40, sizeof(device_uuid));
	return disk_signature_add(found, "drbd", offset + 60, "",
	                          be64toh(device_uuid) >> 24 == ASSAY_DEVICE_UUID_PREFIX);
}

/* Internal at the end, which the kernel cuts to 4 KiB and libblkid does not, or in the old fixed size; or
 * external, for a device on another disk. */
static int find_drbd(int fd, uint64_t size, struct disk_signatures *found)
{
	const uint64_t end = size & ~4095ULL;
	int r = end >= 4096 ? find_drbd_at(fd, size, end - 4096, found) : 0;

	if (!r && end >= DRBD_FIXED_BYTES)
		r = find_drbd_at(fd, size, end - DRBD_FIXED_BYTES, found);
	for (uint64_t i = 0; i < DRBD_INDEXES && i * DRBD_FIXED_BYTES < size && !r; i++)
		r = find_drbd_at(fd, size, i * DRBD_FIXED_BYTES, found);
	return r;
}

/* The first header in block 1, the second in the last block, of either size. */
static int find_gpt(int fd, uint64_t size, struct disk_signatures *found)
{
	const uint64_t places[] = {512, 4096, (size & ~511ULL) - 512, (size & ~4095ULL) - 4096};
	char magic[8];

	if (disk_signature_has(found, "gpt"))
		return 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		int r = read_at(fd, size, places[i], magic, sizeof(magic));

		if (!r && !memcmp(magic, "EFI PART", sizeof(magic)))
			r = disk_signature_add(found, "gpt", places[i], "", false);
		if (r)
			return r;
	}
	return 0;
}

static int find_boot_sector(int fd, uint64_t size, struct disk_signatures *found)
{
	unsigned char mark[2];
	int r = read_at(fd, size, 510, mark, sizeof(mark));

	for (size_t i = 0; i < found->count; i++)
		if (found->items[i].offset_bytes < 1024 || !strcmp(found->items[i].name, "gpt"))
			return r;
	if (!r && mark[0] == 0x55 && mark[1] == 0xaa)
		r = disk_signature_add(found, "boot-sector", 510, "", false);
	return r;
}

int disk_ends_readable(int fd, uint64_t size)
{
	char buf[ENDS_BYTES];
	size_t length = size < sizeof(buf) ? (size_t)size : sizeof(buf);
	int r = read_at(fd, size, 0, buf, length);

	return r ? r : read_at(fd, size, size - length, buf, length);
}

int disk_signatures_own(int fd, uint64_t size_bytes, struct disk_signatures *found)
{
	static int (*const finders[])(int, uint64_t, struct disk_signatures *) = {find_drbd, find_gpt,
	                                                                          find_boot_sector};
	int r = 0;

	for (size_t i = 0; i < sizeof(finders) / sizeof(*finders) && !r; i++)
		r = finders[i](fd, size_bytes, found);
	return r;
}
