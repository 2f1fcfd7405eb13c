/* SPDX-License-Identifier: GPL-2.0-or-later
 * What somebody's data on a disk is known by. */
#ifndef ASSAY_DISK_SIGNATURE_H
#define ASSAY_DISK_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Upper 40 bits ("ASSAY") of every UUID that Assay gives: to DRBD's metadata, LUKS, file systems; LVM's is
 * text. */
#define ASSAY_DEVICE_UUID_PREFIX 0x4153534159ULL

enum { DISK_SIGNATURES_MAX = 24 };

struct disk_signature {
	char name[24];         /* as "covers" of the lab file has it, else libblkid's TYPE in lower case */
	char label[40];        /* its own name: of a file system, an array, a pool; "" where it has none */
	uint64_t offset_bytes; /* of its magic, from the disk's start */
	bool ours;             /* Assay itself made it: no one's data */
};

struct disk_signatures {
	size_t count;
	struct disk_signature items[DISK_SIGNATURES_MAX];
};

/* All that libblkid finds on FD, SIZE_BYTES long, superblocks and partition tables, for either size of
 * sectors (the disk may have come from another adapter), and what libblkid does not look for
 * (disk_signature_own.c). Nothing is written. 0; -E2BIG: more than fit; or -errno of a failed read: then
 * nothing is known. */
int disk_signatures(int fd, uint64_t size_bytes, struct disk_signatures *found);

/* Adds NAME at OFFSET_BYTES, unless it is there already. 0 or -E2BIG. */
int disk_signature_add(struct disk_signatures *found, const char *name, uint64_t offset_bytes,
                       const char *label, bool ours);

bool disk_signature_has(const struct disk_signatures *found, const char *name);

/* disk_signature_own.c. To be asked before libblkid, which takes a disk that cannot be read to its end for
 * one with nothing there: 0, or -errno of reading 64 KiB at either end. */
int disk_ends_readable(int fd, uint64_t size_bytes);
/* To be asked after libblkid: adds what that did not find. 0 or -errno. */
int disk_signatures_own(int fd, uint64_t size_bytes, struct disk_signatures *found);

#endif
