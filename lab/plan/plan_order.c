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
	bool drbd = !strcmp(plan_state_string(parts, s, FACTOR_STACK), "drbd");
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

/* Which of the plan's kernel command lines each state boots with, by the order of their first appearance.
 * *COUNT of them. The caller frees it; NULL: out of memory. */
static size_t *number_boots(const struct plan_build *b, size_t *count)
{
	size_t *numbers =
	    calloc(2 * b->parts->state_count, sizeof(*numbers)); /* and what group_boots() needs */
	json_t *known = json_object();

	*count = 0;
	for (size_t s = 0; numbers && known && s < b->parts->state_count; s++) {
		const char *arguments =
		    plan_state_string(b->parts, &b->parts->states[s], FACTOR_BOOT_CMDLINE);
		const json_t *number = json_object_get(known, arguments);

		numbers[s] = number ? (size_t)json_integer_value(number) : (*count)++;
		if (!number && json_object_set_new(known, arguments, json_integer((json_int_t)numbers[s])))
			*count = 0;
	}
	json_decref(known);
	if (*count)
		return numbers;
	free(numbers);
	return NULL;
}

/* Brings states of one command line together, so that reboots are few: command lines in the order in which
 * the first state of each stands, and the states of each in theirs. SPARE has as much room. */
static void group_boots(size_t *numbers, size_t count, size_t *states, size_t state_count, size_t *spare)
{
	size_t used = 0, *seen = numbers + state_count;

	memset(seen, 0, state_count * sizeof(*seen));
	for (size_t i = 0; count > 1 && used < state_count; i++) {
		if (seen[numbers[states[i]]]++)
			continue;
		for (size_t k = i; k < state_count; k++)
			if (numbers[states[k]] == numbers[states[i]])
				spare[used++] = states[k];
	}
	if (count > 1)
		memcpy(states, spare, state_count * sizeof(*states));
}

int plan_make_visits(struct plan_build *b)
{
	size_t larger = b->parts->state_count > b->parts->workload_count ? b->parts->state_count
	                                                                 : b->parts->workload_count;
	size_t *states, *workloads, *boots, boot_count;
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
	boots = number_boots(b, &boot_count);
	if (!p->visits || !states || !boots) {
		free(states);
		free(boots);
		return -ENOMEM;
	}
	workloads = states + larger;
	for (unsigned int boot = 1; boot <= p->boots; boot++) {
		for (size_t s = 0; s < b->parts->state_count; s++)
			states[s] = s;
		if (p->shuffled)
			shuffle(&random, states, b->parts->state_count);
		group_boots(boots, boot_count, states, b->parts->state_count, workloads);
		for (size_t s = 0; s < b->parts->state_count; s++) {
			for (size_t w = 0; w < b->parts->workload_count; w++)
				workloads[w] = w;
			if (p->shuffled)
				shuffle(&random, workloads, b->parts->workload_count);
			for (size_t w = 0; w < b->parts->workload_count; w++)
				p->visits[p->visit_count++] =
				    (struct plan_visit){boot,
				                        states[s] * b->parts->workload_count + workloads[w]};
		}
	}
	free(states);
	free(boots);
	return 0;
}
