/* SPDX-License-Identifier: GPL-2.0-or-later
 * Settings of the node that a cell may ask for and that need nothing but a value: sysctl keys, queues of
 * block devices, CPUs. Each is applied, read back, and put back to what was found. */
#ifndef ASSAY_KNOB_H
#define ASSAY_KNOB_H

#include "factor.h"
#include "failure.h"

enum { KNOB_TEXT = 96, KNOBS_MAX = 32 };

/* Where things are: "/sys", "/proc", names of the block devices ("vda", "drbd0", "dm-0"; "" where this node
 * does not have that layer of the stack). */
struct knob_place {
	const char *sys, *proc;
	char disk[64], layer[STACK_LAYER_COUNT][16];
	char top[64]; /* the highest of them */
};

/* The device that a knob is of. */
enum knob_device { KNOB_NODE, KNOB_DISK, KNOB_TOP, KNOB_LAYER /* plus enum stack_layer */ };

/* FIRST: before anything is built. LAST: when the whole state stands. */
enum knob_when { KNOB_FIRST, KNOB_LAST };

struct knob {
	enum factor_id factor;
	enum knob_when when;
	unsigned int on;  /* enum knob_device */
	bool whole_pages; /* the kernel keeps sectors of 512 bytes as pages */
	const char *file; /* what read and write make of it is their affair */
	/* The level in force as text. 0 or -errno. */
	int (*read)(const struct knob *knob, const struct knob_place *place, char *buf, size_t size);
	int (*write)(const struct knob *knob, const struct knob_place *place, const char *level);
};

/* Tables, each ends with an entry without read. */
extern const struct knob cpu_knobs[], sysctl_knobs[], block_knobs[];

/* What the set SET of sysctl keys says of FACTOR, or NULL. */
const char *sysctl_set_level(const char *set, enum factor_id factor);

/* What was changed. Zero it before the first use. */
struct knob_changes {
	size_t count;
	struct knob_change {
		const struct knob *knob;
		char found[KNOB_TEXT];
	} change[KNOBS_MAX];
};

/* Sets what STATE asks for at WHEN; remembers in CHANGES what was there, also where it fails. 0 or -errno
 * with *WHY filled: a level that the kernel refuses, or that this node has nothing for, is the cell's fault,
 * step "unsupported". */
int knob_apply(struct knob_changes *changes, const struct knob_place *place, const json_t *state,
               enum knob_when when, struct failure *why);

/* Levels in force of every factor of this kind that STATE asks for, to IN_FORCE. 0 or -ENOMEM. */
int knob_in_force(const struct knob_place *place, const json_t *state, json_t *in_force);

/* What cpu.quiet asks to be held in STATE and is not, to BUF ("cpu.governor is schedutil"); "" if all is. */
void knob_unheld(const struct knob_place *place, const json_t *state, char *buf, size_t size);

/* Every level that can be read on this node, as the kernel has it; the caller owns it. NULL: out of memory.
 */
json_t *knob_settings(const struct knob_place *place);

/* Puts back what CHANGES says, and empties it. Cannot fail: says on the console what it could not undo. */
void knob_restore(struct knob_changes *changes, const struct knob_place *place);

#endif
