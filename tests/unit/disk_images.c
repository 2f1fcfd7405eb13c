/* SPDX-License-Identifier: GPL-2.0-or-later
 * What real tools leave on a disk is found, where it is, and covered by its own consent only: the images of
 * tests/data/disks (make.sh there says which tool made each). */
#include "disk_sys.h"

#define IMAGES "tests/data/disks"

/* The disk "vda" of BYTES, 0: as long as the image, with the image NAME from byte AT on. */
static void make_image(const char *name, long long bytes, long long at)
{
	char command[600];
	struct stat st;

	make_disk("vda", "SCRATCH-1\n", bytes);
	snprintf(command, sizeof(command),
	         "xz -dc " IMAGES "/%s.xz | dd of=%s/vda bs=4096 seek=%lld conv=notrunc,sparse status=none",
	         name, dev, at / 4096);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), "%s/vda", dev);
	assert_int_equal(stat(command, &st), 0);
	/* dd leaves zeros out, also those at the end. */
	if (!bytes)
		fail_msg("%s: how long is it?", name);
	if (st.st_size != bytes)
		fail_msg("%s has %lld bytes, not %lld", name, (long long)st.st_size, bytes);
}

static json_t *any_size(const char *covers)
{
	json_t *want = wanted("SCRATCH-1", "wipe", covers);

	json_object_set_new(want, "min_bytes", json_integer(1));
	json_object_set_new(want, "max_bytes", json_integer(1LL << 40));
	return want;
}

struct image {
	const char *file;
	long long disk_bytes, at_bytes;
	const char *found[3]; /* in the message, in this order */
	const char *cover;    /* NULL: "any" alone covers it */
};

static const struct image images[] = {
    {"gpt", 4 * MIB, 0, {"gpt at byte 512"}, "gpt"},
    {"gpt-backup", 4 * MIB, 0, {"gpt at byte 4193792"}, "gpt"},
    {"gpt-4k", 4 * MIB, 0, {"gpt at byte 4096"}, "gpt"},
    {"mbr", 64 * MIB, 0, {"mbr at byte 510"}, "mbr"},
    {"ext4", 64 * MIB, 0, {"ext4 at byte 1080 \"precious\""}, "ext4"},
    {"ext2", 64 * MIB, 0, {"ext4 at byte 1080 \"precious\""}, "ext4"},
    {"xfs", 320 * MIB, 0, {"xfs at byte 0 \"precious\""}, "xfs"},
    {"swap", 64 * MIB, 0, {"swap at byte 4086 \"precious\""}, "swap"},
    {"lvm", 64 * MIB, 0, {"lvm at byte 536"}, "lvm"},
    {"md-0.90", 10 * MIB, 0, {"md at byte 10420224"}, "md"},
    {"md-1.0", 4 * MIB, 0, {"md at byte 4186112 \"precious:0\""}, "md"},
    {"md-1.1", 4 * MIB, 0, {"md at byte 0 \"precious:0\""}, "md"},
    {"md-1.2", 4 * MIB, 0, {"md at byte 4096 \"precious:0\""}, "md"},
    {"luks1", 64 * MIB, 0, {"luks at byte 0"}, "luks"},
    {"luks2", 64 * MIB, 0, {"luks at byte 0"}, "luks"},
    {"zfs", 67633152, 0, {"zfs at byte ", "\"tank\""}, "zfs"},
    {"bcache-B", 64 * MIB, 0, {"bcache at byte 4120"}, "bcache"},
    {"bcache-C", 64 * MIB, 0, {"bcache at byte 4120"}, "bcache"},
    {"drbd-internal", 8 * MIB, 0, {"drbd at byte 8384572"}, "drbd"},
    /* One sector less than a multiple of 4 KiB, where libblkid looks in the wrong place. */
    {"drbd-odd-size", 8 * MIB - 512, 0, {"drbd at byte 8380476"}, "drbd"},
    {"drbd-flex-external", 8 * MIB, 0, {"drbd at byte 60"}, "drbd"},
    /* With the index 3 on a disk for the metadata of several. */
    {"drbd-flex-external", 512 * MIB, 3 * 128 * MIB, {"drbd at byte 402653244"}, "drbd"},
    {"bitlocker", MIB, 0, {"bitlocker at byte 0", "mbr at byte 510"}, NULL},
    {"fat", 64 * MIB, 0, {"fat at byte 54"}, NULL},
    {"exfat", 1048064, 0, {"exfat at byte 3"}, NULL},
    {"btrfs", 128 * MIB, 0, {"btrfs at byte 65600 \"precious\""}, NULL},
    {"ddf-raid", 50 * MIB, 0, {"ddf_raid_member at byte 52428288"}, NULL},
    {"isw-raid", 1703936, 0, {"isw_raid_member at byte 1702912"}, NULL},
};

static void must_refuse(const struct image *image, const char *covers, const char *remedy)
{
	json_t *want = any_size(covers);
	struct failure why;
	struct disk disk;
	const char *at;

	if (disk_select(&roots, want, &disk, &why) != -EEXIST)
		fail_msg("%s (covers %s): %s", image->file, covers ? covers : "nothing", why.message);
	at = strstr(why.message, "carries data: ");
	for (size_t i = 0; i < 3 && image->found[i]; i++) {
		at = at ? strstr(at, image->found[i]) : NULL;
		if (!at)
			fail_msg("%s: \"%s\" lacks \"%s\"", image->file, why.message, image->found[i]);
	}
	if (!strstr(why.remedy, remedy))
		fail_msg("%s: \"%s\" lacks \"%s\"", image->file, why.remedy, remedy);
	json_decref(want);
}

static void must_accept(const char *what, const char *covers)
{
	json_t *want = any_size(covers);
	struct failure why;
	struct disk disk;

	if (disk_select(&roots, want, &disk, &why))
		fail_msg("%s (covers %s): %s", what, covers ? covers : "nothing", why.message);
	json_decref(want);
}

static void test_images(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++) {
		const struct image *image = &images[i];

		make_image(image->file, image->disk_bytes, image->at_bytes);
		must_refuse(image, NULL, image->cover ? image->cover : "covers: [");
		/* What covers something else does not cover it. */
		must_refuse(image, image->cover && !strcmp(image->cover, "swap") ? "xfs" : "swap",
		            "covers: [");
		if (image->cover)
			must_accept(image->file, image->cover);
		must_accept(image->file, "any");
	}
}

/* Once, though it is seen with sectors of either size; and by what protects it, with no header left. */
static void test_gpt_once(void **state)
{
	static const struct image none = {"gpt", 4 * MIB, 0, {"gpt at byte 510"}, "gpt"};
	struct disk disks[4];
	char zeros[512] = {0};

	(void)state;
	make_image("gpt", 4 * MIB, 0);
	assert_int_equal(disk_scan(&roots, disks, 4), 2);
	assert_int_equal(disks[0].signatures.count, 1);
	write_disk("vda", 512, zeros, sizeof(zeros));
	write_disk("vda", 4 * MIB - 512, zeros, sizeof(zeros));
	must_refuse(&none, NULL, "covers: [gpt]");
}

/* With its first header gone, LUKS 2 has a second one. */
static void test_second_luks_header(void **state)
{
	static const struct image image = {"luks2", 64 * MIB, 0, {"luks at byte 16384"}, "luks"};
	char zeros[4096] = {0};

	(void)state;
	make_image("luks2", 64 * MIB, 0);
	write_disk("vda", 0, zeros, sizeof(zeros));
	must_refuse(&image, NULL, "covers: [luks]");
}

/* The labels at the start of the disk overwritten, as a quick wipe does: those at the end are the same. */
static void test_zfs_end(void **state)
{
	static const struct image image = {"zfs", 67633152, 0, {"zfs at byte 67", "\"tank\""}, "zfs"};
	static char labels[512 * 1024];
	char path[256];
	FILE *disk;

	(void)state;
	make_image("zfs", image.disk_bytes, 0);
	snprintf(path, sizeof(path), "%s/vda", dev);
	disk = fopen(path, "re");
	assert_non_null(disk);
	assert_int_equal(fread(labels, sizeof(labels), 1, disk), 1);
	fclose(disk);
	write_disk("vda", image.disk_bytes - (long long)sizeof(labels), labels, sizeof(labels));
	memset(labels, 0, sizeof(labels));
	write_disk("vda", 0, labels, sizeof(labels));
	must_refuse(&image, NULL, "covers: [zfs]");
}

/* What a stack of Assay's own left, as after a power cut, is no one's data; the same by anybody else is. */
static void test_own_layers(void **state)
{
	static const struct {
		const char *file, *uuid;
		size_t uuid_length;
		long long bytes, uuid_at;
	} made[] = {
	    {"lvm", "ASSAY0", 6, 64 * MIB, 512 + 32},
	    {"luks1", "41535341-5901-4234-8000-000000000001", 36, 64 * MIB, 168},
	    {"luks2", "41535341-5901-4234-8000-000000000001", 36, 64 * MIB, 168},
	    {"xfs", "ASSAY\1", 6, 320 * MIB, 32},
	    {"ext4", "ASSAY\1", 6, 64 * MIB, 1024 + 104},
	    {"drbd-internal", "ASSAY\1\2\3", 8, 8 * MIB, 8 * MIB - 4096 + 40},
	    {"drbd-odd-size", "ASSAY\1\2\3", 8, 8 * MIB - 512, 8 * MIB - 8192 + 40},
	};
	static const struct image btrfs = {"btrfs", 0, 0, {"btrfs at byte 65600"}, NULL};

	(void)state;
	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++) {
		make_image(made[i].file, made[i].bytes, 0);
		write_disk("vda", made[i].uuid_at, made[i].uuid, made[i].uuid_length);
		must_accept(made[i].file, NULL);
	}
	/* It does not cover what else is there. */
	make_image("btrfs", 128 * MIB, 0);
	write_disk("vda", 128 * MIB - 4096 + 40, "ASSAY\1\2\3", 8);
	write_disk("vda", 128 * MIB - 4096 + 60, "\x83\x74\x02\x6b", 4);
	must_refuse(&btrfs, NULL, "covers: [any]");
	must_refuse(&btrfs, "drbd", "covers: [any]");
}

/* Looking must not write: not one byte, nor the time of the last change. */
static void test_untouched(void **state)
{
	char command[300];

	(void)state;
	make_image("lvm", 64 * MIB, 0);
	snprintf(command, sizeof(command), "chmod 444 %s/vda && sha256sum %s/vda >%s/before", dev, dev, dev);
	assert_int_equal(system(command), 0);
	must_accept("lvm", "lvm");
	snprintf(command, sizeof(command), "sha256sum -c --status %s/before", dev);
	assert_int_equal(system(command), 0);
}

/* Random data, as Assay itself writes, is nobody's: of 200 disks, none is refused. */
static void test_random_data(void **state)
{
	unsigned char data[65536 * 4];
	uint64_t seed = 1;

	(void)state;
	make_disk("vda", "SCRATCH-1\n", 64 * MIB);
	for (int disk = 0; disk < 200; disk++) {
		for (size_t i = 0; i < sizeof(data); i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			data[i] = (unsigned char)(seed >> 56);
		}
		write_disk("vda", 0, (const char *)data, sizeof(data));
		write_disk("vda", 64 * MIB - (off_t)sizeof(data), (const char *)data, sizeof(data));
		must_accept("random data", NULL);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    T(test_images),     T(test_gpt_once),  T(test_second_luks_header), T(test_zfs_end),
	    T(test_own_layers), T(test_untouched), T(test_random_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
