/* SPDX-License-Identifier: GPL-2.0-or-later
 * Disks: which there are, and which one may be written. */
#ifndef ASSAY_DISK_H
#define ASSAY_DISK_H

#include "disk_signature.h"
#include "failure.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the kernel shows itself; other folders in tests. */
struct disk_roots {
	const char *sys;  /* "/sys" */
	const char *proc; /* "/proc" */
	const char *dev;  /* "/dev" */
};

extern const struct disk_roots disk_roots_real;

/* What a disk says of itself (disk_health.h). */
enum disk_health { HEALTH_UNKNOWN, HEALTH_PASSED, HEALTH_FAILING };

struct disk {
	char name[32];    /* "vda" */
	char device[320]; /* "/dev/vda" */
	char serial[128]; /* trimmed; "" where there is none */
	char wwn[128];
	char model[128];
	char write_cache[32];
	char scheduler[32];
	char transport[16]; /* "usb", "ata", "sas", "iscsi", "fc", "nvme", "virtio", …; "" where not known */
	char in_use_by[256]; /* "" where nothing uses it */
	uint64_t size_bytes;
	unsigned int logical_sector_bytes, physical_sector_bytes;
	bool rotational, removable, read_only;
	enum disk_health health;
	char health_text[96]; /* what it says, for people; "" where it says nothing */
	struct disk_signatures signatures;
	int read_error; /* errno of reading its signatures, which are not known then */
};

/* All whole disks (no loop, ram, zram, drbd, device mapper, md, optical or floppy devices), at most MAX,
 * sorted by name, to DISKS; also those of no size, as a reader without a medium is. How many, or -errno.
 * Their health is asked first, then they are read; nothing is written. */
int disk_scan(const struct disk_roots *roots, struct disk *disks, size_t max);

/* One disk as in inventory.json; the caller owns it. */
json_t *disk_json(const struct disk *disk);

/* Appends all disks, as in inventory.json, to ARRAY. 0 or -errno. */
int disk_list(json_t *array);

/* The one disk that WANTED (lab.json's disk) names and consents to have wiped, to *DISK. Refused, with *WHY
 * filled with what was found and what to change, unless: consent is "wipe"; exactly one disk matches, and no
 * other has its WWN; it is fixed, writable, of the declared size range and size of sectors; it does not say
 * that it fails, or "covers" has that; nothing uses it; it carries no signature that "covers" does not have.
 * 0 or -errno. */
int disk_select(const struct disk_roots *roots, const json_t *wanted, struct disk *disk, struct failure *why);

#endif
