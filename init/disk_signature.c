/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "disk_signature.h"

#include <blkid/blkid.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libblkid's TYPE or PTTYPE, where "covers" has another name for it. */
static const struct {
	const char *type, *name;
} names[] = {
    {"dos", "mbr"},          {"ext2", "ext4"},       {"ext3", "ext4"},
    {"ext4dev", "ext4"},     {"jbd", "ext4"},        {"swsuspend", "swap"},
    {"LVM1_member", "lvm"},  {"LVM2_member", "lvm"}, {"linux_raid_member", "md"},
    {"crypto_LUKS", "luks"}, {"zfs_member", "zfs"},  {"vfat", "fat"},
};

/* How the UUID begins that Assay gives: as DRBD prints it, as file systems and LUKS do, as LVM does. */
static const char *const own_uuids[] = {"4153534159", "41535341-59", "ASSAY"};

bool disk_signature_has(const struct disk_signatures *found, const char *name)
{
	for (size_t i = 0; i < found->count; i++)
		if (!strcmp(found->items[i].name, name))
			return true;
	return false;
}

int disk_signature_add(struct disk_signatures *found, const char *name, uint64_t offset_bytes,
                       const char *label, bool ours)
{
	struct disk_signature *to = &found->items[found->count];

	for (size_t i = 0; i < found->count; i++)
		if (!strcmp(found->items[i].name, name) && found->items[i].offset_bytes == offset_bytes)
			return 0;
	if (found->count == DISK_SIGNATURES_MAX)
		return -E2BIG;
	snprintf(to->name, sizeof(to->name), "%.23s", name);
	snprintf(to->label, sizeof(to->label), "%.39s", label);
	/* Labels are somebody's bytes; they go to a console, into JSON and onto a page. */
	for (char *c = to->label; *c; c++)
		if (!isascii((unsigned char)*c) || !isprint((unsigned char)*c))
			*c = '?';
	to->offset_bytes = offset_bytes;
	to->ours = ours;
	found->count++;
	return 0;
}

static const char *value(blkid_probe probe, const char *name)
{
	const char *data = NULL;

	return blkid_probe_lookup_value(probe, name, &data, NULL) ? NULL : data;
}

static void name_of(const char *type, char name[24])
{
	size_t n = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(type, names[i].type))
			type = names[i].name;
	for (; type[n] && n < 23; n++)
		name[n] = (char)tolower((unsigned char)type[n]);
	name[n] = '\0';
}

/* *PROTECTED: what protects a GPT is there. */
static int take(blkid_probe probe, struct disk_signatures *found, bool *protected)
{
	const char *type = value(probe, "TYPE"), *uuid = value(probe, "UUID"), *label = value(probe, "LABEL");
	const char *offset = value(probe, type ? "SBMAGIC_OFFSET" : "PTMAGIC_OFFSET");
	char name[24];
	bool ours = false;

	if (!type)
		type = value(probe, "PTTYPE");
	if (!type)
		return 0;
	if (!strcmp(type, "PMBR")) {
		*protected = true;
		return 0;
	}
	name_of(type, name);
	for (size_t i = 0; uuid && i < sizeof(own_uuids) / sizeof(*own_uuids); i++)
		ours |= !strncmp(uuid, own_uuids[i], strlen(own_uuids[i]));
	return disk_signature_add(found, name, offset ? strtoull(offset, NULL, 10) : 0, label ? label : "",
	                          ours);
}

static int probe_all(blkid_probe probe, int fd, uint64_t size_bytes, unsigned int sector_bytes,
                     struct disk_signatures *found, bool *protected)
{
	/* An Atari table's marks are so weak that random data has them, which Assay itself writes. */
	char atari[] = "atari", *unwanted[] = {atari, NULL};
	int r;

	errno = 0;
	if (blkid_probe_set_device(probe, fd, 0, (blkid_loff_t)size_bytes) ||
	    blkid_probe_set_sectorsize(probe, sector_bytes))
		return errno ? -errno : -EIO;
	/* Also with a wrong checksum: what is damaged may still be wanted. */
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_UUID | BLKID_SUBLKS_LABEL |
	                                             BLKID_SUBLKS_MAGIC | BLKID_SUBLKS_BADCSUM);
	blkid_probe_enable_partitions(probe, 1);
	blkid_probe_set_partitions_flags(probe, BLKID_PARTS_MAGIC | BLKID_PARTS_FORCE_GPT);
	if (blkid_probe_filter_partitions_type(probe, BLKID_FLTR_NOTIN, unwanted))
		return -ENOMEM;
	while (!(r = blkid_do_probe(probe))) {
		r = take(probe, found, protected);
		if (r)
			return r;
	}
	return r > 0 ? 0 : r == -1 ? -EIO : r;
}

int disk_signatures(int fd, uint64_t size_bytes, struct disk_signatures *found)
{
	static const unsigned int sector_bytes[] = {512, 4096};
	blkid_probe probe = blkid_new_probe();
	bool protected = false;
	int r = probe ? disk_ends_readable(fd, size_bytes) : -ENOMEM;

	memset(found, 0, sizeof(*found));
	for (size_t i = 0; i < sizeof(sector_bytes) / sizeof(*sector_bytes) && !r; i++)
		r = probe_all(probe, fd, size_bytes, sector_bytes[i], found, &protected);
	blkid_free_probe(probe);
	/* With neither header of the GPT sound, the sector that protects it. */
	if (!r && protected && !disk_signature_has(found, "gpt"))
		r = disk_signature_add(found, "gpt", 510, "", false);
	return r ? r : disk_signatures_own(fd, size_bytes, found);
}
