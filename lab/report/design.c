/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "design.h"

#include "../plan/units.h"
#include "factor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AXES_MAX = 256, LEVELS_MAX = 60000 };

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && !strcmp(text + n - m, end);
}

/* As plans call a member of the workload. */
static void workload_name(const char *member, char *name, size_t size)
{
	size_t n = strlen(member);

	if (!strcmp(member, "type"))
		member = "workload", n = 8;
	else if (ends_with(member, "_bytes"))
		n -= 6;
	else if (ends_with(member, "_ms"))
		n -= 3;
	snprintf(name, size, "%.*s", (int)n, member);
}

static void level_text(const char *member, const json_t *value, char *text, size_t size)
{
	if (json_is_string(value))
		snprintf(text, size, "%s", json_string_value(value));
	else if (json_is_boolean(value))
		snprintf(text, size, "%s", json_is_true(value) ? "yes" : "no");
	else if (json_is_integer(value) && ends_with(member, "_bytes") && json_integer_value(value) > 0)
		units_size_text((uint64_t)json_integer_value(value), text, size);
	else if (json_is_number(value))
		snprintf(text, size, "%.15g%s", json_number_value(value),
		         ends_with(member, "_ms") ? "ms" : "");
	else
		snprintf(text, size, "?");
}

static int axis_find(const struct design *d, const char *name)
{
	for (size_t i = 0; i < d->axis_count; i++)
		if (!strcmp(d->axes[i].name, name))
			return (int)i;
	return -ENOENT;
}

static int axis_add(struct design *d, const char *name)
{
	int at = axis_find(d, name);

	if (at >= 0)
		return at;
	if (d->axis_count == AXES_MAX)
		return -E2BIG;
	memset(&d->axes[d->axis_count], 0, sizeof(d->axes[0]));
	snprintf(d->axes[d->axis_count].name, sizeof(d->axes[0].name), "%s", name);
	return (int)d->axis_count++;
}

/* Place + 1 of the level, which is added where it is new; -errno. */
static int level_add(struct axis *axis, const char *text, const json_t *value)
{
	for (size_t i = 0; i < axis->level_count; i++)
		if (!strcmp(axis->levels[i].text, text))
			return (int)i + 1;
	if (axis->level_count == LEVELS_MAX)
		return -E2BIG;
	if (!(axis->level_count & (axis->level_count - 1))) { /* 0, 1, 2, 4, 8 … are full */
		size_t room = axis->level_count ? 2 * axis->level_count : 1;
		struct level *grown = reallocarray(axis->levels, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		axis->levels = grown;
	}
	struct level *level = &axis->levels[axis->level_count];

	level->text = strdup(text);
	level->number = json_number_value(value);
	level->numeric = json_is_number(value);
	if (!level->text)
		return -ENOMEM;
	return (int)++axis->level_count;
}

/* While axes are still being found, levels stand AXES_MAX apart. */
static int take(struct design *d, size_t cell, const char *name, const char *member, const json_t *value)
{
	char text[512];
	int axis = axis_add(d, name);

	if (axis < 0)
		return axis;
	level_text(member, value, text, sizeof(text));
	int level = level_add(&d->axes[axis], text, value);
	if (level < 0)
		return level;
	d->level[cell * AXES_MAX + (size_t)axis] = (unsigned short)level;
	return 0;
}

static int take_cell(struct design *d, size_t cell, json_t *body)
{
	const char *key;
	json_t *value;
	char name[80];
	int r = 0;

	json_object_foreach (json_object_get(body, "state"), key, value) {
		r = r ? r : take(d, cell, key, key, value);
		if (r)
			return r;
		const struct factor *factor = factor_find(key);

		d->axes[axis_find(d, key)].optional = factor && factor_optional(factor);
	}
	json_object_foreach (json_object_get(body, "workload"), key, value) {
		workload_name(key, name, sizeof(name));
		r = r ? r : take(d, cell, name, key, value);
		if (!r)
			d->axes[axis_find(d, name)].workload = true;
	}
	return r;
}

/* Levels by size, where all are numbers: renumbers what the cells have. */
static int sort_levels(struct design *d, size_t a)
{
	struct axis *axis = &d->axes[a];
	unsigned short *place = calloc(axis->level_count + 1, sizeof(*place));
	struct level *sorted = calloc(axis->level_count + 1, sizeof(*sorted));
	bool numeric = true;

	for (size_t i = 0; i < axis->level_count; i++)
		numeric = numeric && axis->levels[i].numeric;
	if (place && sorted && numeric) {
		for (size_t i = 0; i < axis->level_count; i++) {
			size_t before = 0;

			for (size_t k = 0; k < axis->level_count; k++)
				before += axis->levels[k].number < axis->levels[i].number ||
				          (axis->levels[k].number == axis->levels[i].number && k < i);
			place[i + 1] = (unsigned short)(before + 1);
			sorted[before] = axis->levels[i];
		}
		memcpy(axis->levels, sorted, axis->level_count * sizeof(*sorted));
		for (size_t c = 0; c < d->cell_count; c++)
			d->level[c * d->axis_count + a] = place[design_level(d, c, a)];
	}
	int r = place && sorted ? 0 : -ENOMEM;
	free(place);
	free(sorted);
	return r;
}

/* Whether a cell that lacks an optional factor has it as driver or kernel made it, rather than no use for it.
 */
static bool left_alone(const struct design *d, size_t cell, size_t a)
{
	const struct factor *factor = factor_find(d->axes[a].name);

	return d->axes[a].optional &&
	       (!factor ||
	        factor_relevant(factor, json_object_get(json_array_get(d->bodies, cell), "state")));
}

static void find_varying(struct design *d, size_t a)
{
	struct axis *axis = &d->axes[a];
	bool absent = false;

	for (size_t c = 0; c < d->cell_count && !absent; c++)
		absent = !design_level(d, c, a) && (axis->workload || left_alone(d, c, a));
	axis->varies = axis->level_count > 1 || (absent && axis->level_count);
}

static int pack(struct design *d)
{
	int r = 0;

	for (size_t c = 0; c < d->cell_count; c++)
		memmove(&d->level[c * d->axis_count], &d->level[c * AXES_MAX],
		        d->axis_count * sizeof(*d->level));
	for (size_t a = 0; a < d->axis_count && !r; a++) {
		r = sort_levels(d, a);
		find_varying(d, a);
	}
	return r;
}

int design_load(const struct report *report, struct design **out)
{
	struct design *d = calloc(1, sizeof(*d));
	sqlite3_stmt *row;
	int r = -ENOMEM;

	if (d) {
		d->bodies = json_array();
		d->axes = calloc(AXES_MAX, sizeof(*d->axes));
		d->level = calloc(report->cell_count + 1, AXES_MAX * sizeof(*d->level));
	}
	if (d && d->bodies && d->axes && d->level)
		r = store_ask(report->store, &row, "SELECT body FROM cells WHERE run = ? ORDER BY ordinal",
		              "s", report->run);
	while (!r && (r = store_row(report->store, row)) == 1 && d->cell_count < report->cell_count) {
		json_t *body = json_loads(store_text(row, 0), 0, NULL);

		json_array_append_new(d->bodies, body ? body : json_null());
		r = take_cell(d, d->cell_count++, body);
	}
	if (r)
		store_reset(row);
	if (!r)
		r = pack(d);
	if (r) {
		design_free(d);
		return r;
	}
	*out = d;
	return 0;
}

void design_free(struct design *d)
{
	if (!d)
		return;
	for (size_t a = 0; a < d->axis_count; a++) {
		for (size_t i = 0; i < d->axes[a].level_count; i++)
			free(d->axes[a].levels[i].text);
		free(d->axes[a].levels);
	}
	free(d->axes);
	free(d->level);
	json_decref(d->bodies);
	free(d);
}

const char *design_text(const struct design *d, size_t cell, size_t a)
{
	unsigned int level = design_level(d, cell, a);

	return level ? d->axes[a].levels[level - 1].text : left_alone(d, cell, a) ? "default" : "-";
}

/* Whether NAME is what AXIS is called without its middle: block.read-ahead for block.disk.read-ahead. */
static bool is_short_for(const char *name, const struct axis *axis)
{
	const char *dot = strchr(name, '.');

	return dot && !axis->workload && !strncmp(axis->name, name, (size_t)(dot + 1 - name)) &&
	       strlen(axis->name) > strlen(name) && ends_with(axis->name, dot);
}

/* Room for one more axis in every cell's levels. */
static int widen(struct design *d, const char *name)
{
	size_t had = d->axis_count;
	unsigned short *wider = calloc(d->cell_count + 1, (had + 1) * sizeof(*wider));
	int r = wider ? axis_add(d, name) : -ENOMEM;

	if (r < 0) {
		free(wider);
		return r;
	}
	for (size_t c = 0; c < d->cell_count; c++)
		memcpy(&wider[c * (had + 1)], &d->level[c * had], had * sizeof(*wider));
	free(d->level);
	d->level = wider;
	return r;
}

/* The level of CELL on the axis that joins those that NAME is short for, into TEXT; NULL: it has none of
 * them. */
static const struct level *joined_level(const struct design *d, size_t cell, const char *name, char *text,
                                        size_t size)
{
	const struct level *only = NULL;
	size_t used = 0;

	for (size_t a = 0; a + 1 < d->axis_count; a++) {
		unsigned int level = design_level(d, cell, a);

		if (!level || !is_short_for(name, &d->axes[a]))
			continue;
		if (only && used < size) /* several layers have it: all of them are said */
			used += (size_t)snprintf(text + used, size - used, " + ");
		only = &d->axes[a].levels[level - 1];
		if (used < size)
			used += (size_t)snprintf(text + used, size - used, "%s", only->text);
	}
	return only;
}

int design_axis(struct design *d, const char *name)
{
	char text[512];
	bool any = false;
	int at = axis_find(d, name);

	for (size_t a = 0; a < d->axis_count; a++)
		any = any || is_short_for(name, &d->axes[a]);
	if (at >= 0 || !any)
		return at;
	at = widen(d, name);
	if (at < 0)
		return at;
	d->axes[at].optional = true;
	for (size_t c = 0; c < d->cell_count; c++) {
		const struct level *level = joined_level(d, c, name, text, sizeof(text));
		json_t *number =
		    level && level->numeric && !strcmp(text, level->text) ? json_real(level->number) : NULL;
		int r = level ? level_add(&d->axes[at], text, number) : 0;

		json_decref(number);
		if (r < 0)
			return r;
		d->level[c * d->axis_count + (size_t)at] = (unsigned short)r;
	}
	for (size_t a = 0; a < (size_t)at; a++)
		if (is_short_for(name, &d->axes[a]))
			d->axes[a].varies = false;
	find_varying(d, (size_t)at);
	int r = sort_levels(d, (size_t)at);
	return r ? r : at;
}
