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

/* A state as a JSON object, or as an array with the level of each factor (NULL: none). */
struct view {
	const json_t *state;
	const json_t *const *levels;
};

static const json_t *level_in(const struct view *v, enum factor_id id)
{
	return v->levels ? v->levels[id] : json_object_get(v->state, factors[id].name);
}

static const char *string_in(const struct view *v, enum factor_id id)
{
	const json_t *level = level_in(v, id);

	return json_is_string(level) ? json_string_value(level) : factors[id].default_level;
}

static long long integer_in(const struct view *v, enum factor_id id)
{
	const json_t *level = level_in(v, id);

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

const char *factor_string(const json_t *state, enum factor_id id)
{
	return string_in(&(struct view){.state = state}, id);
}

long long factor_integer(const json_t *state, enum factor_id id)
{
	return integer_in(&(struct view){.state = state}, id);
}

/* Which groups have a meaning in V, a bit for each enum factor_group. */
static unsigned int relevant_groups(const struct view *v)
{
	unsigned int groups = 1u << FACTOR_GROUP_ALWAYS | 1u << FACTOR_GROUP_NODE;
	unsigned int layers = factor_stack_bits(string_in(v, FACTOR_STACK));

	for (size_t i = 0; i < sizeof(layer_groups) / sizeof(*layer_groups); i++)
		if (layers & 1u << layer_groups[i].layer)
			groups |= 1u << layer_groups[i].group;
	if (!(layers & 1u << STACK_DRBD))
		return groups;
	groups |= 1u << FACTOR_GROUP_DRBD | 1u << FACTOR_GROUP_DEVICE;
	if (!strcmp(string_in(v, FACTOR_DRBD_LINK), "never-connected"))
		return groups;
	groups |= 1u << FACTOR_GROUP_NET | 1u << FACTOR_GROUP_NIC;
	if (strcmp(string_in(v, FACTOR_BOND_MODE), "none"))
		groups |= 1u << FACTOR_GROUP_BOND;
	return groups;
}

bool factor_relevant(const struct factor *f, const json_t *state)
{
	return relevant_groups(&(struct view){.state = state}) & 1u << f->group;
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

/* What a bond's options depend on. */
struct bond_kind {
	int mode; /* the kernel's number, -1: none */
	bool arp, mii;
};

static struct bond_kind bond_kind(const struct view *v)
{
	bool arp = integer_in(v, FACTOR_BOND_ARP_INTERVAL) > 0;

	return (struct bond_kind){
	    .mode = factor_level_index(FACTOR_BOND_MODE, string_in(v, FACTOR_BOND_MODE)) - 1,
	    .arp = arp,
	    .mii = !arp && integer_in(v, FACTOR_BOND_MIIMON) > 0,
	};
}

/* Whether F is part of a state even where nobody named it. */
static bool by_itself(enum factor_id id, const struct bond_kind *bond)
{
	if (id == FACTOR_BOND_MIIMON)
		return !bond->arp;
	for (size_t i = 0; i < sizeof(bond_options) / sizeof(*bond_options); i++)
		if (bond_options[i].id == id)
			return bond->mode >= 0 && bond_options[i].modes & 1u << bond->mode &&
			       (bond_options[i].monitor != MONITOR_ARP || bond->arp) &&
			       (bond_options[i].monitor != MONITOR_MII || bond->mii);
	return true;
}

static unsigned int complete(const struct view *v, unsigned char part[FACTOR_COUNT])
{
	unsigned int groups = relevant_groups(v);
	struct bond_kind bond = bond_kind(v);

	for (size_t i = 0; i < FACTOR_COUNT; i++) {
		const json_t *level;

		part[i] = FACTOR_ABSENT;
		if (!(groups & 1u << factors[i].group))
			continue;
		level = level_in(v, (enum factor_id)i);
		if (factor_left_alone(&factors[i], level))
			continue;
		if (level)
			part[i] = FACTOR_GIVEN;
		else if (factors[i].group != FACTOR_GROUP_BOND || by_itself((enum factor_id)i, &bond))
			part[i] = FACTOR_DEFAULTED;
	}
	return groups;
}

unsigned int factor_complete_levels(const json_t *const levels[], unsigned char part[])
{
	return complete(&(struct view){.levels = levels}, part);
}

json_t *factor_default(const struct factor *f)
{
	return f->default_level ? json_string(f->default_level) : json_integer(f->default_value);
}

json_t *factor_complete_state(const json_t *state)
{
	unsigned char part[FACTOR_COUNT];
	json_t *out = json_object();

	complete(&(struct view){.state = state}, part);
	for (size_t i = 0; out && i < FACTOR_COUNT; i++) {
		json_t *level = part[i] == FACTOR_GIVEN ? json_incref(json_object_get(state, factors[i].name))
		                                        : factor_default(&factors[i]);

		if (part[i] == FACTOR_ABSENT) {
			json_decref(level);
		} else if (json_object_set_new(out, factors[i].name, level)) {
			json_decref(out);
			return NULL;
		}
	}
	return out;
}
