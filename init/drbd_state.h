/* SPDX-License-Identifier: GPL-2.0-or-later
 * /proc/drbd and `drbdsetup show`, read. */
#ifndef ASSAY_DRBD_STATE_H
#define ASSAY_DRBD_STATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One minor of /proc/drbd (8.4). "" where a word is not there. */
struct drbd_state {
	char connection[24];          /* "Connected", "Unconfigured" … */
	char role[16], peer_role[16]; /* "Primary" … */
	char disk[16], peer_disk[16]; /* "UpToDate" … */
	char protocol;                /* 'A' … 'C'; ' ': not connected */
	char write_ordering;          /* 'n'one, 'd'rain, 'f'lush; '\0': not known */
	uint64_t out_of_sync_bytes;
};

/* MINOR's lines of /proc/drbd's TEXT. 0; -ENOENT: no such minor; -EBADMSG: not understood. */
int drbd_state_parse(const char *text, unsigned int minor, struct drbd_state *state);

/* What /proc/drbd shows of a resync or an online verify, and what went over the network since it connected.
 */
struct drbd_progress {
	bool running;                     /* the following three have a meaning */
	uint64_t left_bytes, total_bytes; /* in KiB up to 4 GiB in all, in MiB beyond */
	long long finish_s;               /* DRBD's own estimate of what is left */
	uint64_t sent_bytes, received_bytes;
};

/* MINOR's progress in /proc/drbd's TEXT. 0; -ENOENT: no such minor; -EBADMSG: not understood. */
int drbd_progress_parse(const char *text, unsigned int minor, struct drbd_progress *progress);

/* *STATE as evidence, with the whole TEXT; the caller owns it. */
json_t *drbd_state_json(const struct drbd_state *state, const char *text);

/* Value of OPTION in SECTION ("net", "disk") of TEXT, the output of `drbdsetup show`, to BUF. 0; -ENOENT: not
 * there; -EBADMSG: does not fit BUF. */
int drbd_show_option(const char *text, const char *section, const char *option, char *buf, size_t size);

/* Sets every drbd.disk.* and drbd.net.* factor that TEXT (`drbdsetup show --show-defaults`) has in IN_FORCE:
 * levels as in a cell. 0 or -ENOMEM. */
int drbd_show_levels(const char *text, json_t *in_force);

#endif
