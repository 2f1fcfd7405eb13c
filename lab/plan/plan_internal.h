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

enum { PLAN_LEVELS_MAX = UINT16_MAX, PLAN_STATE_TEXT_SIZE = 65536 };

/* A level that the plan names, or a default. */
struct plan_level {
	json_t *json;
	char *text;  /* the member of a state's canonical JSON */
	char *label; /* " max-buffers=8000" */
};

struct plan_levels {
	struct plan_level_list {
		struct plan_level *levels;
		size_t count;
	} of[FACTOR_COUNT];
	uint16_t defaults[FACTOR_COUNT]; /* numbers */
	uint16_t sorted[FACTOR_COUNT];   /* factors by name, as canonical JSON has them */
};

/* Complete. There may be a hundred thousand of them, so it has numbers: of level N - 1 of each factor, 0 is
 * none. */
struct plan_state {
	uint16_t levels[FACTOR_COUNT];
	factor_set varied; /* factors that sweep, cross or zip set here */
	char id[SHA256_HEX_SIZE];
};

struct plan_workload {
	json_t *workload; /* cell.json */
	char *canonical;
	char *label;  /* "" where there is only one */
	size_t place; /* in the plan's list, from 0 */
};

/* A state that came out a second time. */
struct plan_double {
	char text[256]; /* the levels that led to it */
	size_t same;    /* index of the first */
};

/* What a plan's cells are made of. */
struct plan_parts {
	struct plan_levels levels;
	struct plan_state *states;
	size_t state_count;
	struct plan_workload *workloads;
	size_t workload_count;
};

struct plan_build {
	struct yaml_doc doc;
	struct plan *plan;
	struct plan_parts *parts; /* the plan's */
	factor_set named, used; /* factors that the plan names; those with a meaning in at least one state */
	struct plan_double doubles[PLAN_DOUBLES_TOLD];
	size_t double_count;
};

/* The number of LEVEL (kept by reference) among those of FACTOR, from 1. 0; -E2BIG, -ENOMEM. */
int plan_level_number(struct plan_levels *levels, size_t factor, json_t *level, uint16_t *number);
/* NULL for number 0. */
const struct plan_level *plan_level(const struct plan_levels *levels, size_t factor, uint16_t number);
int plan_levels_init(struct plan_levels *levels);
void plan_levels_free(struct plan_levels *levels);
/* The level of a factor in S, or its default. */
const char *plan_state_string(const struct plan_parts *parts, const struct plan_state *s, enum factor_id id);
/* The state's canonical JSON; gives its length, 0 where SIZE is too small. */
size_t plan_state_text(const struct plan_levels *levels, const struct plan_state *s, char *to, size_t size);

/* Each complains of everything wrong it finds, and gives 0, -EINVAL or -ENOMEM. */

/* Puts what the section published has in the place of the plan's own, where that is asked for. */
int plan_apply_published(struct plan_build *b, bool asked);
/* The plan's criteria, with the cells that each is about; needs the cells. */
int plan_read_acceptance(struct plan_build *b);
/* Steps of a plan that tunes to rows, whatever way they are written. */
int plan_tune_rows(struct plan_build *b);
/* What tune says is checked, and its first step put into the place of zip. */
int plan_read_tune(struct plan_build *b);
/* Other spellings of factors to their names, everywhere in the plan. */
int plan_resolve_aliases(struct plan_build *b);
/* Names and levels in base, sweep, cross, zip and where; levels with a unit become integers. */
int plan_check_factors(struct plan_build *b);
/* States that make no sense, once they are expanded. */
int plan_check_states(struct plan_build *b);
/* BYTES by SCALE, down to whole records; as they are without a scale. */
uint64_t plan_scaled(const struct plan_scale *scale, uint64_t bytes, uint64_t record_bytes);
/* A time or a count in SCALE, in whole steps of RECORD, but not below LEAST where it is not less by itself.
 */
uint64_t plan_scaled_to(const struct plan_scale *scale, uint64_t value, uint64_t record, uint64_t least);
/* A workload's time in ms in SCALE: whole seconds, at least one. */
uint64_t plan_scaled_ms(const struct plan_scale *scale, uint64_t ms);
int plan_read_workloads(struct plan_build *b);
/* precision to plan->precision. */
int plan_read_precision(struct plan_build *b);
/* Each workload in every state that it meets; complains only. */
void plan_check_workloads(struct plan_build *b);
/* base, sweep, cross, zip, where to states without doubles. */
int plan_expand_states(struct plan_build *b);
/* Labels of the workloads, and notes of states that came out twice. */
int plan_label(struct plan_build *b);
/* " max-buffers=8000"; the caller owns it. NULL: no memory. */
char *plan_level_label(size_t factor, const json_t *level);
/* Factors whose levels differ between states: what labels show. */
factor_set plan_label_factors(const struct plan_build *b);
/* The label of a state; the caller owns it. NULL: no memory. */
char *plan_state_label(const struct plan_build *b, const struct plan_state *s, factor_set shown);
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
json_t *plan_read_files(struct plan_build *b, size_t index, const json_t *files);
json_t *plan_read_precondition(struct plan_build *b, size_t index, const json_t *precondition);
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
/* The same of files; false: it is none. */
bool plan_label_files(const json_t *workload, FILE *to);
/* The same of aio; false: it is none. */
bool plan_label_aio(const json_t *workload, FILE *to);

/* Level as text: "yes", "2048". */
const char *plan_level_text(const json_t *level, char *out, size_t size);

/* The documented generator of the shuffle: splitmix64 (Steele, Lea, Flood 2014). */
uint64_t plan_random(uint64_t *state);

#endif
