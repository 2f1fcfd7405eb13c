/* SPDX-License-Identifier: GPL-2.0-or-later
 * The commands that build the layers of a stack: pure, so that every level can be checked. */
#ifndef ASSAY_STACK_ARGV_H
#define ASSAY_STACK_ARGV_H

#include "factor.h"

#include <stddef.h>
#include <stdint.h>

#define STACK_MOUNT_POINT "/mnt"
#define STACK_GROUP                                                                                          \
	"assay"              /* the volume group; its volume is "lvm", the device mapper's name "assay-lvm"  \
	                      */
#define STACK_KEY "/run/key" /* in the layer's own folder, which is memory; gone when LUKS is open */

enum stack_step {
	STACK_PVCREATE,
	STACK_VGCREATE,
	STACK_LVCREATE,
	STACK_LUKS_FORMAT,
	STACK_LUKS_OPEN,
	STACK_MKFS_EXT4,
	STACK_DUMPE2FS,
	STACK_MKFS_XFS,
	STACK_MOUNT,
	STACK_UMOUNT,
	STACK_STEP_COUNT
};

struct stack_argv {
	const char *layer;    /* of the image, in which it runs; NULL: a program of the image itself */
	const char *argv[48]; /* ends with NULL; points into text */
	char text[4096];
	size_t count, used;
};

/* STEP's command for LAYER of STATE's stack on the device LOWER, with the UUID that stack_uuid() made. 0, or
 * -E2BIG. */
int stack_argv(enum stack_step step, enum stack_layer layer, const json_t *state, const char *lower,
               const char *uuid, struct stack_argv *out);

/* A UUID of Assay's own, by which its disks are known again (disk_signature.h): "41535341-59…" with RANDOM
 * bytes, or as LVM writes them "ASSAY…". */
void stack_uuid(enum stack_layer layer, const uint8_t random[16], char uuid[40]);

#endif
