/* SPDX-License-Identifier: GPL-2.0-or-later
 * A node that hangs: what is done when its sample is off, it was told so and waited for, and it still does
 * not come. Everything is counted from the store, so that a server that is started again knows it. */
#include "conduct_internal.h"
#include "log.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define CYCLES_MAX 3 /* of a node in a row, without a valid result from it in between */
#define HUNG_MAX   2 /* of a node in one cell: it is not tried a third time */
#define BOOTS_MAX  6 /* that nobody asked for, in a row, without a valid result in between */

void conductor_power(struct conductor *c, power_cycle_fn *cycle, void *ctx)
{
	c->cycle = cycle;
	c->cycle_ctx = ctx;
}

/* When the run began, or N's last valid result in it was committed. 0 or -errno. */
static int last_good(const struct node *n, int64_t *since_ns)
{
	const struct group *g = n->group;

	return store_int(g->c->store, since_ns,
	                 "SELECT max(started_unix_ns, coalesce((SELECT max(committed_unix_ns) FROM results "
	                 "WHERE run = ?1 AND node = ?2 AND verdict = 'valid'), 0)) FROM runs WHERE run = ?1",
	                 "ss", g->run->id, n->name);
}

/* The cell whose sample N's present boot was given last and has no result of; NULL: none. */
static struct run_cell *unfinished_cell(const struct group *g, const struct node *n)
{
	struct run_cell *cell = NULL;
	sqlite3_stmt *row;

	if (store_ask(
	        g->c->store, &row,
	        "SELECT s.cell_id FROM assignments s JOIN attempts a USING (run, cell_id, boot, sample, "
	        "attempt) "
	        "LEFT JOIN results r USING (run, cell_id, boot, sample, attempt, node) WHERE s.run = ? AND "
	        "s.token = ? AND r.node IS NULL AND a.state != 'valid' ORDER BY a.opened_unix_ns DESC LIMIT "
	        "1",
	        "ss", g->run->id, n->token) ||
	    store_row(g->c->store, row) != 1)
		return NULL;
	for (size_t i = 0; i < g->run->cell_count; i++)
		if (!strcmp(g->run->cells[i].id, store_text(row, 0)))
			cell = &g->run->cells[i];
	store_reset(row);
	return cell;
}

/* How often N was power-cycled since it did something good, and because of CELL (NULL: 0). 0 or -errno. */
static int count_cycles(const struct group *g, const struct node *n, const struct run_cell *cell,
                        int64_t *in_a_row, int64_t *in_cell)
{
	int64_t since_ns = 0;
	int r = last_good(n, &since_ns);

	if (!r)
		r = store_int(g->c->store, in_a_row,
		              "SELECT count(*) FROM power WHERE run = ? AND node = ? AND at_unix_ns > ?",
		              "ssi", g->run->id, n->name, since_ns);
	if (!r)
		r = store_int(g->c->store, in_cell,
		              "SELECT count(*) FROM power WHERE run = ? AND node = ? AND cell_id = ?", "sss",
		              g->run->id, n->name, cell ? cell->id : "");
	return r;
}

static int store_cycle(struct group *g, struct moment now, const struct node *n, struct run_cell *cell,
                       const json_t *error)
{
	bool failed = cell && cell->failed;
	int r = store_begin(g->c->store);

	if (!r) {
		r = store_do(g->c->store,
		             "INSERT INTO power (at_unix_ns, run, node, cell_id) VALUES (?, ?, ?, ?)", "isss",
		             now.unix_ns, g->run->id, n->name, cell ? cell->id : NULL);
		if (!r)
			r = error_store(g->c, now, g->run->id, g, error);
		if (!r && cell && !strcmp(text(error, "scope"), "hung"))
			r = run_cell_failed(g, cell, error);
		r = store_end(g->c->store, r);
	}
	if (r && cell)
		cell->failed = failed;
	return r;
}

/* Too often: said once, and then the node is missing. */
static void give_up(struct group *g, struct moment now, struct node *n)
{
	json_t *error = error_new(
	    n->name, "power", n->name, "sample",
	    "Look at its console. `assay power LAB NODE cycle` switches it by hand; the run goes on with it "
	    "once it comes.",
	    "was power-cycled %d times in a row without a valid result in between: not again in this run",
	    CYCLES_MAX);
	int r = error_store(g->c, now, g->run->id, g, error);

	json_decref(error);
	if (r)
		store_failed(g->c, "power", r);
}

bool power_cycle(struct group *g, struct moment now, struct node *n)
{
	int64_t in_a_row = 0, in_cell = 0, started_ns = 0;
	struct run_cell *cell;
	bool hung;
	int r;

	if (!n->power || !g->c->cycle)
		return false;
	/* A machine that this run never heard of may be somebody else's at the moment. */
	r = store_int(g->c->store, &started_ns, "SELECT started_unix_ns FROM runs WHERE run = ?", "s",
	              g->run->id);
	if (!r && n->seen_unix_ns < started_ns)
		return false;
	cell = unfinished_cell(g, n);
	if (!r)
		r = count_cycles(g, n, cell, &in_a_row, &in_cell);
	if (r) {
		store_failed(g->c, "power", r);
		return false;
	}
	if (in_a_row >= CYCLES_MAX) {
		give_up(g, now, n);
		return false;
	}
	hung = cell && (cell->failed || in_cell + 1 >= HUNG_MAX);
	json_t *error =
	    error_new(n->name, "hung", cell ? cell->label : n->name, hung ? "hung" : "sample",
	              "Look at its console of that time. If it only is slow, raise deadlines in the plan.",
	              "hung%s%s: last heard of at step %s, did not come within %" PRId64
	              " s, and is power-cycled%s",
	              cell ? " in cell " : "", cell ? cell->label : "", *n->step ? n->step : "boot",
	              g->run->peer_ms / 1000,
	              hung ? "; the cell is hung, and the run goes on with the others" : "");
	r = store_cycle(g, now, n, cell, error);
	json_decref(error);
	if (!r)
		r = g->c->cycle(g->c->cycle_ctx, n->name);
	if (r) {
		store_failed(g->c, "power", r);
		return false;
	}
	n->cycling = true;
	live(n, now, "power", "hung, is power-cycled");
	return true;
}

void conductor_powered(struct conductor *c, struct moment now, const char *node, bool done, const char *what)
{
	int r;

	for (size_t i = 0; i < c->node_count; i++) {
		struct node *n = &c->nodes[i];

		if (strcmp(n->name, node))
			continue;
		n->cycling = false;
		if (n->group->run)
			n->group->wait_since_ns = now.mono_ns;
		log_event(n->name, "power", "%s", what);
		r = store_do(
		    c->store,
		    "UPDATE power SET ended_unix_ns = ?, done = ?, text = ? WHERE id = (SELECT max(id) FROM "
		    "power WHERE node = ?)",
		    "iiss", now.unix_ns, (int64_t)done, what, node);
		if (!r && !done) {
			json_t *error =
			    error_new(n->name, "power", n->name, "sample",
			              "Try `assay power LAB NODE status`; check `power` of the node in "
			              "the lab file.",
			              "cannot be power-cycled: %s", what);

			r = error_store(c, now, n->group->run ? n->group->run->id : NULL, n->group, error);
			json_decref(error);
		}
		if (r)
			store_failed(c, "power", r);
	}
}

void storm_look(struct node *n, struct moment now)
{
	struct group *g = n->group;
	int64_t since_ns = 0, boots = 0;
	int r;

	if (!g->run || n->storm)
		return;
	r = last_good(n, &since_ns);
	if (!r)
		r = store_int(g->c->store, &boots,
		              "SELECT (SELECT count(*) FROM boots WHERE node = ?2 AND hello_unix_ns > ?3) - "
		              "(SELECT count(*) FROM "
		              "reboots WHERE run = ?1 AND node = ?2 AND at_unix_ns > ?3) - (SELECT count(*) "
		              "FROM power WHERE run "
		              "= ?1 AND node = ?2 AND at_unix_ns > ?3)",
		              "ssi", g->run->id, n->name, since_ns);
	if (!r && boots > BOOTS_MAX) {
		json_t *error =
		    error_new(n->name, "reboot", n->name, "sample",
		              "Look at its console, and at the kernel's last words in the store (pstore).",
		              "booted %" PRId64 " times in a row that nobody asked for, without a valid "
		              "result in between: it gets no more work in this run",
		              boots);

		n->storm = true;
		r = error_store(g->c, now, g->run->id, g, error);
		json_decref(error);
	}
	if (r)
		store_failed(g->c, "reboots", r);
}

bool conductor_storms(const struct conductor *c, const char *node)
{
	for (size_t i = 0; i < c->node_count; i++)
		if (!strcmp(c->nodes[i].name, node))
			return c->nodes[i].storm;
	return false;
}
