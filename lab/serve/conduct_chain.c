/* SPDX-License-Identifier: GPL-2.0-or-later
 * Links of the chain for what the conductor stores; each in the transaction that stores it. */
#include "conduct_internal.h"

#include "../store/chain.h"

#include <errno.h>
#include <string.h>

/* Which sample the open attempt is of. The caller owns it. */
static json_t *attempt_json(struct group *g)
{
	const struct run_visit *visit = &g->run->visits[g->attempt.item.visit];

	return chain_sample(g->run->cells[visit->cell].id, visit->boot, g->attempt.item.sample + 1,
	                    g->attempt.number);
}

int link_open(struct group *g, struct moment now)
{
	return chain_add(g->c->store, now.unix_ns, "open", g->run->id, "", attempt_json(g));
}

int link_hello(struct conductor *c, struct moment now, const char *node, const json_t *hello,
               const char *inventory)
{
	char sha256[SHA256_HEX_SIZE];
	int r = sha256_hex(inventory, strlen(inventory), sha256);

	return r ? r
	         : chain_add(c->store, now.unix_ns, "hello", "", node,
	                     json_pack("{ss ss ss sI ss}", "boot_id", text(hello, "boot_id"), "image_id",
	                               text(hello, "image_id"), "mac", text(hello, "mac"), "uptime_ns",
	                               (json_int_t)number(hello, "uptime_ns"), "inventory_sha256", sha256));
}

int link_close(struct group *g, struct moment now, const char *state, const char *reason, const json_t *error)
{
	json_t *content = attempt_json(g);

	json_object_set_new(content, "state", json_string(state));
	if (reason)
		json_object_set_new(content, "reason", json_string(reason));
	if (error)
		json_object_set(content, "error", (json_t *)error);
	return chain_add(g->c->store, now.unix_ns, "close", g->run->id, "", content);
}

int link_end(struct store *store, struct moment now, const char *run)
{
	char state[16] = "";
	sqlite3_stmt *row;
	int r = store_ask(store, &row, "SELECT state FROM runs WHERE run = ?", "s", run);

	if (!r)
		r = store_row(store, row);
	if (r != 1)
		return r ? r : -ENOENT;
	snprintf(state, sizeof(state), "%s", store_text(row, 0));
	store_reset(row);
	return chain_add(store, now.unix_ns, "end", run, "", json_pack("{ss}", "state", state));
}

int link_sweep(struct store *store, struct moment now)
{
	sqlite3_stmt *row;
	int r = store_ask(store, &row,
	                  "SELECT run FROM runs WHERE state = 'cancelled' AND ended_unix_ns IS NULL", "");

	while (!r && (r = store_row(store, row)) == 1) {
		r = chain_add(store, now.unix_ns, "end", store_text(row, 0), "",
		              json_pack("{ss}", "state", "cancelled"));
		if (r)
			store_reset(row);
	}
	return r;
}
