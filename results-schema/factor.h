/* SPDX-License-Identifier: GPL-2.0-or-later
 * The table of factors: what factors.def says, for the plan validator, the node's applier and the
 * documentation. */
#ifndef ASSAY_FACTOR_H
#define ASSAY_FACTOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum factor_id {
#define FACTOR_ENUM(id, ...)    FACTOR_##id,
#define FACTOR_INT(id, ...)     FACTOR_##id,
#define FACTOR_OWN_INT(id, ...) FACTOR_##id,
#define FACTOR_TEXT(id, ...)    FACTOR_##id,
#define FACTOR_WORDS(id, ...)   FACTOR_##id,
#include "factors.def"
#undef FACTOR_ENUM
#undef FACTOR_INT
#undef FACTOR_OWN_INT
#undef FACTOR_TEXT
#undef FACTOR_WORDS
	FACTOR_COUNT
};

enum factor_group {
	FACTOR_GROUP_ALWAYS,
	FACTOR_GROUP_NET,
	FACTOR_GROUP_NIC,
	FACTOR_GROUP_BOND,
	FACTOR_GROUP_DRBD,
	FACTOR_GROUP_NODE,
	FACTOR_GROUP_DEVICE,
	FACTOR_GROUP_DM_LINEAR,
	FACTOR_GROUP_LVM,
	FACTOR_GROUP_LUKS,
	FACTOR_GROUP_LUKS_DEVICE,
	FACTOR_GROUP_EXT4,
	FACTOR_GROUP_XFS
};

/* What a level that is free text must look like. */
enum factor_form {
	FACTOR_TEXT_NONE,
	FACTOR_TEXT_TRIPLE,    /* "4096 87380 4194304" */
	FACTOR_TEXT_ARGUMENTS, /* "maxcpus=1 mitigations=off" */
	FACTOR_TEXT_STACK,     /* "ext4/drbd/lvm" */
	FACTOR_TEXT_CIPHER,    /* "aes-xts-plain64" */
	FACTOR_TEXT_MOUNT,     /* "noatime,commit=30" */
	FACTOR_TEXT_MKFS,      /* "-b 4096 -O ^has_journal" */
};

enum { FACTOR_ARGUMENTS_SIZE = 256 /* with the NUL */ };

struct factor {
	const char *name;
	const char *levels;                /* "a|b|c"; NULL: an integer, or text */
	enum factor_form form;             /* of text */
	const char *default_level;         /* of an enum and of text; of an integer where it is a word */
	long long min, max, default_value; /* of an integer */
	const char *unit;
	enum factor_group group;
	const char *drbdsetup_option; /* "": applied by init itself */
	const char *description;
};

/* All factors, in the order of factors.def, FACTOR_COUNT of them. */
extern const struct factor factors[FACTOR_COUNT];

/* The factor of that name, or NULL. */
const struct factor *factor_find(const char *name);

/* The name nearest to NAME by edit distance; never NULL. */
const char *factor_nearest(const char *name);

/* Whether LEVEL (JSON string or integer) is a level of F. 0, or -EINVAL with the reason written to WHY. */
int factor_check(const struct factor *f, const json_t *level, char *why, size_t why_size);

/* What the factor "stack" is made of, above the disk ("raw"). */
enum stack_layer {
	STACK_DM_LINEAR,
	STACK_LVM,
	STACK_LUKS,
	STACK_DRBD,
	STACK_EXT4,
	STACK_XFS,
	STACK_LAYER_COUNT /* at most one of each: also the most layers that a stack can have */
};

extern const char *const stack_layer_names[STACK_LAYER_COUNT];

/* The layers of the level STACK ("ext4/drbd/lvm": ext4 on DRBD on LVM on the disk) to LAYERS, from the disk
 * up. How many (0: raw), or -EINVAL where it is no stack: a name unknown or there twice, a file system below
 * something. */
int factor_stack_layers(const char *stack, enum stack_layer layers[STACK_LAYER_COUNT]);

/* The layers of the level STACK, a bit (1 << enum stack_layer) each; whether it ends in a file system. */
unsigned int factor_stack_bits(const char *stack);
bool factor_stack_is_files(const char *stack);

/* Whether STATE's stack has LAYER. */
bool factor_stack_has(const json_t *state, enum stack_layer layer);

/* Whether F has a meaning in STATE (which must have "stack", and what it needs of drbd.link and bond.mode, or
 * defaults are taken). */
bool factor_relevant(const struct factor *f, const json_t *state);

/* Whether F has a default that leaves the setting alone. */
bool factor_optional(const struct factor *f);

/* Whether LEVEL (NULL: not given) of F leaves the setting as the driver or kernel made it. Such a factor is
 * not part of a cell: cells keep their ids when factors are added, and no cell claims to know a default that
 * only the driver knows. What it was is in the evidence. */
bool factor_left_alone(const struct factor *f, const json_t *level);

/* Level of a factor in STATE, or its default where the state does not have it. */
const char *factor_string(const json_t *state, enum factor_id id);
long long factor_integer(const json_t *state, enum factor_id id);

/* The place of LEVEL among the levels of enum ID, from 0; -1: it is none. bond.mode's are the kernel's
 * numbers plus one. */
int factor_level_index(enum factor_id id, const char *level);

/* A new state: STATE with defaults for every relevant factor it lacks, and without what has no meaning in it.
 * A bond option that STATE lacks is left out where the bond's mode or monitor has no use for it; one that
 * STATE has stays, for the kernel to accept or to refuse.
 * The caller owns it. NULL: out of memory. */
json_t *factor_complete_state(const json_t *state);

/* What a complete state has of a factor. */
enum factor_part {
	FACTOR_ABSENT,
	FACTOR_GIVEN,
	FACTOR_DEFAULTED,
};

/* The same for thousands of states: LEVELS has the level of each factor (FACTOR_COUNT; NULL: not given), PART
 * gets an enum factor_part for each. Gives which groups have a meaning, bit N for group N. */
unsigned int factor_complete_levels(const json_t *const levels[], unsigned char part[]);

/* The default of F; the caller owns it. NULL: out of memory. */
json_t *factor_default(const struct factor *f);

/* How many edits (insert, delete, replace, swap of neighbours) lead from A to B. Strings over 63 bytes are
 * cut. */
unsigned int edit_distance(const char *a, const char *b);

#endif
