/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "conduct_internal.h"
#include "layers.h"
#include "log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RUN_CHECK_NS (500 * MS_NS)
#define POLL_GAP_NS  (5000 * MS_NS) /* a node between two polls is not away */

int64_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

void answer(struct hold **held, unsigned int status, json_t *body)
{
	struct hold *hold = *held;

	if (!hold) {
		json_decref(body);
		return;
	}
	*held = NULL;
	hold->node = NULL;
	hold->reply.status = status;
	hold->reply.body = body;
	if (hold->wake)
		hold->wake(hold);
}

bool polling(struct node *n)
{
	if (n->poll && n->poll->alive && !n->poll->alive(n->poll))
		conductor_drop(n->group->c, n->poll);
	return n->poll;
}

/* Whether the cell's state stands on all its nodes since the last sample of it. Where it does not, all build
 * anew: a node that rebooted comes with new DRBD metadata, which those of a peer that kept its own would not
 * fit. */
bool state_stands(const struct group *g, const struct run_cell *cell)
{
	for (unsigned int i = 0; i < cell->nodes; i++)
		if (strcmp(g->nodes[i]->last_state, cell->state_id))
			return false;
	return true;
}

static bool needs_reboot(const struct node *n, const struct run_visit *visit, const char **why)
{
	const struct run *run = n->group->run;
	const struct run_cell *cell = &run->cells[visit->cell];
	char arguments[NODE_ARGUMENTS_SIZE];

	if (*n->block_run && (strcmp(n->block_run, run->id) || n->block != visit->boot)) {
		*why = "this boot served another block of samples";
		return true;
	}
	if (strcmp(layers_kernel(n->layers), cell->kernel)) {
		*why = "the cell asks for another kernel";
		return true;
	}
	node_arguments(n, cell, arguments);
	if (strcmp(n->arguments, arguments)) {
		*why = *arguments ? "the cell asks for other kernel arguments"
		                  : "the cell asks for a kernel without arguments of its own";
		return true;
	}
	if (layers_missing(run->layers, n->layers)) {
		*why = "the run needs a layer of the image that this boot does not have";
		return true;
	}
	if (cell->fresh && n->states > 0 && !(n->states == 1 && state_stands(n->group, cell))) {
		*why = "the cell asks for a fresh boot";
		return true;
	}
	return false;
}

static int order_reboot(struct group *g, struct moment now, struct node *n, const char *why)
{
	struct conductor *c = g->c;

	if (n->reboots >= REBOOTS_MAX) {
		run_end(g, now,
		        error_new(n->name, "reboot", n->name, "run",
		                  "Look at its console: does it boot by PXE from this server each time, and "
		                  "does it come "
		                  "back with another boot_id?",
		                  "asked to reboot %u times in a row without a sample in between (%s)",
		                  n->reboots, why));
		return -ELOOP;
	}
	int r = store_do(c->store,
	                 "INSERT INTO reboots (at_unix_ns, run, node, token, reason) VALUES (?, ?, ?, ?, ?)",
	                 "issss", now.unix_ns, g->run->id, n->name, n->token, why);
	if (r) {
		store_failed(c, "reboot", r);
		return r;
	}
	n->reboots++;
	n->polled_ns = 0;
	log_event(n->name, "reboot", "%s", why);
	live(n, now, "reboot", "%s", why);
	answer(&n->poll, 200, json_pack("{ss ss}", "action", "reboot", "reason", why));
	g->wait_since_ns = now.mono_ns;
	return 0;
}

/* Whether every node that ITEM needs is there and fit for it; asks for reboots where that does not hold. */
static bool prepare(struct group *g, struct moment now, struct item item)
{
	const struct run_visit *visit = &g->run->visits[item.visit];
	unsigned int needed = g->run->cells[visit->cell].nodes;
	bool all = true, any = false;
	const char *why;

	for (unsigned int i = 0; i < needed; i++) {
		struct node *n = g->nodes[i];

		if (!polling(n)) {
			all = false;
			continue;
		}
		any = true;
		n->missing = false;
		if (!needs_reboot(n, visit, &why))
			continue;
		all = false;
		if (order_reboot(g, now, n, why))
			return false;
	}
	if (all) {
		g->wait_since_ns = 0;
		return true;
	}
	g->had_nodes = g->had_nodes || any;
	if (!g->wait_since_ns && g->had_nodes)
		g->wait_since_ns = now.mono_ns;
	return false;
}

static bool wait_is_over(struct group *g, struct moment now, struct item item)
{
	const struct run_visit *visit = &g->run->visits[item.visit];
	bool found = false;

	if (!g->wait_since_ns || now.mono_ns - g->wait_since_ns < g->run->peer_ms * MS_NS)
		return false;
	for (unsigned int i = 0; i < g->run->cells[visit->cell].nodes; i++) {
		struct node *n = g->nodes[i];

		if (n->poll || now.mono_ns < n->busy_until_ns ||
		    (n->polled_ns && now.mono_ns - n->polled_ns < POLL_GAP_NS))
			continue;
		log_event(n->name, "peer", "did not come within %" PRId64 " s: the others go on without it",
		          g->run->peer_ms / 1000);
		n->missing = true;
		found = true;
	}
	if (found)
		g->wait_since_ns = 0;
	return found;
}

static json_t *missing_error(struct group *g)
{
	char object[256] = "", strangers[512] = "";
	const char *first = g->name;
	sqlite3_stmt *row;

	for (size_t i = 0; i < g->node_count; i++) {
		struct node *n = g->nodes[i];
		size_t used = strlen(object);

		if (!n->missing)
			continue;
		if (!used)
			first = n->name;
		snprintf(object + used, sizeof(object) - used, "%s%s (%s)", used ? ", " : "", n->name,
		         *n->mac ? n->mac : n->uuid);
	}
	if (!store_ask(g->c->store, &row, "SELECT mac FROM strangers ORDER BY seen_unix_ns DESC LIMIT 4",
	               "")) {
		while (store_row(g->c->store, row) == 1) {
			size_t used = strlen(strangers);

			snprintf(strangers + used, sizeof(strangers) - used, "%s%s",
			         used ? ", " : " These asked to boot and are not in the lab file: ",
			         store_text(row, 0));
		}
	}
	char remedy[1024];
	snprintf(remedy, sizeof(remedy),
	         "Check its power, its cabling, that it boots by PXE first, and that its MAC in the lab file "
	         "is that of the NIC "
	         "it boots from.%s",
	         strangers);
	return error_new(first, "peer", object, "run", remedy,
	                 "did not come within %" PRId64
	                 " s, and nothing is left that could be measured without it",
	                 g->run->peer_ms / 1000);
}

void advance(struct group *g, struct moment now)
{
	for (;;) {
		struct item item;
		bool unfinished;

		if (!g->run && run_take(g, now) <= 0)
			return;
		if (g->attempt.open) {
			if (!attempt_look(g, now))
				return;
			continue;
		}
		if (!run_pick(g, &item, &unfinished)) {
			if (!unfinished && run_goes_on(g, now))
				continue;
			if (g->run && run_end(g, now, unfinished ? missing_error(g) : NULL))
				return;
			continue;
		}
		if (prepare(g, now, item)) {
			if (!has_room(g, now, item) || attempt_open(g, now, item))
				return;
			continue;
		}
		if (g->run && !wait_is_over(g, now, item))
			return;
	}
}

void conductor_next(struct conductor *c, struct moment now, struct node *n, struct hold *hold)
{
	answer(&n->poll, 200, json_pack("{ss}", "action", "wait"));
	hold->node = n;
	hold->barrier = 0;
	hold->since_ns = now.mono_ns;
	n->poll = hold;
	n->missing = false;
	n->polled_ns = now.mono_ns;
	n->busy_until_ns = 0;
	if (n->group->run)
		n->group->had_nodes = true;
	if (strcmp(n->step, "full") || c->free_bytes >= conductor_room_needed(c, 1))
		live(n, now, "ready", "waits for work");
	advance(n->group, now);
}

void conductor_drop(struct conductor *c, struct hold *hold)
{
	(void)c;
	if (!hold->node)
		return;
	if (hold->node->poll == hold)
		hold->node->poll = NULL;
	if (hold->node->barrier == hold)
		hold->node->barrier = NULL;
	hold->node = NULL;
}

json_t *conductor_step(struct conductor *c, struct moment now, struct node *n, const char *step,
                       const char *what)
{
	const struct group *g = n->group;

	(void)c;
	live(n, now, step, "%s", what);
	log_event(n->name, step, "%s", what);
	if (g->attempt.open && g->attempt.error)
		return json_deep_copy(g->attempt.error);
	if (g->attempt.open && n->assigned && !strcmp(n->token, n->assigned_token))
		return NULL;
	return error_new(n->name, step, n->name, "sample", "Nothing to do: the sample is measured again.",
	                 "the sample is off");
}

struct reply conductor_error(struct conductor *c, struct moment now, struct node *n, const json_t *error)
{
	struct group *g = n->group;
	const char *scope = text(error, "scope");
	int r = error_store(c, now, g->run ? g->run->id : NULL, g, error);

	if (r)
		return store_refuses(c, "error", r);
	live(n, now, text(error, "step"), "%s: %s", text(error, "object"), text(error, "message"));
	if (g->run && !strcmp(scope, "run"))
		run_end(g, now, json_deep_copy(error));
	else if (g->attempt.open && n->assigned && n->verdict == VERDICT_NONE)
		attempt_abandon(g, now, json_deep_copy(error));
	advance(g, now);
	return (struct reply){.status = 204};
}

static void cancel_look(struct group *g, struct moment now)
{
	int64_t cancelled = 0;

	if (!g->run)
		return;
	if (!store_int(g->c->store, &cancelled, "SELECT state = 'cancelled' FROM runs WHERE run = ?", "s",
	               g->run->id) &&
	    cancelled)
		run_end(g, now,
		        error_new("lab", "cancel", g->run->id, "run", "Nothing to do.",
		                  "cancelled by the operator"));
}

void conductor_tick(struct conductor *c, struct moment now)
{
	bool changed = false, rests = store_rests(c, now);

	if (now.mono_ns >= c->next_run_check_ns) {
		int64_t changes = store_changes(c->store);

		changed = changes != c->changes;
		c->changes = changes;
		c->next_run_check_ns = now.mono_ns + RUN_CHECK_NS;
	}
	for (size_t i = 0; i < c->node_count; i++) {
		struct node *n = &c->nodes[i];

		if (n->poll && now.mono_ns - n->poll->since_ns >= HOLD_NS) {
			n->polled_ns = now.mono_ns;
			answer(&n->poll, 200, json_pack("{ss}", "action", "wait"));
		}
		/* Who waits for the other's workload is silent: its deadline ends that, not we. */
		if (n->barrier && n->barrier->barrier != LEVEL_DONE &&
		    now.mono_ns - n->barrier->since_ns >= HOLD_NS)
			answer(&n->barrier, 200, json_pack("{sb}", "go", 0));
	}
	for (size_t i = 0; i < c->group_count && !rests; i++) {
		if (changed)
			cancel_look(&c->groups[i], now);
		if (c->groups[i].run || changed)
			advance(&c->groups[i], now);
	}
	if (!rests)
		live_flush(c);
}

void conductor_release(struct conductor *c)
{
	for (size_t i = 0; i < c->node_count; i++) {
		answer(&c->nodes[i].poll, 503, NULL);
		answer(&c->nodes[i].barrier, 503, NULL);
	}
}

void conductor_close(struct conductor *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->group_count; i++) {
		run_free(c->groups[i].run);
		json_decref(c->groups[i].attempt.error);
		json_decref(c->groups[i].binding);
		free(c->groups[i].nodes);
	}
	for (size_t i = 0; i < c->node_count; i++) {
		json_decref(c->nodes[i].binding);
		json_decref(c->nodes[i].result_error);
		json_decref(c->nodes[i].layers);
		free(c->nodes[i].reason);
	}
	free(c->groups);
	free(c->nodes);
	json_decref(c->lab);
	free(c);
}
