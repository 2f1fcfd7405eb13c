/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "estimate.h"
#include "factor.h"

#include <string.h>

/* 500 MB/s: an SSD behind SATA. 90 s: what a server's firmware takes before PXE; our own part is under 20 s.
 * 5 s: two nodes in the virtual lab, from the first command to connected. 3 s: link negotiation of a 10 Gb/s
 * port. */
const struct assumptions assumptions_default = {
    .mb_per_s = 500,
    .boot_s = 90,
    .sync_bytes = UINT64_C(256) << 20,
    .raw_ms = 500,
    .drbd_ms = 5000,
    .cycle_ms = 3000,
    .sample_ms = 1000,
};

enum { SLAVES = 2 };

static uint64_t build_ms(const struct assumptions *a, const struct plan *plan, const struct plan_cell *c)
{
	uint64_t ms = a->raw_ms;

	if (!(factor_stack_bits(plan_cell_string(plan, c, FACTOR_STACK)) & 1u << STACK_DRBD))
		return ms;
	ms += a->drbd_ms;
	if (plan_cell_has(plan, c, FACTOR_BOND_CYCLES))
		ms += (uint64_t)plan_cell_integer(plan, c, FACTOR_BOND_CYCLES) * SLAVES * a->cycle_ms;
	if (!strcmp(plan_cell_string(plan, c, FACTOR_DRBD_INITIAL_SYNC), "full") &&
	    strcmp(plan_cell_string(plan, c, FACTOR_DRBD_LINK), "never-connected") != 0)
		ms += a->sync_bytes / (a->mb_per_s * 1000);
	return ms;
}

static void count_boots(const struct plan_cell *c, bool new_block, bool *dirty, bool *booted,
                        struct estimate *e, uint64_t *longest)
{
	*longest = 0;
	for (unsigned int n = 0; n < 16; n++) {
		if (new_block)
			booted[n] = false;
		if (n >= c->nodes || (booted[n] && !(c->fresh && dirty[n])))
			continue;
		booted[n] = true;
		dirty[n] = false;
		e->boots[n]++;
		*longest = 1; /* nodes boot side by side */
	}
}

/* Of a workload that ends by the clock. */
static uint64_t duration_ms(const json_t *workload)
{
	static const char *const names[] = {"duration_ms", "before_ms", "after_ms"};
	uint64_t ms = 0, rounds = (uint64_t)json_integer_value(json_object_get(workload, "rounds"));

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		ms += (uint64_t)json_integer_value(json_object_get(workload, names[i]));
	return rounds ? ms * rounds : ms;
}

static uint64_t bytes_of(const json_t *workload, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(workload, key));
}

/* What a sample moves beside the workload's own size: what DRBD copies or compares by itself, or what is
 * written before it can be read. The size of a whole device is assumed. */
static uint64_t moved_bytes(const struct assumptions *a, const struct plan_cell *c, const json_t *workload)
{
	const char *type = json_string_value(json_object_get(workload, "type"));
	uint64_t span = bytes_of(workload, "span_bytes");

	if (!strcmp(type, "resync") || !strcmp(type, "verify"))
		return c->size_bytes ? c->size_bytes : a->sync_bytes;
	if (!strcmp(type, "precondition"))
		return (span ? span : a->sync_bytes) * bytes_of(workload, "passes");
	if (json_is_true(json_object_get(workload, "prepare")))
		return span ? span : c->size_bytes;
	return 0;
}

static bool is_read(const json_t *workload)
{
	const char *direction = json_string_value(json_object_get(workload, "direction"));

	return direction && !strcmp(direction, "read");
}

/* Of aio, a part may be read. */
static uint64_t written_bytes(const struct plan_cell *c, const json_t *workload)
{
	uint64_t reads = bytes_of(workload, "read_percent");

	if (bytes_of(workload, "passes"))
		return bytes_of(workload, "span_bytes") * bytes_of(workload, "passes");
	return c->size_bytes / 100 * (100 - reads) + c->size_bytes % 100 * (100 - reads) / 100;
}

void plan_estimate(const struct plan *plan, const struct assumptions *a, struct estimate *e)
{
	bool dirty[16] = {false}, booted[16] = {false};
	const struct plan_cell *before = NULL;
	unsigned int block = 0;

	*e = (struct estimate){0};
	for (size_t v = 0; v < plan->visit_count; v++) {
		const struct plan_visit *visit = &plan->visits[v];
		const struct plan_cell *c = &plan->cells[visit->cell];
		const json_t *workload = plan_cell_workload(plan, c);
		bool new_block = visit->boot != block;

		if (new_block || !before || strcmp(before->state_id, c->state_id)) {
			bool other = before && !plan_same_boot(plan, before, c);
			uint64_t boots;

			count_boots(c, new_block || other, dirty, booted, e, &boots);
			for (unsigned int n = 0; n < c->nodes && n < 16; n++)
				dirty[n] = true;
			e->builds++;
			e->ms += boots * a->boot_s * 1000 + build_ms(a, plan, c);
		}
		block = visit->boot;
		before = c;
		e->nodes = c->nodes > e->nodes ? c->nodes : e->nodes;
		e->samples += plan->samples;
		if (!is_read(workload))
			e->bytes += plan->samples * written_bytes(c, workload);
		e->ms +=
		    plan->samples *
		    (a->sample_ms + (c->size_bytes + moved_bytes(a, c, workload)) / (a->mb_per_s * 1000) +
		     duration_ms(workload));
	}
}
