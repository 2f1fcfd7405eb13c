/* SPDX-License-Identifier: GPL-2.0-or-later
 * The chain: what nodes brought and what the lab decided, in the order in which it came. A link's hash covers
 * its content and the link before, so that none can be changed, left out, added or moved without all later
 * hashes being others.
 *
 * Kinds, and what their content (JSON) has. NAME_sha256 is the hash of a text that is kept elsewhere:
 *   hello   boot_id, image_id, mac, uptime_ns, inventory_sha256 (boots.inventory)
 *   run     group, plan, plan_sha256 (runs.plan_text), lab_sha256 (runs.lab), boots, samples, seed, shuffled,
 * … open    cell_id, boot, sample, attempt: a sample is tried result  the same, and role, verdict, reason,
 * boot_id, body_sha256 (results.body) close   the same as open, and state, reason, error: what came of it end
 * state of the run */
#ifndef ASSAY_STORE_CHAIN_H
#define ASSAY_STORE_CHAIN_H

#include "store.h"

#include "canonical.h"

#include <jansson.h>

struct chain_link {
	int64_t n; /* from 1 on, without gaps */
	int64_t at_unix_ns;
	const char *kind, *run, *node; /* "": of none */
	char content_sha256[SHA256_HEX_SIZE];
	char previous[SHA256_HEX_SIZE]; /* hash of the link before; 64 zeros for the first */
};

/* The hash of LINK: SHA-256 of its members, each on a line. 0 or -EIO. */
int chain_hash(const struct chain_link *link, char sha256[SHA256_HEX_SIZE]);

/* Adds a link; takes CONTENT. To be called in the transaction that stores what it is of. 0 or -errno. */
int chain_add(struct store *store, int64_t at_unix_ns, const char *kind, const char *run, const char *node,
              json_t *content);

/* CONTENT of open, result and close; more is added by the caller, who owns it. */
json_t *chain_sample(const char *cell_id, int64_t boot, int64_t sample, int64_t attempt);

#endif
