/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "knob.h"

#include "console.h"
#include "kernel_log.h"
#include "quiet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* CPUs first: those that go offline take their share of everything else along. */
static const struct knob *const tables[] = {cpu_knobs, sysctl_knobs, block_knobs};

#define FOR_EACH_KNOB(k)                                                                                     \
	for (size_t t_ = 0; t_ < sizeof(tables) / sizeof(*tables); t_++)                                     \
		for (const struct knob *k = tables[t_]; k->read; k++)

static bool is_named(const struct knob *k, const json_t *state)
{
	return json_object_get(state, factors[k->factor].name);
}

/* What STATE asks of K, as text to BUF: by itself, by the set it is in, or by cpu.quiet. Whether it asks. */
static bool asked(const struct knob *k, const json_t *state, char buf[KNOB_TEXT])
{
	const json_t *level = json_object_get(state, factors[k->factor].name);
	const char *set;

	if (json_is_integer(level))
		snprintf(buf, KNOB_TEXT, "%lld", (long long)json_integer_value(level));
	else if (level)
		snprintf(buf, KNOB_TEXT, "%s", json_string_value(level));
	if (level)
		return true;
	set = sysctl_set_level(factor_string(state, FACTOR_SYSCTL_SET), k->factor);
	if (!set)
		set = quiet_level(state, k->factor);
	snprintf(buf, KNOB_TEXT, "%s", set ? set : "");
	return set != NULL;
}

static bool same(const struct knob *k, const char *a, const char *b)
{
	long page = sysconf(_SC_PAGESIZE) / 512;

	if (!strcmp(a, b))
		return true;
	return k->whole_pages && strtoll(a, NULL, 10) / page == strtoll(b, NULL, 10) / page;
}

/* Whether REAL is what LEVEL asks for. An idle state is held where CPUs enter none that is deeper. */
static bool holds(const struct knob *k, const char *real, const char *level)
{
	return same(k, real, level) ||
	       (k->factor == FACTOR_CPU_MAX_CSTATE && strtol(real, NULL, 10) <= strtol(level, NULL, 10));
}

/* A node that does not measure does not have what lies above DRBD: nothing can be set, and nothing differs.
 */
static bool elsewhere(const struct knob *k, const struct knob_place *place)
{
	if (k->on == KNOB_TOP)
		return !place->top[0];
	return k->on >= KNOB_LAYER && !place->layer[k->on - KNOB_LAYER][0];
}

/* What a device of the stack had is gone with it. */
static bool gone(const struct knob *k, const struct knob_place *place)
{
	return k->on >= KNOB_LAYER || (k->on == KNOB_TOP && strcmp(place->top, place->disk) != 0);
}

static int refused(const struct knob *k, const char *level, const char *found, int r, struct failure *why)
{
	return fail(why, r, failure_refusal(r), "unsupported", factors[k->factor].name,
	            "Leave this level out on such nodes; the other cells are measured.",
	            "This node does not take %s=%s%s%s%s", factors[k->factor].name, level,
	            *found ? " (it has " : "", found, *found ? ")" : "");
}

/* Writes LEVEL; where that is refused, *WHY has the kernel's log of it. */
static int write_level(const struct knob *k, const struct knob_place *place, const char *level,
                       const char *found, struct failure *why)
{
	int log = kernel_log_mark(), r = k->write(k, place, level);

	if (r)
		refused(k, level, found, r, why);
	kernel_log_since(log, r ? why->log : NULL, sizeof(why->log));
	return r;
}

/* Whether a refusal left everything as it was. */
static bool is_untouched(const struct knob_change *change, const struct knob_place *place)
{
	char real[KNOB_TEXT];

	return !change->knob->read(change->knob, place, real, sizeof(real)) && !strcmp(real, change->found);
}

int knob_apply(struct knob_changes *changes, const struct knob_place *place, const json_t *state,
               enum knob_when when, struct failure *why)
{
	FOR_EACH_KNOB(k)
	{
		struct knob_change *change = &changes->change[changes->count];
		char level[KNOB_TEXT];
		int r;

		if (k->when != when || !asked(k, state, level) || elsewhere(k, place))
			continue;
		if (changes->count == KNOBS_MAX)
			return refused(k, level, "", -E2BIG, why);
		*change = (struct knob_change){.knob = k};
		r = k->read(k, place, change->found, sizeof(change->found));
		/* What cpu.quiet holds need not be there: a machine without frequencies has a steady one. */
		if (r == -ENOENT && !is_named(k, state) && quiet_level(state, k->factor))
			continue;
		if (r)
			return refused(k, level, "", r, why);
		if (is_named(k, state) ? same(k, change->found, level) : holds(k, change->found, level))
			continue;
		changes->count++;
		r = write_level(k, place, level, change->found, why);
		if (r && is_untouched(change, place))
			changes->count--;
		if (r)
			return r;
	}
	return 0;
}

/* Text as the factor's level: a number where it is one. */
static json_t *to_level(const struct knob *k, const char *text)
{
	const struct factor *f = &factors[k->factor];
	char *end;
	long long number = strtoll(text, &end, 10);

	return f->levels || f->form || *end || end == text ? json_string(text) : json_integer(number);
}

/* The set's name where all of it that STATE does not name by itself is in force; else what differs. */
static json_t *set_in_force(const struct knob_place *place, const json_t *state)
{
	const char *set = factor_string(state, FACTOR_SYSCTL_SET);

	for (const struct knob *k = sysctl_knobs; k->read; k++) {
		char level[KNOB_TEXT], real[KNOB_TEXT] = "unknown";

		if (json_object_get(state, factors[k->factor].name) || !asked(k, state, level))
			continue;
		k->read(k, place, real, sizeof(real));
		if (strcmp(real, level) != 0)
			return json_sprintf("%s, but %s is %s", set, factors[k->factor].name, real);
	}
	return json_string(set);
}

int knob_in_force(const struct knob_place *place, const json_t *state, json_t *in_force)
{
	int r = 0;

	FOR_EACH_KNOB(k)
	{
		const char *name = factors[k->factor].name;
		char level[KNOB_TEXT], real[KNOB_TEXT];

		if (!json_object_get(state, name) || !asked(k, state, level))
			continue;
		if (elsewhere(k, place))
			snprintf(real, sizeof(real), "%s", level);
		else if (k->read(k, place, real, sizeof(real)))
			continue;
		r |= json_object_set_new(in_force, name, to_level(k, same(k, real, level) ? level : real));
	}
	if (json_object_get(state, factors[FACTOR_SYSCTL_SET].name))
		r |= json_object_set_new(in_force, factors[FACTOR_SYSCTL_SET].name,
		                         set_in_force(place, state));
	return r ? -ENOMEM : 0;
}

void knob_unheld(const struct knob_place *place, const json_t *state, char *buf, size_t size)
{
	*buf = '\0';
	for (const struct knob *k = cpu_knobs; k->read && !*buf; k++) {
		const char *level = is_named(k, state) ? NULL : quiet_level(state, k->factor);
		char real[KNOB_TEXT];

		if (level && !k->read(k, place, real, sizeof(real)) && !holds(k, real, level))
			snprintf(buf, size, "%s is %s", factors[k->factor].name, real);
	}
}

json_t *knob_settings(const struct knob_place *place)
{
	json_t *settings = json_object();

	FOR_EACH_KNOB(k)
	{
		char real[KNOB_TEXT];

		if (!k->read(k, place, real, sizeof(real)))
			json_object_set_new(settings, factors[k->factor].name, to_level(k, real));
	}
	return settings;
}

void knob_restore(struct knob_changes *changes, const struct knob_place *place)
{
	while (changes->count) {
		const struct knob_change *change = &changes->change[--changes->count];
		const struct knob *k = change->knob;
		char real[KNOB_TEXT] = "";
		int r;

		if (gone(k, place))
			continue;
		r = k->write(k, place, change->found);
		if (!r)
			r = k->read(k, place, real, sizeof(real));
		if (r)
			say("%s cannot be put back to %s: %s", factors[k->factor].name, change->found,
			    strerror(-r));
		else if (!same(k, real, change->found))
			say("%s was %s and is %s after it was put back", factors[k->factor].name,
			    change->found, real);
	}
}
