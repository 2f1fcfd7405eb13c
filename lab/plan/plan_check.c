/* SPDX-License-Identifier: GPL-2.0-or-later
 * Factors as a plan names them: names, levels, and combinations that can't be. */
#include "plan_internal.h"
#include "units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Levels in bytes and milliseconds may be written with a unit. */
static json_t *level_with_unit(const struct factor *f, const char *text, char *why, size_t why_size)
{
	uint64_t number;
	int r = -EINVAL;

	if (!strcmp(f->unit, "bytes"))
		r = units_size(text, &number, why, why_size);
	else if (!strcmp(f->unit, "ms"))
		r = units_duration(text, &number, why, why_size);
	return r ? NULL : json_integer((json_int_t)number);
}

/* Checks one level; gives the level to use, with a reference, or NULL. */
static json_t *check_level(struct plan_build *b, const struct factor *f, json_t *level, const char *pointer)
{
	char why[256] = "";
	json_t *used = NULL;

	if (!json_is_string(level) && !json_is_integer(level))
		return NULL; /* the schema complains of it */
	if (!f->levels && json_is_string(level) && *f->unit && !factor_left_alone(f, level)) {
		used = level_with_unit(f, json_string_value(level), why, sizeof(why));
		if (!used && *why) {
			yaml_complain(&b->doc, pointer, false, "%s: %s", f->name, why);
			return NULL;
		}
	}
	/* "bond.primary: 1": its levels are names, though they look like numbers. */
	if (!used && f->levels && json_is_integer(level))
		used = json_sprintf("%" JSON_INTEGER_FORMAT, json_integer_value(level));
	if (!used)
		used = json_incref(level);
	if (!factor_check(f, used, why, sizeof(why)))
		return used;
	json_decref(used);
	yaml_complain(&b->doc, pointer, false, "%s", why);
	return NULL;
}

static const struct factor *check_name(struct plan_build *b, const char *pointer, const char *name)
{
	const struct factor *f = factor_find(name);

	if (!f)
		yaml_complain(&b->doc, pointer, true, "unknown factor \"%.100s\"; the nearest is \"%s\"",
		              name, factor_nearest(name));
	return f;
}

/* Factor -> level, at POINTER; gives the set of factors. */
static factor_set check_levels(struct plan_build *b, json_t *map, const char *pointer)
{
	factor_set set = 0;
	const char *name;
	json_t *level;
	void *next;

	json_object_foreach_safe(map, next, name, level)
	{
		char at[512];
		const struct factor *f;
		json_t *used;

		snprintf(at, sizeof(at), "%s/%s", pointer, name);
		f = check_name(b, at, name);
		used = f ? check_level(b, f, level, at) : NULL;
		if (f)
			set |= FACTOR_BIT(f);
		if (used)
			json_object_set_new(map, name, used);
	}
	return set;
}

static void check_list(struct plan_build *b, const struct factor *f, json_t *list, const char *pointer,
                       bool doubles)
{
	json_t *level, *earlier;
	size_t i, j;

	json_array_foreach (list, i, level) {
		char at[560];
		json_t *used;

		snprintf(at, sizeof(at), "%s/%zu", pointer, i);
		used = check_level(b, f, level, at);
		if (!used)
			continue;
		json_array_set_new(list, i, used);
		for (j = 0; !doubles && j < i; j++) {
			earlier = json_array_get(list, j);
			if (json_equal(earlier, used)) {
				yaml_complain(&b->doc, at, false, "%s has this level twice", f->name);
				break;
			}
		}
	}
}

/* Factor -> list of levels, under KEY. */
static factor_set check_lists(struct plan_build *b, const char *key, bool doubles)
{
	json_t *map = json_object_get(b->doc.root, key), *list;
	factor_set set = 0;
	const char *name;

	json_object_foreach (map, name, list) {
		char at[512];
		const struct factor *f;

		snprintf(at, sizeof(at), "/%s/%s", key, name);
		f = check_name(b, at, name);
		if (!f)
			continue;
		set |= FACTOR_BIT(f);
		check_list(b, f, list, at, doubles);
	}
	return set;
}

/* *EVERY: factors that every row of zip sets. */
static factor_set check_zip(struct plan_build *b, factor_set *every)
{
	json_t *zip = json_object_get(b->doc.root, "zip"), *item;
	size_t i, length = 0;
	const char *name, *first = NULL;
	factor_set set = 0;
	char at[512];

	*every = 0;
	if (json_is_array(zip)) {
		*every = ~(factor_set)0;
		json_array_foreach (zip, i, item) {
			factor_set row;

			snprintf(at, sizeof(at), "/zip/%zu", i);
			row = check_levels(b, item, at);
			set |= row;
			*every &= row;
		}
		return set;
	}
	set = *every = check_lists(b, "zip", true);
	json_object_foreach (zip, name, item) {
		if (!first) {
			first = name;
			length = json_array_size(item);
		} else if (json_array_size(item) != length) {
			snprintf(at, sizeof(at), "/zip/%s", name);
			yaml_complain(&b->doc, at, false,
			              "lists under zip go side by side: this has %zu levels, %s has %zu",
			              json_array_size(item), first, length);
		}
	}
	return set;
}

/* Complains of every factor that is in both sets. */
static void check_overlap(struct plan_build *b, factor_set both, const char *here, const char *there,
                          const char *why)
{
	for (size_t i = 0; i < FACTOR_COUNT; i++) {
		char at[128];

		if (!(both & FACTOR_INDEX_BIT(i)))
			continue;
		snprintf(at, sizeof(at), "/%s/%s", here, factors[i].name);
		yaml_complain(&b->doc, at, true, "%s is in %s too; %s", factors[i].name, there, why);
	}
}

static void check_tune(struct plan_build *b)
{
	json_t *steps = json_object_get(json_object_get(b->doc.root, "tune"), "steps"), *step, *row;
	size_t i, k;

	json_array_foreach (steps, i, step) {
		json_array_foreach (step, k, row) {
			char at[64];

			snprintf(at, sizeof(at), "/tune/steps/%zu/%zu", i, k);
			check_levels(b, row, at);
			/* A wrong name is the same in every row. */
			if (!factor_find(json_object_iter_key(json_object_iter(row))))
				break;
		}
	}
}

int plan_check_factors(struct plan_build *b)
{
	static const char *const filters[] = {"only", "except"};
	json_t *where = json_object_get(b->doc.root, "where"), *entry;
	factor_set base, sweep, cross, zip, every;
	size_t i;

	base = check_levels(b, json_object_get(b->doc.root, "base"), "/base");
	sweep = check_lists(b, "sweep", false);
	cross = check_lists(b, "cross", false);
	zip = check_zip(b, &every);
	check_overlap(b, sweep & cross, "cross", "sweep", "it can vary in one way only");
	check_overlap(b, sweep & zip, "sweep", "zip", "it can vary in one way only");
	check_overlap(b, cross & zip, "cross", "zip", "it can vary in one way only");
	check_overlap(b, base & cross, "base", "cross", "the level in base would never be used");
	check_overlap(b, base & every, "base", "zip", "the level in base would never be used");
	b->named = base | sweep | cross | zip;
	for (size_t f = 0; f < 2; f++)
		json_array_foreach (json_object_get(where, filters[f]), i, entry) {
			char at[64];

			snprintf(at, sizeof(at), "/where/%s/%zu", filters[f], i);
			check_levels(b, entry, at);
		}
	json_array_foreach (json_object_get(b->doc.root, "acceptance"), i, entry) {
		char at[64];

		snprintf(at, sizeof(at), "/acceptance/%zu/where", i);
		check_levels(b, json_object_get(entry, "where"), at);
	}
	check_tune(b);
	return b->doc.complaints->count ? -EINVAL : 0;
}

/* Where the plan names F, for a complaint. */
static void place_of(struct plan_build *b, const struct factor *f, char *at, size_t size)
{
	static const char *const maps[] = {"cross", "sweep", "zip", "base"};
	json_t *zip = json_object_get(b->doc.root, "zip"), *row;
	size_t i;

	for (i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		if (json_object_get(json_object_get(b->doc.root, maps[i]), f->name)) {
			snprintf(at, size, "/%s/%s", maps[i], f->name);
			return;
		}
	json_array_foreach (zip, i, row) {
		if (json_object_get(row, f->name)) {
			snprintf(at, size, "/zip/%zu/%s", i, f->name);
			return;
		}
	}
	*at = '\0';
}

static const char *what_group_needs(enum factor_group group)
{
	switch (group) {
	case FACTOR_GROUP_NET:
	case FACTOR_GROUP_NIC:
		return "a stack with drbd, and a drbd.link other than never-connected";
	case FACTOR_GROUP_BOND:
		return "a stack with drbd, a drbd.link other than never-connected, and a bond.mode other "
		       "than none";
	case FACTOR_GROUP_DRBD:
	case FACTOR_GROUP_DEVICE:
		return "a stack with drbd";
	case FACTOR_GROUP_DM_LINEAR:
		return "a stack with dm-linear";
	case FACTOR_GROUP_LVM:
		return "a stack with lvm";
	case FACTOR_GROUP_LUKS:
	case FACTOR_GROUP_LUKS_DEVICE:
		return "a stack with luks";
	case FACTOR_GROUP_EXT4:
		return "a stack with ext4";
	case FACTOR_GROUP_XFS:
		return "a stack with xfs";
	case FACTOR_GROUP_ALWAYS:
	case FACTOR_GROUP_NODE:
		break;
	}
	return "nothing";
}

int plan_check_states(struct plan_build *b)
{
	char at[128];
	bool pair = false;

	for (size_t i = 0; i < FACTOR_COUNT; i++)
		if (b->named & ~b->used & FACTOR_INDEX_BIT(i)) {
			place_of(b, &factors[i], at, sizeof(at));
			yaml_complain(&b->doc, at, true,
			              "%s has no meaning in any cell of this plan: it needs %s",
			              factors[i].name, what_group_needs(factors[i].group));
		}
	plan_check_workloads(b);
	for (size_t i = 0; i < b->parts->state_count; i++)
		pair |= b->parts->states[i].levels[FACTOR_NIC_MTU] != 0;
	if (pair && b->plan->nodes != 2)
		yaml_complain(&b->doc, "/nodes", false,
		              "DRBD 8.4 replicates between 2 nodes, and this plan has %u; never-connected "
		              "and raw need one",
		              b->plan->nodes);
	return b->doc.complaints->count ? -EINVAL : 0;
}
