/* SPDX-License-Identifier: GPL-2.0-or-later
 * One side of a comparison: a run in a database, and which of its cells. */
#include "compare.h"

#include "../cli.h"
#include "factor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int complain(const struct side *side, const char *what, const char *object)
{
	return cli_usage("compare", "side %c: %s%s", side->name, what, object);
}

/* ",FACTOR=LEVEL" from TEXT, which is changed. */
static int read_picks(struct side *side, char *text)
{
	while (text && *text) {
		char *end = strchr(text, ','), *equals;

		/* levels such as "1,2" have commas: a pick goes on until one that is followed by FACTOR= */
		while (end && !(equals = strchr(end + 1, '='),
		                equals && strcspn(end + 1, ",=") == (size_t)(equals - end - 1)))
			end = strchr(end + 1, ',');
		if (end)
			*end = '\0';
		equals = strchr(text, '=');
		if (!equals || equals == text || !equals[1])
			return complain(side, "picks are FACTOR=LEVEL, not ", text);
		if (side->pick_count == PICKS_MAX)
			return complain(side, "too many picks", "");
		struct pick *pick = &side->picks[side->pick_count++];

		pick->factor = strndup(text, (size_t)(equals - text));
		pick->level = strdup(equals + 1);
		if (!pick->factor || !pick->level)
			return ASSAY_SYSTEM;
		text = end ? end + 1 : NULL;
	}
	return ASSAY_OK;
}

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

static int parse(struct side *side, const char *text, const char *default_database)
{
	char *copy = strdup(text), *picks, *colon;
	int r = ASSAY_SYSTEM;

	if (!copy)
		return r;
	picks = strchr(copy, ',');
	if (picks)
		*picks++ = '\0';
	colon = strrchr(copy, ':');
	if (colon) {
		*colon = '\0';
		side->database = strdup(*copy ? copy : default_database);
		side->run = colon[1] ? strdup(colon + 1) : NULL;
	} else if (is_file(copy)) {
		side->database = strdup(copy);
	} else {
		side->database = strdup(default_database);
		side->run = *copy ? strdup(copy) : NULL;
	}
	if (side->database)
		r = read_picks(side, picks);
	free(copy);
	return r;
}

static bool near_axis(const struct side *side, const char *name)
{
	for (size_t a = 0; a < side->design->axis_count; a++)
		if (!strcmp(side->design->axes[a].name, name))
			return true;
	const struct factor *factor = factor_find(name);

	return factor && factor_optional(factor);
}

const char *side_level(const struct side *side, size_t cell, const char *name)
{
	const struct design *d = side->design;

	for (size_t a = 0; a < d->axis_count; a++) {
		const char *text;

		if (strcmp(d->axes[a].name, name))
			continue;
		text = design_text(d, cell, a);
		return !design_level(d, cell, a) && !strcmp(text, "-") ? NULL : text;
	}
	const struct factor *factor = factor_find(name);

	return factor && factor_optional(factor) &&
	               factor_relevant(factor, json_object_get(json_array_get(d->bodies, cell), "state"))
	           ? "default"
	           : NULL;
}

const char *side_node(const struct side *side)
{
	for (size_t i = 0; i < side->pick_count; i++)
		if (!strcmp(side->picks[i].factor, "node"))
			return side->picks[i].level;
	return NULL;
}

bool side_has(const struct side *side, const struct report_sample *sample)
{
	const char *node = side_node(side);

	return !node || !strcmp(node, side->report->nodes[sample->node]);
}

static int take_cells(struct side *side)
{
	size_t count = 0;

	side->taken = calloc(side->report->cell_count + 1, sizeof(*side->taken));
	if (!side->taken)
		return ASSAY_SYSTEM;
	for (size_t i = 0; i < side->pick_count; i++)
		if (strcmp(side->picks[i].factor, "node") != 0 && !near_axis(side, side->picks[i].factor))
			return complain(side, "no cell of the run has a factor ", side->picks[i].factor);
	for (size_t c = 0; c < side->report->cell_count; c++) {
		bool samples = false;

		side->taken[c] = true;
		for (size_t i = 0; i < side->pick_count && side->taken[c]; i++) {
			const char *level = side_level(side, c, side->picks[i].factor);

			if (strcmp(side->picks[i].factor, "node") != 0)
				side->taken[c] = level && !strcmp(level, side->picks[i].level);
		}
		for (size_t k = 0; k < side->report->cells[c].sample_count; k++)
			samples = samples || side_has(side, &side->report->cells[c].samples[k]);
		side->taken[c] = side->taken[c] && samples;
		count += side->taken[c];
	}
	return count ? ASSAY_OK : complain(side, "no cell with valid samples has what is picked", "");
}

int side_open(struct side *side, char name, const char *text, const char *default_database)
{
	int r;

	*side = (struct side){.name = name};
	r = parse(side, text, default_database);
	if (r)
		return r;
	if (store_open(side->database, STORE_EXISTING, stderr, &side->store))
		return ASSAY_SYSTEM;
	r = report_load(side->store, side->run, &side->report);
	if (!r) {
		fprintf(stderr, "assay compare: side %c: there is no run%s%s in %s\n", name,
		        side->run ? " " : "", side->run ? side->run : "", side->database);
		return ASSAY_USAGE;
	}
	if (r == 1)
		r = design_load(side->report, &side->design);
	if (r) {
		fprintf(stderr, "assay compare: side %c: %s: %s\n", name, side->database,
		        *store_message(side->store) ? store_message(side->store) : strerror(-r));
		return ASSAY_SYSTEM;
	}
	return take_cells(side);
}

void side_close(struct side *side)
{
	for (size_t i = 0; i < side->pick_count; i++) {
		free(side->picks[i].factor);
		free(side->picks[i].level);
	}
	design_free(side->design);
	report_free(side->report);
	store_close(side->store);
	free(side->taken);
	free(side->database);
	free(side->run);
}
