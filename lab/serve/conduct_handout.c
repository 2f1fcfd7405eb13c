/* SPDX-License-Identifier: GPL-2.0-or-later
 * Opening an attempt, and finding the open one again after a restart. */
#include "conduct_internal.h"
#include "log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct run_cell *cell_of(const struct group *g)
{
	return &g->run->cells[g->run->visits[g->attempt.item.visit].cell];
}

static const char *role(const struct node *n)
{
	return n->index == 0 ? "measure" : "peer";
}

json_t *handout(const struct group *g, const struct node *n)
{
	const struct run_cell *cell = cell_of(g);
	json_t *peers = json_array();

	for (unsigned int i = 0; i < cell->nodes; i++)
		if (g->nodes[i] != n)
			json_array_append(peers, g->nodes[i]->binding);
	return json_pack("{ss ss ss si si si sb sO ss sO so sI s{sI sI sI}}", "action", "measure", "run",
	                 g->run->id, "cell_id", cell->id, "boot",
	                 (int)g->run->visits[g->attempt.item.visit].boot, "sample",
	                 (int)g->attempt.item.sample + 1, "attempt", (int)g->attempt.number, "rebuild",
	                 g->attempt.rebuild, "cell", cell->body, "role", role(n), "self", n->binding, "peers",
	                 peers, "drbd_port", (json_int_t)g->drbd_port, "deadlines", "peer_ms",
	                 (json_int_t)g->run->peer_ms, "apply_ms", (json_int_t)g->run->apply_ms, "measure_ms",
	                 (json_int_t)g->run->measure_ms);
}

/* The node's part in the store: the assignment, and what its boot has served now. */
static int assign(struct group *g, const struct node *n, unsigned int boot)
{
	const struct run_cell *cell = cell_of(g);
	int r = store_do(g->c->store,
	                 "INSERT INTO assignments (run, cell_id, boot, sample, attempt, node, role, token) "
	                 "VALUES (?, ?, ?, ?, "
	                 "?, ?, ?, ?)",
	                 "ssiiisss", g->run->id, cell->id, (int64_t)boot, (int64_t)g->attempt.item.sample + 1,
	                 (int64_t)g->attempt.number, n->name, role(n), n->token);

	if (r)
		return r;
	return store_do(g->c->store,
	                "UPDATE boots SET run = ?1, block = ?2, states = states + ?5, "
	                "last_state = ?3 WHERE "
	                "token = ?4",
	                "sissi", g->run->id, (int64_t)boot, cell->state_id, n->token,
	                (int64_t)g->attempt.rebuild);
}

static void take_part(struct group *g, struct node *n, unsigned int boot)
{
	const struct run_cell *cell = cell_of(g);

	copy_text(n->block_run, sizeof(n->block_run), g->run->id);
	n->block = boot;
	n->states += g->attempt.rebuild;
	copy_text(n->last_state, sizeof(n->last_state), cell->state_id);
	n->assigned = true;
	copy_text(n->assigned_token, sizeof(n->assigned_token), n->token);
	n->level = LEVEL_NONE;
	n->verdict = VERDICT_NONE;
	n->handouts = 0;
	n->reboots = 0;
}

int attempt_open(struct group *g, struct moment now, struct item item)
{
	const struct run_visit *visit = &g->run->visits[item.visit];
	const struct run_cell *cell = &g->run->cells[visit->cell];
	int r;

	g->attempt.item = item;
	g->attempt.number = visit->samples[item.sample].attempts + 1;
	g->attempt.rebuild = !state_stands(g, cell);
	r = store_begin(g->c->store);
	if (!r) {
		r = store_do(g->c->store,
		             "INSERT INTO attempts (run, cell_id, boot, sample, attempt, state, "
		             "opened_unix_ns, rebuild) VALUES (?, ?, ?, "
		             "?, ?, 'open', ?, ?)",
		             "ssiiiii", g->run->id, cell->id, (int64_t)visit->boot, (int64_t)item.sample + 1,
		             (int64_t)g->attempt.number, now.unix_ns, (int64_t)g->attempt.rebuild);
		for (unsigned int i = 0; i < cell->nodes && !r; i++)
			r = assign(g, g->nodes[i], visit->boot);
		if (!r)
			r = link_open(g, now);
		r = store_end(g->c->store, r);
	}
	if (r) {
		store_failed(g->c, "sample", r);
		return r;
	}
	g->attempt.open = true;
	g->attempt.phase = LEVEL_NONE;
	g->attempt.phase_since_ns = now.mono_ns;
	log_event(NULL, "sample", "%s, boot %u, sample %u, attempt %u", cell->label, visit->boot,
	          item.sample + 1, g->attempt.number);
	for (unsigned int i = 0; i < cell->nodes; i++)
		take_part(g, g->nodes[i], visit->boot);
	return 0;
}

static void load_result(struct node *n, sqlite3_stmt *row)
{
	const char *verdict = store_text(row, 2);

	n->assigned = true;
	copy_text(n->assigned_token, sizeof(n->assigned_token), store_text(row, 1));
	if (!*verdict)
		return;
	n->level = LEVEL_RESULT;
	n->verdict = !strcmp(verdict, "valid")     ? VERDICT_VALID
	             : !strcmp(verdict, "invalid") ? VERDICT_INVALID
	                                           : VERDICT_FAILED;
	n->reason = strdup(store_text(row, 3));
	json_t *body = json_loadb(sqlite3_column_blob(row, 4), (size_t)sqlite3_column_bytes(row, 4), 0, NULL);
	n->result_error = json_incref(json_object_get(body, "error"));
	json_decref(body);
}

static int load_assignments(struct group *g, unsigned int boot)
{
	sqlite3_stmt *row;
	int r = store_ask(g->c->store, &row,
	                  "SELECT a.node, a.token, r.verdict, r.reason, r.body FROM assignments a LEFT JOIN "
	                  "results r USING (run, "
	                  "cell_id, boot, sample, attempt, node) WHERE run = ? AND cell_id = ? AND boot = ? "
	                  "AND sample = ? AND "
	                  "attempt = ?",
	                  "ssiii", g->run->id, cell_of(g)->id, (int64_t)boot,
	                  (int64_t)g->attempt.item.sample + 1, (int64_t)g->attempt.number);

	if (r)
		return r;
	while ((r = store_row(g->c->store, row)) == 1)
		for (size_t i = 0; i < g->node_count; i++)
			if (!strcmp(g->nodes[i]->name, store_text(row, 0)))
				load_result(g->nodes[i], row);
	return r;
}

int attempt_load(struct group *g)
{
	unsigned int boot = 0;
	sqlite3_stmt *row;
	int r;

	/* Whatever a run that could not be closed has left. */
	json_decref(g->attempt.error);
	memset(&g->attempt, 0, sizeof(g->attempt));
	r = store_ask(
	    g->c->store, &row,
	    "SELECT cell_id, boot, sample, attempt, rebuild FROM attempts WHERE run = ? AND state = 'open'",
	    "s", g->run->id);

	if (!r)
		r = store_row(g->c->store, row);
	if (r != 1)
		return r;
	boot = (unsigned int)sqlite3_column_int64(row, 1);
	g->attempt.item.sample = (unsigned int)sqlite3_column_int64(row, 2) - 1;
	g->attempt.number = (unsigned int)sqlite3_column_int64(row, 3);
	g->attempt.rebuild = sqlite3_column_int64(row, 4);
	for (size_t i = 0; i < g->run->visit_count; i++) {
		if (g->run->visits[i].boot != boot ||
		    strcmp(g->run->cells[g->run->visits[i].cell].id, store_text(row, 0)))
			continue;
		g->attempt.item.visit = i;
		g->attempt.open = true;
	}
	store_reset(row);
	if (!g->attempt.open)
		return -EUCLEAN;
	g->attempt.phase = -1;
	g->attempt.phase_since_ns = 0;
	g->had_nodes = true;
	return load_assignments(g, boot);
}
