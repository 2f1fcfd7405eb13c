/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which disk may be written. */
#include "disk_sys.h"
#include "schema.h"

#define GPT "EFI PART"

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

/* A disk that is not there yet, or a reader without a medium, is found and refused by name. */
static void test_no_size(void **state)
{
	(void)state;
	make_disk("vda", "SCRATCH-1\n", 0);
	refused(wanted("SCRATCH-1", "wipe", "any"), -EPERM, "is of no size", "fixed, writable");
}

static void test_usb(void **state)
{
	char link[300], target[300];

	(void)state;
	put("sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host7/block/vda/size", "131072\n");
	put("sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host7/block/vda/serial", "SCRATCH-1\n");
	snprintf(link, sizeof(link), "%s/block/vda", sys);
	snprintf(target, sizeof(target), "%s/block/vda.gone", sys);
	assert_int_equal(rename(link, target), 0);
	/* Its serial is not to be found twice. */
	put("sys/block/vda.gone/serial", "");
	assert_int_equal(symlink("../devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host7/block/vda", link),
	                 0);
	refused(wanted("SCRATCH-1", "wipe", "any"), -EPERM, "is a USB disk, as virtual media",
	        "fixed, writable");
}

/* One disk by two paths, as iSCSI and FC give it: also where only one path shows the serial. */
static void test_two_paths(void **state)
{
	json_t *want = wanted("x", "wipe", "any");

	(void)state;
	put_attribute("vda", "device/wwid", "naa.5000c500a1b2c3d4\n");
	put_attribute("vdb", "device/wwid", "naa.5000C500A1B2C3D4\n");
	refused(wanted("SCRATCH-1", "wipe", "any"), -ENOTUNIQ, "two paths to one disk", "other path");
	json_object_del(want, "serial");
	json_object_set_new(want, "wwn", json_string("0x5000c500a1b2c3d4"));
	refused(want, -ENOTUNIQ, "2 disks have wwn 0x5000c500a1b2c3d4", "serial or wwn");
	put_attribute("vdb", "device/wwid", "naa.5000c500a1b2c3d5\n");
	accepted(wanted("SCRATCH-1", "wipe", "any"));
}

static void test_serial_with_spaces(void **state)
{
	struct failure why;
	struct disk disk;
	json_t *want = wanted("WD  AB 12", "wipe", NULL);

	(void)state;
	put_attribute("vda", "serial", "   WD  AB 12 \n");
	assert_int_equal(disk_select(&roots, want, &disk, &why), 0);
	json_decref(want);
	refused(wanted("WD AB 12", "wipe", NULL), -ENODEV, "serial=\"WD  AB 12\"", "serial");
}

static void test_sectors(void **state)
{
	json_t *want = wanted("SCRATCH-1", "wipe", NULL);

	(void)state;
	put_attribute("vda", "queue/logical_block_size", "4096\n");
	refused(wanted("SCRATCH-1", "wipe", NULL), -ERANGE, "has sectors of 4096 bytes, not of 512",
	        "logical_sector_bytes: 4096");
	json_object_set_new(want, "logical_sector_bytes", json_integer(4096));
	accepted(json_incref(want));
	put_attribute("vda", "queue/logical_block_size", "512\n");
	refused(want, -ERANGE, "has sectors of 512 bytes, not of 4096", "logical_sector_bytes: 512");
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

static void test_own_metadata(void **state)
{
	(void)state;
	write_disk("vda", 64 * MIB - 4096 + 40, "ASSAY\x01\x02\x03", 8);
	write_disk("vda", 64 * MIB - 4096 + 60, "\x83\x74\x02\x6b", 4);
	accepted(wanted("SCRATCH-1", "wipe", NULL));
	/* It does not cover what else is there. */
	write_disk("vda", 512, GPT, 8);
	refused(wanted("SCRATCH-1", "wipe", NULL), -EEXIST, "carries data: gpt", "covers: [gpt]");
}

/* A header with a wrong checksum is what somebody may still want to mend: at each end, for either sectors. */
static void test_damaged_gpt(void **state)
{
	static const long long places[] = {512, 4096, 64 * MIB - 512, 64 * MIB - 4096};

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char carries[64];

		make_disk("vda", "SCRATCH-1\n", 64 * MIB);
		write_disk("vda", places[i], GPT, 8);
		snprintf(carries, sizeof(carries), "carries data: gpt at byte %lld", places[i]);
		refused(wanted("SCRATCH-1", "wipe", "mbr"), -EEXIST, carries, "covers: [gpt]");
		accepted(wanted("SCRATCH-1", "wipe", "gpt"));
	}
}

static void test_boot_sector(void **state)
{
	(void)state;
	/* With a boot flag that no table has. */
	write_disk("vda", 446, "\x12", 1);
	write_disk("vda", 510, "\x55\xaa", 2);
	refused(wanted("SCRATCH-1", "wipe", "mbr"), -EEXIST, "carries data: boot-sector at byte 510",
	        "[any]");
	accepted(wanted("SCRATCH-1", "wipe", "any"));
}

static void test_two_signatures(void **state)
{
	(void)state;
	write_disk("vda", 512, GPT, 8);
	write_disk("vda", 446, "\x12", 1);
	write_disk("vda", 64 * MIB - 4096 + 60, "\x83\x74\x02\x6b", 4);
	refused(wanted("SCRATCH-1", "wipe", "gpt"), -EEXIST, "carries data: drbd at byte 67104828. ",
	        "covers: [gpt, drbd]");
}

static void test_tiny_disk(void **state)
{
	struct disk_signatures found;
	char path[128];
	int fd;

	(void)state;
	make_disk("vda", "SCRATCH-1\n", 512);
	snprintf(path, sizeof(path), "%s/vda", dev);
	fd = open(path, O_RDONLY);
	assert_int_equal(disk_signatures(fd, 512, &found), 0);
	assert_int_equal(found.count, 0);
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
	struct schema_error error;
	json_t *json, *found, *inventory;

	(void)state;
	make_disk("loop0", "x", MIB);
	make_disk("vdc", "EMPTY\n", 0); /* an empty card reader */
	write_disk("vdb", 512, GPT, 8);
	assert_int_equal(disk_scan(&roots, disks, 8), 3);
	assert_string_equal(disks[0].name, "vda");
	assert_string_equal(disks[0].serial, "SCRATCH-1");
	assert_string_equal(disks[0].scheduler, "mq-deadline");
	assert_int_equal(disks[0].physical_sector_bytes, 4096);
	json = disk_json(&disks[1]);
	assert_string_equal(json_string_value(json_array_get(json_object_get(json, "signatures"), 0)), "gpt");
	found = json_array_get(json_object_get(json, "found"), 0);
	assert_string_equal(json_string_value(json_object_get(found, "name")), "gpt");
	assert_int_equal(json_integer_value(json_object_get(found, "offset_bytes")), 512);
	assert_true(json_is_false(json_object_get(found, "ours")));
	assert_string_equal(json_string_value(json_object_get(json, "health")), "unknown");
	inventory = json_pack("{s:i, s:{}, s:{s:s, s:i}, s:i, s:s, s:s, s:[], s:[], s:[o]}", "schema_version",
	                      1, "dmi", "cpus", "model", "", "online", 1, "memory_bytes", 1, "kernel_release",
	                      "", "command_line", "", "pci", "nics", "disks", json);
	if (schema_check("inventory.json", inventory, &error))
		fail_msg("%s: %s", error.path, error.message);
	json_decref(inventory);
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
	    T(test_no_size),
	    T(test_usb),
	    T(test_two_paths),
	    T(test_serial_with_spaces),
	    T(test_sectors),
	    T(test_in_use),
	    T(test_partition_mounted),
	    T(test_swap_in_use),
	    T(test_use_unknown),
	    T(test_own_metadata),
	    T(test_two_signatures),
	    T(test_damaged_gpt),
	    T(test_boot_sector),
	    T(test_tiny_disk),
	    T(test_unreadable),
	    T(test_inventory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
