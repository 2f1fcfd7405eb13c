/* SPDX-License-Identifier: GPL-2.0-or-later
 * What no cell says but every figure depends on. Where it differs between two sides, the difference in the
 * figures is as much due to that as to what is asked about. */
#include "compare.h"

#include "../cli.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Queries give texts of one side's run ?1, of the node ?2 where it is not null. */
static const struct control {
	const char *name, *what, *sql;
} controls[] = {
    {"node", "the nodes that measured",
     "SELECT DISTINCT node || coalesce(', disk ' || (CAST(body AS TEXT) ->> '$.evidence.disk.serial'), '') "
     "FROM "
     "results WHERE run = ?1 AND role = 'measure' AND verdict = 'valid' AND (?2 IS NULL OR node = ?2) ORDER "
     "BY 1"},
    {"hardware", "vendor, model, firmware, CPUs and memory of the nodes",
     "SELECT DISTINCT printf('%s, %s, %s, %s, %s CPUs, %s bytes', inventory ->> '$.dmi.sys_vendor', "
     "inventory ->> "
     "'$.dmi.product_name', inventory ->> '$.dmi.bios_version', inventory ->> '$.cpus.model', inventory ->> "
     "'$.cpus.online', inventory ->> '$.memory_bytes') FROM boots WHERE run = ?1 AND inventory IS NOT NULL "
     "AND (?2 IS "
     "NULL OR node = ?2) "
     "ORDER BY 1"},
    {"disk", "model and size of the disks under test",
     "SELECT DISTINCT coalesce(CAST(body AS TEXT) ->> '$.evidence.disk.model', '?') || ', ' || "
     "coalesce(CAST(body "
     "AS TEXT) ->> '$.evidence.disk.size_bytes', '?') FROM results WHERE run = ?1 AND verdict = 'valid' AND "
     "(?2 IS "
     "NULL OR node = ?2) ORDER BY 1"},
    {"nic", "driver, version, firmware and speed of the storage NICs",
     "SELECT DISTINCT coalesce(n.value ->> '$.driver', '?') || ' ' || coalesce(n.value ->> "
     "'$.driver_version', '') "
     "|| ' ' || coalesce(n.value ->> '$.firmware_version', '') || ' ' || coalesce(n.value ->> "
     "'$.speed_mbps', '') "
     "FROM results, json_each(CAST(body AS TEXT), '$.evidence.nics') n WHERE run = ?1 AND verdict = 'valid' "
     "AND (?2 "
     "IS NULL OR node = ?2) ORDER BY 1"},
    {"kernel", "release of the nodes' kernel",
     "SELECT DISTINCT CAST(body AS TEXT) ->> '$.evidence.kernel_release' FROM results WHERE run = ?1 AND "
     "verdict = "
     "'valid' AND (?2 IS NULL OR node = ?2) ORDER BY 1"},
    {"image", "the image that the nodes booted",
     "SELECT DISTINCT CAST(body AS TEXT) ->> '$.evidence.image_id' FROM results WHERE run = ?1 AND verdict = "
     "'valid' AND (?2 IS NULL OR node = ?2) ORDER BY 1"},
    {"drbd", "version of DRBD",
     "SELECT DISTINCT inventory ->> '$.drbd_version' FROM boots WHERE run = ?1 AND inventory IS NOT NULL AND "
     "(?2 IS "
     "NULL OR node = ?2) ORDER BY 1"},
    {"kernel-arguments", "kernel arguments of the lab file",
     "SELECT DISTINCT n.value ->> '$.kernel_arguments' FROM runs, json_each(lab, '$.nodes') n WHERE run = ?1 "
     "AND (?2 "
     "IS NULL OR n.key = ?2) ORDER BY 1"},
    {"scale", "what the plan's sizes were multiplied with",
     "SELECT coalesce(scale, '1') FROM runs WHERE run = ?1 AND (?2 IS NULL OR 1)"},
};
enum { CONTROLS = sizeof(controls) / sizeof(controls[0]) };

/* All texts, joined; the caller frees. NULL: the store failed, or no memory. */
static char *look(const struct side *side, const struct control *control)
{
	sqlite3_stmt *row;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	bool first = true;
	int r;

	if (!out)
		return NULL;
	r = store_ask(side->store, &row, control->sql, "ss", side->report->run, side_node(side));
	while (!r && (r = store_row(side->store, row)) == 1) {
		fprintf(out, "%s%s", first ? "" : "; ",
		        *store_text(row, 0) ? store_text(row, 0) : "not known");
		first = false;
		r = 0;
	}
	if (first)
		fputs("not known", out);
	fclose(out);
	if (!r)
		return text;
	free(text);
	return NULL;
}

static bool node_was_picked(const struct side *a, const struct side *b, const struct control *control)
{
	return !strcmp(control->name, "node") && side_node(a) && side_node(b);
}

/* Adds to *REFUSED where CONTROL differs and may not. */
static int check(struct compare *c, const struct side *b, const struct control *control, size_t *refused)
{
	char *x = look(&c->sides[0], control), *y = look(b, control);
	int r = ASSAY_OK;

	if (!x || !y) {
		fprintf(stderr, "assay compare: %s: %s\n", control->name,
		        store_message(x ? b->store : c->sides[0].store));
		r = ASSAY_SYSTEM;
	} else if (strcmp(x, y) != 0 && !node_was_picked(&c->sides[0], b, control) &&
	           !is_allowed(c, control->name)) {
		if (!(*refused)++)
			fprintf(stderr, "assay compare: A and %c cannot be compared: they also differ in\n",
			        b->name);
		fprintf(stderr, "  %s (%s): A %s; %c %s   (--allow %s compares all the same)\n",
		        control->name, control->what, x, b->name, y, control->name);
	}
	free(x);
	free(y);
	return r;
}

int control_check(struct compare *c)
{
	size_t refused = 0;
	int r = ASSAY_OK;

	memset(c->allowed_used, 0, sizeof(c->allowed_used));
	for (size_t s = 1; s < c->side_count; s++) {
		refused = 0;
		for (size_t i = 0; i < CONTROLS && !r; i++)
			r = check(c, &c->sides[s], &controls[i], &refused);
		if (r || refused)
			return r ? r : ASSAY_NOT_COMPARABLE;
	}
	return r;
}

json_t *control_json(const struct compare *c)
{
	json_t *all = json_array();

	for (size_t i = 0; i < CONTROLS; i++)
		for (size_t s = 1; s < c->side_count; s++) {
			const struct side *b = &c->sides[s];
			char *x = look(&c->sides[0], &controls[i]), *y = look(b, &controls[i]);

			if (x && y && strcmp(x, y) != 0)
				json_array_append_new(
				    all,
				    json_pack("{ss ss# sb ss ss}", "name", controls[i].name, "side", &b->name,
				              1, "asked", (int)node_was_picked(&c->sides[0], b, &controls[i]),
				              "a", x, "other", y));
			free(x);
			free(y);
		}
	return all;
}

static const char *member(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

void control_print(const struct compare *c, FILE *out)
{
	json_t *all = control_json(c);
	const json_t *one;
	size_t i;

	json_array_foreach (all, i, one)
		fprintf(out, "%s to differ: %s: A %s; %s %s\n",
		        json_is_true(json_object_get(one, "asked")) ? "Asked" : "Allowed",
		        member(one, "name"), member(one, "a"), member(one, "side"), member(one, "other"));
	json_decref(all);
}

const char *control_names(void)
{
	static char names[256];
	size_t used = 0;

	for (size_t i = 0; i < CONTROLS && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
		                         controls[i].name);
	return names;
}

bool control_known(const char *name)
{
	for (size_t i = 0; i < CONTROLS; i++)
		if (!strcmp(controls[i].name, name))
			return true;
	return false;
}
