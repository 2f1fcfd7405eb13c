/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which cells are compared with which: those of one workload that have all their samples. */
#include "variance.h"

#include "../plan/units.h"
#include "../stats/stats.h"
#include "factor.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Smaller ones say no more than this. */
#define LEAST_P 1e-15

/* Cells of one workload. */
struct set {
	const json_t *workload; /* of the first */
	const struct report_cell **cells;
	const json_t **states;
	size_t count, left_out, boots, samples;
	double *values, *means;
	unsigned int *level;
};

static bool is_history(enum factor_id id)
{
	return id == FACTOR_BOND_CYCLES || id == FACTOR_BOND_ADDRESS_CHANGES || id == FACTOR_BOND_MTU_CHANGES;
}

/* The bodies of all cells, by their place in the report; the caller owns it. */
static json_t *load_bodies(const struct report *report)
{
	json_t *bodies = json_array();
	sqlite3_stmt *row;

	if (store_ask(report->store, &row, "SELECT body FROM cells WHERE run = ? ORDER BY ordinal", "s",
	              report->run))
		return bodies;
	while (store_row(report->store, row) == 1) {
		json_t *body = json_loads(store_text(row, 0), 0, NULL);

		json_array_append_new(bodies, body ? body : json_null());
	}
	return bodies;
}

static int by_boot(const void *a, const void *b)
{
	const struct report_sample *x = a, *y = b;

	if (x->boot != y->boot)
		return (x->boot > y->boot) - (x->boot < y->boot);
	return (x->sample > y->sample) - (x->sample < y->sample);
}

/* The set's values in order of cell, boot, sample. 0 or -1: out of memory. */
static int gather(struct set *set)
{
	size_t each = set->boots * set->samples;

	set->values = calloc(set->count * each + 1, sizeof(double));
	set->means = calloc(set->count + 1, sizeof(double));
	set->level = calloc(set->count + 1, sizeof(*set->level));
	if (!set->values || !set->means || !set->level)
		return -1;
	for (size_t c = 0; c < set->count; c++) {
		struct report_sample *sorted = calloc(each, sizeof(*sorted));

		if (!sorted)
			return -1;
		memcpy(sorted, set->cells[c]->samples, each * sizeof(*sorted));
		qsort(sorted, each, sizeof(*sorted), by_boot);
		for (size_t i = 0; i < each; i++) {
			set->values[c * each + i] = sorted[i].mb_per_s;
			set->means[c] += sorted[i].mb_per_s / (double)each;
		}
		free(sorted);
	}
	return 0;
}

/* Numbers the levels of factor ID, or of all history together (FACTOR_COUNT), to SET->level. */
static void number_levels(struct set *set, size_t id)
{
	unsigned int count = 0;

	for (size_t c = 0; c < set->count; c++) {
		size_t k;

		for (k = 0; k < c; k++) {
			bool same = true;

			for (size_t f = 0; f < FACTOR_COUNT && same; f++) {
				const json_t *a = json_object_get(set->states[k], factors[f].name);
				const json_t *b = json_object_get(set->states[c], factors[f].name);

				if (f == id || (id == FACTOR_COUNT && is_history((enum factor_id)f)))
					same = a == b || (a && b && json_equal(a, b));
			}
			if (same)
				break;
		}
		set->level[c] = k < c ? set->level[k] : count++;
	}
}

/* Whether cells that have factor F have it at different levels: one that only some stacks know was not
 * varied. */
static bool varies(const struct set *set, size_t f)
{
	const json_t *first = NULL;

	for (size_t c = 0; c < set->count; c++) {
		const json_t *level = json_object_get(set->states[c], factors[f].name);

		if (level && first && !json_equal(level, first))
			return true;
		if (level)
			first = level;
	}
	return false;
}

static bool history_varies(const struct set *set)
{
	for (size_t f = 0; f < FACTOR_COUNT; f++)
		if (is_history((enum factor_id)f) && varies(set, f))
			return true;
	return false;
}

/* A line for each factor that the plan varied: how much of the variance between cells goes with it. */
static void print_factors(struct set *set, double share, FILE *out)
{
	unsigned int lines = 0;
	double sum = 0;

	for (size_t f = 0; f <= FACTOR_COUNT; f++) {
		double eta;

		if (f < FACTOR_COUNT ? is_history((enum factor_id)f) || !varies(set, f)
		                     : !history_varies(set))
			continue;
		number_levels(set, f);
		eta = stats_eta_squared(set->means, set->level, set->count);
		sum += eta;
		fprintf(out, "      %5.1f %%  goes with %s\n", 100 * eta * share,
		        f < FACTOR_COUNT ? factors[f].name : "the bond's history");
		lines++;
	}
	if (lines > 1 && sum > 1 + 1e-9)
		fputs("               (they vary together in this plan: shares overlap)\n", out);
	else if (lines > 1 && sum < 1 - 1e-9)
		fprintf(out, "      %5.1f %%  goes with their interplay\n", 100 * (1 - sum) * share);
}

/* What the variance of the set's values consists of. */
static void print_levels(struct set *set, FILE *out)
{
	struct stats_split v;
	double all;

	stats_split(set->values, set->count, set->boots, set->samples, &v);
	all = v.t2[0] + v.t2[1] + v.t2[2];
	if (!(all > 0))
		return;
	if (v.known[2]) {
		fprintf(out, "    cell    %5.1f %%\n", 100 * v.t2[2] / all);
		print_factors(set, v.t2[2] / all, out);
	}
	if (v.known[1])
		fprintf(out, "    boot    %5.1f %%  standard deviation %.3g MB/s; %s (F test, p %s %.2g)\n",
		        100 * v.t2[1] / all, sqrt(v.t2[1]),
		        v.boot_p < 0.05 ? "boots differ" : "not shown that boots differ",
		        v.boot_p < LEAST_P ? "<" : "=", fmax(v.boot_p, LEAST_P));
	else
		fputs("    boot    unknown: one boot only\n", out);
	fprintf(out, "    rest    %5.1f %%  sample by sample within a boot, standard deviation %.3g MB/s\n",
	        100 * v.t2[0] / all, sqrt(v.t2[0]));
}

static const json_t *mode_of(const struct set *set, size_t cell)
{
	return json_object_get(set->states[cell], factors[FACTOR_BOND_MODE].name);
}

static void free_set(struct set *set)
{
	free(set->cells);
	free(set->states);
	free(set->values);
	free(set->means);
	free(set->level);
}

/* Those cells of ALL that have the mode of cell FIRST, to SET. Whether there are several. */
static bool same_mode(const struct set *all, size_t first, struct set *set)
{
	*set = (struct set){.boots = all->boots,
	                    .samples = all->samples,
	                    .cells = calloc(all->count, sizeof(*set->cells)),
	                    .states = calloc(all->count, sizeof(*set->states))};
	for (size_t c = first; set->cells && set->states && c < all->count; c++) {
		if (!json_equal(mode_of(all, c), mode_of(all, first)))
			continue;
		set->states[set->count] = all->states[c];
		set->cells[set->count++] = all->cells[c];
	}
	return set->count > 1;
}

/* Modes differ far more than what a bond went through can: so the history's share once more in each. */
static void print_modes(const struct set *all, FILE *out)
{
	if (!history_varies(all) || !varies(all, FACTOR_BOND_MODE))
		return;
	for (size_t first = 0; first < all->count; first++) {
		struct set set;
		bool seen = !mode_of(all, first);

		for (size_t c = 0; c < first && !seen; c++)
			seen = json_equal(mode_of(all, c), mode_of(all, first));
		if (seen)
			continue;
		if (same_mode(all, first, &set) && history_varies(&set) && !gather(&set)) {
			fprintf(out, "  within %s alone (%zu cells)\n",
			        json_string_value(mode_of(all, first)), set.count);
			print_levels(&set, out);
		}
		free_set(&set);
	}
}

static void print_set(struct set *set, FILE *out)
{
	const char *type = json_string_value(json_object_get(set->workload, "type"));
	const json_t *bs = json_object_get(set->workload, "bs_bytes");
	char text[32] = "";

	if (bs)
		units_size_text((uint64_t)json_integer_value(bs), text, sizeof(text));
	fprintf(out, "  %s %s (%zu cells of %zu boots of %zu samples", type ? type : "?", text, set->count,
	        set->boots, set->samples);
	if (set->left_out)
		fprintf(out, "; %zu cells that are not complete are left out", set->left_out);
	fputs(")\n", out);
	if (set->samples < 2) {
		fputs("    one sample a boot: boots and samples cannot be told apart\n", out);
		return;
	}
	print_levels(set, out);
	print_modes(set, out);
}

/* The complete cells whose workload is that of cell FIRST. */
static void make_set(const struct report *report, const json_t *bodies, size_t first, struct set *set)
{
	set->workload = json_object_get(json_array_get(bodies, first), "workload");
	for (size_t i = first; i < report->cell_count; i++) {
		const struct report_cell *cell = &report->cells[i];
		const json_t *body = json_array_get(bodies, i);

		if (!json_equal(json_object_get(body, "workload"), set->workload))
			continue;
		if (!cell->wanted || cell->sample_count != (size_t)cell->wanted ||
		    cell->wanted % report->boots || cell->boots != report->boots) {
			set->left_out++;
			continue;
		}
		set->boots = (size_t)report->boots;
		set->samples = (size_t)(cell->wanted / report->boots);
		set->states[set->count] = json_object_get(body, "state");
		set->cells[set->count++] = cell;
	}
}

/* Whether a cell before FIRST has its workload. */
static bool seen_before(const json_t *bodies, size_t first)
{
	for (size_t i = 0; i < first; i++)
		if (json_equal(json_object_get(json_array_get(bodies, i), "workload"),
		               json_object_get(json_array_get(bodies, first), "workload")))
			return true;
	return false;
}

void variance_print(const struct report *report, FILE *out)
{
	json_t *bodies = load_bodies(report);
	bool head = false;

	for (size_t i = 0; i < report->cell_count && i < json_array_size(bodies); i++) {
		struct set set = {.cells = calloc(report->cell_count, sizeof(*set.cells)),
		                  .states = calloc(report->cell_count, sizeof(*set.states))};

		if (set.cells && set.states && !seen_before(bodies, i))
			make_set(report, bodies, i, &set);
		if (set.count && (set.count > 1 || set.boots > 1) && !gather(&set)) {
			if (!head)
				fputs("\nWhere the variance of MB/s comes from (levels after Kalibera and "
				      "Jones 2013; factors "
				      "by eta squared):\n",
				      out);
			head = true;
			print_set(&set, out);
		}
		free_set(&set);
	}
	json_decref(bodies);
}
