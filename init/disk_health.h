/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a disk says of its own health: SMART RETURN STATUS of ATA, the informational exceptions of SCSI, the
 * critical warnings of NVMe. */
#ifndef ASSAY_DISK_HEALTH_H
#define ASSAY_DISK_HEALTH_H

#include "disk.h"

extern const char *const disk_health_names[];

/* Asks the disk open as FD, whose folder in sysfs is BLOCK, and sets health and health_text of DISK. One that
 * does not answer, or cannot be asked, is HEALTH_UNKNOWN. Nothing is written; at most 5 s. */
void disk_ask_health(int fd, const char *block, struct disk *disk);

/* ioctl(), so that tests can be the disk (disk_ioctl.c). 0 or more, or -errno. */
int disk_ioctl(int fd, unsigned long request, void *argument);

#endif
