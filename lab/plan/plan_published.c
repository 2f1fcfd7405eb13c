/* SPDX-License-Identifier: GPL-2.0-or-later
 * A plan as the experiment that it repeats was made, mistakes included. */
#include "plan_internal.h"

#include <errno.h>

int plan_apply_published(struct plan_build *b, bool asked)
{
	json_t *root = b->doc.root, *published = json_object_get(root, "published"), *value;
	const char *key;
	int r = 0;

	b->plan->as_published = asked || json_is_true(json_object_get(root, "as-published"));
	if (!b->plan->as_published)
		return 0;
	if (!json_is_object(published)) {
		yaml_complain(&b->doc, "/as-published", true,
		              "the plan does not say what was published: it has no section published");
		return -EINVAL;
	}
	json_object_foreach (published, key, value) {
		char from[128], to[128];

		snprintf(from, sizeof(from), "/published/%.100s", key);
		snprintf(to, sizeof(to), "/%.100s", key);
		if (!r)
			r = yaml_move_marks(&b->doc, from, to);
		if (!r && json_is_null(value))
			json_object_del(root, key);
		else if (!r && json_object_set(root, key, value))
			r = -ENOMEM;
	}
	return r;
}
