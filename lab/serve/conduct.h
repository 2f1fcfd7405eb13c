/* SPDX-License-Identifier: GPL-2.0-or-later
 * The conductor: decides what each node does next. It derives everything from the store and from the requests
 * that it holds now, so it may be killed and started again at any moment. No threads, no sockets, no clock of
 * its own: the caller brings the time, and one call at a time. */
#ifndef ASSAY_CONDUCT_H
#define ASSAY_CONDUCT_H

#include "../store/store.h"

#include "cpu_split.h"
#include "factor.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define RESULT_MAX_BYTES (4 << 20) /* of one node's result of a sample */

struct conductor;
struct node;

struct moment {
	int64_t mono_ns; /* for deadlines */
	int64_t unix_ns; /* for the record */
};

/* An HTTP status and a JSON body (owned by whoever holds the reply; NULL: empty). status 0: no reply yet. */
struct reply {
	unsigned int status;
	json_t *body;
};

/* A request that waits for something to happen. The caller fills wake, alive and ctx, and keeps it until the
 * reply came or conductor_drop(). */
struct hold {
	struct reply reply;
	void (*wake)(struct hold *hold);  /* the reply is there; may be NULL */
	bool (*alive)(struct hold *hold); /* whether the client still listens; NULL: yes */
	void *ctx;
	/* the conductor's own: */
	struct node *node;
	int barrier; /* enum level; 0: it is a `next` */
	int64_t since_ns;
};

/* What a refused message did wrong. */
struct complaint {
	char path[512]; /* JSON pointer */
	char message[512];
};

/* LAB is the lab file (lab.json), kept by reference. STORE stays the caller's. 0 or -errno. */
int conductor_open(struct store *store, json_t *lab, struct moment now, struct conductor **conductor);
void conductor_close(struct conductor *c);

/* Kernel arguments of one node, with the NUL: those that a cell names, and those that isolate its CPUs. */
enum { NODE_ARGUMENTS_SIZE = FACTOR_ARGUMENTS_SIZE + CPU_SPLIT_ARGUMENTS_SIZE };

/* What a boot script shall load beside kernel and initramfs; it stays right until the run ends. */
struct boot_wish {
	char arguments[NODE_ARGUMENTS_SIZE]; /* that the cell that comes next asks of its kernel; "": none */
	const char *kernel;                  /* the layer that has the cell's kernel; "": ours */
	const json_t *layers;                /* names of those that the run needs; NULL: none */
};

/* What NODE shall boot with. */
struct boot_wish conductor_wish(const struct conductor *c, const char *node);

/* A new one-time token for a node that boots from the NIC MAC (lower case, colons) with WISH. 0 or -errno. */
int conductor_token(struct conductor *c, struct moment now, const char *node, const char *mac,
                    const struct boot_wish *wish, char token[33]);

/* The server has no LAYER, which NODE's run needs: the run ends. */
void conductor_no_layer(struct conductor *c, struct moment now, const char *node, const char *layer);

/* The node of the lab file with that MAC or UUID (lower case; either may be NULL), or NULL. */
const char *conductor_who(const struct conductor *c, const char *mac, const char *uuid);
/* Notes a machine that is not in the lab file. */
void conductor_stranger(struct conductor *c, struct moment now, const char *mac, const char *uuid);

/* Registers the boot. 200, 401, 422 (with *WHY filled), 503. */
struct reply conductor_hello(struct conductor *c, struct moment now, const char *token, const json_t *hello,
                             const char *image_id, struct complaint *why);

/* The node whose present boot has that token, or NULL. */
struct node *conductor_auth(struct conductor *c, const char *token);
const char *conductor_node_name(const struct node *node);
/* The MAC (lower case, colons) of the NIC that NODE's present boot got its script by. */
const char *conductor_node_mac(const struct node *node);
/* The MAC that the script with TOKEN was served to, whether or not the node said hello: 1; 0: there is no
 * such token; -errno. */
int conductor_token_mac(struct conductor *c, const char *token, char mac[18]);

/* The reply is in HOLD when they return, or comes later. */
void conductor_next(struct conductor *c, struct moment now, struct node *node, struct hold *hold);
void conductor_barrier(struct conductor *c, struct moment now, struct node *node, const json_t *barrier,
                       struct hold *hold);
/* Nobody waits for HOLD's reply any more. */
void conductor_drop(struct conductor *c, struct hold *hold);

struct result_key {
	const char *run, *cell_id;
	int64_t boot, sample;
};

/* RESULT fits result.json; BODY are its LENGTH bytes as they came. 200 after the commit; 404, 409, 422, 503.
 */
struct reply conductor_result(struct conductor *c, struct moment now, struct node *node,
                              const struct result_key *key, const json_t *result, const void *body,
                              size_t length, struct complaint *why);

/* Notes what the node does now. NULL; or why the sample that it is at is off (error.json; the caller owns
 * it). */
json_t *conductor_step(struct conductor *c, struct moment now, struct node *node, const char *step,
                       const char *text);
/* ERROR fits error.json. 204 or 503. */
struct reply conductor_error(struct conductor *c, struct moment now, struct node *node, const json_t *error);

/* Keeps a message that was not accepted. */
void conductor_refuse(struct conductor *c, struct moment now, const char *node, const char *request,
                      const struct complaint *why, const void *body, size_t length);

/* To be called some times a second: deadlines, new runs, what `assay status` sees. */
void conductor_tick(struct conductor *c, struct moment now);

/* How many bytes the store's disk has left; nothing is begun for whose results they might not do. Until it is
 * called, any number of them do. */
void conductor_room(struct conductor *c, int64_t free_bytes);
/* How many there must be so that a sample of NODES nodes is begun now. */
int64_t conductor_room_needed(const struct conductor *c, unsigned int nodes);

/* Answers everything that is held with 503: the server ends. */
void conductor_release(struct conductor *c);

#endif
