/* SPDX-License-Identifier: GPL-2.0-or-later
 * What becomes of a store that refuses, and of one that is about to. */
#include "conduct_internal.h"
#include "log.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define SICK_NS    (2000 * MS_NS)
#define ROOM_BYTES (INT64_C(32) << 20) /* for all that is no result */

void store_failed(struct conductor *c, const char *what, int r)
{
	log_seldom(NULL, "store", "%s: %s: %s", what, strerror(-r), store_message(c->store));
	c->store_sick = true;
}

struct reply store_refuses(struct conductor *c, const char *what, int r)
{
	store_failed(c, what, r);
	return (struct reply){
	    .status = 503,
	    .body = json_pack("{s{ss ss}}", "error", "message", store_message(c->store), "remedy",
	                      r == -ENOSPC ? "Make room on the disk that has the lab's database."
	                                   : "Look at the log of assay serve."),
	};
}

void conductor_room(struct conductor *c, int64_t free_bytes)
{
	c->free_bytes = free_bytes;
}

/* A result's bytes are in the write-ahead log and then in the database. */
int64_t conductor_room_needed(const struct conductor *c, unsigned int nodes)
{
	for (size_t i = 0; i < c->node_count; i++)
		nodes += c->nodes[i].assigned;
	return ROOM_BYTES + 2 * RESULT_MAX_BYTES * (int64_t)nodes;
}

/* Whether what ITEM's nodes will bring has room; tells them and the log where it has not. */
bool has_room(struct group *g, struct moment now, struct item item)
{
	unsigned int nodes = g->run->cells[g->run->visits[item.visit].cell].nodes;
	int64_t needed = conductor_room_needed(g->c, nodes);

	if (g->c->free_bytes >= needed)
		return true;
	log_seldom(NULL, "store",
	           "its disk has less than %" PRId64 " MB left: nothing new is measured until there is room",
	           needed / 1000000);
	for (unsigned int i = 0; i < nodes; i++)
		if (strcmp(g->nodes[i]->step, "full"))
			live(g->nodes[i], now, "full", "waits until the store's disk has room");
	return false;
}

/* Whether the store is left alone for a while, since it has just refused something. */
bool store_rests(struct conductor *c, struct moment now)
{
	if (c->store_sick)
		c->sick_until_ns = now.mono_ns + SICK_NS;
	c->store_sick = false;
	return now.mono_ns < c->sick_until_ns;
}
