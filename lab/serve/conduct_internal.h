/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the conductor's files share. All of it is a cache of the store, but for holds and levels. */
#ifndef ASSAY_CONDUCT_INTERNAL_H
#define ASSAY_CONDUCT_INTERNAL_H

#include "conduct.h"
#include "factor.h"

#define NAME_SIZE    64
#define TOKEN_SIZE   33
#define ID_SIZE      65
#define HOLD_NS      (25 * INT64_C(1000000000))
#define MS_NS        INT64_C(1000000)
#define REBOOTS_MAX  4 /* in a row, without a sample handed out in between */
#define HANDOUTS_MAX 5 /* of one attempt to one node */

/* How far a node is in the sample: the barrier it has come to. */
enum level { LEVEL_NONE, LEVEL_APPLIED, LEVEL_READY, LEVEL_DONE, LEVEL_RESULT };

enum verdict { VERDICT_NONE, VERDICT_VALID, VERDICT_INVALID, VERDICT_FAILED, VERDICT_GAVE_UP };

struct node {
	char name[NAME_SIZE];
	struct group *group;
	unsigned int index;
	json_t *binding; /* next.json's */
	char mac[18], uuid[37];

	/* the present boot */
	char token[TOKEN_SIZE];
	char boot_mac[18]; /* of the NIC that its script was served to */
	char boot_id[37];
	char block_run[NAME_SIZE]; /* "": serves no run yet */
	unsigned int block, states;
	char last_state[ID_SIZE];                 /* in force, "": none */
	char arguments[NODE_ARGUMENTS_SIZE];      /* of its kernel, that a cell asked for */
	char isolation[CPU_SPLIT_ARGUMENTS_SIZE]; /* what isolates its CPUs; "": not known, or it has one */
	json_t *layers;                           /* that it says it has; NULL: none */

	/* the open attempt */
	bool assigned;
	char assigned_token[TOKEN_SIZE];
	enum level level;
	enum verdict verdict;
	json_t *result_error;
	char *reason;
	unsigned int handouts;
	struct hold *barrier;

	struct hold *poll;
	int64_t polled_ns;     /* last sign that it asks for work; 0: none */
	bool missing;          /* did not come in time */
	int64_t busy_until_ns; /* it may still be at a sample that is off, and learn of that only at its next
	                          barrier */
	unsigned int reboots;

	char step[65], text[513];
	int64_t since_unix_ns, seen_unix_ns;
	bool dirty;
};

struct run_cell {
	char id[ID_SIZE], state_id[ID_SIZE];
	char *label;
	bool fresh, failed;
	bool unsupported;      /* failed because a node refuses a level of it */
	unsigned int enough;   /* the boot after which it was as precise as asked; 0: not */
	const char *arguments; /* of the kernel, in body; "": none */
	bool isolate;          /* and besides those that isolate each node's CPUs */
	const char *kernel;    /* the layer that has it; "": ours */
	unsigned int nodes;
	json_t *body;
};

struct run_sample {
	bool done;
	unsigned int attempts;
};

struct run_visit {
	unsigned int boot;
	size_t cell;
	struct run_sample *samples;
};

struct run {
	char id[NAME_SIZE];
	unsigned int samples, retries;
	double precision; /* of each cell's interval; 0: all boots are made */
	int64_t peer_ms, apply_ms, measure_ms;
	json_t *layers; /* of the image, that its cells need: every boot of the run has all of them */
	struct run_cell *cells;
	size_t cell_count;
	struct run_visit *visits;
	size_t visit_count;
};

struct item {
	size_t visit;
	unsigned int sample; /* from 0 */
};

struct attempt {
	bool open;
	struct item item;
	unsigned int number;
	bool rebuild;  /* the state does not stand on all its nodes */
	json_t *error; /* it is off: what the others get with 410 */
	int phase;     /* lowest level of all nodes; -1: not known, the server was started in its middle */
	int64_t phase_since_ns;
};

struct group {
	char name[NAME_SIZE];
	struct conductor *c;
	struct node **nodes;
	size_t node_count;
	json_t *binding; /* its part of the lab file, and its nodes' */
	int64_t drbd_port;
	struct run *run;
	struct attempt attempt;
	bool had_nodes; /* some node came since the run began */
	int64_t wait_since_ns;
};

struct conductor {
	struct store *store;
	json_t *lab;
	struct group *groups;
	size_t group_count;
	struct node *nodes;
	size_t node_count;
	int64_t next_run_check_ns;
	int64_t changes;
	int64_t free_bytes; /* of the store's disk */
	bool store_sick;    /* it has refused something since the last tick */
	int64_t sick_until_ns;
};

/* conduct.c */
void advance(struct group *g, struct moment now);
void answer(struct hold **hold, unsigned int status, json_t *body);
bool polling(struct node *n);
bool state_stands(const struct group *g, const struct run_cell *cell);
int64_t number(const json_t *object, const char *key);
const char *text(const json_t *object, const char *key);
void copy_text(char *to, size_t size, const char *from);

/* conduct_store.c */
void store_failed(struct conductor *c, const char *what, int r);
/* Says so, and asks the node to come again. */
struct reply store_refuses(struct conductor *c, const char *what, int r);
bool store_rests(struct conductor *c, struct moment now);
bool has_room(struct group *g, struct moment now, struct item item);

/* conduct_live.c */
void live(struct node *n, struct moment now, const char *step, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void live_flush(struct conductor *c);

/* conduct_boot.c */
int boot_load(struct conductor *c, struct node *n);
/* The kernel arguments that CELL asks of N, as its latest inventory has it. */
void node_arguments(const struct node *n, const struct run_cell *cell, char buf[NODE_ARGUMENTS_SIZE]);

/* conduct_error.c */
json_t *error_new(const char *node, const char *step, const char *object, const char *scope,
                  const char *remedy, const char *format, ...) __attribute__((format(printf, 6, 7)));
int error_store(struct conductor *c, struct moment now, const char *run, const struct group *g,
                const json_t *error);

/* conduct_run.c */
/* The running run of the group, or its oldest queued one: 1 taken, 0 none, -errno. */
int run_take(struct group *g, struct moment now);
void run_free(struct run *run);
int run_sweep(struct conductor *c, struct moment now);
/* First unfinished item whose nodes are not missing. 1 found; 0 none; *UNFINISHED says whether others are
 * left. */
int run_pick(const struct group *g, struct item *item, bool *unfinished);
/* A run that tunes gets the cells of its next step, and is loaded anew. Whether that happened, or it was
 * ended since it could not be. */
bool run_goes_on(struct group *g, struct moment now);
/* ERROR (stolen) or NULL. */
int run_end(struct group *g, struct moment now, json_t *error);
int run_cell_failed(struct group *g, struct run_cell *cell, const json_t *error);

/* conduct_sample.c */
int attempt_load(struct group *g);
/* Opens an attempt of ITEM and hands it out. 0 or -errno. */
int attempt_open(struct group *g, struct moment now, struct item item);
/* Looks at the open attempt; whether it was closed. */
bool attempt_look(struct group *g, struct moment now);
/* Closes the open attempt in STATE; who waits at a barrier is told ERROR (may be NULL). 0 or -errno. */
int attempt_close(struct group *g, struct moment now, const char *state, const char *reason,
                  const json_t *error);
/* The attempt is off because of ERROR (stolen). Whether it was closed: false where the store failed. */
bool attempt_abandon(struct group *g, struct moment now, json_t *error);

/* conduct_precision.c: after a sample of VISIT: whether the rest of its cell can be left. 0 or -errno. */
int precision_look(struct group *g, const struct run_visit *visit);

/* conduct_handout.c */
json_t *handout(const struct group *g, const struct node *n);

/* --- conduct_chain.c: links of the chain, in the caller's transaction; 0 or -errno --- */
int link_hello(struct conductor *c, struct moment now, const char *node, const json_t *hello,
               const char *inventory);
/* Of the open attempt. */
int link_open(struct group *g, struct moment now);
int link_close(struct group *g, struct moment now, const char *state, const char *reason,
               const json_t *error);
int link_end(struct store *store, struct moment now, const char *run);
/* The ends of runs that were cancelled while nobody conducted them. */
int link_sweep(struct store *store, struct moment now);

#endif
