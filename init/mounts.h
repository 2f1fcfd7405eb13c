/* SPDX-License-Identifier: GPL-2.0-or-later
 * What /proc/mounts says. Pure. */
#ifndef ASSAY_MOUNTS_H
#define ASSAY_MOUNTS_H

#include <stdbool.h>

struct mount_entry {
	char device[256], type[32], options[1024];
};

/* The last mount on POINT in the text MOUNTS (fstab(5)'s form) to *ENTRY. 0 or -ENOENT. */
int mounts_find(const char *mounts, const char *point, struct mount_entry *entry);

/* Whether every option of ASKED ("noatime,commit=30") is among those in force: OPTIONS, as /proc/mounts has
 * them, or ALL, a line each, as /proc/fs/ext4/NAME/options; sizes are compared as bytes ("1m" is "1024k"),
 * and "barrier=0" is "nobarrier". */
bool mounts_have(const char *options, const char *all, const char *asked);

#endif
