/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chain.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int chain_hash(const struct chain_link *link, char sha256[SHA256_HEX_SIZE])
{
	char *text;
	int length =
	    asprintf(&text, "%s\n%" PRId64 "\n%" PRId64 "\n%s\n%s\n%s\n%s\n", link->previous, link->n,
	             link->at_unix_ns, link->kind, link->run, link->node, link->content_sha256);

	if (length < 0)
		return -ENOMEM;
	int r = sha256_hex(text, (size_t)length, sha256);

	free(text);
	return r;
}

/* The last link's number and hash; of an empty chain 0 and zeros. */
static int head(struct store *store, int64_t *n, char sha256[SHA256_HEX_SIZE])
{
	sqlite3_stmt *row;
	int r = store_ask(store, &row, "SELECT n, sha256 FROM chain ORDER BY n DESC LIMIT 1", "");

	*n = 0;
	memset(sha256, '0', SHA256_HEX_SIZE - 1);
	sha256[SHA256_HEX_SIZE - 1] = '\0';
	if (!r)
		r = store_row(store, row);
	if (r != 1)
		return r;
	*n = sqlite3_column_int64(row, 0);
	snprintf(sha256, SHA256_HEX_SIZE, "%s", store_text(row, 1));
	store_reset(row);
	return 0;
}

int chain_add(struct store *store, int64_t at_unix_ns, const char *kind, const char *run, const char *node,
              json_t *content)
{
	struct chain_link link = {.at_unix_ns = at_unix_ns, .kind = kind, .run = run, .node = node};
	char *text = content ? json_dumps(content, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	char sha256[SHA256_HEX_SIZE];
	int r = text ? head(store, &link.n, link.previous) : -ENOMEM;

	link.n++;
	if (!r)
		r = sha256_hex(text, strlen(text), link.content_sha256);
	if (!r)
		r = chain_hash(&link, sha256);
	if (!r)
		r = store_do(
		    store,
		    "INSERT INTO chain (n, at_unix_ns, kind, run, node, content, sha256) VALUES (?, ?, ?, "
		    "?, ?, ?, ?)",
		    "iisssss", link.n, at_unix_ns, kind, run, node, text, sha256);
	free(text);
	json_decref(content);
	return r;
}

json_t *chain_sample(const char *cell_id, int64_t boot, int64_t sample, int64_t attempt)
{
	return json_pack("{ss sI sI sI}", "cell_id", cell_id, "boot", (json_int_t)boot, "sample",
	                 (json_int_t)sample, "attempt", (json_int_t)attempt);
}
