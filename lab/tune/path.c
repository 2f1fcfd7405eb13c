/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a run that tunes has come to: its stages are made again from the plan and the results, one after the
 * other. */
#include "tune.h"

#include "../plan/plan.h"
#include "../store/queue.h"
#include "factor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The run's row. */
struct tuned {
	struct store *store;
	const char *run;
	json_t *tune;
	int64_t boots, samples, seed;
	struct plan_scale scale;
};

static int read_run(struct store *store, const char *run, struct tuned *t)
{
	sqlite3_stmt *row;
	int r = store_ask(store, &row,
	                  "SELECT tune, boots, samples, seed, coalesce(scale, '') FROM runs WHERE run = ?",
	                  "s", run);

	*t = (struct tuned){.store = store, .run = run};
	if (!r)
		r = store_row(store, row);
	if (r != 1)
		return r;
	if (*store_text(row, 0)) {
		t->tune = json_loads(store_text(row, 0), 0, NULL);
		r = t->tune ? 1 : -EUCLEAN;
	} else {
		r = 0;
	}
	t->boots = sqlite3_column_int64(row, 1);
	t->samples = sqlite3_column_int64(row, 2);
	t->seed = sqlite3_column_int64(row, 3);
	plan_scale_parse(store_text(row, 4), &t->scale);
	store_reset(row);
	return r;
}

/* The plan of STAGE, expanded. A level that was kept may make a later step impossible: -EINVAL, and why. */
static int expand(const struct tuned *t, const json_t *kept, size_t stage, json_t **doc, struct plan **plan,
                  char *why, size_t why_size)
{
	struct plan_options options = {.seed = (uint64_t)t->seed + stage,
	                               .scale = t->scale,
	                               .boots = (uint64_t)t->boots,
	                               .samples = (uint64_t)t->samples};
	char *said = NULL;
	size_t size;
	FILE *err = open_memstream(&said, &size);
	int r;

	*doc = tune_stage_plan(t->tune, kept, stage);
	r = err && *doc ? plan_load_json(*doc, &options, err, plan) : -ENOMEM;
	if (err)
		fclose(err);
	if (r == -EINVAL)
		snprintf(why, why_size, "step %zu cannot be expanded: %.*s", stage + 1,
		         (int)strcspn(said, "\n"), said);
	free(said);
	return r;
}

/* The levels in CELL of what the stage varies. */
static json_t *levels_of(const struct plan *plan, const struct plan_cell *cell, const json_t *doc)
{
	const json_t *names = json_array_get(json_object_get(doc, "zip"), 0);
	json_t *whole = plan_cell_json(plan, cell), *levels = json_object(), *ignored;
	const char *name;

	json_object_foreach ((json_t *)names, name, ignored) {
		json_t *level = json_object_get(json_object_get(whole, "state"), name);

		json_object_set_new(levels, name,
		                    level ? json_incref(level) : factor_default(factor_find(name)));
	}
	json_decref(whole);
	return levels;
}

static int load_samples(const struct tuned *t, const struct tune_path *path, const char *cell_id,
                        int64_t first, struct tune_candidate *c)
{
	struct stats_sample *samples = calloc((size_t)(t->boots * t->samples) + 1, sizeof(*samples));
	size_t count = 0, room = (size_t)(t->boots * t->samples);
	sqlite3_stmt *row;
	int64_t failed = 0;
	int r = store_int(t->store, &failed, "SELECT failed FROM cells WHERE run = ? AND cell_id = ?", "ss",
	                  t->run, cell_id);

	c->failed = failed;
	c->medians = calloc(room + 1, sizeof(*c->medians));
	if (!samples || !c->medians)
		r = -ENOMEM;
	if (!r)
		r = store_ask(t->store, &row,
		              "SELECT r.boot, CAST(r.body AS TEXT) ->> ('$.measurement' || substr(?5, 2)) "
		              "FROM attempts a JOIN "
		              "results r USING (run, cell_id, boot, sample, attempt) WHERE run = ?1 AND "
		              "cell_id = ?2 AND boot "
		              "BETWEEN ?3 AND ?4 AND a.state = 'valid' AND r.role = 'measure'",
		              "ssiis", t->run, cell_id, first, first + t->boots - 1, path->metric->source);
	while (!r && (r = store_row(t->store, row)) == 1) {
		r = 0;
		if (count < room && sqlite3_column_type(row, 1) != SQLITE_NULL)
			samples[count++] =
			    (struct stats_sample){.boot = (uint32_t)sqlite3_column_int64(row, 0),
			                          .value = sqlite3_column_double(row, 1)};
	}
	if (!r) {
		long boots = stats_boot_medians(samples, count, c->medians);

		r = boots < 0 ? (int)boots : 0;
		c->boots = boots < 0 ? 0 : (size_t)boots;
	}
	free(samples);
	return r;
}

/* How many visits the stage has in the store, and how many samples are left to take in them. */
static int look(const struct tuned *t, int64_t first, int64_t *visits, int64_t *left)
{
	int r =
	    store_int(t->store, visits, "SELECT count(*) FROM visits WHERE run = ? AND boot BETWEEN ? AND ?",
	              "sii", t->run, first, first + t->boots - 1);

	if (!r)
		r = store_int(
		    t->store, left,
		    "SELECT coalesce(sum(max(0, ?4 - (SELECT count(*) FROM attempts a WHERE a.run = v.run "
		    "AND "
		    "a.cell_id = v.cell_id AND a.boot = v.boot AND a.state = 'valid'))), 0) FROM visits v "
		    "JOIN cells "
		    "c USING (run, cell_id) WHERE v.run = ?1 AND v.boot BETWEEN ?2 AND ?3 AND NOT c.failed",
		    "siii", t->run, first, first + t->boots - 1, t->samples);
	return r;
}

static struct tune_stage *add_stage(struct tune_path *path, const struct plan *plan, const json_t *doc,
                                    bool confirms)
{
	struct tune_stage *grown = realloc(path->stages, (path->count + 1) * sizeof(*grown)), *s;

	if (!grown)
		return NULL;
	path->stages = grown;
	s = &grown[path->count];
	*s = (struct tune_stage){.number = path->count, .confirms = confirms, .states = json_array()};
	path->count++;
	s->cell_ids = calloc(plan->cell_count, sizeof(*s->cell_ids));
	s->candidates = calloc(plan->cell_count, sizeof(*s->candidates));
	if (!s->states || !s->cell_ids || !s->candidates)
		return NULL;
	for (s->count = 0; s->count < plan->cell_count; s->count++) {
		memcpy(s->cell_ids[s->count], plan->cells[s->count].id, sizeof(*s->cell_ids));
		json_array_append_new(s->states, levels_of(plan, &plan->cells[s->count], doc));
	}
	return s;
}

/* Reads stage PATH->count, which is expanded to PLAN, from the store. 1: it is complete; 0: not, or not
 * begun; -errno. */
static int read_stage(const struct tuned *t, struct tune_path *path, const struct plan *plan,
                      const json_t *doc, bool confirms)
{
	int64_t first = (int64_t)path->count * t->boots + 1, visits = 0, left = 0;
	struct tune_stage *s;
	int r = look(t, first, &visits, &left);

	if (r || !visits)
		return r;
	s = add_stage(path, plan, doc, confirms);
	if (!s)
		return -ENOMEM;
	for (size_t i = 0; !r && i < s->count; i++)
		r = load_samples(t, path, s->cell_ids[i], first, &s->candidates[i]);
	if (r)
		return r;
	s->complete = !left;
	r = tune_choose(s->candidates, s->count, path->more_is_better, path->margin, &s->kept);
	if (r == -ENODATA && s->complete)
		snprintf(path->error, sizeof(path->error),
		         "stage %zu: what was kept so far could not be measured again, so nothing can be "
		         "compared with it",
		         path->count);
	return r == -ENODATA ? 0 : r ? r : s->complete;
}

/* What of KEPT differs from the plan's base. */
static json_t *differing(const json_t *tune, const json_t *kept)
{
	json_t *found = json_object(), *level;
	const char *name;

	json_object_foreach ((json_t *)kept, name, level) {
		json_t *base = json_object_get(json_object_get(tune, "base"), name);
		json_t *start = base ? json_incref(base) : factor_default(factor_find(name));

		if (!json_equal(start, level))
			json_object_set(found, name, level);
		json_decref(start);
	}
	return found;
}

/* Goes through the stages. *NEXT is the plan of the first that is not in the store, NULL: none. */
static int walk(const struct tuned *t, struct tune_path *path, struct plan **next)
{
	size_t steps = tune_steps(t->tune);
	json_t *kept = json_object();
	int r = 1;

	for (size_t stage = 0; r == 1 && stage <= steps; stage++) {
		struct plan *plan = NULL;
		json_t *doc = NULL;
		size_t before = path->count;

		json_decref(path->found);
		path->found = differing(t->tune, kept);
		if (stage == steps && !json_object_size(path->found)) {
			path->complete = true;
			break;
		}
		r = expand(t, kept, stage, &doc, &plan, path->error, sizeof(path->error));
		if (r == -EINVAL) {
			r = 0;
		} else if (!r) {
			r = read_stage(t, path, plan, doc, stage == steps);
			if (!r && path->count == before && next)
				*next = plan, plan = NULL;
		}
		if (r == 1 && stage < steps)
			json_object_update(kept, json_array_get(path->stages[stage].states,
			                                        path->stages[stage].kept));
		path->complete = r == 1 && stage == steps;
		plan_free(plan);
		json_decref(doc);
	}
	json_decref(kept);
	return r < 0 ? r : 0;
}

static int load(const struct tuned *t, struct tune_path **out, struct plan **next)
{
	const json_t *tune = json_object_get(t->tune, "tune");
	const char *metric = json_string_value(json_object_get(tune, "metric"));
	const char *margin = json_string_value(json_object_get(tune, "margin"));
	struct tune_path *path = calloc(1, sizeof(*path));
	char why[256];
	int r;

	if (!path)
		return -ENOMEM;
	path->metric = metric_find(metric ? metric : "throughput");
	if (margin &&
	    !metric_bound(metric_find("slower-than-siblings"), margin, &path->margin, why, sizeof(why)))
		path->margin /= 100;
	path->more_is_better = path->metric && path->metric->quantity != QUANTITY_TIME;
	r = path->metric ? walk(t, path, next) : -EUCLEAN;
	if (r) {
		tune_free(path);
		return r;
	}
	*out = path;
	return 1;
}

int tune_load(struct store *store, const char *run, struct tune_path **path)
{
	struct tuned t;
	int r = read_run(store, run, &t);

	*path = NULL;
	if (r == 1)
		r = load(&t, path, NULL);
	json_decref(t.tune);
	return r;
}

int tune_next(struct store *store, const char *run, char *why, size_t why_size)
{
	struct tune_path *path = NULL;
	struct plan *next = NULL;
	struct tuned t;
	int r = read_run(store, run, &t);

	if (r == 1)
		r = load(&t, &path, &next);
	if (r == 1 && *path->error) {
		snprintf(why, why_size, "%s", path->error);
		r = -EINVAL;
	} else if (r == 1 && !next) {
		r = 0;
	} else if (r == 1) {
		r = store_begin(store);
		if (!r)
			r = store_end(store, queue_cells(store, next, run,
			                                 (unsigned int)(path->count * (size_t)t.boots)));
		r = r ? r : 1;
	}
	if (r < 0 && r != -EINVAL)
		snprintf(why, why_size, "%s: %s", strerror(-r), store_message(store));
	plan_free(next);
	tune_free(path);
	json_decref(t.tune);
	return r;
}

void tune_free(struct tune_path *path)
{
	if (!path)
		return;
	for (size_t i = 0; i < path->count; i++) {
		struct tune_stage *s = &path->stages[i];

		for (size_t k = 0; k < s->count && s->candidates; k++)
			free(s->candidates[k].medians);
		free(s->candidates);
		free(s->cell_ids);
		json_decref(s->states);
	}
	json_decref(path->found);
	free(path->stages);
	free(path);
}
