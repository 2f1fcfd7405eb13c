/* SPDX-License-Identifier: GPL-2.0-or-later
 * A run in memory, made from the store; and its end. */
#include "conduct_internal.h"
#include "layers.h"
#include "log.h"

#include "../tune/tune.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Runs that the operator cancelled while no server ran. */
int run_sweep(struct conductor *c, struct moment now)
{
	int r = store_begin(c->store);

	if (r)
		return r;
	r = store_do(c->store,
	             "UPDATE attempts SET state = 'abandoned', closed_unix_ns = ? WHERE state = 'open' AND "
	             "run IN (SELECT run "
	             "FROM runs WHERE state = 'cancelled')",
	             "i", now.unix_ns);
	if (!r)
		r = link_sweep(c->store, now);
	if (!r)
		r = store_do(
		    c->store,
		    "UPDATE runs SET ended_unix_ns = ? WHERE state = 'cancelled' AND ended_unix_ns IS NULL",
		    "i", now.unix_ns);
	return store_end(c->store, r);
}

void run_free(struct run *run)
{
	if (!run)
		return;
	for (size_t i = 0; i < run->cell_count; i++) {
		free(run->cells[i].label);
		json_decref(run->cells[i].body);
	}
	for (size_t i = 0; i < run->visit_count; i++)
		free(run->visits[i].samples);
	json_decref(run->layers);
	free(run->cells);
	free(run->visits);
	free(run);
}

static int load_cells(struct store *store, struct run *run)
{
	int64_t count = 0;
	sqlite3_stmt *row;
	int r = store_int(store, &count, "SELECT count(*) FROM cells WHERE run = ?", "s", run->id);

	if (r)
		return r;
	run->cells = calloc((size_t)count + 1, sizeof(*run->cells));
	run->layers = json_array();
	if (!run->cells || !run->layers)
		return -ENOMEM;
	r = store_ask(
	    store, &row,
	    "SELECT cell_id, state_id, label, fresh, failed, nodes, body, "
	    "coalesce(json_extract(error, '$.scope'), ''), coalesce(enough, 0) FROM cells WHERE run = ? "
	    "ORDER BY ordinal",
	    "s", run->id);
	if (r)
		return r;
	while ((r = store_row(store, row)) == 1) {
		struct run_cell *cell = &run->cells[run->cell_count++];

		copy_text(cell->id, sizeof(cell->id), store_text(row, 0));
		copy_text(cell->state_id, sizeof(cell->state_id), store_text(row, 1));
		cell->label = strdup(store_text(row, 2));
		cell->fresh = sqlite3_column_int(row, 3);
		cell->failed = sqlite3_column_int(row, 4);
		cell->nodes = (unsigned int)sqlite3_column_int(row, 5);
		cell->body = json_loads(store_text(row, 6), 0, NULL);
		cell->unsupported = cell->failed && !strcmp(store_text(row, 7), "unsupported");
		cell->kernel = layers_kernel_of_state(json_object_get(cell->body, "state"));
		cell->enough = (unsigned int)sqlite3_column_int64(row, 8);
		cell->arguments =
		    factor_left_alone(&factors[FACTOR_BOOT_CMDLINE],
		                      json_object_get(json_object_get(cell->body, "state"), "boot.cmdline"))
		        ? ""
		        : factor_string(json_object_get(cell->body, "state"), FACTOR_BOOT_CMDLINE);
		cell->isolate =
		    !factor_left_alone(&factors[FACTOR_BOOT_ISOLATE],
		                       json_object_get(json_object_get(cell->body, "state"), "boot.isolate"));
		if (!cell->label || !cell->body ||
		    layers_of_state(json_object_get(cell->body, "state"), run->layers)) {
			store_reset(row);
			return -EUCLEAN;
		}
	}
	return r;
}

static size_t cell_index(const struct run *run, const char *id)
{
	for (size_t i = 0; i < run->cell_count; i++)
		if (!strcmp(run->cells[i].id, id))
			return i;
	return SIZE_MAX;
}

static int load_visits(struct store *store, struct run *run)
{
	int64_t count = 0;
	sqlite3_stmt *row;
	int r = store_int(store, &count, "SELECT count(*) FROM visits WHERE run = ?", "s", run->id);

	if (r)
		return r;
	run->visits = calloc((size_t)count + 1, sizeof(*run->visits));
	if (!run->visits)
		return -ENOMEM;
	r = store_ask(store, &row, "SELECT boot, cell_id FROM visits WHERE run = ? ORDER BY position", "s",
	              run->id);
	if (r)
		return r;
	while ((r = store_row(store, row)) == 1) {
		struct run_visit *visit = &run->visits[run->visit_count++];

		visit->boot = (unsigned int)sqlite3_column_int64(row, 0);
		visit->cell = cell_index(run, store_text(row, 1));
		visit->samples = calloc(run->samples, sizeof(*visit->samples));
		if (visit->cell == SIZE_MAX || !visit->samples) {
			store_reset(row);
			return -EUCLEAN;
		}
	}
	return r;
}

static int load_attempts(struct store *store, struct run *run)
{
	sqlite3_stmt *row;
	int r = store_ask(store, &row,
	                  "SELECT boot, cell_id, sample, count(*), sum(state = 'valid') FROM attempts WHERE "
	                  "run = ? AND state != "
	                  "'open' GROUP BY boot, cell_id, sample",
	                  "s", run->id);

	if (r)
		return r;
	while ((r = store_row(store, row)) == 1) {
		unsigned int boot = (unsigned int)sqlite3_column_int64(row, 0);
		unsigned int sample = (unsigned int)sqlite3_column_int64(row, 2);
		size_t cell = cell_index(run, store_text(row, 1));

		for (size_t i = 0; i < run->visit_count && sample >= 1 && sample <= run->samples; i++) {
			if (run->visits[i].boot != boot || run->visits[i].cell != cell)
				continue;
			run->visits[i].samples[sample - 1].attempts =
			    (unsigned int)sqlite3_column_int64(row, 3);
			run->visits[i].samples[sample - 1].done = sqlite3_column_int64(row, 4) > 0;
		}
	}
	return r;
}

static int load_reboots(struct group *g)
{
	int r = 0;

	for (size_t i = 0; i < g->node_count && !r; i++) {
		struct node *n = g->nodes[i];
		int64_t reboots = 0;

		r = store_int(
		    g->c->store, &reboots,
		    "SELECT count(*) FROM reboots WHERE run = ?1 AND node = ?2 AND at_unix_ns > (SELECT "
		    "coalesce(max(a.opened_unix_ns), 0) FROM attempts a JOIN assignments s USING (run, "
		    "cell_id, boot, "
		    "sample, attempt) WHERE a.run = ?1 AND s.node = ?2)",
		    "ss", g->run->id, n->name);
		n->reboots = (unsigned int)reboots;
		n->missing = false;
		g->had_nodes = g->had_nodes || reboots;
	}
	return r;
}

/* The run was asked for with a lab file; measuring with another one would be another experiment. */
static bool same_lab(const struct group *g, const char *lab_text)
{
	json_t *lab = json_loads(lab_text, 0, NULL);
	json_t *mine = json_object_get(json_object_get(g->c->lab, "groups"), g->name);
	json_t *theirs = json_object_get(json_object_get(lab, "groups"), g->name);
	bool same = json_equal(mine, theirs);

	for (size_t i = 0; i < g->node_count && same; i++)
		same = json_equal(json_object_get(json_object_get(g->c->lab, "nodes"), g->nodes[i]->name),
		                  json_object_get(json_object_get(lab, "nodes"), g->nodes[i]->name));
	json_decref(lab);
	return same;
}

static int load_run(struct group *g, sqlite3_stmt *row, bool *usable)
{
	struct run *run = calloc(1, sizeof(*run));

	if (!run)
		return -ENOMEM;
	g->run = run;
	copy_text(run->id, sizeof(run->id), store_text(row, 0));
	run->samples = (unsigned int)sqlite3_column_int64(row, 1);
	run->retries = (unsigned int)sqlite3_column_int64(row, 2);
	run->peer_ms = sqlite3_column_int64(row, 3);
	run->apply_ms = sqlite3_column_int64(row, 4);
	run->measure_ms = sqlite3_column_int64(row, 5);
	run->precision = sqlite3_column_double(row, 9);
	*usable = same_lab(g, store_text(row, 6)) && sqlite3_column_int64(row, 7) <= (int64_t)g->node_count;
	store_reset(row);
	int r = load_cells(g->c->store, run);
	if (!r)
		r = load_visits(g->c->store, run);
	if (!r)
		r = load_attempts(g->c->store, run);
	return r;
}

static int begin_run(struct group *g, struct moment now, bool queued)
{
	int r = 0;

	if (queued) {
		int64_t running = 0;

		r = store_do(g->c->store,
		             "UPDATE runs SET state = 'running', started_unix_ns = ? WHERE run = ? AND state "
		             "= 'queued'",
		             "is", now.unix_ns, g->run->id);
		if (!r)
			r = store_int(g->c->store, &running,
			              "SELECT state = 'running' FROM runs WHERE run = ?", "s", g->run->id);
		/* The operator may have cancelled it since it was read. */
		if (!r && !running)
			r = -ECANCELED;
		if (!r)
			log_event(NULL, "run", "%s begins: %zu cells, %zu visits of %u samples", g->run->id,
			          g->run->cell_count, g->run->visit_count, g->run->samples);
	} else {
		log_event(NULL, "run", "%s goes on", g->run->id);
	}
	g->had_nodes = false;
	g->wait_since_ns = 0;
	if (!r)
		r = load_reboots(g);
	if (!r)
		r = attempt_load(g);
	return r;
}

int run_take(struct group *g, struct moment now)
{
	bool usable = false, queued;
	sqlite3_stmt *row;
	int r = store_ask(g->c->store, &row,
	                  "SELECT run, samples, retries, peer_ms, apply_ms, measure_ms, lab, nodes, state = "
	                  "'queued', coalesce(precision, 0) FROM runs "
	                  "WHERE group_name = ? AND state IN ('queued', 'running') ORDER BY state = "
	                  "'queued', number LIMIT 1",
	                  "s", g->name);

	if (!r)
		r = store_row(g->c->store, row);
	if (r != 1) {
		if (r) {
			store_failed(g->c, "queue", r);
			g->c->changes = -1;
		}
		return r;
	}
	queued = sqlite3_column_int(row, 8);
	r = load_run(g, row, &usable);
	if (!r)
		r = begin_run(g, now, queued);
	if (r) {
		if (r != -ECANCELED)
			store_failed(g->c, "run", r);
		run_free(g->run);
		g->run = NULL;
		g->c->changes = -1;
		return r;
	}
	if (usable)
		return 1;
	r = run_end(
	    g, now,
	    error_new("lab", "lab file", g->name, "run",
	              "Restart assay serve with the lab file that this run was asked for with, or ask for "
	              "the run again.",
	              "group %s of the lab file that the server was started with is not that of the run",
	              g->name));
	return r ? r : run_take(g, now);
}

int run_pick(const struct group *g, struct item *item, bool *unfinished)
{
	const struct run *run = g->run;

	*unfinished = false;
	for (size_t i = 0; i < run->visit_count; i++) {
		const struct run_cell *cell = &run->cells[run->visits[i].cell];
		bool possible = true;

		if (cell->failed || (cell->enough && run->visits[i].boot > cell->enough))
			continue;
		for (unsigned int k = 0; k < cell->nodes; k++)
			possible = possible && !g->nodes[k]->missing;
		for (unsigned int s = 0; s < run->samples; s++) {
			if (run->visits[i].samples[s].done)
				continue;
			*unfinished = true;
			if (!possible)
				break;
			*item = (struct item){.visit = i, .sample = s};
			return 1;
		}
	}
	return 0;
}

int run_cell_failed(struct group *g, struct run_cell *cell, const json_t *error)
{
	char *body = json_dumps(error, JSON_COMPACT | JSON_SORT_KEYS);
	int r = store_do(g->c->store, "UPDATE cells SET failed = 1, error = ? WHERE run = ? AND cell_id = ?",
	                 "sss", body, g->run->id, cell->id);

	free(body);
	if (!r) {
		cell->failed = true;
		cell->unsupported = !strcmp(text(error, "scope"), "unsupported");
		log_event(text(error, "node"), "cell", "%s %s: %s", cell->label,
		          cell->unsupported ? "is not supported" : "failed", text(error, "message"));
	}
	return r;
}

static int store_end_of_run(struct group *g, struct moment now, const char *state, const json_t *error)
{
	char *body = error ? json_dumps(error, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	int r = store_begin(g->c->store);

	if (!r) {
		r = store_do(g->c->store,
		             "UPDATE runs SET state = CASE state WHEN 'cancelled' THEN state ELSE ? END, "
		             "ended_unix_ns = ?, "
		             "error = ? WHERE run = ?",
		             "siss", state, now.unix_ns, body, g->run->id);
		if (!r && error)
			r = error_store(g->c, now, g->run->id, g, error);
		if (!r)
			r = link_end(g->c->store, now, g->run->id);
		r = store_end(g->c->store, r);
	}
	free(body);
	return r;
}

int run_end(struct group *g, struct moment now, json_t *error)
{
	bool complete = !error;
	int r = 0;

	for (size_t i = 0; i < g->run->cell_count; i++)
		complete = complete && (!g->run->cells[i].failed || g->run->cells[i].unsupported);
	if (g->attempt.open)
		r = attempt_close(g, now, "abandoned", NULL, error);
	if (!r)
		r = store_end_of_run(g, now, complete ? "done" : "failed", error);
	json_decref(error);
	if (r)
		store_failed(g->c, "end of the run", r);
	else
		log_event(NULL, "run", "%s has ended: %s", g->run->id,
		          complete ? "every sample that the nodes support is there" : "not complete");
	/* Where the store failed the run is still there, and is taken up again. */
	g->c->changes = -1;
	run_free(g->run);
	g->run = NULL;
	for (size_t i = 0; i < g->node_count; i++) {
		g->nodes[i]->missing = false;
		g->nodes[i]->reboots = 0;
	}
	return r;
}

bool run_goes_on(struct group *g, struct moment now)
{
	char why[300] = "";
	int r = tune_next(g->c->store, g->run->id, why, sizeof(why));

	if (!r)
		return false;
	if (r < 0)
		return !run_end(
		    g, now,
		    error_new("lab", "tune", g->run->id, "run",
		              "Look at the cells that failed; assay report shows how far it came.", "%s",
		              why));
	log_event(NULL, "run", "%s: the next step's cells are there", g->run->id);
	run_free(g->run);
	g->run = NULL;
	return true;
}
