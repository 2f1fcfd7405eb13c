/* SPDX-License-Identifier: GPL-2.0-or-later
 * The commands that make DRBD what a cell's state says: pure, so that every level can be checked. */
#ifndef ASSAY_DRBD_ARGV_H
#define ASSAY_DRBD_ARGV_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define DRBD_RESOURCE "assay"
#define DRBD_MINOR    "0"
#define DRBD_DEVICE   "/dev/drbd0"

/* What the commands need to know. Addresses are "10.99.0.1". */
struct drbd_setup {
	char disk[64]; /* "/dev/vda" */
	char node[64], peer[64];
	char address[48], peer_address[48];
	unsigned int port;
	unsigned int mark; /* 24 bits, random: the lower part of the device UUID */
	const json_t *state;
};

enum drbd_step {
	DRBD_CREATE_MD,
	DRBD_MARK_MD, /* the device UUID says that this metadata is Assay's */
	DRBD_NEW_RESOURCE,
	DRBD_NEW_MINOR,
	DRBD_ATTACH,
	DRBD_CONNECT,
	DRBD_SKIP_SYNC,
	DRBD_PRIMARY,
	DRBD_PRIMARY_FORCE,
	DRBD_SECONDARY,
	DRBD_INVALIDATE_REMOTE, /* the peer gets all data anew */
	DRBD_VERIFY,            /* compares both nodes' data */
	DRBD_DISCONNECT,
	DRBD_DOWN,
	DRBD_SHOW,
	DRBD_GENERATION, /* UUIDs of the data, the current one first */
	DRBD_STEP_COUNT
};

struct drbd_argv {
	const char *argv[32]; /* ends with NULL; points into text */
	char text[2048];
	size_t count, used;
};

/* STEP's command for SETUP. 0, or -E2BIG. */
int drbd_argv(enum drbd_step step, const struct drbd_setup *setup, struct drbd_argv *out);

/* Whether OUTPUT, what STEP's command said when it failed, is a refusal of an option's level, by drbdsetup or
 * by the kernel: not that something is in the way. */
bool drbd_refuses_level(enum drbd_step step, const char *output);

enum drbd_version { DRBD_8_4, DRBD_9 };

/* The equivalent drbd.conf for people, as VERSION's drbdadm takes it, to BUF; cut where it does not fit.
 * Options have the spelling that both know (disk-barrier no, not 8.3's no-disk-barrier); what DRBD 9 has
 * given up is a comment there. */
void drbd_conf(const struct drbd_setup *setup, enum drbd_version version, char *buf, size_t size);

#endif
