/* SPDX-License-Identifier: GPL-2.0-or-later
 * The distinct levels of a plan, each kept once, with what is written of it; and states made of their
 * numbers. */
#include "plan_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `"drbd.link":"connected"`, as canonical JSON has it. */
static char *member_text(const char *name, const json_t *level)
{
	char *value, *text = NULL;

	if (canonical_json(level, &value))
		return NULL;
	if (asprintf(&text, "\"%s\":%s", name, value) < 0)
		text = NULL;
	free(value);
	return text;
}

int plan_level_number(struct plan_levels *levels, size_t factor, json_t *level, uint16_t *number)
{
	struct plan_level_list *list = &levels->of[factor];
	struct plan_level *grown, *l;

	for (*number = 1; *number <= list->count; ++*number)
		if (list->levels[*number - 1].json == level ||
		    json_equal(list->levels[*number - 1].json, level))
			return 0;
	if (list->count == PLAN_LEVELS_MAX)
		return -E2BIG;
	if (!(list->count & (list->count - 1))) {
		grown = realloc(list->levels, sizeof(*grown) * (list->count ? 2 * list->count : 1));
		if (!grown)
			return -ENOMEM;
		list->levels = grown;
	}
	l = &list->levels[list->count];
	l->text = member_text(factors[factor].name, level);
	l->label = plan_level_label(factor, level);
	l->json = json_incref(level);
	list->count++;
	return l->text && l->label ? 0 : -ENOMEM;
}

const struct plan_level *plan_level(const struct plan_levels *levels, size_t factor, uint16_t number)
{
	return number ? &levels->of[factor].levels[number - 1] : NULL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(factors[*(const uint16_t *)a].name, factors[*(const uint16_t *)b].name);
}

int plan_levels_init(struct plan_levels *levels)
{
	int r = 0;

	for (uint16_t i = 0; i < FACTOR_COUNT; i++)
		levels->sorted[i] = i;
	qsort(levels->sorted, FACTOR_COUNT, sizeof(*levels->sorted), by_name);
	for (size_t i = 0; !r && i < FACTOR_COUNT; i++) {
		json_t *level = factor_default(&factors[i]);

		r = level ? plan_level_number(levels, i, level, &levels->defaults[i]) : -ENOMEM;
		json_decref(level);
	}
	return r;
}

void plan_levels_free(struct plan_levels *levels)
{
	for (size_t i = 0; i < FACTOR_COUNT; i++) {
		for (size_t k = 0; k < levels->of[i].count; k++) {
			json_decref(levels->of[i].levels[k].json);
			free(levels->of[i].levels[k].text);
			free(levels->of[i].levels[k].label);
		}
		free(levels->of[i].levels);
	}
}

size_t plan_state_text(const struct plan_levels *levels, const struct plan_state *s, char *to, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < FACTOR_COUNT; i++) {
		const struct plan_level *l =
		    plan_level(levels, levels->sorted[i], s->levels[levels->sorted[i]]);
		size_t length = l ? strlen(l->text) : 0;

		if (!l)
			continue;
		if (n + length + 3 > size)
			return 0;
		to[n] = n ? ',' : '{';
		memcpy(to + n + 1, l->text, length);
		n += 1 + length;
	}
	memcpy(to + n, n ? "}" : "{}", n ? 2 : 3);
	return n ? n + 1 : 2;
}

static const json_t *level_of(const struct plan_parts *parts, const struct plan_state *s, enum factor_id id)
{
	const struct plan_level *l = plan_level(&parts->levels, id, s->levels[id]);

	return l ? l->json : NULL;
}

const char *plan_state_string(const struct plan_parts *parts, const struct plan_state *s, enum factor_id id)
{
	const json_t *level = level_of(parts, s, id);

	return json_is_string(level) ? json_string_value(level) : factors[id].default_level;
}

const char *plan_cell_string(const struct plan *plan, const struct plan_cell *cell, enum factor_id id)
{
	return plan_state_string(plan->parts, &plan->parts->states[cell->state], id);
}

long long plan_cell_integer(const struct plan *plan, const struct plan_cell *cell, enum factor_id id)
{
	const json_t *level = level_of(plan->parts, &plan->parts->states[cell->state], id);

	return json_is_integer(level) ? json_integer_value(level) : factors[id].default_value;
}

bool plan_cell_has(const struct plan *plan, const struct plan_cell *cell, enum factor_id id)
{
	return plan->parts->states[cell->state].levels[id] != 0;
}

const json_t *plan_cell_workload(const struct plan *plan, const struct plan_cell *cell)
{
	return plan->parts->workloads[cell->workload].workload;
}

json_t *plan_cell_json(const struct plan *plan, const struct plan_cell *cell)
{
	json_t *state = json_object();

	for (size_t i = 0; state && i < FACTOR_COUNT; i++) {
		const json_t *level =
		    level_of(plan->parts, &plan->parts->states[cell->state], (enum factor_id)i);

		if (level && json_object_set(state, factors[i].name, (json_t *)level)) {
			json_decref(state);
			state = NULL;
		}
	}
	return state ? json_pack("{s:i, s:o, s:O}", "schema_version", 1, "state", state, "workload",
	                         plan_cell_workload(plan, cell))
	             : NULL;
}
