/* SPDX-License-Identifier: GPL-2.0-or-later
 * The kernel's device mapper, by its ioctls (linux/dm-ioctl.h): one-segment devices named "assay-…". */
#ifndef ASSAY_DM_H
#define ASSAY_DM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DM_FOLDER "/dev/mapper/"
#define DM_PREFIX "assay-" /* of all names that are ours */

/* The table of one device. */
struct dm_table {
	unsigned int minor;   /* it is /dev/dm-MINOR */
	unsigned int targets; /* segments; what follows is of the first */
	uint64_t start, sectors;
	char target[16];   /* "linear" */
	char params[1024]; /* "254:0 2048"; of crypt with its key */
};

/* Makes device NAME of SECTORS (512 bytes each) with one segment, and its node /dev/mapper/NAME. 0 or
 * -errno; then nothing is left of it. */
int dm_create(const char *name, uint64_t sectors, const char *target, const char *params);

/* The table in force of NAME. 0 or -errno (-ENXIO: no such device). */
int dm_read_table(const char *name, struct dm_table *table);

/* Removes NAME, and its node. 0 also where there is none; -EBUSY: something uses it. */
int dm_remove(const char *name);

/* What PARAMS of a linear or crypt TARGET lie on. 0 or -EINVAL. */
int dm_lower(const char *target, const char *params, unsigned int *major, unsigned int *minor);

/* Cipher and key size of a crypt target's PARAMS. 0 or -EINVAL. */
int dm_crypt_key(const char *params, char *cipher, size_t size, long long *key_bits);

/* TABLE as `dmsetup table` prints it, to BUF; a key becomes as many zeros, as cryptsetup does. */
void dm_table_text(const struct dm_table *table, char *buf, size_t size);

#endif
