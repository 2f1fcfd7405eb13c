/* SPDX-License-Identifier: GPL-2.0-or-later
 * Other spellings of factors: those of DRBD 8.3 and 8.4's old configuration files, which say what is not
 * done. */
#include "plan_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct alias {
	const char *name, *factor;
	bool inverted; /* its yes is the factor's no */
} aliases[] = {
    {"drbd.disk.no-disk-barrier", "drbd.disk.disk-barrier", true},
    {"drbd.disk.no-disk-flushes", "drbd.disk.disk-flushes", true},
    {"drbd.disk.no-disk-drain", "drbd.disk.disk-drain", true},
    {"drbd.disk.no-md-flushes", "drbd.disk.md-flushes", true},
    {"drbd.net.no-tcp-cork", "drbd.net.tcp-cork", true},
    {"drbd.syncer.rate", "drbd.disk.resync-rate", false},
    {"drbd.syncer.al-extents", "drbd.disk.al-extents", false},
    {"drbd.syncer.cpu-mask", "cpu.drbd-mask", false},
};

static const struct alias *find(const char *name)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++)
		if (!strcmp(aliases[i].name, name))
			return &aliases[i];
	return NULL;
}

/* The level, or list of levels, that the factor has; NULL with a complaint. The caller owns it. */
static json_t *translate(struct plan_build *b, const struct alias *alias, json_t *level, const char *at)
{
	const char *text = json_string_value(level);
	json_t *list, *item;
	size_t i;

	if (!alias->inverted)
		return json_incref(level);
	if (json_is_array(level)) {
		list = json_array();
		json_array_foreach (level, i, item) {
			json_t *one = translate(b, alias, item, at);

			if (!one || json_array_append_new(list, one)) {
				json_decref(list);
				return NULL;
			}
		}
		return list;
	}
	if (text && !strcmp(text, "yes"))
		return json_string("no");
	if (text && !strcmp(text, "no"))
		return json_string("yes");
	yaml_complain(&b->doc, at, false, "%s takes yes or no; it is %s the other way round", alias->name,
	              alias->factor);
	return NULL;
}

/* Renames what has another spelling in MAP (at POINTER), in place and in order. */
static int rename_in(struct plan_build *b, json_t *map, const char *pointer)
{
	json_t *renamed = json_object(), *level;
	const char *name;
	bool any = false;
	int r = renamed ? 0 : -ENOMEM;

	json_object_foreach (map, name, level) {
		const struct alias *alias = find(name);
		char from[512], to[512];
		json_t *used = NULL;

		snprintf(from, sizeof(from), "%s/%s", pointer, name);
		snprintf(to, sizeof(to), "%s/%s", pointer, alias ? alias->factor : name);
		if (alias && (json_object_get(map, alias->factor) || json_object_get(renamed, alias->factor)))
			yaml_complain(&b->doc, from, true, "%s is another name of %s, which is here too",
			              name, alias->factor);
		else if (alias)
			used = translate(b, alias, level, from);
		if (used && !r)
			r = yaml_move_marks(&b->doc, from, to);
		any |= alias != NULL;
		/* What was complained of is complained of once. */
		if (used || !alias)
			r |= json_object_set_new(renamed, used ? alias->factor : name,
			                         used ? used : json_incref(level))
			         ? -ENOMEM
			         : 0;
	}
	if (!r && any) {
		json_object_clear(map);
		r = json_object_update(map, renamed) ? -ENOMEM : 0;
	}
	json_decref(renamed);
	return r;
}

static int rename_rows(struct plan_build *b, json_t *rows, const char *pointer)
{
	json_t *row;
	size_t i;
	int r = 0;

	json_array_foreach (rows, i, row) {
		char at[64];

		snprintf(at, sizeof(at), "%s/%zu", pointer, i);
		r |= rename_in(b, row, at);
	}
	return r ? -ENOMEM : 0;
}

int plan_resolve_aliases(struct plan_build *b)
{
	static const char *const maps[] = {"base", "sweep", "cross"};
	json_t *zip = json_object_get(b->doc.root, "zip"), *where = json_object_get(b->doc.root, "where");
	json_t *steps = json_object_get(json_object_get(b->doc.root, "tune"), "steps"), *item;
	size_t k;
	int r = 0;

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		char at[16];

		snprintf(at, sizeof(at), "/%s", maps[i]);
		r |= rename_in(b, json_object_get(b->doc.root, maps[i]), at);
	}
	if (json_is_array(zip))
		r |= rename_rows(b, zip, "/zip");
	else
		r |= rename_in(b, zip, "/zip");
	r |= rename_rows(b, json_object_get(where, "only"), "/where/only");
	r |= rename_rows(b, json_object_get(where, "except"), "/where/except");
	json_array_foreach (steps, k, item) {
		char at[64];

		snprintf(at, sizeof(at), "/tune/steps/%zu", k);
		r |= rename_rows(b, item, at);
	}
	json_array_foreach (json_object_get(b->doc.root, "acceptance"), k, item) {
		char at[64];

		snprintf(at, sizeof(at), "/acceptance/%zu/where", k);
		r |= rename_in(b, json_object_get(item, "where"), at);
	}
	return r ? -ENOMEM : 0;
}
