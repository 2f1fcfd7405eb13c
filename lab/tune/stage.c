/* SPDX-License-Identifier: GPL-2.0-or-later
 * From a plan that tunes to the plans of its stages, which are expanded like any other. */
#include "tune.h"

#include "factor.h"

#include <string.h>

static const json_t *steps_of(const json_t *tune)
{
	return json_object_get(json_object_get(tune, "tune"), "steps");
}

size_t tune_steps(const json_t *tune)
{
	return json_array_size(steps_of(tune));
}

/* The level of factor NAME in LEVELS or BASE, or its default; a new reference. */
static json_t *level_now(const json_t *levels, const json_t *base, const char *name)
{
	json_t *level = json_object_get(levels, name);

	if (!level)
		level = json_object_get(base, name);
	return level ? json_incref(level) : factor_default(factor_find(name));
}

/* Names of all factors in the rows of STEP are put into NAMES. */
static void collect_names(const json_t *step, json_t *names)
{
	const char *name;
	json_t *row, *level;
	size_t i;

	json_array_foreach (step, i, row) {
		json_object_foreach (row, name, level) {
			json_object_set_new(names, name, json_true());
		}
	}
}

/* All NAMES with the levels of ROW, else those of now. */
static json_t *full_row(const json_t *names, const json_t *row, const json_t *kept, const json_t *base)
{
	json_t *full = json_object(), *ignored;
	const char *name;

	json_object_foreach ((json_t *)names, name, ignored) {
		json_t *level = json_object_get(row, name);

		json_object_set_new(full, name, level ? json_incref(level) : level_now(kept, base, name));
	}
	return full;
}

json_t *tune_stage_plan(const json_t *tune, const json_t *kept, size_t stage)
{
	static const char *const not_of_stages[] = {"tune", "published", "as-published", "acceptance"};
	json_t *plan = json_deep_copy(tune), *names = json_object(), *zip = json_array(), *row, *ignored;
	json_t *own = json_object_get(tune, "base"), *base = own ? json_copy(own) : json_object();
	const json_t *step = json_array_get(steps_of(tune), stage);
	const char *name;
	size_t i;

	for (i = 0; i < sizeof(not_of_stages) / sizeof(*not_of_stages); i++)
		json_object_del(plan, not_of_stages[i]);
	for (i = 0; i < tune_steps(tune); i++)
		if (!step || i == stage)
			collect_names(json_array_get(steps_of(tune), i), names);
	/* What is confirmed is compared with the start. */
	json_array_append_new(zip, full_row(names, NULL, step ? kept : NULL, own));
	if (!step)
		json_array_append_new(zip, full_row(names, NULL, kept, own));
	json_array_foreach (step, i, row) {
		json_array_append_new(zip, full_row(names, row, kept, own));
	}
	if (step)
		json_object_update(base, (json_t *)kept);
	json_object_foreach (names, name, ignored) {
		json_object_del(base, name);
	}
	if (json_is_object(json_object_get(plan, "order"))) /* each stage has a shuffle of its own */
		json_object_set_new(plan, "order", json_string("shuffled"));
	json_object_set_new(plan, "base", base);
	json_object_set_new(plan, "zip", zip);
	json_decref(names);
	return plan;
}
