/* SPDX-License-Identifier: GPL-2.0-or-later
 * What disks say of themselves: answers as adapters give them, instead of a disk's. */
#include "disk_sys.h"

#include "disk_health.h"

#include <linux/ioctl.h>
#include <linux/nvme_ioctl.h>
#include <scsi/sg.h>

static int answer;                  /* of the ioctl */
static unsigned char sense[64];     /* of the next SCSI command, */
static unsigned char data[512];     /* and what comes with it or with an NVMe log */
static unsigned char asked[16];     /* the command */
static unsigned long asked_request; /* 0: nothing was asked */

int disk_ioctl(int fd, unsigned long request, void *argument)
{
	(void)fd;
	asked_request = request;
	if (request == SG_IO) {
		struct sg_io_hdr *io = argument;

		memcpy(asked, io->cmdp, io->cmd_len);
		assert_int_not_equal(io->dxfer_direction, SG_DXFER_TO_DEV);
		assert_true(io->timeout > 0);
		memcpy(io->sbp, sense, io->mx_sb_len < sizeof(sense) ? io->mx_sb_len : sizeof(sense));
		if (io->dxfer_len)
			memcpy(io->dxferp, data, io->dxfer_len);
	} else {
		struct nvme_admin_cmd *command = argument;

		assert_int_equal(request, NVME_IOCTL_ADMIN_CMD);
		assert_int_equal(command->opcode, 2);
		assert_int_equal(command->cdw10 & 0xff, 2);
		assert_int_equal(((command->cdw10 >> 16) + 1) * 4, command->data_len);
		memcpy((void *)(uintptr_t)command->addr, data, command->data_len);
	}
	return answer;
}

static struct disk ask(const char *name, const char *vendor)
{
	struct disk disk = {.health = HEALTH_UNKNOWN};
	char block[200];

	put_attribute(name, "device/vendor", vendor);
	snprintf(block, sizeof(block), "%s/block/%s", sys, name);
	snprintf(disk.name, sizeof(disk.name), "%s", name);
	asked_request = 0;
	disk_ask_health(-1, block, &disk);
	return disk;
}

static void says(struct disk disk, enum disk_health health, const char *text)
{
	assert_string_equal(disk.health_text, text);
	assert_int_equal(disk.health, health);
}

/* 0x72: registers as SAT's ATA status return descriptor. */
static void ata_registers(unsigned char mid, unsigned char high)
{
	const unsigned char registers[22] = {0x72, 1, 0, 0x1d, 0, 0, 0,   14, 9,    12,   0,
	                                     0,    0, 0, 0,    0, 0, mid, 0,  high, 0xa0, 0x50};

	memset(sense, 0, sizeof(sense));
	memcpy(sense, registers, sizeof(registers));
}

static void test_ata(void **state)
{
	(void)state;
	answer = 0;
	ata_registers(0x4f, 0xc2);
	says(ask("sda", "ATA     \n"), HEALTH_PASSED, "SMART: passed");
	assert_int_equal(asked[0], 0x85);
	assert_int_equal(asked[4], 0xda);
	assert_int_equal(asked[14], 0xb0);
	ata_registers(0xf4, 0x2c);
	says(ask("sda", "ATA     \n"), HEALTH_FAILING,
	     "SMART: a threshold is exceeded, the disk predicts its failure");
	/* Neither of the two: no answer to what was asked. */
	ata_registers(0, 0);
	says(ask("sda", "ATA     \n"), HEALTH_UNKNOWN, "");
}

static void test_ata_fixed_format(void **state)
{
	(void)state;
	answer = 0;
	memset(sense, 0, sizeof(sense));
	sense[0] = 0x70;
	sense[2] = 1;
	sense[10] = 0xf4;
	sense[11] = 0x2c;
	says(ask("sda", "ATA     \n"), HEALTH_FAILING,
	     "SMART: a threshold is exceeded, the disk predicts its failure");
	/* "Invalid command" says nothing of health. */
	memset(sense, 0, sizeof(sense));
	sense[0] = 0x70;
	sense[2] = 5;
	sense[12] = 0x20;
	says(ask("sda", "ATA     \n"), HEALTH_UNKNOWN, "");
}

static void test_scsi(void **state)
{
	static const unsigned char page[15] = {0x2f, 0, 0, 11, 0, 0, 3, 7, 0, 0, 35};

	(void)state;
	answer = 0;
	memset(sense, 0, sizeof(sense));
	memcpy(data, page, sizeof(page));
	says(ask("sdb", "SEAGATE \n"), HEALTH_PASSED, "SCSI: no informational exception");
	assert_int_equal(asked[0], 0x4d);
	assert_int_equal(asked[2] & 0x3f, 0x2f);
	data[8] = 0x5d;
	data[9] = 0x10;
	says(ask("sdb", "SEAGATE \n"), HEALTH_FAILING,
	     "SCSI: failure prediction threshold exceeded (ASC/ASCQ 5dh/10h)");
	data[8] = 0x0b;
	data[9] = 1;
	says(ask("sdb", "SEAGATE \n"), HEALTH_FAILING, "SCSI: warning (ASC/ASCQ 0bh/01h)");
	/* Refused, another page, one without the parameter. */
	sense[0] = 0x70;
	says(ask("sdb", "SEAGATE \n"), HEALTH_UNKNOWN, "");
	sense[0] = 0;
	data[0] = 0x0d;
	says(ask("sdb", "SEAGATE \n"), HEALTH_UNKNOWN, "");
	data[0] = 0x2f;
	data[3] = 0;
	says(ask("sdb", "SEAGATE \n"), HEALTH_UNKNOWN, "");
}

static void test_nvme(void **state)
{
	(void)state;
	answer = 0;
	memset(data, 0, sizeof(data));
	says(ask("nvme0n1", ""), HEALTH_PASSED, "NVMe: no critical warning");
	data[0] = 4;
	says(ask("nvme0n1", ""), HEALTH_FAILING, "NVMe: critical warning 04h: reliability is degraded");
	data[0] = 1 | 8;
	says(ask("nvme0n1", ""), HEALTH_FAILING, "NVMe: critical warning 09h: spare space is low");
	data[0] = 0x80;
	says(ask("nvme0n1", ""), HEALTH_FAILING, "NVMe: critical warning 80h: unknown warning");
	/* The controller's status, and an error of the system: nothing is known. */
	answer = 0x4002;
	says(ask("nvme0n1", ""), HEALTH_UNKNOWN, "");
	answer = -ENOTTY;
	says(ask("nvme0n1", ""), HEALTH_UNKNOWN, "");
}

static void test_others_are_not_asked(void **state)
{
	(void)state;
	says(ask("vda", "0x1af4\n"), HEALTH_UNKNOWN, "");
	assert_int_equal(asked_request, 0);
}

/* Refused, though it is empty; "any" is of data, and does not cover it. */
static void test_selection(void **state)
{
	struct disk disk;
	struct failure why;
	json_t *want = wanted("SCRATCH-1", "wipe", "any");

	(void)state;
	answer = 0;
	memset(data, 0, sizeof(data));
	data[0] = 4;
	make_disk("nvme0n1", "SCRATCH-1\n", 64 * MIB);
	put_attribute("vda", "serial", "OTHER\n");
	assert_int_equal(disk_select(&roots, want, &disk, &why), -EPERM);
	if (!strstr(why.message,
	            "says that it fails (NVMe: critical warning 04h: reliability is degraded)") ||
	    !strstr(why.message, "Nothing was written") || !strstr(why.remedy, "add failing to covers"))
		fail_msg("%s (%s)", why.message, why.remedy);
	json_array_append_new(json_object_get(want, "covers"), json_string("failing"));
	assert_int_equal(disk_select(&roots, want, &disk, &why), 0);
	assert_string_equal(disk.name, "nvme0n1");
	json_decref(want);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    T(test_ata),  T(test_ata_fixed_format),     T(test_scsi),
	    T(test_nvme), T(test_others_are_not_asked), T(test_selection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
