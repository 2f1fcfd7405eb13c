/* SPDX-License-Identifier: GPL-2.0-or-later
 * A plan that tunes: what it says is checked, and its first step becomes its cells. */
#include "plan_internal.h"

#include "../accept/metric.h"
#include "../stats/stats.h"
#include "../tune/tune.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A step that is one factor with its levels, as rows; marks go along. */
static int step_to_rows(struct plan_build *b, json_t *steps, size_t index)
{
	json_t *step = json_array_get(steps, index), *rows, *level;
	const char *name = json_object_iter_key(json_object_iter(step));
	size_t i;
	int r = 0;

	if (json_is_array(step))
		return 0;
	rows = json_array();
	json_array_foreach (json_object_iter_value(json_object_iter(step)), i, level) {
		char from[256], to[256];

		snprintf(from, sizeof(from), "/tune/steps/%zu/%.100s/%zu", index, name, i);
		snprintf(to, sizeof(to), "/tune/steps/%zu/%zu/%.100s", index, i, name);
		r |= yaml_move_marks(&b->doc, from, to);
		r |= json_array_append_new(rows, json_pack("{s:O}", name, level));
	}
	r |= json_array_set_new(steps, index, rows);
	return r ? -ENOMEM : 0;
}

int plan_tune_rows(struct plan_build *b)
{
	json_t *steps = json_object_get(json_object_get(b->doc.root, "tune"), "steps");
	int r = 0;

	for (size_t i = 0; !r && i < json_array_size(steps); i++)
		r = step_to_rows(b, steps, i);
	return r;
}

static void check_head(struct plan_build *b, const json_t *tune)
{
	static const char *const others[] = {"sweep", "cross", "zip", "where", "acceptance"};
	const char *name = json_string_value(json_object_get(tune, "metric"));
	const char *margin = json_string_value(json_object_get(tune, "margin"));
	const struct metric *metric = metric_find(name ? name : "throughput");
	char why[256];
	double bound;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		char at[32];

		snprintf(at, sizeof(at), "/%s", others[i]);
		if (json_object_get(b->doc.root, others[i]))
			yaml_complain(&b->doc, at, true, "a plan that tunes has no %s: tune says what varies",
			              others[i]);
	}
	if (!metric)
		yaml_complain(&b->doc, "/tune/metric", false,
		              "unknown metric \"%.60s\"; the nearest is \"%s\"", name, metric_nearest(name));
	else if (metric->kind != METRIC_SAMPLE)
		yaml_complain(&b->doc, "/tune/metric", false, "%s is no figure of a sample", name);
	if (margin && metric_bound(metric_find("slower-than-siblings"), margin, &bound, why, sizeof(why)))
		yaml_complain(&b->doc, "/tune/margin", false, "\"%.40s\" is no margin like 1%%", margin);
	if (json_array_size(json_object_get(b->doc.root, "workloads")) != 1)
		yaml_complain(&b->doc, "/workloads", true,
		              "a plan that tunes has one workload, whose figure decides");
}

/* Too few boots let nothing be better beyond its uncertainty. */
static void note_boots(struct plan_build *b, const json_t *steps)
{
	size_t most = 1, needs;

	for (size_t i = 0; i < json_array_size(steps); i++)
		if (json_array_size(json_array_get(steps, i)) > most)
			most = json_array_size(json_array_get(steps, i));
	needs = stats_ratio_needs(TUNE_ALPHA, most);
	if (b->plan->boots < needs)
		json_array_append_new(
		    b->plan->notes,
		    json_sprintf(
		        "with %u boot%s no step can keep a level of %zu alternatives: that takes repeat: "
		        "{boots: %zu}",
		        b->plan->boots, b->plan->boots == 1 ? "" : "s", most, needs));
}

/* Later steps must expand too; from the start, since what they will begin with is not known yet. */
static int check_later(struct plan_build *b, const json_t *tune)
{
	json_t *kept = json_object();
	int r = 0;

	for (size_t i = 1; r != -ENOMEM && i < tune_steps(tune); i++) {
		json_t *doc = tune_stage_plan(tune, kept, i);
		struct plan_options options = {.seed = 0};
		char *said = NULL, at[64];
		struct plan *plan = NULL;
		size_t size;
		FILE *err = open_memstream(&said, &size);

		r = err ? plan_load_json(doc, &options, err, &plan) : -ENOMEM;
		if (err)
			fclose(err);
		snprintf(at, sizeof(at), "/tune/steps/%zu", i);
		if (r == -EINVAL)
			yaml_complain(&b->doc, at, false, "this step cannot be expanded: %.*s",
			              (int)strcspn(said + strspn(said, ":0123456789 "), "\n"),
			              said + strspn(said, ":0123456789 "));
		free(said);
		plan_free(plan);
		json_decref(doc);
	}
	json_decref(kept);
	return r == -ENOMEM ? r : 0;
}

int plan_read_tune(struct plan_build *b)
{
	json_t *tune = json_object_get(b->doc.root, "tune"), *kept, *first;
	const char *name;
	json_t *level;
	int r;

	if (!tune)
		return 0;
	check_head(b, tune);
	if (b->doc.complaints->count)
		return -EINVAL;
	note_boots(b, json_object_get(tune, "steps"));
	b->plan->tune = json_deep_copy(b->doc.root);
	kept = json_object();
	first = tune_stage_plan(b->plan->tune, kept, 0);
	r = check_later(b, b->plan->tune);
	json_object_foreach (json_array_get(json_object_get(first, "zip"), 0), name, level) {
		b->named |= FACTOR_BIT(factor_find(name));
	}
	json_decref(kept);
	json_decref(b->doc.root);
	b->doc.root = first;
	return r ? r : b->doc.complaints->count ? -EINVAL : 0;
}
