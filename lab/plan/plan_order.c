/* SPDX-License-Identifier: GPL-2.0-or-later
 * Cells, and the order in which they are visited. */
#include "plan_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* TEXT is the state's canonical JSON, LABEL what it is called. The cell's id is canonical_id() of the cell,
 * from canonical pieces, since thousands of cells share few workloads. */
static int make_cell(struct plan_build *b, size_t state, size_t workload, const char *label, const char *text)
{
	const struct plan_parts *parts = b->parts;
	const struct plan_state *s = &parts->states[state];
	const struct plan_workload *w = &parts->workloads[workload];
	struct plan_cell *cell = &b->plan->cells[b->plan->cell_count++];
	bool drbd = factor_stack_bits(plan_state_string(parts, s, FACTOR_STACK)) & 1u << STACK_DRBD;
	bool alone = !strcmp(plan_state_string(parts, s, FACTOR_DRBD_LINK), "never-connected");
	char *body = NULL;
	int length, r;

	*cell = (struct plan_cell){.state = state, .workload = workload};
	if (asprintf(&cell->label, "%s%s", label, w->label) < 0) {
		cell->label = NULL;
		return -ENOMEM;
	}
	memcpy(cell->state_id, s->id, sizeof(cell->state_id));
	cell->fresh = !strcmp(plan_state_string(parts, s, FACTOR_BOOT), "fresh");
	cell->nodes = drbd && !alone ? b->plan->nodes : 1;
	cell->size_bytes = (uint64_t)json_integer_value(json_object_get(w->workload, "size_bytes"));
	length = asprintf(&body, "{\"schema_version\":1,\"state\":%s,\"workload\":%s}", text, w->canonical);
	if (length < 0)
		return -ENOMEM;
	r = sha256_hex(body, (size_t)length, cell->id);
	free(body);
	return r;
}

int plan_make_cells(struct plan_build *b)
{
	const struct plan_parts *parts = b->parts;
	factor_set shown = plan_label_factors(b);
	struct plan *p = b->plan;
	int r = 0;

	p->cells = calloc(parts->state_count * parts->workload_count, sizeof(*p->cells));
	if (!p->cells)
		return -ENOMEM;
	for (size_t s = 0; !r && s < parts->state_count; s++) {
		char text[PLAN_STATE_TEXT_SIZE], *label = plan_state_label(b, &parts->states[s], shown);
		size_t length = plan_state_text(&parts->levels, &parts->states[s], text, sizeof(text));

		r = label && length ? 0 : -ENOMEM;
		for (size_t w = 0; !r && w < parts->workload_count; w++)
			r = make_cell(b, s, w, label, text);
		free(label);
	}
	return r;
}

uint64_t plan_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* From 0 to BOUND - 1, each equally likely: values of the last, incomplete, range are drawn again. */
static size_t draw(uint64_t *state, size_t bound)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % bound, value;

	do
		value = plan_random(state);
	while (value >= limit);
	return (size_t)(value % bound);
}

/* Fisher and Yates, as Durstenfeld (1964) has it. */
static void shuffle(uint64_t *state, size_t *items, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t j = draw(state, i), item = items[i - 1];

		items[i - 1] = items[j];
		items[j] = item;
	}
}

/* Factors that only another boot can change. */
static const enum factor_id boot_factors[] = {FACTOR_BOOT_KERNEL, FACTOR_BOOT_CMDLINE, FACTOR_BOOT_ISOLATE};

bool plan_same_boot(const struct plan *plan, const struct plan_cell *a, const struct plan_cell *b)
{
	const struct plan_state *states = plan->parts->states;

	for (size_t i = 0; i < sizeof(boot_factors) / sizeof(*boot_factors); i++)
		if (states[a->state].levels[boot_factors[i]] != states[b->state].levels[boot_factors[i]])
			return false;
	return true;
}

/* What states have in common that can share a boot, by number, in the order of first appearance. */
struct boot_kinds {
	size_t *of_state, *order, count;
	uint16_t (*levels)[sizeof(boot_factors) / sizeof(*boot_factors)];
};

static size_t kind_of(struct boot_kinds *k, const struct plan_state *s)
{
	uint16_t levels[sizeof(boot_factors) / sizeof(*boot_factors)];
	size_t i = 0;

	for (size_t f = 0; f < sizeof(levels) / sizeof(*levels); f++)
		levels[f] = s->levels[boot_factors[f]];
	while (i < k->count && memcmp(k->levels[i], levels, sizeof(levels)))
		i++;
	if (i == k->count)
		memcpy(k->levels[k->count++], levels, sizeof(levels));
	return i;
}

static int find_kinds(const struct plan_parts *parts, struct boot_kinds *k)
{
	k->of_state = calloc(parts->state_count, sizeof(*k->of_state));
	k->order = calloc(parts->state_count, sizeof(*k->order));
	k->levels = calloc(parts->state_count, sizeof(*k->levels));
	if (!k->of_state || !k->order || !k->levels)
		return -ENOMEM;
	for (size_t s = 0; s < parts->state_count; s++)
		k->of_state[s] = kind_of(k, &parts->states[s]);
	return 0;
}

/* Brings states that can share a boot together, kinds in their order, the states of each in theirs; so boots
 * are few, and in a shuffled plan each kind is as likely to come first as any other, however many states it
 * has. SPARE has as much room. */
static void group_boots(const struct boot_kinds *k, size_t *states, size_t state_count, size_t *spare)
{
	size_t used = 0;

	for (size_t g = 0; k->count > 1 && g < k->count; g++)
		for (size_t i = 0; i < state_count; i++)
			if (k->of_state[states[i]] == k->order[g])
				spare[used++] = states[i];
	if (k->count > 1)
		memcpy(states, spare, state_count * sizeof(*states));
}

static void count_up(size_t *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		items[i] = i;
}

/* The visits of block BOOT. STATES and WORKLOADS have room for as many as there are of either. */
static void make_block(struct plan_build *b, unsigned int boot, struct boot_kinds *kinds, uint64_t *random,
                       size_t *states, size_t *workloads)
{
	const struct plan_parts *parts = b->parts;
	struct plan *p = b->plan;

	count_up(states, parts->state_count);
	count_up(kinds->order, kinds->count);
	if (p->shuffled)
		shuffle(random, states, parts->state_count);
	if (p->shuffled && kinds->count > 1)
		shuffle(random, kinds->order, kinds->count);
	group_boots(kinds, states, parts->state_count, workloads);
	for (size_t s = 0; s < parts->state_count; s++) {
		count_up(workloads, parts->workload_count);
		if (p->shuffled)
			shuffle(random, workloads, parts->workload_count);
		for (size_t w = 0; w < parts->workload_count; w++)
			p->visits[p->visit_count++] =
			    (struct plan_visit){boot, states[s] * parts->workload_count + workloads[w]};
	}
}

int plan_make_visits(struct plan_build *b)
{
	const struct plan_parts *parts = b->parts;
	size_t larger =
	    parts->state_count > parts->workload_count ? parts->state_count : parts->workload_count;
	struct boot_kinds kinds = {0};
	struct plan *p = b->plan;
	uint64_t random = p->seed;
	size_t *room;
	int r;

	if (p->cell_count > PLAN_VISITS_MAX / p->boots) {
		yaml_complain(&b->doc, "/repeat/boots", false,
		              "%u boots of %zu cells are more than %d visits", p->boots, p->cell_count,
		              PLAN_VISITS_MAX);
		return -EINVAL;
	}
	p->visits = calloc(p->cell_count * p->boots, sizeof(*p->visits));
	room = calloc(2 * larger, sizeof(*room));
	r = p->visits && room ? find_kinds(parts, &kinds) : -ENOMEM;
	for (unsigned int boot = 1; !r && boot <= p->boots; boot++)
		make_block(b, boot, &kinds, &random, room, room + larger);
	free(kinds.of_state);
	free(kinds.order);
	free(kinds.levels);
	free(room);
	return r;
}
