/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan_points.h"

#include <errno.h>
#include <stdlib.h>

int points_setting(struct plan_build *b, struct points *p, const char *name, json_t *level)
{
	struct setting *grown = realloc(p->settings, (p->setting_count + 1) * sizeof(*grown)), *s;
	int r;

	if (!grown)
		return -ENOMEM;
	p->settings = grown;
	s = &p->settings[p->setting_count++];
	*s = (struct setting){.factor = (size_t)(factor_find(name) - factors), .json = level};
	r = plan_level_number(&b->parts->levels, s->factor, level, &s->level);
	if (r == -E2BIG) {
		yaml_complain(&b->doc, "", false, "%s has more than %d levels", name, PLAN_LEVELS_MAX);
		r = -EINVAL;
	}
	return r;
}

int points_end(struct points *p)
{
	size_t *grown = realloc(p->ends, (p->count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	p->ends = grown;
	p->ends[p->count++] = p->setting_count;
	return 0;
}

void points_free(struct points *p)
{
	free(p->settings);
	free(p->ends);
}

int points_row(struct plan_build *b, struct points *p, json_t *row)
{
	const char *name;
	json_t *level;
	int r = 0;

	json_object_foreach (row, name, level) {
		if (!r)
			r = points_setting(b, p, name, level);
	}
	return r ? r : points_end(p);
}

int points_list(struct plan_build *b, struct points *p, const char *name, json_t *list)
{
	json_t *level;
	size_t i;
	int r = 0;

	json_array_foreach (list, i, level) {
		if (!r)
			r = points_setting(b, p, name, level);
		if (!r)
			r = points_end(p);
	}
	return r;
}
