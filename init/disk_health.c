/* SPDX-License-Identifier: GPL-2.0-or-later
 * Commands and answers: ATA ACS-3 7.48.8 and SAT-3 12.2.2, SPC-4 7.2.7 (log page 2Fh) and table D.2, NVMe 1.4
 * 5.14.1.2. A disk fails where smartctl -H says so, too. */
#include "disk_health.h"

#include "file.h"

#include <linux/ioctl.h>
#include <linux/nvme_ioctl.h>
#include <scsi/sg.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TIMEOUT_MS = 5000, SENSE_BYTES = 64 };

const char *const disk_health_names[] = {
    [HEALTH_UNKNOWN] = "unknown", [HEALTH_PASSED] = "passed", [HEALTH_FAILING] = "failing"};

__attribute__((format(printf, 3, 4))) static void say(struct disk *disk, enum disk_health health,
                                                      const char *format, ...)
{
	va_list args;

	disk->health = health;
	va_start(args, format);
	vsnprintf(disk->health_text, sizeof(disk->health_text), format, args);
	va_end(args);
}

/* 0: SENSE (of SENSE_BYTES) and BUF are what the disk answered. */
static int scsi_command(int fd, unsigned char *command, unsigned char length, void *buf, unsigned int size,
                        unsigned char *sense)
{
	struct sg_io_hdr io = {.interface_id = 'S',
	                       .cmdp = command,
	                       .cmd_len = length,
	                       .dxferp = buf,
	                       .dxfer_len = size,
	                       .dxfer_direction = size ? SG_DXFER_FROM_DEV : SG_DXFER_NONE,
	                       .sbp = sense,
	                       .mx_sb_len = SENSE_BYTES,
	                       .timeout = TIMEOUT_MS};
	int r;

	memset(sense, 0, SENSE_BYTES);
	r = disk_ioctl(fd, SG_IO, &io);
	return r < 0 ? r : io.host_status;
}

/* The registers come back in the sense data, as a descriptor or, from older adapters, in the fixed format. */
static void ask_ata(int fd, struct disk *disk)
{
	unsigned char command[16] = {0x85, 3 << 1, 0x20, 0, 0xda, 0, 0, 0, 0, 0, 0x4f, 0, 0xc2, 0, 0xb0};
	unsigned char sense[SENSE_BYTES];
	unsigned int mid, high;

	/* Byte 10 of the command is LBA mid, 12 is LBA high: SMART's key, without which it is not obeyed. */
	if (scsi_command(fd, command, sizeof(command), NULL, 0, sense))
		return;
	if (sense[0] == 0x72 && sense[8] == 0x09 && sense[9] >= 12)
		mid = sense[17], high = sense[19];
	else if (sense[0] == 0x70)
		mid = sense[10], high = sense[11];
	else
		return;
	if (mid == 0x4f && high == 0xc2)
		say(disk, HEALTH_PASSED, "SMART: passed");
	else if (mid == 0xf4 && high == 0x2c)
		say(disk, HEALTH_FAILING, "SMART: a threshold is exceeded, the disk predicts its failure");
}

static void ask_scsi(int fd, struct disk *disk)
{
	unsigned char page[64] = {0};
	unsigned char command[10] = {0x4d, 0, 0x40 | 0x2f, 0, 0, 0, 0, 0, sizeof(page)};
	unsigned char sense[SENSE_BYTES];
	unsigned int code, qualifier;

	if (scsi_command(fd, command, sizeof(command), page, sizeof(page), sense) || sense[0])
		return;
	/* Parameter 0 has at least both codes. */
	if ((page[0] & 0x3f) != 0x2f || (page[2] << 8 | page[3]) < 6 || page[7] < 2)
		return;
	code = page[8];
	qualifier = page[9];
	if (code == 0x5d || code == 0x0b)
		say(disk, HEALTH_FAILING, "SCSI: %s (ASC/ASCQ %02xh/%02xh)",
		    code == 0x5d ? "failure prediction threshold exceeded" : "warning", code, qualifier);
	else
		say(disk, HEALTH_PASSED, "SCSI: no informational exception");
}

static void ask_nvme(int fd, struct disk *disk)
{
	static const char *const warnings[] = {"spare space is low",
	                                       "temperature is out of its range",
	                                       "reliability is degraded",
	                                       "media are read-only",
	                                       "backup of the volatile memory failed",
	                                       "persistent memory region is read-only"};
	unsigned char log[512] = {0};
	struct nvme_admin_cmd command = {.opcode = 0x02, /* get log page */
	                                 .nsid = 0xffffffff,
	                                 .addr = (uintptr_t)log,
	                                 .data_len = sizeof(log),
	                                 .cdw10 = 0x02 | (sizeof(log) / 4 - 1) << 16,
	                                 .timeout_ms = TIMEOUT_MS};
	const char *what = "unknown warning";

	/* A positive answer is the command's own status. */
	if (disk_ioctl(fd, NVME_IOCTL_ADMIN_CMD, &command))
		return;
	if (!log[0]) {
		say(disk, HEALTH_PASSED, "NVMe: no critical warning");
		return;
	}
	for (size_t i = sizeof(warnings) / sizeof(*warnings); i-- > 0;)
		if (log[0] & 1 << i)
			what = warnings[i];
	say(disk, HEALTH_FAILING, "NVMe: critical warning %02xh: %s", log[0], what);
}

void disk_ask_health(int fd, const char *block, struct disk *disk)
{
	char vendor[16] = "";

	if (!strncmp(disk->name, "nvme", 4)) {
		ask_nvme(fd, disk);
		return;
	}
	if (strncmp(disk->name, "sd", 2) != 0)
		return;
	/* What stands behind a translation to SCSI, libata's or an adapter's, has this vendor. */
	read_file_at(vendor, sizeof(vendor), "%s/device/vendor", block);
	if (!strncmp(vendor, "ATA", 3))
		ask_ata(fd, disk);
	else
		ask_scsi(fd, disk);
}
