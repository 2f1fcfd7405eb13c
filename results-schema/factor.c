/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "factor.h"

#include "factor_text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Of these a factor is part of a cell only with another level than its default. */
#define OPTIONAL_GROUPS                                                                                      \
	(1u << FACTOR_GROUP_NIC | 1u << FACTOR_GROUP_NODE | 1u << FACTOR_GROUP_DEVICE |                      \
	 1u << FACTOR_GROUP_DM_LINEAR | 1u << FACTOR_GROUP_LVM | 1u << FACTOR_GROUP_LUKS_DEVICE |            \
	 1u << FACTOR_GROUP_EXT4 | 1u << FACTOR_GROUP_XFS)

const struct factor factors[FACTOR_COUNT] = {
#define FACTOR_ENUM(id, n, l, d, g, o, text)                                                                 \
	[FACTOR_##id] = {.name = n,                                                                          \
	                 .levels = l,                                                                        \
	                 .default_level = d,                                                                 \
	                 .unit = "",                                                                         \
	                 .group = FACTOR_GROUP_##g,                                                          \
	                 .drbdsetup_option = o,                                                              \
	                 .description = text},
#define FACTOR_INT(id, n, lo, hi, u, d, g, o, text)                                                          \
	[FACTOR_##id] = {.name = n,                                                                          \
	                 .min = lo,                                                                          \
	                 .max = hi,                                                                          \
	                 .default_value = d,                                                                 \
	                 .unit = u,                                                                          \
	                 .group = FACTOR_GROUP_##g,                                                          \
	                 .drbdsetup_option = o,                                                              \
	                 .description = text},
#define FACTOR_OWN_INT(id, n, lo, hi, u, g, o, text)                                                         \
	[FACTOR_##id] = {.name = n,                                                                          \
	                 .min = lo,                                                                          \
	                 .max = hi,                                                                          \
	                 .default_level = "default",                                                         \
	                 .unit = u,                                                                          \
	                 .group = FACTOR_GROUP_##g,                                                          \
	                 .drbdsetup_option = o,                                                              \
	                 .description = text},
#define FACTOR_TEXT(id, n, f, g, text) FACTOR_WORDS(id, n, f, "default", g, text)
#define FACTOR_WORDS(id, n, f, d, g, text)                                                                   \
	[FACTOR_##id] = {.name = n,                                                                          \
	                 .form = FACTOR_TEXT_##f,                                                            \
	                 .default_level = d,                                                                 \
	                 .unit = "",                                                                         \
	                 .group = FACTOR_GROUP_##g,                                                          \
	                 .drbdsetup_option = "",                                                             \
	                 .description = text},
#include "factors.def"
#undef FACTOR_ENUM
#undef FACTOR_INT
#undef FACTOR_OWN_INT
#undef FACTOR_TEXT
#undef FACTOR_WORDS
};

const struct factor *factor_find(const char *name)
{
	for (size_t i = 0; i < FACTOR_COUNT; i++)
		if (!strcmp(factors[i].name, name))
			return &factors[i];
	return NULL;
}

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int m = a < b ? a : b;

	return m < c ? m : c;
}

/* Optimal string alignment distance, the restricted form of Damerau's (1964). */
unsigned int edit_distance(const char *a, const char *b)
{
	enum { MAX = 63 };
	unsigned int row[3][MAX + 1];
	unsigned int *before = row[0], *last = row[1], *now = row[2];
	size_t la = strnlen(a, MAX), lb = strnlen(b, MAX);

	for (size_t j = 0; j <= lb; j++)
		last[j] = (unsigned int)j;
	for (size_t i = 1; i <= la; i++) {
		now[0] = (unsigned int)i;
		for (size_t j = 1; j <= lb; j++) {
			now[j] = min3(last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < now[j])
				now[j] = before[j - 2] + 1;
		}
		unsigned int *free_row = before;

		before = last;
		last = now;
		now = free_row;
	}
	return last[lb];
}

const char *factor_nearest(const char *name)
{
	unsigned int best = UINT_MAX;
	size_t nearest = 0;

	for (size_t i = 0; i < FACTOR_COUNT; i++) {
		const char *last = strrchr(factors[i].name, '.');
		unsigned int d = edit_distance(name, factors[i].name);

		/* "mtu" is meant for nic.mtu, though other names have fewer letters to change. */
		if (last && edit_distance(name, last + 1) + 1 < d)
			d = edit_distance(name, last + 1) + 1;
		if (d < best) {
			best = d;
			nearest = i;
		}
	}
	return factors[nearest].name;
}

static bool is_level(const char *levels, const char *level)
{
	size_t n = strcspn(level, "|");

	if (level[n])
		return false;
	for (const char *p = levels; p && n; p = strchr(p, '|'), p = p ? p + 1 : NULL)
		if (!strncmp(p, level, n) && (p[n] == '|' || p[n] == '\0'))
			return true;
	return false;
}

int factor_check(const struct factor *f, const json_t *level, char *why, size_t why_size)
{
	if (f->levels) {
		if (json_is_string(level) && is_level(f->levels, json_string_value(level)))
			return 0;
		snprintf(why, why_size, "%s takes one of %s", f->name, f->levels);
		return -EINVAL;
	}
	if (f->form)
		return factor_check_text(f, level, why, why_size);
	if (json_is_integer(level) && json_integer_value(level) >= f->min &&
	    json_integer_value(level) <= f->max)
		return 0;
	if (factor_left_alone(f, level))
		return 0;
	snprintf(why, why_size, "%s takes a whole number from %lld to %lld (%s)%s%s", f->name, f->min, f->max,
	         f->unit, f->default_level ? " or " : "", f->default_level ? f->default_level : "");
	return -EINVAL;
}

bool factor_optional(const struct factor *f)
{
	return OPTIONAL_GROUPS & 1u << f->group;
}

bool factor_left_alone(const struct factor *f, const json_t *level)
{
	if (!factor_optional(f))
		return false;
	return !level || (json_is_string(level) && !strcmp(json_string_value(level), f->default_level));
}

const char *factor_string(const json_t *state, enum factor_id id)
{
	const json_t *level = json_object_get(state, factors[id].name);

	return json_is_string(level) ? json_string_value(level) : factors[id].default_level;
}

long long factor_integer(const json_t *state, enum factor_id id)
{
	const json_t *level = json_object_get(state, factors[id].name);

	return json_is_integer(level) ? json_integer_value(level) : factors[id].default_value;
}

/* Which layer of the stack a group's factors are about. */
static const struct {
	enum stack_layer layer;
	enum factor_group group;
} layer_groups[] = {
    {STACK_DM_LINEAR, FACTOR_GROUP_DM_LINEAR}, {STACK_LVM, FACTOR_GROUP_LVM},
    {STACK_LUKS, FACTOR_GROUP_LUKS},           {STACK_LUKS, FACTOR_GROUP_LUKS_DEVICE},
    {STACK_EXT4, FACTOR_GROUP_EXT4},           {STACK_XFS, FACTOR_GROUP_XFS},
};

/* Which groups have a meaning in STATE, a bit for each enum factor_group. */
static unsigned int relevant_groups(const json_t *state)
{
	unsigned int groups = 1u << FACTOR_GROUP_ALWAYS | 1u << FACTOR_GROUP_NODE;
	unsigned int layers = factor_stack_bits(state);

	for (size_t i = 0; i < sizeof(layer_groups) / sizeof(*layer_groups); i++)
		if (layers & 1u << layer_groups[i].layer)
			groups |= 1u << layer_groups[i].group;
	if (!(layers & 1u << STACK_DRBD))
		return groups;
	groups |= 1u << FACTOR_GROUP_DRBD | 1u << FACTOR_GROUP_DEVICE;
	if (!strcmp(factor_string(state, FACTOR_DRBD_LINK), "never-connected"))
		return groups;
	groups |= 1u << FACTOR_GROUP_NET | 1u << FACTOR_GROUP_NIC;
	if (strcmp(factor_string(state, FACTOR_BOND_MODE), "none"))
		groups |= 1u << FACTOR_GROUP_BOND;
	return groups;
}

bool factor_relevant(const struct factor *f, const json_t *state)
{
	return relevant_groups(state) & 1u << f->group;
}

#define MODE(id)     (1u << (id))
#define ALL_MODES    0x7fu
#define HAVE_ACTIVE  (MODE(1) | MODE(5) | MODE(6))
#define ARP_MODES    (MODE(0) | MODE(1) | MODE(2) | MODE(3))
#define HASH_MODES   (MODE(2) | MODE(4) | MODE(5) | MODE(6))
#define INACTIVE_HAS (MODE(1) | MODE(4) | MODE(5) | MODE(6))

enum monitor { MONITOR_ANY, MONITOR_MII, MONITOR_ARP };

/* In which modes (bits of the kernel's numbers) and with which monitor an option does something. */
static const struct {
	enum factor_id id;
	unsigned int modes;
	enum monitor monitor;
} bond_options[] = {
    {FACTOR_BOND_ARP_INTERVAL, ARP_MODES, MONITOR_ANY},
    {FACTOR_BOND_ARP_TARGET, ARP_MODES, MONITOR_ARP},
    {FACTOR_BOND_UPDELAY, ALL_MODES, MONITOR_MII},
    {FACTOR_BOND_DOWNDELAY, ALL_MODES, MONITOR_MII},
    {FACTOR_BOND_PRIMARY, HAVE_ACTIVE, MONITOR_ANY},
    {FACTOR_BOND_RESELECT, HAVE_ACTIVE, MONITOR_ANY},
    {FACTOR_BOND_FAIL_OVER_MAC, MODE(1), MONITOR_ANY},
    {FACTOR_BOND_XMIT_HASH, HASH_MODES, MONITOR_ANY},
    {FACTOR_BOND_LACP_RATE, MODE(4), MONITOR_ANY},
    {FACTOR_BOND_AD_SELECT, MODE(4), MONITOR_ANY},
    {FACTOR_BOND_GRAT_ARP, MODE(1), MONITOR_ANY},
    {FACTOR_BOND_RESEND_IGMP, MODE(0) | HAVE_ACTIVE, MONITOR_ANY},
    {FACTOR_BOND_TLB_DYNAMIC, MODE(5) | MODE(6), MONITOR_ANY},
    {FACTOR_BOND_ALL_ACTIVE, INACTIVE_HAS, MONITOR_ANY},
};

int factor_level_index(enum factor_id id, const char *level)
{
	const char *p = factors[id].levels;
	size_t n = strlen(level);

	for (int i = 0; p; i++, p = strchr(p, '|'), p = p ? p + 1 : NULL)
		if (!strncmp(p, level, n) && (p[n] == '|' || p[n] == '\0'))
			return i;
	return -1;
}

/* Whether F is part of a state even where nobody named it. */
static bool by_itself(enum factor_id id, const json_t *state)
{
	int mode = factor_level_index(FACTOR_BOND_MODE, factor_string(state, FACTOR_BOND_MODE)) - 1;
	bool arp = factor_integer(state, FACTOR_BOND_ARP_INTERVAL) > 0;

	if (id == FACTOR_BOND_MIIMON)
		return !arp;
	for (size_t i = 0; i < sizeof(bond_options) / sizeof(*bond_options); i++)
		if (bond_options[i].id == id)
			return mode >= 0 && bond_options[i].modes & 1u << mode &&
			       (bond_options[i].monitor != MONITOR_ARP || arp) &&
			       (bond_options[i].monitor != MONITOR_MII ||
			        (!arp && factor_integer(state, FACTOR_BOND_MIIMON) > 0));
	return true;
}

json_t *factor_complete_state(const json_t *state)
{
	unsigned int groups = relevant_groups(state);
	json_t *out = json_object();

	for (size_t i = 0; out && i < FACTOR_COUNT; i++) {
		const struct factor *f = &factors[i];
		json_t *level;
		int r;

		if (!(groups & 1u << f->group))
			continue;
		level = json_object_get(state, f->name);
		if (factor_left_alone(f, level) || (!level && !by_itself((enum factor_id)i, state)))
			continue;
		if (level)
			r = json_object_set(out, f->name, level);
		else if (f->default_level)
			r = json_object_set_new(out, f->name, json_string(f->default_level));
		else
			r = json_object_set_new(out, f->name, json_integer(f->default_value));
		if (r) {
			json_decref(out);
			return NULL;
		}
	}
	return out;
}
