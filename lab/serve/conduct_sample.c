/* SPDX-License-Identifier: GPL-2.0-or-later
 * One attempt at a sample: barriers, deadlines, its end. */
#include "conduct_internal.h"
#include "log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const level_names[] = {"start", "applied", "ready", "done", "result"};

static struct run_cell *attempt_cell(const struct group *g)
{
	return &g->run->cells[g->run->visits[g->attempt.item.visit].cell];
}

static struct run_sample *attempt_sample(const struct group *g)
{
	return &g->run->visits[g->attempt.item.visit].samples[g->attempt.item.sample];
}

/* How long a node may take from barrier PHASE to the next. Building up includes pings with the
 * peer. */
static int64_t limit_ms_after(const struct run *run, int phase)
{
	switch (phase) {
	case LEVEL_NONE:
		return run->apply_ms + run->peer_ms;
	case LEVEL_READY:
		return run->measure_ms;
	case LEVEL_APPLIED:
	case LEVEL_DONE:
		return run->apply_ms;
	default: /* the server was started in its middle */
		return 2 * run->apply_ms + run->peer_ms + run->measure_ms;
	}
}

static void forget(struct node *n)
{
	n->assigned = false;
	n->assigned_token[0] = '\0';
	n->level = LEVEL_NONE;
	n->verdict = VERDICT_NONE;
	n->handouts = 0;
	json_decref(n->result_error);
	n->result_error = NULL;
	free(n->reason);
	n->reason = NULL;
}

/* What is built on the nodes after an attempt that did not end well is not known; and where a link flapped,
 * it is not what a fresh boot would have. */
static int forget_states(struct group *g)
{
	int r = 0;

	for (size_t i = 0; i < g->node_count && !r; i++) {
		struct node *n = g->nodes[i];

		if (!n->assigned)
			continue;
		r = store_do(g->c->store, "UPDATE boots SET last_state = NULL WHERE token = ?", "s",
		             n->assigned_token);
		if (!r && !strcmp(n->token, n->assigned_token))
			n->last_state[0] = '\0';
	}
	return r;
}

int attempt_close(struct group *g, struct moment now, const char *state, const char *reason,
                  const json_t *error)
{
	const struct run_visit *visit = &g->run->visits[g->attempt.item.visit];
	char *body = error ? json_dumps(error, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	bool valid = !strcmp(state, "valid");
	int r = store_begin(g->c->store);

	if (!r) {
		r = store_do(g->c->store,
		             "UPDATE attempts SET state = ?, closed_unix_ns = ?, reason = ?, error = ? WHERE "
		             "run = ? AND cell_id "
		             "= ? AND boot = ? AND sample = ? AND attempt = ?",
		             "sissssiii", state, now.unix_ns, reason, body, g->run->id, attempt_cell(g)->id,
		             (int64_t)visit->boot, (int64_t)g->attempt.item.sample + 1,
		             (int64_t)g->attempt.number);
		if (!r && !valid)
			r = forget_states(g);
		if (!r)
			r = link_close(g, now, state, reason, error);
		r = store_end(g->c->store, r);
	}
	free(body);
	if (r) {
		store_failed(g->c, "end of the sample", r);
		return r;
	}
	log_event(NULL, "sample", "%s, boot %u, sample %u, attempt %u: %s%s%s", attempt_cell(g)->label,
	          visit->boot, g->attempt.item.sample + 1, g->attempt.number, state,
	          reason || error ? ": " : "",
	          reason  ? reason
	          : error ? text(error, "message")
	                  : "");
	attempt_sample(g)->attempts++;
	attempt_sample(g)->done = valid;
	if (valid && (r = precision_look(g, visit))) { /* it is looked at again after the cell's next boot */
		store_failed(g->c, "precision", r);
		r = 0;
	}
	int64_t since_ns = g->attempt.phase_since_ns ? g->attempt.phase_since_ns : now.mono_ns;
	for (size_t i = 0; i < g->node_count; i++) {
		struct node *n = g->nodes[i];

		if (n->assigned && n->verdict == VERDICT_NONE && !n->barrier &&
		    !strcmp(n->token, n->assigned_token))
			n->busy_until_ns = since_ns + limit_ms_after(g->run, (int)n->level) * MS_NS;
		answer(&n->barrier, 410, json_pack("{sO}", "error", error ? (json_t *)error : json_null()));
		forget(n);
	}
	json_decref(g->attempt.error);
	memset(&g->attempt, 0, sizeof(g->attempt));
	return 0;
}

/* Closes a sample that does not count, and its cell where it was the last try. */
static bool close_badly(struct group *g, struct moment now, const char *state, const char *reason,
                        json_t *error)
{
	struct run_cell *cell = attempt_cell(g);
	struct run_sample *sample = attempt_sample(g);
	const char *scope = text(error, "scope");
	int r = attempt_close(g, now, state, reason, error);

	if (!r &&
	    (sample->attempts > g->run->retries || !strcmp(scope, "cell") || !strcmp(scope, "unsupported")))
		r = run_cell_failed(g, cell, error);
	if (!r && !strcmp(scope, "run"))
		run_end(g, now, json_incref(error));
	json_decref(error);
	return !r;
}

bool attempt_abandon(struct group *g, struct moment now, json_t *error)
{
	return close_badly(g, now, "abandoned", NULL, error);
}

static bool settle(struct group *g, struct moment now)
{
	const struct node *invalid = NULL, *failed = NULL;
	char reason[1024];

	for (size_t i = 0; i < g->node_count; i++) {
		const struct node *n = g->nodes[i];

		if (n->assigned && n->verdict == VERDICT_INVALID && !invalid)
			invalid = n;
		if (n->assigned && n->verdict >= VERDICT_FAILED && !failed)
			failed = n;
	}
	if (g->attempt.error)
		return close_badly(g, now, "failed", NULL, json_incref(g->attempt.error));
	if (failed)
		return close_badly(g, now, "failed", NULL,
		                   error_new(failed->name, "sample", failed->name, "sample",
		                             "Look at the node's console.",
		                             "asked for new work without a result"));
	if (invalid) {
		snprintf(reason, sizeof(reason), "%s: %s", invalid->name,
		         invalid->reason ? invalid->reason : "");
		return close_badly(g, now, "invalid", reason,
		                   error_new(invalid->name, "evidence", attempt_cell(g)->label, "sample",
		                             "Remove what disturbed the samples, then ask for the run again.",
		                             "not one of its attempts was valid; the last: %s", reason));
	}
	return !attempt_close(g, now, "valid", NULL, NULL);
}

/* The first reason why the attempt cannot go on. */
static json_t *trouble(struct group *g, struct moment now)
{
	for (size_t i = 0; i < g->node_count; i++) {
		struct node *n = g->nodes[i];

		if (!n->assigned || n->verdict != VERDICT_NONE)
			continue;
		if (strcmp(n->token, n->assigned_token))
			return error_new(n->name, "sample", n->name, "sample",
			                 "Look at its console and at the kernel's last words in the store "
			                 "(pstore): power cut, "
			                 "watchdog or panic?",
			                 "booted again in the middle of the sample, after %s",
			                 level_names[n->level]);
		if (n->handouts > HANDOUTS_MAX)
			return error_new(n->name, "sample", n->name, "sample", "Look at its console.",
			                 "was given the same sample %u times and asked again", n->handouts);
	}
	int64_t limit_ms = limit_ms_after(g->run, g->attempt.phase);
	if (!g->attempt.phase_since_ns)
		g->attempt.phase_since_ns = now.mono_ns;
	if (now.mono_ns - g->attempt.phase_since_ns < limit_ms * MS_NS)
		return NULL;
	const struct node *late = NULL;
	for (size_t i = 0; i < g->node_count; i++)
		if (g->nodes[i]->assigned && (!late || g->nodes[i]->level < late->level))
			late = g->nodes[i];
	if (!late)
		return NULL;
	return error_new(late->name, "barrier", late->name, "sample",
	                 "Look at its console. If it only is slow, raise deadlines in the plan.",
	                 "did not come to %s within %" PRId64 " s; the last it came to is %s",
	                 level_names[late->level < LEVEL_RESULT ? late->level + 1 : LEVEL_RESULT],
	                 limit_ms / 1000, level_names[late->level]);
}

static void go(struct group *g, struct moment now, int lowest)
{
	for (size_t i = 0; i < g->node_count; i++) {
		struct node *n = g->nodes[i];

		if (n->barrier && n->barrier->barrier <= lowest)
			answer(&n->barrier, 200, json_pack("{sb}", "go", 1));
		if (n->assigned && lowest == LEVEL_READY && n->level == LEVEL_READY)
			live(n, now, "measure", "%s", attempt_cell(g)->label);
	}
}

static void off(struct group *g)
{
	for (size_t i = 0; i < g->node_count; i++)
		answer(&g->nodes[i]->barrier, 410, json_pack("{sO}", "error", g->attempt.error));
}

static void hand_again(struct group *g, struct moment now)
{
	for (size_t i = 0; i < g->node_count; i++) {
		struct node *n = g->nodes[i];

		if (!n->assigned || n->verdict != VERDICT_NONE || !n->poll ||
		    strcmp(n->token, n->assigned_token))
			continue;
		if (g->attempt.error) {
			n->verdict = VERDICT_GAVE_UP;
			n->level = LEVEL_RESULT;
			continue;
		}
		n->handouts++;
		if (n->handouts > HANDOUTS_MAX)
			continue;
		live(n, now, "cell", "%s, sample %u", attempt_cell(g)->label, g->attempt.item.sample + 1);
		n->polled_ns = 0;
		answer(&n->poll, 200, handout(g, n));
	}
}

bool attempt_look(struct group *g, struct moment now)
{
	int lowest = LEVEL_RESULT;

	hand_again(g, now);
	for (size_t i = 0; i < g->node_count; i++) {
		struct node *n = g->nodes[i];

		if (!n->assigned)
			continue;
		if ((int)n->level < lowest)
			lowest = (int)n->level;
		if (n->verdict == VERDICT_FAILED && !g->attempt.error)
			g->attempt.error = json_incref(n->result_error);
		if (n->verdict == VERDICT_FAILED && !strcmp(text(n->result_error, "scope"), "run"))
			return close_badly(g, now, "failed", NULL, json_incref(n->result_error));
	}
	if (lowest == LEVEL_RESULT)
		return settle(g, now);
	json_t *error = trouble(g, now);
	if (error)
		return close_badly(g, now, g->attempt.error ? "failed" : "abandoned", NULL,
		                   g->attempt.error ? (json_decref(error), json_incref(g->attempt.error))
		                                    : error);
	if (g->attempt.error) {
		off(g);
		return false;
	}
	if (lowest > g->attempt.phase) {
		bool known = g->attempt.phase >= 0 || lowest > LEVEL_NONE;

		g->attempt.phase = known ? lowest : -1;
		if (known)
			g->attempt.phase_since_ns = now.mono_ns;
	}
	go(g, now, lowest);
	return false;
}
