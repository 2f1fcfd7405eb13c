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

/* *STATE as evidence, with the whole TEXT; the caller owns it. */
json_t *drbd_state_json(const struct drbd_state *state, const char *text);

/* Value of OPTION in SECTION ("net", "disk") of TEXT, the output of `drbdsetup show`, to BUF. 0; -ENOENT: not
 * there; -EBADMSG: does not fit BUF. */
int drbd_show_option(const char *text, const char *section, const char *option, char *buf, size_t size);

/* Sets every drbd.disk.* and drbd.net.* factor that TEXT (`drbdsetup show --show-defaults`) has in IN_FORCE:
 * levels as in a cell. 0 or -ENOMEM. */
int drbd_show_levels(const char *text, json_t *in_force);

#endif
