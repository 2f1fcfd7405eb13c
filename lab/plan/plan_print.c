/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan_print.h"
#include "layers.h"
#include "units.h"

#include "../tune/tune.h"

#include <inttypes.h>
#include <string.h>

/* What one sample of C moves, or how long it takes. */
static const char *sample_text(const struct plan *plan, const struct plan_cell *c, char *buf, size_t size)
{
	const json_t *workload = plan_cell_workload(plan, c);
	const char *type = json_string_value(json_object_get(workload, "type"));
	uint64_t rounds = (uint64_t)json_integer_value(json_object_get(workload, "rounds"));

	if (c->size_bytes)
		return units_size_text(c->size_bytes, buf, size);
	if (json_integer_value(json_object_get(workload, "span_bytes")) && !strcmp(type, "precondition"))
		return units_size_text((uint64_t)json_integer_value(json_object_get(workload, "span_bytes")) *
		                           (uint64_t)json_integer_value(json_object_get(workload, "passes")),
		                       buf, size);
	if (!strcmp(type, "precondition") || !strcmp(type, "resync") || !strcmp(type, "verify"))
		return "the whole device";
	if (!strcmp(type, "aio"))
		return units_duration_text((uint64_t)json_integer_value(
		                               json_object_get(workload, "duration_ms")) *
		                               (rounds ? rounds : 1),
		                           buf, size);
	return "nothing written";
}

static void print_cells(const struct plan *plan, FILE *to)
{
	int width = 4;
	char size[32];

	for (size_t i = 0; i < plan->cell_count; i++)
		if ((int)strlen(plan->cells[i].label) > width)
			width = (int)strlen(plan->cells[i].label);
	fprintf(to, "%6s  %-*s  %-12s  %5s  %s\n", "cell", width, "what", "id", "nodes", "one sample");
	for (size_t i = 0; i < plan->cell_count; i++) {
		const struct plan_cell *c = &plan->cells[i];

		fprintf(to, "%6zu  %-*s  %.12s  %5u  %s\n", i + 1, width, c->label, c->id, c->nodes,
		        sample_text(plan, c, size, sizeof(size)));
	}
}

/* "1 2 3" as "1-3". */
static void print_order(const struct plan *plan, FILE *to)
{
	for (size_t v = 0, end; v < plan->visit_count; v = end) {
		const struct plan_visit *first = &plan->visits[v];
		bool new_block = !v || plan->visits[v - 1].boot != first->boot;

		for (end = v + 1; end < plan->visit_count && plan->visits[end].boot == first->boot &&
		                  plan->visits[end].cell == plan->visits[end - 1].cell + 1 &&
		                  !(plan->cells[plan->visits[end].cell].fresh &&
		                    strcmp(plan->cells[plan->visits[end].cell].state_id,
		                           plan->cells[plan->visits[end - 1].cell].state_id));
		     end++)
			;
		if (new_block)
			fprintf(to, "%s  block %u:", v ? "\n" : "", first->boot);
		else if (plan->cells[first->cell].fresh &&
		         strcmp(plan->cells[first->cell].state_id,
		                plan->cells[plan->visits[v - 1].cell].state_id))
			fputs(" (fresh boot)", to);
		if (end - v == 1)
			fprintf(to, " %zu", first->cell + 1);
		else
			fprintf(to, " %zu-%zu", first->cell + 1, plan->visits[end - 1].cell + 1);
	}
	fputc('\n', to);
}

/* What the server must have beside the image, if anything. */
static void print_layers(const struct plan *plan, FILE *to)
{
	json_t *layers = json_array(), *layer;
	size_t i;

	for (size_t c = 0; c < plan->cell_count; c++) {
		const char *levels[LAYERS_FACTORS], *kernel;

		for (i = 0; i < LAYERS_FACTORS; i++)
			levels[i] = plan_cell_string(plan, &plan->cells[c], layers_factors[i]);
		layers_of_levels(levels, layers);
		kernel = layers_kernel_of_level(plan_cell_string(plan, &plan->cells[c], FACTOR_BOOT_KERNEL));
		if (*kernel)
			layers_add(layers, kernel);
	}
	json_array_foreach (layers, i, layer) {
		fprintf(to, "%s%s", i ? ", " : "Layers:   ", json_string_value(layer));
	}
	if (json_array_size(layers))
		fputs(" (make layers)\n", to);
	json_decref(layers);
}

static void print_estimate(const struct plan *plan, const struct assumptions *a, FILE *to)
{
	char time[32];
	struct estimate e;

	plan_estimate(plan, a, &e);
	fputs("Boots:    ", to);
	for (unsigned int n = 0; n < e.nodes && n < 16; n++)
		fprintf(to, "%snode %u: %" PRIu64, n ? ", " : "", n + 1, e.boots[n]);
	fprintf(to,
	        "\nSamples:  %" PRIu64 " (%u of each cell in each of %u block%s), %" PRIu64
	        " states to build\n",
	        e.samples, plan->samples, plan->boots, plan->boots == 1 ? "" : "s", e.builds);
	fprintf(to, "Bytes:    %.3f GB written by the workloads on the first node\n", (double)e.bytes / 1e9);
	fprintf(to, "Time:     about %s, an estimate that assumes %" PRIu64 " MB/s, %" PRIu64 " s a boot,\n",
	        units_duration_text(e.ms, time, sizeof(time)), a->mb_per_s, a->boot_s);
	fprintf(to,
	        "          %.1f s to build a DRBD state and %.1f s a raw one, %.1f s for each slave's way "
	        "down and up,\n"
	        "          %.1f s around a sample, %s copied by a full initial synchronisation\n",
	        (double)(a->drbd_ms + a->raw_ms) / 1e3, (double)a->raw_ms / 1e3, (double)a->cycle_ms / 1e3,
	        (double)a->sample_ms / 1e3, units_size_text(a->sync_bytes, time, sizeof(time)));
}

/* "1-3, 5". */
static void print_numbers(const json_t *numbers, FILE *to)
{
	size_t count = json_array_size(numbers);

	for (size_t i = 0, end; i < count; i = end) {
		json_int_t first = json_integer_value(json_array_get(numbers, i));

		for (end = i + 1; end < count && json_integer_value(json_array_get(numbers, end)) ==
		                                     first + (json_int_t)(end - i);
		     end++)
			;
		fprintf(to, "%s%" JSON_INTEGER_FORMAT, i ? ", " : "", first);
		if (end - i > 1)
			fprintf(to, "-%" JSON_INTEGER_FORMAT, first + (json_int_t)(end - i) - 1);
	}
}

static void print_acceptance(const struct plan *plan, FILE *to)
{
	const json_t *criterion;
	size_t i;

	json_array_foreach (plan->acceptance, i, criterion) {
		const json_t *cells = json_object_get(criterion, "cells");

		fprintf(to, "%s %s %s %s", i ? "         " : "Accepted:",
		        json_string_value(json_object_get(criterion, "metric")),
		        json_is_true(json_object_get(criterion, "at_least")) ? "at least" : "at most",
		        json_string_value(json_object_get(criterion, "text")));
		if (json_array_size(cells)) {
			fputs(" in cells ", to);
			print_numbers(cells, to);
		}
		fputc('\n', to);
	}
}

void plan_print(const struct plan *plan, const struct assumptions *a, FILE *to)
{
	const json_t *note;
	size_t i;

	fprintf(to, "Question: %s%s\n", plan->question,
	        plan->question[strlen(plan->question) - 1] == '\n' ? "" : "\n");
	if (plan->scale.denominator)
		fprintf(to, "SCALED: sizes and times are %u/%u of the plan's\n\n", plan->scale.numerator,
		        plan->scale.denominator);
	if (plan->as_published)
		fputs("AS PUBLISHED: with the sizes, data and repeats of the experiment that the plan "
		      "repeats\n\n",
		      to);
	if (plan->tune)
		fprintf(to,
		        "Tunes in %zu steps, and confirms what it finds. What is below is of the first step; "
		        "each has as "
		        "many blocks.\n\n",
		        tune_steps(plan->tune));
	print_cells(plan, to);
	json_array_foreach (plan->notes, i, note) {
		fprintf(to, "Note: %s\n", json_string_value(note));
	}
	fprintf(to, "\nOrder:    ");
	if (!plan->shuffled)
		fputs("as written\n", to);
	else
		fprintf(to, "shuffled with seed %" PRIu64 "%s\n", plan->seed,
		        plan->seed_in_plan ? ""
		                           : ", which the plan does not name: `assay run` draws its own");
	print_order(plan, to);
	print_layers(plan, to);
	print_acceptance(plan, to);
	print_estimate(plan, a, to);
}

static json_t *cells_json(const struct plan *plan)
{
	json_t *out = json_array();

	for (size_t i = 0; i < plan->cell_count; i++) {
		const struct plan_cell *c = &plan->cells[i];

		json_array_append_new(out,
		                      json_pack("{s:s, s:s, s:s, s:b, s:i, s:I, s:o}", "id", c->id,
		                                "state_id", c->state_id, "label", c->label, "fresh", c->fresh,
		                                "nodes", (int)c->nodes, "size_bytes",
		                                (json_int_t)c->size_bytes, "cell", plan_cell_json(plan, c)));
	}
	return out;
}

static json_t *visits_json(const struct plan *plan)
{
	json_t *out = json_array();

	for (size_t v = 0; v < plan->visit_count; v++)
		json_array_append_new(out, json_pack("{s:i, s:I}", "boot", (int)plan->visits[v].boot, "cell",
		                                     (json_int_t)plan->visits[v].cell));
	return out;
}

static json_t *estimate_json(const struct plan *plan, const struct assumptions *a)
{
	json_t *boots = json_array();
	struct estimate e;

	plan_estimate(plan, a, &e);
	for (unsigned int n = 0; n < e.nodes && n < 16; n++)
		json_array_append_new(boots, json_integer((json_int_t)e.boots[n]));
	return json_pack("{s:I, s:I, s:I, s:I, s:o, s:{s:I, s:I, s:I, s:I, s:I, s:I, s:I}}", "samples",
	                 (json_int_t)e.samples, "bytes", (json_int_t)e.bytes, "builds", (json_int_t)e.builds,
	                 "ms", (json_int_t)e.ms, "boots", boots, "assumed", "mb_per_s",
	                 (json_int_t)a->mb_per_s, "boot_s", (json_int_t)a->boot_s, "sync_bytes",
	                 (json_int_t)a->sync_bytes, "raw_ms", (json_int_t)a->raw_ms, "drbd_ms",
	                 (json_int_t)a->drbd_ms, "cycle_ms", (json_int_t)a->cycle_ms, "sample_ms",
	                 (json_int_t)a->sample_ms);
}

void plan_print_json(const struct plan *plan, const struct assumptions *a, FILE *to)
{
	json_t *out =
	    json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:b, s:I, s:O, s:o, s:o, s:o}", "name", plan->name,
	              "question", plan->question, "text_sha256", plan->text_sha256, "nodes", (int)plan->nodes,
	              "blocks", (int)plan->boots, "samples", (int)plan->samples, "retries",
	              (int)plan->retries, "shuffled", plan->shuffled, "seed", (json_int_t)plan->seed, "notes",
	              plan->notes, "cells", cells_json(plan), "visits", visits_json(plan), "estimate",
	              estimate_json(plan, a));

	if (plan->scale.denominator)
		json_object_set_new(out, "scale",
		                    json_sprintf("%u/%u", plan->scale.numerator, plan->scale.denominator));
	if (plan->acceptance)
		json_object_set(out, "acceptance", plan->acceptance);
	if (plan->as_published)
		json_object_set_new(out, "as_published", json_true());
	json_dumpf(out, to, JSON_INDENT(2) | JSON_SORT_KEYS);
	fputc('\n', to);
	json_decref(out);
}
