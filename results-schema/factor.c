/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "factor.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

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
#define FACTOR_TEXT(id, n, f, g, text)                                                                       \
	[FACTOR_##id] = {.name = n,                                                                          \
	                 .form = FACTOR_TEXT_##f,                                                            \
	                 .default_level = "default",                                                         \
	                 .unit = "",                                                                         \
	                 .group = FACTOR_GROUP_##g,                                                          \
	                 .drbdsetup_option = "",                                                             \
	                 .description = text},
#include "factors.def"
#undef FACTOR_ENUM
#undef FACTOR_INT
#undef FACTOR_OWN_INT
#undef FACTOR_TEXT
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

/* Three whole numbers with one space between them, none smaller than the one before it: what the kernel's
 * files for them say, when tabs are spaces. */
static bool is_triple(const char *text)
{
	char again[96];
	long long a, b, c;

	if (sscanf(text, "%lld %lld %lld", &a, &b, &c) != 3 || a < 1 || b < a || c < b || c > INT_MAX)
		return false;
	snprintf(again, sizeof(again), "%lld %lld %lld", a, b, c);
	return !strcmp(text, again);
}

/* Kernel arguments go into a boot script as they are, and the lab's own must stay what they are. Why they
 * cannot, or NULL. */
static const char *arguments_fault(const char *text)
{
	static const char *const ours[] = {"assay.",  "initrd=", "BOOTIF=", "console=", "init=",
	                                   "rdinit=", "root=",   "panic=",  "quiet",    "loglevel="};

	if (!*text || *text == ' ' || text[strlen(text) - 1] == ' ' || strstr(text, "  "))
		return "takes kernel arguments with one space between them, or default";
	if (strlen(text) >= FACTOR_ARGUMENTS_SIZE)
		return "takes at most 255 bytes";
	if (text[strspn(text,
	                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _.,:=+-/@*^~%")])
		return "takes letters, digits, spaces and _.,:=+-/@*^~%";
	for (const char *word = text; *word; word += strcspn(word, " "), word += *word == ' ')
		for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
			if (!strncmp(word, ours[i], strlen(ours[i])))
				return "cannot set what the lab sets itself (assay., console=, panic=, "
				       "init=, "
				       "quiet and so on); consoles belong in the lab file";
	return NULL;
}

static int check_text(const struct factor *f, const json_t *level, char *why, size_t why_size)
{
	const char *fault = "takes text";

	if (factor_left_alone(f, level))
		return 0;
	if (f->form == FACTOR_TEXT_ARGUMENTS) {
		if (json_is_string(level))
			fault = arguments_fault(json_string_value(level));
		if (fault)
			snprintf(why, why_size, "%s %s", f->name, fault);
		return fault ? -EINVAL : 0;
	}
	if (json_is_string(level) && is_triple(json_string_value(level)))
		return 0;
	snprintf(
	    why, why_size,
	    "%s takes three rising whole numbers with one space between, as \"4096 87380 4194304\", or %s",
	    f->name, f->default_level);
	return -EINVAL;
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
		return check_text(f, level, why, why_size);
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
	return f->group == FACTOR_GROUP_NIC || f->group == FACTOR_GROUP_NODE ||
	       f->group == FACTOR_GROUP_DEVICE;
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

/* Which groups have a meaning in STATE, a bit for each enum factor_group. */
static unsigned int relevant_groups(const json_t *state)
{
	unsigned int groups = 1u << FACTOR_GROUP_ALWAYS | 1u << FACTOR_GROUP_NODE;

	if (strcmp(factor_string(state, FACTOR_STACK), "drbd"))
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
		else if (f->levels)
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
