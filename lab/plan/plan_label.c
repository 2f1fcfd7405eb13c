/* SPDX-License-Identifier: GPL-2.0-or-later
 * Short names for states and workloads: only what differs within the plan. */
#include "plan_internal.h"
#include "units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *plan_level_text(const json_t *level, char *out, size_t size)
{
	if (json_is_string(level))
		snprintf(out, size, "%s", json_string_value(level));
	else
		snprintf(out, size, "%" JSON_INTEGER_FORMAT, json_integer_value(level));
	return out;
}

factor_set plan_label_factors(const struct plan_build *b)
{
	const struct plan_state *states = b->parts->states;
	factor_set set = 0;

	for (size_t i = 0; i < FACTOR_COUNT; i++)
		for (size_t s = 1; b->named & FACTOR_INDEX_BIT(i) && s < b->parts->state_count; s++)
			if (states[s].levels[i] != states[0].levels[i]) {
				set |= FACTOR_INDEX_BIT(i);
				break;
			}
	return set;
}

/* "raw", "connected", "active-backup", "fresh" speak for themselves; others are "max-buffers=8000". */
char *plan_level_label(size_t factor, const json_t *level)
{
	const char *name = factors[factor].name, *dot = strrchr(name, '.');
	char text[256], *label = NULL;

	plan_level_text(level, text, sizeof(text));
	switch (factor) {
	case FACTOR_STACK:
	case FACTOR_BOOT:
	case FACTOR_DRBD_LINK:
		name = "";
		break;
	case FACTOR_BOND_MODE:
		if (!strcmp(text, "none"))
			snprintf(text, sizeof(text), "no-bond");
		name = "";
		break;
	case FACTOR_DRBD_PROTOCOL:
		return asprintf(&label, " protocol-%s", text) < 0 ? NULL : label;
	default:
		/* Which layer's read-ahead it is matters; "set" and "workload" say nothing alone. */
		if (!strncmp(name, "block.", 6))
			dot = name + 5;
		else if (!strncmp(name, "cpu.", 4) || factor == FACTOR_SYSCTL_SET)
			dot = NULL;
		name = dot ? dot + 1 : name;
	}
	return asprintf(&label, " %s%s%s", name, *name ? "=" : "", text) < 0 ? NULL : label;
}

/* What the only state of a plan is called; where there are several, the one that differs in nothing is
 * "base". */
static char *name_alone(const struct plan_parts *parts, const struct plan_state *s)
{
	const char *stack = plan_state_string(parts, s, FACTOR_STACK),
	           *link = plan_state_string(parts, s, FACTOR_DRBD_LINK);
	bool drbd = factor_stack_bits(stack) & 1u << STACK_DRBD;
	char text[128];

	snprintf(text, sizeof(text), "%s%s%s", stack, drbd ? " " : "", drbd ? link : "");
	return strdup(parts->state_count == 1 ? text : "base");
}

/* Whether F is without a level in S because it was left alone. */
static bool left_alone(const struct plan_parts *parts, const struct plan_state *s, const struct factor *f)
{
	const json_t *levels[FACTOR_COUNT] = {0};
	unsigned char part[FACTOR_COUNT];

	if (!factor_optional(f))
		return false;
	for (size_t i = 0; i < FACTOR_COUNT; i++)
		if (s->levels[i])
			levels[i] = plan_level(&parts->levels, i, s->levels[i])->json;
	return factor_complete_levels(levels, part) & 1u << f->group;
}

char *plan_state_label(const struct plan_build *b, const struct plan_state *s, factor_set shown)
{
	char *label = NULL;
	size_t length = 0;
	FILE *to = NULL;

	for (size_t i = 0; i <= FACTOR_COUNT; i++) {
		/* Boot last: it reads best behind what is booted for. */
		size_t f = i == FACTOR_COUNT ? (size_t)FACTOR_BOOT : i;
		uint16_t level = s->levels[f];

		if ((i == FACTOR_BOOT && i < FACTOR_COUNT) || !(shown & s->varied & FACTOR_INDEX_BIT(f)))
			continue;
		if (!level && left_alone(b->parts, s, &factors[f]))
			level = b->parts->levels.defaults[f];
		if (!level)
			continue;
		if (!to && !(to = open_memstream(&label, &length)))
			return NULL;
		fputs(plan_level(&b->parts->levels, f, level)->label + !ftell(to), to);
	}
	if (!to)
		return name_alone(b->parts, s);
	return fclose(to) ? NULL : label;
}

static bool same_member(const struct plan_build *b, size_t i, size_t j, const char *name)
{
	return json_equal(json_object_get(b->parts->workloads[i].workload, name),
	                  json_object_get(b->parts->workloads[j].workload, name));
}

static bool differs(const struct plan_build *b, const char *name)
{
	for (size_t i = 1; i < b->parts->workload_count; i++)
		if (!same_member(b, 0, i, name))
			return true;
	return false;
}

static bool all_differ(const struct plan_build *b, const char *name)
{
	for (size_t i = 0; i < b->parts->workload_count; i++)
		for (size_t j = 0; j < i; j++)
			if (same_member(b, i, j, name))
				return false;
	return true;
}

/* Defaults are left out; so names stay short, and still differ where workloads do. */
static void write_workload_label(const struct plan_build *b, const json_t *w, FILE *to)
{
	static const char *const flags[] = {"dsync", "sync"};
	const char *conv = json_string_value(json_object_get(w, "conv"));
	char text[64];
	bool zero;

	if (plan_label_aio(w, to) || plan_label_drbd(w, to) || plan_label_files(w, to) ||
	    plan_label_net(w, to))
		return;
	zero = !strcmp(json_string_value(json_object_get(w, "source")), "zero");
	units_size_text((uint64_t)json_integer_value(json_object_get(w, "bs_bytes")), text, sizeof(text));
	if (differs(b, "direction"))
		fprintf(to, " %s", json_string_value(json_object_get(w, "direction")));
	fprintf(to, " %s", text);
	if (all_differ(b, "bs_bytes"))
		return;
	units_size_text((uint64_t)json_integer_value(json_object_get(w, "size_bytes")), text, sizeof(text));
	if (differs(b, "size_bytes"))
		fprintf(to, " size=%s", text);
	units_size_text((uint64_t)json_integer_value(json_object_get(w, "seek_bytes")), text, sizeof(text));
	if (json_integer_value(json_object_get(w, "seek_bytes")) && differs(b, "seek_bytes"))
		fprintf(to, " seek=%s", text);
	if (differs(b, "direct"))
		fputs(json_is_true(json_object_get(w, "direct")) ? " direct" : " buffered", to);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (json_is_true(json_object_get(w, flags[i])) && differs(b, flags[i]))
			fprintf(to, " %s", flags[i]);
	if (json_is_false(json_object_get(w, "drop_caches")) && differs(b, "drop_caches"))
		fputs(" caches-kept", to);
	if (strcmp(conv, "none") && differs(b, "conv"))
		fprintf(to, " %s", conv);
	if (zero && differs(b, "source"))
		fputs(" zeros", to);
	if (!zero && json_integer_value(json_object_get(w, "seed")) > 1)
		fprintf(to, " seed=%" JSON_INTEGER_FORMAT, json_integer_value(json_object_get(w, "seed")));
}

/* A read of what is there, where another of the plan reads what was written for it. */
static bool reads_as_found(const struct plan_build *b, const json_t *w)
{
	const char *direction = json_string_value(json_object_get(w, "direction"));

	if (json_object_get(w, "prepare") || (!json_integer_value(json_object_get(w, "read_percent")) &&
	                                      (!direction || strcmp(direction, "read") != 0)))
		return false;
	for (size_t i = 0; i < b->parts->workload_count; i++)
		if (json_object_get(b->parts->workloads[i].workload, "prepare"))
			return true;
	return false;
}

static int label_workload(const struct plan_build *b, struct plan_workload *w)
{
	size_t length;
	FILE *to = open_memstream(&w->label, &length);

	if (!to)
		return -ENOMEM;
	if (b->parts->workload_count > 1)
		write_workload_label(b, w->workload, to);
	if (reads_as_found(b, w->workload))
		fputs(" as-found", to);
	return fclose(to) ? -ENOMEM : 0;
}

/* Which states came out twice, as notes. */
static int note_doubles(struct plan_build *b, factor_set shown)
{
	int r = 0;

	for (size_t i = 0; i < b->double_count && i < PLAN_DOUBLES_TOLD; i++) {
		char *label = plan_state_label(b, &b->parts->states[b->doubles[i].same], shown);

		r |=
		    json_array_append_new(b->plan->notes,
		                          json_sprintf("%s is the same state as \"%s\", and is measured once",
		                                       b->doubles[i].text, label ? label : ""));
		free(label);
	}
	if (b->double_count > PLAN_DOUBLES_TOLD)
		r |= json_array_append_new(b->plan->notes, json_sprintf("%zu more states came out twice",
		                                                        b->double_count - PLAN_DOUBLES_TOLD));
	return r ? -ENOMEM : 0;
}

int plan_label(struct plan_build *b)
{
	int r = 0;

	for (size_t i = 0; !r && i < b->parts->workload_count; i++)
		r = label_workload(b, &b->parts->workloads[i]);
	return r ? r : note_doubles(b, plan_label_factors(b));
}
