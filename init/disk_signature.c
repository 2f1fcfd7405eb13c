/* SPDX-License-Identifier: GPL-2.0-or-later
 * Signatures are sought here, not by libblkid, so that the program that refuses a disk needs nothing else to
 * be right. On-disk layouts: util-linux's libblkid sources and the kernel's own headers. */
#include "disk_signature.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

const char *const disk_signature_names[SIGNATURE_COUNT] = {
#define X(id, name) [SIGNATURE_##id] = name,
    DISK_SIGNATURES(X)
#undef X
};

#define KIB 1024LL
#define MIB (1024 * KIB)

/* A magic of LENGTH bytes at OFFSET from the start, or from the end where OFFSET is negative; the end is cut
 * to a multiple of ALIGN_BYTES first. */
struct magic {
	enum disk_signature id;
	int64_t offset;
	uint64_t align_bytes;
	const char *bytes;
	size_t length;
};

#define AT(id, offset, bytes)                                                                                \
	{                                                                                                    \
		SIGNATURE_##id, offset, 1, bytes, sizeof(bytes) - 1                                          \
	}
#define END(id, offset, align, bytes)                                                                        \
	{                                                                                                    \
		SIGNATURE_##id, offset, align, bytes, sizeof(bytes) - 1                                      \
	}

/* Where Assay's own are told by a UUID, at an offset from the magic; else they are somebody's. LVM's lies
 * behind its 32 bytes of label. */
static const struct {
	enum disk_signature id, ours;
	int64_t offset;
	const char *bytes;
} own[] = {
    {SIGNATURE_LVM, SIGNATURE_LVM_ASSAY, 32, "ASSAY"},
    {SIGNATURE_LUKS, SIGNATURE_LUKS_ASSAY, 168, "41535341-59"},
    {SIGNATURE_XFS, SIGNATURE_XFS_ASSAY, 32, "ASSAY"},
};

static const struct magic magics[] = {
    AT(GPT, 512, "EFI PART"),
    AT(GPT, 4096, "EFI PART"),
    END(GPT, -512, 512, "EFI PART"),
    END(GPT, -4096, 4096, "EFI PART"),
    AT(XFS, 0, "XFSB"),
    AT(SWAP, 4096 - 10, "SWAPSPACE2"),
    AT(SWAP, 4096 - 10, "SWAP-SPACE"),
    AT(SWAP, 4096 - 10, "S1SUSPEND"),
    AT(SWAP, 16384 - 10, "SWAPSPACE2"),
    AT(SWAP, 65536 - 10, "SWAPSPACE2"),
    AT(LVM, 0, "LABELONE"),
    AT(LVM, 512, "LABELONE"),
    AT(LVM, 1024, "LABELONE"),
    AT(LVM, 1536, "LABELONE"),
    END(MD, -65536, 65536, "\xfc\x4e\x2b\xa9"), /* 0.90 */
    END(MD, -65536, 65536, "\xa9\x2b\x4e\xfc"), /* 0.90, big endian */
    END(MD, -8192, 4096, "\xfc\x4e\x2b\xa9"),   /* 1.0 */
    AT(MD, 0, "\xfc\x4e\x2b\xa9"),              /* 1.1 */
    AT(MD, 4096, "\xfc\x4e\x2b\xa9"),           /* 1.2 */
    AT(LUKS, 0, "LUKS\xba\xbe"),
    AT(LUKS, 16 * KIB, "SKUL\xba\xbe"),
    AT(LUKS, 32 * KIB, "SKUL\xba\xbe"),
    AT(LUKS, 64 * KIB, "SKUL\xba\xbe"),
    AT(LUKS, 128 * KIB, "SKUL\xba\xbe"),
    AT(LUKS, 256 * KIB, "SKUL\xba\xbe"),
    AT(LUKS, 512 * KIB, "SKUL\xba\xbe"),
    AT(LUKS, 1 * MIB, "SKUL\xba\xbe"),
    AT(LUKS, 2 * MIB, "SKUL\xba\xbe"),
    AT(LUKS, 4 * MIB, "SKUL\xba\xbe"),
    AT(BCACHE, 4096 + 24, "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"),
    AT(BTRFS, 64 * KIB + 64, "_BHRfS_M"),
    AT(BTRFS, 64 * MIB + 64, "_BHRfS_M"),
    AT(FAT, 54, "FAT12   "),
    AT(FAT, 54, "FAT16   "),
    AT(FAT, 82, "FAT32   "),
    AT(NTFS, 3, "NTFS    "),
    AT(EXFAT, 3, "EXFAT   "),
    AT(BITLOCKER, 3, "-FVE-FS-"),
    AT(ISO9660, 32 * KIB + 1, "CD001"),
    AT(F2FS, 1024, "\x10\x20\xf5\xf2"),
    AT(JFS, 32 * KIB, "JFS1"),
    AT(REISERFS, 64 * KIB + 52, "ReIsEr"),
    AT(GFS2, 64 * KIB, "\x01\x16\x19\x70"),
    AT(SQUASHFS, 0, "hsqs"),
    AT(BLUESTORE, 0, "bluestore block device"),
    AT(STRATIS, 512 + 4, "!Stra0tis\x86\xff\x02^\x41rh"),
    AT(ORACLEASM, 32, "ORCLDISK"),
    END(DDF, -512, 512, "\xde\x11\xde\x11"),
    END(DDF, -512, 512, "\x11\xde\x11\xde"),
    END(ISW, -1024, 512, "Intel Raid ISM Cfg Sig."),
};

/* LENGTH bytes at OFFSET; a place outside the disk reads as zeros. */
static int read_at(int fd, uint64_t size, int64_t offset, void *buf, size_t length)
{
	size_t done = 0;

	memset(buf, 0, length);
	if (offset < 0 || (uint64_t)offset > size || length > size - (uint64_t)offset)
		return 0;
	while (done < length) {
		ssize_t n = pread(fd, (char *)buf + done, length - done, offset + (int64_t)done);

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

/* The magic ID stands at OFFSET: the bit to set for it. */
static int whose(int fd, uint64_t size, enum disk_signature id, int64_t offset, uint64_t *found)
{
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		char buf[16];
		int r;

		if (own[i].id != id)
			continue;
		r = read_at(fd, size, offset + own[i].offset, buf, strlen(own[i].bytes));
		if (r)
			return r;
		if (!memcmp(buf, own[i].bytes, strlen(own[i].bytes)))
			id = own[i].ours;
		break;
	}
	*found |= 1ULL << id;
	return 0;
}

static int find_magics(int fd, uint64_t size, uint64_t *found)
{
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++) {
		const struct magic *m = &magics[i];
		uint64_t end = size - size % m->align_bytes;
		int64_t offset = m->offset < 0 ? (int64_t)end + m->offset : m->offset;
		char buf[32];
		int r = read_at(fd, size, offset, buf, m->length);

		if (!r && !memcmp(buf, m->bytes, m->length))
			r = whose(fd, size, m->id, offset, found);
		if (r)
			return r;
	}
	return 0;
}

/* The classic partition table. A lone entry of type 0xee only protects a GPT. */
static int find_mbr(int fd, uint64_t size, uint64_t *found)
{
	const uint64_t others = 1ULL << SIGNATURE_FAT | 1ULL << SIGNATURE_NTFS | 1ULL << SIGNATURE_EXFAT |
	                        1ULL << SIGNATURE_BITLOCKER;
	unsigned char sector[512];
	unsigned int entries = 0, protective = 0;
	int r = read_at(fd, size, 0, sector, sizeof(sector));

	if (r)
		return r;
	if (sector[510] != 0x55 || sector[511] != 0xaa || (*found & others))
		return 0;
	for (unsigned int i = 0; i < 4; i++) {
		const unsigned char *entry = sector + 446 + 16 * i;

		if (!(entry[0] & 0x7f) && entry[4]) {
			entries++;
			protective += entry[4] == 0xee;
		}
	}
	if (entries == 0)
		*found |= 1ULL << SIGNATURE_BOOT;
	else if (entries != protective || !(*found & 1ULL << SIGNATURE_GPT))
		*found |= 1ULL << SIGNATURE_MBR;
	return 0;
}

/* The magic of ext2, 3 and 4 has two bytes only, which random data has too often: the block size (at most
 * 64 KiB) and the revision must be possible ones as well. */
static int find_ext(int fd, uint64_t size, uint64_t *found)
{
	unsigned char super[128];
	uint32_t log_block_size, revision;
	int r = read_at(fd, size, 1024, super, sizeof(super));

	if (r)
		return r;
	memcpy(&log_block_size, super + 24, sizeof(log_block_size));
	memcpy(&revision, super + 76, sizeof(revision));
	if (super[56] == 0x53 && super[57] == 0xef && le32toh(log_block_size) <= 6 && le32toh(revision) <= 1)
		*found |= 1ULL << (memcmp(super + 104, "ASSAY", 5) ? SIGNATURE_EXT4 : SIGNATURE_EXT4_ASSAY);
	return 0;
}

/* Four labels of 256 KiB, two at each end, each with a ring of 128 uberblocks in its second half. */
static int find_zfs(int fd, uint64_t size, uint64_t *found)
{
	const int64_t end = (int64_t)(size - size % (256 * KIB));
	const int64_t labels[] = {0, 256 * KIB, end - 512 * KIB, end - 256 * KIB};
	static char ring[128 * KIB];

	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++) {
		int r = read_at(fd, size, labels[i] + 128 * KIB, ring, sizeof(ring));

		if (r)
			return r;
		for (size_t at = 0; at < sizeof(ring); at += 1024)
			if (!memcmp(ring + at, "\x0c\xb1\xba\0\0\0\0\0", 8) ||
			    !memcmp(ring + at, "\0\0\0\0\0\xba\xb1\x0c", 8))
				*found |= 1ULL << SIGNATURE_ZFS;
	}
	return 0;
}

/* DRBD's own block: the last 4 KiB with flexible size, 128 MiB before the end in the old fixed layout. */
static int find_drbd(int fd, uint64_t size, uint64_t *found)
{
	const int64_t end = (int64_t)(size & ~4095ULL);
	const int64_t places[] = {end - 4096, end - 128 * MIB};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		unsigned char block[4096];
		uint64_t device_uuid;
		bool is_08 = false;
		int r = read_at(fd, size, places[i], block, sizeof(block));

		if (r)
			return r;
		memcpy(&device_uuid, block + 40, sizeof(device_uuid));
		/* Offset 60: 0.7 and 8.x (8 …6b, 8.4 unclean …6c); 32 and 64: where version 9 moved it. */
		if (!memcmp(block + 60, "\x83\x74\x02", 3) && block[63] >= 0x69 && block[63] <= 0x6d)
			is_08 = true;
		if (is_08 && be64toh(device_uuid) >> 24 == ASSAY_DEVICE_UUID_PREFIX)
			*found |= 1ULL << SIGNATURE_DRBD_ASSAY;
		else if (is_08)
			*found |= 1ULL << SIGNATURE_DRBD;
		for (size_t at = 0; !is_08 && at < 128; at += 4)
			if (!memcmp(block + at, "\x83\x74\x02\x6d", 4))
				*found |= 1ULL << SIGNATURE_DRBD;
	}
	return 0;
}

int disk_signatures(int fd, uint64_t size_bytes, uint64_t *found)
{
	static int (*const finders[])(int, uint64_t, uint64_t *) = {find_magics, find_mbr, find_ext, find_zfs,
	                                                            find_drbd};

	*found = 0;
	for (size_t i = 0; i < sizeof(finders) / sizeof(*finders); i++) {
		int r = finders[i](fd, size_bytes, found);

		if (r)
			return r;
	}
	return 0;
}
