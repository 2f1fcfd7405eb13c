/* SPDX-License-Identifier: GPL-2.0-or-later
 * A plan, read, checked and expanded into cells in the order in which they shall be measured. */
#ifndef ASSAY_PLAN_H
#define ASSAY_PLAN_H

#include "canonical.h"
#include "factor.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What sizes are multiplied with; no denominator: with nothing. */
struct plan_scale {
	unsigned int numerator, denominator;
};

/* "1/1000". Whether it is a fraction above 0, at most 1. */
bool plan_scale_parse(const char *text, struct plan_scale *scale);

struct plan_cell {
	char id[SHA256_HEX_SIZE];
	char state_id[SHA256_HEX_SIZE];
	size_t state, workload; /* of the plan's */
	char *label;            /* short, for tables: only what differs between the plan's cells */
	bool fresh;             /* boot: fresh */
	unsigned int nodes;     /* how many nodes of the group it needs: 1 or the plan's */
	uint64_t size_bytes;    /* one sample writes this much */
};

/* One cell in one block (boot ordinal, from 1): `samples` samples are taken there. */
struct plan_visit {
	unsigned int boot;
	size_t cell;
};

struct plan {
	char *name; /* file name without folder and ending */
	char *question;
	char text_sha256[SHA256_HEX_SIZE];
	unsigned int nodes, boots, samples, retries;
	double precision; /* of a cell's interval, 0.01 for 1 %; 0: all boots are made */
	bool shuffled;
	uint64_t seed; /* of the shuffle; recorded with the run */
	unsigned int peer_ms, apply_ms, measure_ms;
	struct plan_parts *parts;
	struct plan_cell *cells;
	size_t cell_count;
	struct plan_visit *visits; /* in the order of measuring; all visits of a block stand together, */
	size_t visit_count;        /* and within it cells of one state */
	struct plan_scale scale;
	bool seed_in_plan;  /* the plan names the seed itself */
	bool as_published;  /* with the mistakes of the experiment that it repeats */
	json_t *acceptance; /* criteria as accept.h has them; NULL: none */
	json_t
	    *tune; /* as tune.h has it, and cells and visits are of its first stage; NULL: it does not tune */
	json_t *notes; /* strings: what the author should know, such as cells that came out twice */
};

/* How a plan shall be read. */
struct plan_options {
	uint64_t seed;           /* used where the plan shuffles without naming one */
	struct plan_scale scale; /* of the sizes of its copies, to whole records */
	bool as_published;       /* as its section published has it */
	uint64_t boots, samples; /* instead of what the plan repeats; 0: as it says */
};

/* Reads PATH. Errors go to ERR as "file:line:column: what, and the nearest valid key". 0, or -EINVAL (the
 * plan is wrong), -errno (it can't be read). plan_free() what it gave. */
int plan_load_options(const char *path, const struct plan_options *options, FILE *err, struct plan **plan);
int plan_load(const char *path, uint64_t seed, FILE *err, struct plan **plan);
/* The same for a plan that was read already: TEXT (NULL: it was not); PATH names it, and names it in errors.
 */
int plan_load_text(const char *path, const char *text, const struct plan_options *options, FILE *err,
                   struct plan **plan);
/* The same from JSON as plan.json has it; it has no places to complain of. */
int plan_load_json(const json_t *root, const struct plan_options *options, FILE *err, struct plan **plan);
void plan_free(struct plan *plan);

/* CELL (one of PLAN's) as cell.json has it; the caller owns it. NULL: no memory. */
json_t *plan_cell_json(const struct plan *plan, const struct plan_cell *cell);
const json_t *plan_cell_workload(const struct plan *plan, const struct plan_cell *cell);
/* The level of a factor in CELL's state, or its default. */
const char *plan_cell_string(const struct plan *plan, const struct plan_cell *cell, enum factor_id id);
long long plan_cell_integer(const struct plan *plan, const struct plan_cell *cell, enum factor_id id);
/* Whether A and B can be measured on one boot: no kernel argument or the like differs. */
bool plan_same_boot(const struct plan *plan, const struct plan_cell *a, const struct plan_cell *b);
/* Whether the factor is part of CELL's state. */
bool plan_cell_has(const struct plan *plan, const struct plan_cell *cell, enum factor_id id);

/* Whether group GROUP (NULL: the only one) of LAB can measure PLAN: enough nodes, storage NICs for its bonds,
 * disks that hold what is written. What is missing goes to ERR. 0 or -EINVAL; *NAME is the group's, owned by
 * LAB. */
int plan_fits_lab(const struct plan *plan, const json_t *lab, const char *group, FILE *err,
                  const char **name);

/* Reads and checks a lab file; same errors. *LAB is lab.json with defaults filled in (http_port 8080, dhcp
 * own, console [tty0, ttyS0], drbd_port 7788); the caller owns it. */
int lab_file_load(const char *path, FILE *err, json_t **lab);

#endif
