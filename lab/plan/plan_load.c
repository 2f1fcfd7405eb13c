/* SPDX-License-Identifier: GPL-2.0-or-later
 * A plan from its file: read, check, expand, order. */
#include "plan_internal.h"
#include "units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEFAULT_BOOTS = 1,
	DEFAULT_SAMPLES = 3,
	DEFAULT_RETRIES = 2,
	DEFAULT_PEER_MS = 180 * 1000,
	DEFAULT_APPLY_MS = 120 * 1000,
	DEFAULT_MEASURE_MS = 600 * 1000,
};

static unsigned int integer_or(const json_t *map, const char *name, unsigned int otherwise)
{
	const json_t *value = json_object_get(map, name);

	return value ? (unsigned int)json_integer_value(value) : otherwise;
}

static void read_deadline(struct plan_build *b, const char *name, unsigned int *ms)
{
	const json_t *value = json_object_get(json_object_get(b->doc.root, "deadlines"), name);
	char at[64], text[64], why[200];
	uint64_t number;

	if (!value)
		return;
	plan_level_text(value, text, sizeof(text));
	snprintf(at, sizeof(at), "/deadlines/%s", name);
	if (units_duration(text, &number, why, sizeof(why)))
		yaml_complain(&b->doc, at, false, "%s: %s", name, why);
	else
		*ms = (unsigned int)number;
}

static void read_order(struct plan_build *b, uint64_t seed)
{
	const json_t *order = json_object_get(b->doc.root, "order");
	const json_t *named = json_object_get(json_object_get(order, "shuffled"), "seed");

	b->plan->shuffled =
	    json_is_object(order) || (json_is_string(order) && !strcmp(json_string_value(order), "shuffled"));
	b->plan->seed_in_plan = named != NULL;
	if (b->plan->shuffled)
		b->plan->seed = named ? (uint64_t)json_integer_value(named) : seed;
}

static int read_head(struct plan_build *b, const struct plan_options *o)
{
	struct plan *p = b->plan;
	const json_t *root = b->doc.root, *repeat = json_object_get(root, "repeat");

	p->question = strdup(json_string_value(json_object_get(root, "question")));
	p->nodes = integer_or(root, "nodes", 0);
	p->boots = o->boots ? (unsigned int)o->boots : integer_or(repeat, "boots", DEFAULT_BOOTS);
	p->samples = o->samples ? (unsigned int)o->samples : integer_or(repeat, "samples", DEFAULT_SAMPLES);
	p->retries = integer_or(root, "retries", DEFAULT_RETRIES);
	p->peer_ms = DEFAULT_PEER_MS;
	p->apply_ms = DEFAULT_APPLY_MS;
	p->measure_ms = DEFAULT_MEASURE_MS;
	read_deadline(b, "peer", &p->peer_ms);
	read_deadline(b, "apply", &p->apply_ms);
	read_deadline(b, "measure", &p->measure_ms);
	read_order(b, o->seed);
	return p->question ? 0 : -ENOMEM;
}

static char *plan_name(const char *path)
{
	const char *base = strrchr(path, '/'), *dot;

	base = base ? base + 1 : path;
	dot = strrchr(base, '.');
	return strndup(base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

/* One go shall show all that is wrong, so checks that can stand alone go on after others failed. */
static int build(struct plan_build *b, const struct plan_options *o)
{
	int r = json_is_object(b->doc.root) ? plan_apply_published(b, o->as_published) : 0, second;

	if (r)
		return r;
	if (!yaml_check_schema(&b->doc, "plan.json")) {
		plan_check_factors(b);
		return -EINVAL;
	}
	r = read_head(b, o);
	if (!r)
		r = plan_tune_rows(b);
	if (!r)
		r = plan_resolve_aliases(b);
	if (r)
		return r;
	r = plan_check_factors(b);
	if (!r)
		r = plan_read_tune(b);
	second = plan_read_workloads(b);
	if (!second)
		second = plan_read_precision(b);
	if (r || second)
		return r == -ENOMEM ? r : second ? second : r;
	r = plan_expand_states(b);
	if (!r)
		r = plan_check_states(b);
	if (!r)
		r = plan_label(b);
	if (!r)
		r = plan_make_cells(b);
	if (!r)
		r = plan_make_visits(b);
	if (!r)
		r = plan_read_acceptance(b);
	return r;
}

static void parts_free(struct plan_parts *parts)
{
	if (!parts)
		return;
	for (size_t i = 0; i < parts->workload_count; i++) {
		json_decref(parts->workloads[i].workload);
		free(parts->workloads[i].label);
		free(parts->workloads[i].canonical);
	}
	plan_levels_free(&parts->levels);
	free(parts->states);
	free(parts->workloads);
	free(parts);
}

int plan_load(const char *path, uint64_t seed, FILE *err, struct plan **out)
{
	return plan_load_options(path, &(struct plan_options){.seed = seed}, err, out);
}

static int check_published(const char *path, const char *text, const struct plan_options *o, FILE *err)
{
	struct plan_options published = *o;
	struct plan *plan;
	int r;

	published.as_published = true;
	r = plan_load_text(path, text, &published, err, &plan);
	plan_free(plan);
	return r;
}

/* Takes over what B has, in any case. */
static int load(struct plan_build *b, const char *name, const struct plan_options *o, FILE *err, int r,
                struct plan **out)
{
	struct plan *p = b->plan;

	if (!r)
		r = build(b, o);
	if (r && !b->doc.complaints->count)
		complain_at(b->doc.complaints, 0, 0, "%s", strerror(-r));
	complaints_print(b->doc.complaints, name, err);
	if (r)
		plan_free(p);
	else
		*out = p;
	return r;
}

static int begin(struct plan_build *b, struct complaints *complaints, const struct plan_options *o)
{
	struct plan *p = calloc(1, sizeof(*p));

	*b = (struct plan_build){.plan = p, .doc = {.complaints = complaints}};
	if (!p)
		return -ENOMEM;
	p->scale = o->scale;
	p->notes = json_array();
	p->parts = b->parts = calloc(1, sizeof(*p->parts));
	return p->notes && p->parts ? plan_levels_init(&p->parts->levels) : -ENOMEM;
}

int plan_load_json(const json_t *root, const struct plan_options *o, FILE *err, struct plan **out)
{
	struct complaints complaints = {0};
	struct plan_build b;
	int r = begin(&b, &complaints, o);

	*out = NULL;
	if (!r)
		b.doc.root = json_deep_copy(root);
	if (!r)
		b.plan->name = strdup("");
	r = load(&b, "", o, err, r || (b.doc.root && b.plan->name) ? r : -ENOMEM, out);
	yaml_free(&b.doc);
	return r;
}

int plan_load_text(const char *path, const char *text, const struct plan_options *o, FILE *err,
                   struct plan **out)
{
	struct complaints complaints = {0};
	struct plan_build b;
	bool published = false;
	int r = begin(&b, &complaints, o);

	*out = NULL;
	if (!r) {
		b.plan->name = plan_name(path);
		r = !b.plan->name ? -ENOMEM
		    : text        ? yaml_parse(text, strlen(text), &complaints, &b.doc)
		                  : yaml_load(path, &complaints, &b.doc);
	}
	if (!r)
		r = sha256_hex(b.doc.text, b.doc.size, b.plan->text_sha256);
	if (!r)
		published = json_object_get(b.doc.root, "published");
	r = load(&b, path, o, err, r, out);
	yaml_free(&b.doc);
	if (!r && published && !(*out)->as_published) { /* it must be right too, though nobody asked for it */
		r = check_published(path, text, o, err);
		if (r) {
			plan_free(*out);
			*out = NULL;
		}
	}
	return r;
}

int plan_load_options(const char *path, const struct plan_options *o, FILE *err, struct plan **out)
{
	return plan_load_text(path, NULL, o, err, out);
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->cell_count; i++)
		free(plan->cells[i].label);
	parts_free(plan->parts);
	free(plan->cells);
	free(plan->visits);
	free(plan->name);
	free(plan->question);
	json_decref(plan->notes);
	json_decref(plan->acceptance);
	json_decref(plan->tune);
	free(plan);
}
