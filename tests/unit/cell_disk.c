/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which disk may be written: on a small /sys and /proc made for each test, with files for disks. */
#include "disk.h"
#include "disk_signature.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB (1024LL * 1024)
#define GPT "EFI PART"

static char sys[80], proc[80], dev[80];
static struct disk_roots roots = {.sys = sys, .proc = proc, .dev = dev};

static void put_attribute(const char *disk, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "sys/block/%s/%s", disk, name);
	put(path, text);
}

static void make_disk(const char *name, const char *serial, long long bytes)
{
	char path[256], sectors[32];

	snprintf(sectors, sizeof(sectors), "%lld\n", bytes / 512);
	put_attribute(name, "size", sectors);
	put_attribute(name, "serial", serial);
	put_attribute(name, "removable", "0\n");
	put_attribute(name, "ro", "0\n");
	put_attribute(name, "dev", name[2] == 'a' ? "254:0\n" : "254:16\n");
	put_attribute(name, "queue/logical_block_size", "512\n");
	put_attribute(name, "queue/physical_block_size", "4096\n");
	put_attribute(name, "queue/scheduler", "[mq-deadline] none\n");
	snprintf(path, sizeof(path), "dev/%s", name);
	put(path, "");
	snprintf(path, sizeof(path), "%s/%s", dev, name);
	assert_int_equal(truncate(path, bytes), 0);
}

static void write_disk(const char *name, off_t offset, const char *bytes, size_t length)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dev, name);
	fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, length, offset), length);
	close(fd);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(root, "/tmp/assay-disk.XXXXXX");
	assert_non_null(mkdtemp(root));
	snprintf(sys, sizeof(sys), "%s/sys", root);
	snprintf(proc, sizeof(proc), "%s/proc", root);
	snprintf(dev, sizeof(dev), "%s/dev", root);
	put("proc/self/mountinfo", "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n");
	put("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n");
	make_disk("vda", "  SCRATCH-1\n", 64 * MIB);
	make_disk("vdb", "SYSTEM-1\n", 64 * MIB);
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static json_t *wanted(const char *serial, const char *consent, const char *covers)
{
	json_t *disk = json_pack("{s:s, s:s, s:I, s:I}", "serial", serial, "consent", consent, "min_bytes",
	                         (json_int_t)(32 * MIB), "max_bytes", (json_int_t)(128 * MIB));

	if (covers)
		json_object_set_new(disk, "covers", json_pack("[s]", covers));
	return disk;
}

/* Selection of SERIAL must fail with R, all of TEXTS within the message. */
static void refused(json_t *want, int r, const char *text, const char *remedy)
{
	struct disk disk;
	struct failure why;

	assert_int_equal(disk_select(&roots, want, &disk, &why), r);
	assert_int_equal(why.scope, FAILURE_RUN);
	if (!strstr(why.message, text) || !strstr(why.message, "Nothing was written to any disk") ||
	    !strstr(why.remedy, remedy))
		fail_msg("\"%s\" (\"%s\") lacks \"%s\" or \"%s\"", why.message, why.remedy, text, remedy);
	json_decref(want);
}

static void accepted(json_t *want)
{
	struct disk disk;
	struct failure why;

	if (disk_select(&roots, want, &disk, &why))
		fail_msg("%s", why.message);
	assert_string_equal(disk.serial, "SCRATCH-1");
	json_decref(want);
}

static void test_empty_disk(void **state)
{
	(void)state;
	accepted(wanted("SCRATCH-1", "wipe", NULL));
}

static void test_consent(void **state)
{
	(void)state;
	refused(wanted("SCRATCH-1", "none", NULL), -EPERM, "does not consent", "consent: wipe");
}

static void test_absent(void **state)
{
	(void)state;
	refused(wanted("SCRATCH-9", "wipe", NULL), -ENODEV, "serial=\"SYSTEM-1\"", "serial");
	/* No serial at all is not the serial "". */
	put_attribute("vdb", "serial", "");
	refused(wanted("", "wipe", NULL), -ENODEV, "0 disks", "serial");
	/* A part of it is not it. */
	refused(wanted("SCRATCH", "wipe", NULL), -ENODEV, "0 disks", "serial");
}

static void test_twice(void **state)
{
	(void)state;
	make_disk("vdc", "SCRATCH-1\n", 64 * MIB);
	refused(wanted("SCRATCH-1", "wipe", NULL), -ENOTUNIQ, "2 disks have serial SCRATCH-1", "wwn");
}

static void test_wwn(void **state)
{
	json_t *want = wanted("x", "wipe", NULL);

	(void)state;
	json_object_del(want, "serial");
	json_object_set_new(want, "wwn", json_string("0x5000C500A1B2C3D4"));
	put_attribute("vda", "device/wwid", "naa.5000c500a1b2c3d4\n");
	accepted(want);
}

static void test_scsi_serial(void **state)
{
	(void)state;
	put_attribute("vda", "serial", "");
	put_attribute("vda", "device/vpd_pg80", "");
	{
		char path[256];
		int fd;

		snprintf(path, sizeof(path), "%s/block/vda/device/vpd_pg80", sys);
		fd = open(path, O_WRONLY);
		assert_int_equal(write(fd, "\0\x80\0\x0bSCRATCH-1  junk", 19), 19);
		close(fd);
	}
	accepted(wanted("SCRATCH-1", "wipe", NULL));
}

static void test_size(void **state)
{
	(void)state;
	make_disk("vda", "SCRATCH-1\n", 256 * MIB);
	refused(wanted("SCRATCH-1", "wipe", NULL), -ERANGE, "has 268435456 bytes", "max_bytes");
	make_disk("vda", "SCRATCH-1\n", 16 * MIB);
	refused(wanted("SCRATCH-1", "wipe", NULL), -ERANGE, "has 16777216 bytes", "min_bytes");
}

static void test_kind(void **state)
{
	(void)state;
	put_attribute("vda", "removable", "1\n");
	refused(wanted("SCRATCH-1", "wipe", NULL), -EPERM, "is removable", "fixed");
	put_attribute("vda", "removable", "0\n");
	put_attribute("vda", "ro", "1\n");
	refused(wanted("SCRATCH-1", "wipe", NULL), -EPERM, "is read-only", "writable");
}

static void test_in_use(void **state)
{
	(void)state;
	put_attribute("vda", "holders/dm-0", "");
	refused(wanted("SCRATCH-1", "wipe", "any"), -EBUSY, "dm-0 holds vda", "nothing uses");
}

static void test_partition_mounted(void **state)
{
	(void)state;
	put_attribute("vda", "vda1/dev", "254:1\n");
	put("proc/self/mountinfo", "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
	                           "30 1 254:1 / /srv rw,relatime shared:1 - ext4 /dev/vda1 rw\n");
	refused(wanted("SCRATCH-1", "wipe", "any"), -EBUSY, "vda1 is mounted on /srv", "nothing uses");
}

static void test_swap_in_use(void **state)
{
	char swaps[256];

	(void)state;
	snprintf(swaps, sizeof(swaps), "Filename\tType\tSize\tUsed\tPriority\n%s/vda\tpartition\t1\t0\t-2\n",
	         dev);
	put("proc/swaps", swaps);
	refused(wanted("SCRATCH-1", "wipe", "any"), -EBUSY, "vda is swap space", "nothing uses");
}

static void test_use_unknown(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/self/mountinfo", proc);
	unlink(path);
	refused(wanted("SCRATCH-1", "wipe", "any"), -EBUSY, "mountinfo", "nothing uses");
}

/* One place where each signature may be. END offsets are from the end of 64 MiB. */
struct example {
	const char *name;  /* in the message */
	const char *cover; /* NULL: only "any" covers it */
	long long offset;
	const char *bytes;
	size_t length;
};

#define EX(name, cover, offset, bytes)                                                                       \
	{                                                                                                    \
		name, cover, offset, bytes, sizeof(bytes) - 1                                                \
	}

static const struct example examples[] = {
    EX("gpt", "gpt", 512, GPT),
    EX("gpt", "gpt", 4096, GPT),
    EX("gpt", "gpt", -512, GPT),
    EX("gpt", "gpt", -4096, GPT),
    EX("mbr", "mbr", 446,
       "\x80\1\1\0\x83\xfe\xff\xff\0\x08\0\0\0\0\1\0" /* one Linux partition */
       "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x55"
       "\xaa"),
    EX("boot-sector", NULL, 510, "\x55\xaa"),
    EX("ext4", "ext4", 1024 + 56, "\x53\xef"),
    EX("xfs", "xfs", 0, "XFSB"),
    EX("swap", "swap", 4086, "SWAPSPACE2"),
    EX("lvm", "lvm", 512, "LABELONE"),
    EX("md", "md", -65536, "\xfc\x4e\x2b\xa9"),
    EX("md", "md", -8192, "\xfc\x4e\x2b\xa9"),
    EX("md", "md", 0, "\xfc\x4e\x2b\xa9"),
    EX("md", "md", 4096, "\xfc\x4e\x2b\xa9"),
    EX("luks", "luks", 0, "LUKS\xba\xbe\0\2"),
    EX("luks", "luks", 16384, "SKUL\xba\xbe\0\2"),
    EX("zfs", "zfs", 128 * 1024 + 4096, "\x0c\xb1\xba\0\0\0\0\0"),
    EX("zfs", "zfs", -256 * 1024 + 128 * 1024 + 1024, "\0\0\0\0\0\xba\xb1\x0c"),
    EX("drbd", "drbd", -4096 + 60, "\x83\x74\x02\x6b"),
    EX("drbd", "drbd", -4096 + 60, "\x83\x74\x02\x6c"),
    EX("drbd", "drbd", -4096 + 64, "\x83\x74\x02\x6d"),
    EX("bcache", NULL, 4096 + 24, "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"),
    EX("btrfs", NULL, 65536 + 64, "_BHRfS_M"),
    EX("ntfs", NULL, 3, "NTFS    "),
    EX("bitlocker", NULL, 3, "-FVE-FS-"),
    EX("fat", NULL, 82, "FAT32   "),
    EX("ddf-raid", NULL, -512, "\xde\x11\xde\x11"),
    EX("intel-raid", NULL, -1024, "Intel Raid ISM Cfg Sig. 1.1.00"),
    EX("iso9660", NULL, 32769, "CD001"),
};

static void test_signatures(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		const struct example *e = &examples[i];
		char carries[64];

		make_disk("vda", "SCRATCH-1\n", 64 * MIB);
		write_disk("vda", e->offset < 0 ? 64 * MIB + e->offset : e->offset, e->bytes, e->length);
		snprintf(carries, sizeof(carries), "carries data: %s", e->name);
		refused(wanted("SCRATCH-1", "wipe", NULL), -EEXIST, carries, e->cover ? e->cover : "[any]");
		/* What covers something else does not cover it. */
		refused(wanted("SCRATCH-1", "wipe", e->cover && !strcmp(e->cover, "gpt") ? "xfs" : "gpt"),
		        -EEXIST, carries, "covers");
		if (e->cover)
			accepted(wanted("SCRATCH-1", "wipe", e->cover));
		accepted(wanted("SCRATCH-1", "wipe", "any"));
	}
}

static void test_own_metadata(void **state)
{
	(void)state;
	write_disk("vda", 64 * MIB - 4096 + 40, "ASSAY\x01\x02\x03", 8);
	write_disk("vda", 64 * MIB - 4096 + 60, "\x83\x74\x02\x6b", 4);
	accepted(wanted("SCRATCH-1", "wipe", NULL));
	/* It does not cover what else is there. */
	write_disk("vda", 0, "XFSB", 4);
	refused(wanted("SCRATCH-1", "wipe", NULL), -EEXIST, "carries data: xfs", "covers: [xfs]");
}

/* What a stack of Assay's own left, as after a power cut, is no one's data; the same by anybody else is. */
static void test_own_layers(void **state)
{
	static const struct {
		const char *name, *magic, *uuid;
		size_t magic_length, uuid_length;
		long long magic_at, uuid_at;
	} made[] = {
	    {"lvm", "LABELONE", "ASSAY0", 8, 6, 512, 512 + 32},
	    {"luks", "LUKS\xba\xbe\0\2", "41535341-5901-4234-8000-000000000001", 8, 36, 0, 168},
	    {"luks", "SKUL\xba\xbe\0\2", "41535341-5901-4234-8000-000000000001", 8, 36, 16384, 16384 + 168},
	    {"xfs", "XFSB", "ASSAY\1", 4, 6, 0, 32},
	    {"ext4", "\x53\xef", "ASSAY\1", 2, 6, 1024 + 56, 1024 + 104},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++) {
		char carries[64];

		make_disk("vda", "SCRATCH-1\n", 64 * MIB);
		write_disk("vda", made[i].magic_at, made[i].magic, made[i].magic_length);
		snprintf(carries, sizeof(carries), "carries data: %s", made[i].name);
		refused(wanted("SCRATCH-1", "wipe", NULL), -EEXIST, carries, made[i].name);
		write_disk("vda", made[i].uuid_at, made[i].uuid, made[i].uuid_length);
		accepted(wanted("SCRATCH-1", "wipe", NULL));
		/* It does not cover what else is there. */
		write_disk("vda", 65536 + 64, "_BHRfS_M", 8);
		refused(wanted("SCRATCH-1", "wipe", NULL), -EEXIST, "carries data: btrfs", "[any]");
	}
}

static void test_two_signatures(void **state)
{
	(void)state;
	write_disk("vda", 512, GPT, 8);
	write_disk("vda", 65536 + 64, "_BHRfS_M", 8);
	refused(wanted("SCRATCH-1", "wipe", "gpt"), -EEXIST, "carries data: btrfs", "[any]");
}

/* A GPT's protective MBR is part of it. */
static void test_protective_mbr(void **state)
{
	(void)state;
	write_disk("vda", 512, GPT, 8);
	write_disk("vda", 446 + 4, "\xee", 1);
	write_disk("vda", 510, "\x55\xaa", 2);
	accepted(wanted("SCRATCH-1", "wipe", "gpt"));
}

static void test_old_boot_sector_is_no_ext4(void **state)
{
	(void)state;
	/* The two bytes alone, with a block size that no ext has. */
	write_disk("vda", 1024 + 24, "\xff\xff\xff\xff", 4);
	write_disk("vda", 1024 + 56, "\x53\xef", 2);
	accepted(wanted("SCRATCH-1", "wipe", NULL));
}

static void test_tiny_disk(void **state)
{
	uint64_t found;
	char path[128];
	int fd;

	(void)state;
	make_disk("vda", "SCRATCH-1\n", 512);
	snprintf(path, sizeof(path), "%s/vda", dev);
	fd = open(path, O_RDONLY);
	assert_int_equal(disk_signatures(fd, 512, &found), 0);
	assert_int_equal(found, 0);
	/* Shorter than it says: an error, not "nothing found". */
	assert_int_equal(disk_signatures(fd, 65536, &found), -EIO);
	close(fd);
}

static void test_unreadable(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/vda", dev);
	assert_int_equal(truncate(path, MIB), 0);
	refused(wanted("SCRATCH-1", "wipe", "any"), -EIO, "not known", "Replace");
}

static void test_inventory(void **state)
{
	struct disk disks[8];
	json_t *json;

	(void)state;
	make_disk("loop0", "x", MIB);
	put_attribute("vdc", "size", "0\n"); /* an empty card reader */
	write_disk("vdb", 512, GPT, 8);
	assert_int_equal(disk_scan(&roots, disks, 8), 2);
	assert_string_equal(disks[0].name, "vda");
	assert_string_equal(disks[0].serial, "SCRATCH-1");
	assert_string_equal(disks[0].scheduler, "mq-deadline");
	assert_int_equal(disks[0].physical_sector_bytes, 4096);
	json = disk_json(&disks[1]);
	assert_string_equal(json_string_value(json_array_get(json_object_get(json, "signatures"), 0)), "gpt");
	json_decref(json);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    T(test_empty_disk),
	    T(test_consent),
	    T(test_absent),
	    T(test_twice),
	    T(test_wwn),
	    T(test_scsi_serial),
	    T(test_size),
	    T(test_kind),
	    T(test_in_use),
	    T(test_partition_mounted),
	    T(test_swap_in_use),
	    T(test_use_unknown),
	    T(test_signatures),
	    T(test_own_metadata),
	    T(test_two_signatures),
	    T(test_own_layers),
	    T(test_protective_mbr),
	    T(test_old_boot_sector_is_no_ext4),
	    T(test_tiny_disk),
	    T(test_unreadable),
	    T(test_inventory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
