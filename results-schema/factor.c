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

	if (strcmp(string_in(v, FACTOR_STACK), "drbd"))
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
	return f->levels || factor_optional(f) ? json_string(f->default_level)
	                                       : json_integer(f->default_value);
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
