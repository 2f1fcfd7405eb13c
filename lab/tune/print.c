/* SPDX-License-Identifier: GPL-2.0-or-later
 * The way a run that tunes has taken. */
#include "tune.h"

#include "../plan/plan.h"

#include <math.h>
#include <string.h>

/* "drbd.net.max-buffers 8000, …". */
static void print_levels(const json_t *levels, FILE *out)
{
	const char *name, *between = "";
	json_t *level;

	json_object_foreach ((json_t *)levels, name, level) {
		fprintf(out, "%s%s ", between, name);
		if (json_is_string(level))
			fputs(json_string_value(level), out);
		else
			fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(level));
		between = ", ";
	}
}

/* The median of a state's boots. */
static double figure(const struct tune_candidate *c)
{
	double copy[c->boots + 1];

	memcpy(copy, c->medians, c->boots * sizeof(*copy));
	return stats_median(copy, c->boots);
}

static void print_candidate(const struct tune_path *path, const struct tune_stage *s, size_t i, FILE *out)
{
	const struct tune_candidate *c = &s->candidates[i];
	char text[32];

	fprintf(out, "  %s ", s->complete && i == s->kept ? "->" : "  ");
	print_levels(json_array_get(s->states, i), out);
	if (c->failed)
		fputs(": could not be measured", out);
	else if (!c->boots)
		fputs(": not measured yet", out);
	else
		fprintf(out, ": %s", metric_text(path->metric, figure(c), text, sizeof(text)));
	if (!i)
		fputs(s->confirms ? " (the start)" : " (kept so far)", out);
	else if (c->compared)
		fprintf(out, ", %+.1f %% (%+.1f to %+.1f at %.1f %%): %s", 100 * (c->ratio.median - 1),
		        100 * (c->ratio.interval.low - 1), 100 * (c->ratio.interval.high - 1),
		        100 * c->ratio.interval.confidence, stats_verdict_text(c->verdict));
	fputc('\n', out);
}

static void print_outcome(const struct tune_path *path, FILE *out)
{
	const struct tune_stage *last = path->count ? &path->stages[path->count - 1] : NULL;

	if (*path->error) {
		fprintf(out, "It cannot go on: %s.\n", path->error);
	} else if (!path->complete) {
		fputs("It is not finished.\n", out);
	} else if (!json_object_size(path->found)) {
		fputs("Found: nothing that is better beyond its uncertainty; the start stays.\n", out);
	} else {
		fputs("Found: ", out);
		print_levels(path->found, out);
		fprintf(out, "\n%s beside the start in one interleaved run.\n",
		        last->confirms && last->kept
		            ? "Confirmed as better"
		            : "NOT CONFIRMED, so the start stays: not better beyond its uncertainty,");
	}
}

void tune_print(struct store *store, const char *run, const struct tune_path *path, FILE *out)
{
	const struct tune_stage *last = path->count ? &path->stages[path->count - 1] : NULL;

	fprintf(out,
	        "Tuning for %s, %s is better. A level is kept only if it is better by more than %.3g %% at "
	        "95 %%, corrected "
	        "for all\nthat its step compares; else what was kept so far stays.\n",
	        path->metric->name, path->more_is_better ? "more" : "less", 100 * path->margin);
	for (size_t i = 0; i < path->count; i++) {
		const struct tune_stage *s = &path->stages[i];

		if (s->confirms)
			fputs("Confirmation\n", out);
		else
			fprintf(out, "Step %zu%s\n", i + 1, s->complete ? "" : " (goes on)");
		for (size_t k = 0; k < s->count; k++)
			print_candidate(path, s, k, out);
	}
	print_outcome(path, out);
	/* What was found but not confirmed is not better than the start. */
	if (path->complete && last)
		tune_print_install(store, run, last->cell_ids[last->kept], out);
}

static json_t *candidate_json(const struct tune_stage *s, size_t i)
{
	const struct tune_candidate *c = &s->candidates[i];
	json_t *out = json_pack("{sO ss sb sI}", "levels", json_array_get(s->states, i), "cell_id",
	                        s->cell_ids[i], "failed", (int)c->failed, "boots", (json_int_t)c->boots);

	if (c->boots)
		json_object_set_new(out, "median", json_real(figure(c)));
	if (c->compared) {
		json_object_set_new(out, "ratio", json_real(c->ratio.median));
		json_object_set_new(out, "low", json_real(c->ratio.interval.low));
		json_object_set_new(out, "high", json_real(c->ratio.interval.high));
		json_object_set_new(out, "level", json_real(c->ratio.interval.confidence));
		json_object_set_new(out, "p", json_real(c->p));
		json_object_set_new(out, "verdict", json_string(stats_verdict_text(c->verdict)));
	}
	return out;
}

json_t *tune_json(const struct tune_path *path)
{
	json_t *stages = json_array();
	json_t *out = json_pack("{ss sb sf sb so sO}", "metric", path->metric->name, "more_is_better",
	                        (int)path->more_is_better, "margin", path->margin, "complete",
	                        (int)path->complete, "stages", stages, "found", path->found);

	for (size_t i = 0; i < path->count; i++) {
		const struct tune_stage *s = &path->stages[i];
		json_t *candidates = json_array();

		for (size_t k = 0; k < s->count; k++)
			json_array_append_new(candidates, candidate_json(s, k));
		json_array_append_new(stages, json_pack("{sb sb sI so}", "confirms", (int)s->confirms,
		                                        "complete", (int)s->complete, "kept",
		                                        (json_int_t)s->kept, "candidates", candidates));
	}
	if (*path->error)
		json_object_set_new(out, "error", json_string(path->error));
	return out;
}
