/* SPDX-License-Identifier: GPL-2.0-or-later
 * Tokens and boots. */
#include "conduct_internal.h"
#include "log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define TOKENS_KEPT 8 /* served scripts of a node that never said hello */

static const struct node *node_of(const struct conductor *c, const char *name)
{
	for (size_t i = 0; i < c->node_count; i++)
		if (!strcmp(c->nodes[i].name, name))
			return &c->nodes[i];
	return NULL;
}

/* What isolates the CPUs of a node with CPUS (inventory.json), to N. */
static void find_isolation(struct node *n, const json_t *cpus)
{
	struct cpu_split split;
	int r = cpu_split_inventory(cpus, NULL, &split);

	n->isolation[0] = '\0';
	if (!r)
		cpu_split_arguments(&split, n->isolation);
}

void node_arguments(const struct node *n, const struct run_cell *cell, char buf[NODE_ARGUMENTS_SIZE])
{
	const char *isolation = cell->isolate ? n->isolation : "";

	snprintf(buf, NODE_ARGUMENTS_SIZE, "%s%s%s", cell->arguments,
	         *cell->arguments && *isolation ? " " : "", isolation);
}

struct boot_wish conductor_wish(const struct conductor *c, const char *node)
{
	const struct node *n = node_of(c, node);
	const struct group *g = n ? n->group : NULL;
	struct boot_wish wish = {.arguments = "", .kernel = ""};
	const struct run_cell *cell;
	struct item item;
	bool unfinished;

	if (!g || !g->run)
		return wish;
	wish.layers = g->run->layers;
	if (g->attempt.open)
		item = g->attempt.item;
	else if (!run_pick(g, &item, &unfinished))
		return wish;
	cell = &g->run->cells[g->run->visits[item.visit].cell];
	node_arguments(n, cell, wish.arguments);
	wish.kernel = cell->kernel;
	return wish;
}

void conductor_no_layer(struct conductor *c, struct moment now, const char *node, const char *layer)
{
	const struct node *n = node_of(c, node);
	struct group *g = n ? n->group : NULL;

	if (g && g->run)
		run_end(g, now,
		        error_new("lab", "layer", layer, "run",
		                  "Build it with `make layers`, then ask for the run again.",
		                  "the run needs the layer %s, which is not in the server's image folder",
		                  layer));
}

int conductor_token(struct conductor *c, struct moment now, const char *node, const char *mac,
                    const struct boot_wish *wish, char token[33])
{
	unsigned char random[16];
	int r;

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EIO;
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(token + 2 * i, 3, "%02x", random[i]);
	r = store_begin(c->store);
	if (r)
		return r;
	r = store_do(c->store,
	             "INSERT INTO boots (token, node, mac, made_unix_ns, arguments) VALUES (?, ?, ?, ?, ?)",
	             "sssis", token, node, mac, now.unix_ns, wish->arguments);
	if (!r)
		r = store_do(c->store,
		             "DELETE FROM boots WHERE node = ?1 AND boot_id IS NULL AND token NOT IN (SELECT "
		             "token FROM boots "
		             "WHERE node = ?1 AND boot_id IS NULL ORDER BY made_unix_ns DESC LIMIT ?2)",
		             "si", node, (int64_t)TOKENS_KEPT);
	return store_end(c->store, r);
}

void conductor_stranger(struct conductor *c, struct moment now, const char *mac, const char *uuid)
{
	int r = store_do(c->store,
	                 "INSERT INTO strangers (mac, uuid, seen_unix_ns) VALUES (?1, ?2, ?3) ON CONFLICT "
	                 "(mac) DO UPDATE SET "
	                 "uuid = ?2, seen_unix_ns = ?3",
	                 "ssi", mac, uuid, now.unix_ns);

	if (!r)
		r = store_do(c->store,
		             "DELETE FROM strangers WHERE mac NOT IN (SELECT mac FROM strangers ORDER BY "
		             "seen_unix_ns DESC "
		             "LIMIT 1000)",
		             "");
	if (r)
		store_failed(c, "stranger", r);
}

int conductor_token_mac(struct conductor *c, const char *token, char mac[18])
{
	sqlite3_stmt *row;
	int r = store_ask(c->store, &row, "SELECT mac FROM boots WHERE token = ?", "s", token);

	if (!r)
		r = store_row(c->store, row);
	if (r == 1) {
		copy_text(mac, 18, store_text(row, 0));
		store_reset(row);
	}
	return r;
}

static void boot_read(struct node *n, sqlite3_stmt *row)
{
	copy_text(n->token, sizeof(n->token), store_text(row, 0));
	copy_text(n->boot_id, sizeof(n->boot_id), store_text(row, 1));
	copy_text(n->block_run, sizeof(n->block_run), store_text(row, 2));
	n->block = (unsigned int)sqlite3_column_int64(row, 3);
	n->states = (unsigned int)sqlite3_column_int64(row, 4);
	copy_text(n->last_state, sizeof(n->last_state), store_text(row, 5));
	copy_text(n->arguments, sizeof(n->arguments), store_text(row, 6));
	json_decref(n->layers);
	n->layers = json_loads(store_text(row, 7), 0, NULL);
	copy_text(n->boot_mac, sizeof(n->boot_mac), store_text(row, 8));
	json_t *cpus = json_loads(store_text(row, 9), 0, NULL);
	find_isolation(n, cpus);
	json_decref(cpus);
}

int boot_load(struct conductor *c, struct node *n)
{
	sqlite3_stmt *row;
	int r = store_ask(
	    c->store, &row,
	    "SELECT token, boot_id, run, block, states, last_state, arguments, coalesce(json_extract("
	    "inventory, '$.layers'), '[]'), mac, coalesce(json_extract(inventory, '$.cpus'), '{}') FROM "
	    "boots "
	    "WHERE node = ? AND hello_order IS "
	    "NOT NULL ORDER BY hello_order DESC LIMIT 1",
	    "s", n->name);

	if (!r)
		r = store_row(c->store, row);
	if (r == 1) {
		boot_read(n, row);
		store_reset(row);
	}
	if (r >= 0)
		r = store_ask(c->store, &row,
		              "SELECT step, text, since_unix_ns, seen_unix_ns FROM nodes WHERE node = ?", "s",
		              n->name);
	if (!r)
		r = store_row(c->store, row);
	if (r == 1) {
		copy_text(n->step, sizeof(n->step), store_text(row, 0));
		copy_text(n->text, sizeof(n->text), store_text(row, 1));
		n->since_unix_ns = sqlite3_column_int64(row, 2);
		n->seen_unix_ns = sqlite3_column_int64(row, 3);
		store_reset(row);
	}
	return r < 0 ? r : 0;
}

static int hello_store(struct conductor *c, struct moment now, const char *token, const char *node,
                       const json_t *hello)
{
	const json_t *pstore = json_object_get(hello, "pstore");
	char *inventory = json_dumps(json_object_get(hello, "inventory"), JSON_COMPACT | JSON_SORT_KEYS);
	int r;

	if (!inventory)
		return -ENOMEM;
	r = store_begin(c->store);
	if (r) {
		free(inventory);
		return r;
	}
	r = store_do(c->store,
	             "UPDATE boots SET hello_order = (SELECT coalesce(max(hello_order), 0) + 1 FROM boots), "
	             "hello_unix_ns = ?, "
	             "boot_id = ?, image_id = ?, uptime_ns = ?, inventory = ? WHERE token = ?",
	             "ississ", now.unix_ns, text(hello, "boot_id"), text(hello, "image_id"),
	             number(hello, "uptime_ns"), inventory, token);
	for (size_t i = 0; i < json_array_size(pstore) && !r; i++) {
		const json_t *dump = json_array_get(pstore, i);

		r = store_do(c->store,
		             "INSERT OR REPLACE INTO pstore (token, node, name, text) VALUES (?, ?, ?, ?)",
		             "ssss", token, node, text(dump, "name"), text(dump, "text"));
	}
	if (!r)
		r = link_hello(c, now, node, hello, inventory);
	free(inventory);
	return store_end(c->store, r);
}

static struct reply hello_reply(const struct node *n, struct moment now, const char *image_id)
{
	return (struct reply){
	    .status = 200,
	    .body = json_pack("{ss ss sI ss}", "node", n->name, "group", n->group->name, "server_time_ns",
	                      (json_int_t)now.unix_ns, "image_id", image_id),
	};
}

static struct reply refused(const char *why)
{
	log_event(NULL, "hello", "refused: %s", why);
	return (struct reply){
	    .status = 401,
	    .body = json_pack("{s{ss ss}}", "error", "message", why, "remedy", "Reboot through PXE."),
	};
}

static void boot_begin(struct node *n, struct moment now, const char *token, const char *mac,
                       const char *arguments, const json_t *hello)
{
	answer(&n->poll, 401, json_pack("{s{ss}}", "error", "message", "the node has booted again"));
	answer(&n->barrier, 410, json_pack("{s{ss}}", "error", "message", "the node has booted again"));
	copy_text(n->token, sizeof(n->token), token);
	copy_text(n->boot_mac, sizeof(n->boot_mac), mac);
	copy_text(n->arguments, sizeof(n->arguments), arguments);
	copy_text(n->boot_id, sizeof(n->boot_id), text(hello, "boot_id"));
	json_decref(n->layers);
	n->layers = json_incref(json_object_get(json_object_get(hello, "inventory"), "layers"));
	find_isolation(n, json_object_get(json_object_get(hello, "inventory"), "cpus"));
	n->busy_until_ns = 0;
	n->block_run[0] = '\0';
	n->block = 0;
	n->states = 0;
	n->last_state[0] = '\0';
	size_t dumps = json_array_size(json_object_get(hello, "pstore"));
	log_event(n->name, "hello", "boot %s, image %s, up for %.1f s%s", n->boot_id, text(hello, "image_id"),
	          (double)number(hello, "uptime_ns") / 1e9,
	          dumps ? ", with a dump of the kernel that ran before" : "");
	live(n, now, "hello", "booted");
}

struct reply conductor_hello(struct conductor *c, struct moment now, const char *token, const json_t *hello,
                             const char *image_id, struct complaint *why)
{
	char name[NAME_SIZE] = "", mac[18] = "", boot_id[37] = "", arguments[NODE_ARGUMENTS_SIZE] = "";
	struct node *n = NULL;
	sqlite3_stmt *row;
	int r = store_ask(c->store, &row, "SELECT node, mac, boot_id, arguments FROM boots WHERE token = ?",
	                  "s", token);

	if (!r)
		r = store_row(c->store, row);
	if (r == 1) {
		copy_text(name, sizeof(name), store_text(row, 0));
		copy_text(mac, sizeof(mac), store_text(row, 1));
		copy_text(boot_id, sizeof(boot_id), store_text(row, 2));
		copy_text(arguments, sizeof(arguments), store_text(row, 3));
		store_reset(row);
	}
	if (r < 0)
		return store_refuses(c, "hello", r);
	for (size_t i = 0; i < c->node_count; i++)
		if (*name && !strcmp(c->nodes[i].name, name))
			n = &c->nodes[i];
	if (!n)
		return refused("the token is unknown");
	if (*boot_id && (strcmp(boot_id, text(hello, "boot_id")) || strcmp(n->token, token)))
		return refused("the token was used by another boot");
	if (strcmp(mac, text(hello, "mac"))) {
		copy_text(why->path, sizeof(why->path), "/mac");
		snprintf(why->message, sizeof(why->message), "the token was made for %s", mac);
		return (struct reply){.status = 422};
	}
	if (!*boot_id) {
		r = hello_store(c, now, token, name, hello);
		if (r)
			return store_refuses(c, "hello", r);
		boot_begin(n, now, token, mac, arguments, hello);
		if (*image_id && strcmp(image_id, text(hello, "image_id")))
			log_event(n->name, "hello", "runs image %s, the server has %s",
			          text(hello, "image_id"), image_id);
		advance(n->group, now);
	}
	return hello_reply(n, now, image_id);
}
