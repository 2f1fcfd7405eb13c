/* SPDX-License-Identifier: GPL-2.0-or-later
 * How a plan goes from YAML to cells: plan_load.c is the table of contents. */
#ifndef ASSAY_PLAN_INTERNAL_H
#define ASSAY_PLAN_INTERNAL_H

#include "plan.h"
#include "factor.h"
#include "yaml.h"

enum { PLAN_CELLS_MAX = 1000000, PLAN_VISITS_MAX = 10000000, PLAN_DOUBLES_TOLD = 20, PLAN_CRYSTAL_CELLS = 9 };

/* A set of factors: bit N is factors[N]. */
typedef unsigned __int128 factor_set;
_Static_assert(FACTOR_COUNT <= 128, "a factor_set is too small");
#define FACTOR_INDEX_BIT(i) ((factor_set)1 << (i))
#define FACTOR_BIT(f)       FACTOR_INDEX_BIT((f)-factors)

struct plan_state {
	json_t *state; /* complete */
	char id[SHA256_HEX_SIZE];
	factor_set varied; /* factors that sweep, cross or zip set here */
	char *label;
	char (*cell_ids)[SHA256_HEX_SIZE]; /* with each workload */
};

struct plan_workload {
	json_t *workload; /* cell.json */
	char *canonical;
	char *label; /* "" where there is only one */
};

/* A state that came out a second time. */
struct plan_double {
	char text[256]; /* the levels that led to it */
	size_t same;    /* index of the first */
};

struct plan_build {
	struct yaml_doc doc;
	struct plan *plan;
	factor_set named, used; /* factors that the plan names; those with a meaning in at least one state */
	struct plan_state *states;
	size_t state_count, state_room;
	struct plan_workload *workloads;
	size_t workload_count;
	struct plan_double doubles[PLAN_DOUBLES_TOLD];
	size_t double_count;
};

/* Each complains of everything wrong it finds, and gives 0, -EINVAL or -ENOMEM. */

/* Other spellings of factors to their names, everywhere in the plan. */
int plan_resolve_aliases(struct plan_build *b);
/* Names and levels in base, sweep, cross, zip and where; levels with a unit become integers. */
int plan_check_factors(struct plan_build *b);
/* States that make no sense, once they are expanded. */
int plan_check_states(struct plan_build *b);
/* BYTES by SCALE, down to whole records; as they are without a scale. */
uint64_t plan_scaled(const struct plan_scale *scale, uint64_t bytes, uint64_t record_bytes);
int plan_read_workloads(struct plan_build *b);
/* Each workload in every state that it meets; complains only. */
void plan_check_workloads(struct plan_build *b);
/* base, sweep, cross, zip, where to states without doubles. */
int plan_expand_states(struct plan_build *b);
int plan_label(struct plan_build *b);
/* States times workloads to plan->cells, and these to plan->visits. */
int plan_make_cells(struct plan_build *b);
int plan_make_visits(struct plan_build *b);

/* Workload INDEX of the plan, read from its YAML, as cell.json has it; the caller owns it. NULL: no memory.
 * What is wrong with it is complained of. */
json_t *plan_read_stream(struct plan_build *b, size_t index, const json_t *stream);
json_t *plan_read_failover(struct plan_build *b, size_t index, const json_t *failover);
json_t *plan_read_aio(struct plan_build *b, size_t index, const json_t *aio);
json_t *plan_read_resync(struct plan_build *b, size_t index, const json_t *resync);
json_t *plan_read_verify(struct plan_build *b, size_t index, const json_t *verify);
/* An array of aio workloads, in CrystalDiskMark's order; PLAN_CRYSTAL_CELLS of them. */
json_t *plan_read_crystal(struct plan_build *b, size_t index, const json_t *crystal);
json_t *plan_read_rtt(struct plan_build *b, size_t index, const json_t *rtt);
/* The size under KEY of workload INDEX, or what *BYTES has where there is none; false: complained of. */
bool plan_workload_size(struct plan_build *b, size_t index, const json_t *workload, const char *key,
                        uint64_t *bytes);
/* The duration under KEY in milliseconds; 0 where there is none, or a complaint of it. */
uint64_t plan_workload_duration(struct plan_build *b, size_t index, const json_t *workload, const char *key);
__attribute__((format(printf, 4, 5))) void plan_workload_complain(struct plan_build *b, size_t index,
                                                                  const char *key, const char *format, ...);
/* The label of a workload that is no copy, to TO; false: it is one. */
bool plan_label_net(const json_t *workload, FILE *to);
/* The same of resync and verify; false: it is neither. */
bool plan_label_drbd(const json_t *workload, FILE *to);
/* The same of aio; false: it is none. */
bool plan_label_aio(const json_t *workload, FILE *to);

/* Level as text: "yes", "2048". */
const char *plan_level_text(const json_t *level, char *out, size_t size);

/* The documented generator of the shuffle: splitmix64 (Steele, Lea, Flood 2014). */
uint64_t plan_random(uint64_t *state);

#endif
