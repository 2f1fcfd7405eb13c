/* SPDX-License-Identifier: GPL-2.0-or-later
 * Cells, and the order in which they are visited. */
#include "plan_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int make_cell(struct plan_build *b, const struct plan_state *s, size_t workload,
                     struct plan_cell *cell)
{
	const struct plan_workload *w = &b->workloads[workload];
	bool drbd = !strcmp(factor_string(s->state, FACTOR_STACK), "drbd");
	bool alone = !strcmp(factor_string(s->state, FACTOR_DRBD_LINK), "never-connected");

	cell->cell =
	    json_pack("{s:i, s:O, s:O}", "schema_version", 1, "state", s->state, "workload", w->workload);
	if (!cell->cell || asprintf(&cell->label, "%s%s", s->label, w->label) < 0) {
		cell->label = NULL;
		return -ENOMEM;
	}
	memcpy(cell->state_id, s->id, sizeof(cell->state_id));
	cell->fresh = !strcmp(factor_string(s->state, FACTOR_BOOT), "fresh");
	cell->nodes = drbd && !alone ? b->plan->nodes : 1;
	cell->size_bytes = (uint64_t)json_integer_value(json_object_get(w->workload, "size_bytes"));
	memcpy(cell->id, s->cell_ids[workload], sizeof(cell->id));
	return 0;
}

int plan_make_cells(struct plan_build *b)
{
	struct plan *p = b->plan;
	int r = 0;

	p->cells = calloc(b->state_count * b->workload_count, sizeof(*p->cells));
	if (!p->cells)
		return -ENOMEM;
	for (size_t s = 0; !r && s < b->state_count; s++)
		for (size_t w = 0; !r && w < b->workload_count; w++)
			r = make_cell(b, &b->states[s], w, &p->cells[p->cell_count++]);
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

int plan_make_visits(struct plan_build *b)
{
	size_t larger = b->state_count > b->workload_count ? b->state_count : b->workload_count;
	size_t *states, *workloads;
	struct plan *p = b->plan;
	uint64_t random = p->seed;

	if (p->cell_count > PLAN_VISITS_MAX / p->boots) {
		yaml_complain(&b->doc, "/repeat/boots", false,
		              "%u boots of %zu cells are more than %d visits", p->boots, p->cell_count,
		              PLAN_VISITS_MAX);
		return -EINVAL;
	}
	p->visits = calloc(p->cell_count * p->boots, sizeof(*p->visits));
	states = calloc(2 * larger, sizeof(*states));
	if (!p->visits || !states) {
		free(states);
		return -ENOMEM;
	}
	workloads = states + larger;
	for (unsigned int boot = 1; boot <= p->boots; boot++) {
		for (size_t s = 0; s < b->state_count; s++)
			states[s] = s;
		if (p->shuffled)
			shuffle(&random, states, b->state_count);
		for (size_t s = 0; s < b->state_count; s++) {
			for (size_t w = 0; w < b->workload_count; w++)
				workloads[w] = w;
			if (p->shuffled)
				shuffle(&random, workloads, b->workload_count);
			for (size_t w = 0; w < b->workload_count; w++)
				p->visits[p->visit_count++] =
				    (struct plan_visit){boot, states[s] * b->workload_count + workloads[w]};
		}
	}
	free(states);
	return 0;
}
