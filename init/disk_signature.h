/* SPDX-License-Identifier: GPL-2.0-or-later
 * What somebody's data on a disk is known by. */
#ifndef ASSAY_DISK_SIGNATURE_H
#define ASSAY_DISK_SIGNATURE_H

#include <stdint.h>

/* Upper 40 bits ("ASSAY") of every UUID that Assay gives: to DRBD's metadata, LUKS, file systems; LVM's is
 * text. */
#define ASSAY_DEVICE_UUID_PREFIX 0x4153534159ULL

/* Names of all signatures that may be found, one bit each. */
#define DISK_SIGNATURES(X)                                                                                   \
	X(GPT, "gpt")                                                                                        \
	X(MBR, "mbr")                                                                                        \
	X(BOOT, "boot-sector")                                                                               \
	X(EXT4, "ext4")                                                                                      \
	X(XFS, "xfs")                                                                                        \
	X(SWAP, "swap")                                                                                      \
	X(LVM, "lvm")                                                                                        \
	X(MD, "md")                                                                                          \
	X(LUKS, "luks")                                                                                      \
	X(ZFS, "zfs")                                                                                        \
	X(DRBD, "drbd")                                                                                      \
	X(DRBD_ASSAY, "drbd-assay")                                                                          \
	X(LVM_ASSAY, "lvm-assay")                                                                            \
	X(LUKS_ASSAY, "luks-assay")                                                                          \
	X(EXT4_ASSAY, "ext4-assay")                                                                          \
	X(XFS_ASSAY, "xfs-assay")                                                                            \
	X(BCACHE, "bcache")                                                                                  \
	X(BTRFS, "btrfs")                                                                                    \
	X(FAT, "fat")                                                                                        \
	X(NTFS, "ntfs")                                                                                      \
	X(EXFAT, "exfat")                                                                                    \
	X(BITLOCKER, "bitlocker")                                                                            \
	X(ISO9660, "iso9660")                                                                                \
	X(F2FS, "f2fs")                                                                                      \
	X(JFS, "jfs")                                                                                        \
	X(REISERFS, "reiserfs")                                                                              \
	X(GFS2, "gfs2")                                                                                      \
	X(SQUASHFS, "squashfs")                                                                              \
	X(BLUESTORE, "ceph-bluestore")                                                                       \
	X(STRATIS, "stratis")                                                                                \
	X(ORACLEASM, "oracle-asm")                                                                           \
	X(DDF, "ddf-raid")                                                                                   \
	X(ISW, "intel-raid")

enum disk_signature {
#define X(id, name) SIGNATURE_##id,
	DISK_SIGNATURES(X)
#undef X
	    SIGNATURE_COUNT
};

/* Those of what Assay itself made, which is no one's data. */
#define SIGNATURES_OURS                                                                                      \
	(1ULL << SIGNATURE_DRBD_ASSAY | 1ULL << SIGNATURE_LVM_ASSAY | 1ULL << SIGNATURE_LUKS_ASSAY |         \
	 1ULL << SIGNATURE_EXT4_ASSAY | 1ULL << SIGNATURE_XFS_ASSAY)

extern const char *const disk_signature_names[SIGNATURE_COUNT];

/* Reads both ends of FD, SIZE_BYTES long, for either sector size (the disk may have come from another
 * adapter). *FOUND gets a bit (1 << enum
 * disk_signature) for each signature found. 0, or -errno of a failed read: then nothing is known. */
int disk_signatures(int fd, uint64_t size_bytes, uint64_t *found);

#endif
