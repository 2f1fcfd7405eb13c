/* SPDX-License-Identifier: GPL-2.0-or-later
 * The workload aio: asynchronous I/O. */
#include "plan_internal.h"
#include "units.h"

#include <inttypes.h>
#include <string.h>

enum { SECTOR_BYTES = 512, BS_MAX_BYTES = 1 << 30 };
/* Of all I/Os in flight: they take as much memory. */
#define FLIGHT_MAX_BYTES (UINT64_C(256) << 20)

struct sizes {
	uint64_t bs, size, offset, span;
};

static json_int_t integer_of(const json_t *workload, const char *key, json_int_t missing)
{
	const json_t *value = json_object_get(workload, key);

	return value ? json_integer_value(value) : missing;
}

static bool flag_of(const json_t *workload, const char *key, bool missing)
{
	const json_t *value = json_object_get(workload, key);

	return value ? json_is_true(value) : missing;
}

/* What CHOICE says as a percentage: its first level is 0, its second 100, "mixed" what PERCENT has. */
static json_int_t percent_of(struct plan_build *b, size_t index, const json_t *aio, const char *choice,
                             const char *none, const char *percent)
{
	const char *level = json_string_value(json_object_get(aio, choice));

	if (!strcmp(level, "mixed"))
		return integer_of(aio, percent, 50);
	if (json_object_get(aio, percent))
		plan_workload_complain(b, index, percent, "it has a meaning with %s: mixed", choice);
	return strcmp(level, none) ? 100 : 0;
}

static void check(struct plan_build *b, size_t index, const json_t *aio, const struct sizes *s)
{
	uint64_t jobs = (uint64_t)integer_of(aio, "jobs", 1), depth = (uint64_t)integer_of(aio, "depth", 1);

	if (s->bs < SECTOR_BYTES || s->bs > BS_MAX_BYTES || s->bs % SECTOR_BYTES) {
		plan_workload_complain(b, index, "bs",
		                       "%" PRIu64 " bytes; it is a multiple of %d, up to 1GiB", s->bs,
		                       SECTOR_BYTES);
		return;
	}
	if (s->bs * depth * jobs > FLIGHT_MAX_BYTES)
		plan_workload_complain(b, index, "bs",
		                       "bs times depth times jobs is %" PRIu64
		                       " bytes; 256MiB can be in flight at most",
		                       s->bs * depth * jobs);
	if (s->offset % SECTOR_BYTES)
		plan_workload_complain(b, index, "offset", "%" PRIu64 " bytes is no multiple of %d",
		                       s->offset, SECTOR_BYTES);
	if (s->span % s->bs || (s->span && s->span < s->bs * jobs))
		plan_workload_complain(b, index, "span",
		                       "%" PRIu64
		                       " bytes; it is a multiple of bs, with at least one bs for each job",
		                       s->span);
	if (json_object_get(aio, "size") && (!s->size || s->size % (s->bs * jobs)))
		plan_workload_complain(b, index, "size",
		                       "%" PRIu64 " bytes; it is a multiple of bs times jobs, %" PRIu64,
		                       s->size, s->bs * jobs);
	if (json_is_true(json_object_get(aio, "verify")) &&
	    !strcmp(json_string_value(json_object_get(aio, "direction")), "read"))
		plan_workload_complain(b, index, "verify", "nothing is written that could be verified");
}

/* In the virtual lab: less of everything but of the block. A span of 0, the whole device, stays. */
static void scale(const struct plan_build *b, json_int_t jobs, struct sizes *s)
{
	uint64_t least = s->bs * (uint64_t)jobs, had_size = s->size, had_span = s->span;

	s->size = plan_scaled(&b->plan->scale, s->size, least);
	s->span = plan_scaled(&b->plan->scale, s->span, least);
	s->offset = plan_scaled(&b->plan->scale, s->offset, s->bs);
	s->size = had_size && !s->size ? least : s->size;
	s->span = had_span && !s->span ? least : s->span;
}

/* Rounds follow each other within one sample; the log of each second is cut at their ends. */
static json_int_t rounds_of(struct plan_build *b, size_t index, const json_t *aio, uint64_t duration_ms)
{
	json_int_t rounds = integer_of(aio, "rounds", 1);

	if (rounds == 1)
		return 1;
	if (!json_object_get(aio, "duration"))
		plan_workload_complain(b, index, "rounds", "rounds have a duration, not a size");
	else if (duration_ms % 1000)
		plan_workload_complain(b, index, "duration", "a round lasts whole seconds");
	else if (duration_ms * (uint64_t)rounds >= b->plan->measure_ms)
		plan_workload_complain(b, index, "rounds",
		                       "all rounds together take as long as the deadline for measuring, or "
		                       "longer (deadlines: measure)");
	return rounds;
}

/* Whether what is read is to be written first. The whole device is left as it is: that may take hours. */
static bool prepares(struct plan_build *b, size_t index, const json_t *aio, json_int_t reads)
{
	bool spans = json_object_get(aio, "span");

	if (!reads && json_object_get(aio, "prepare"))
		plan_workload_complain(b, index, "prepare", "nothing is read");
	return reads && flag_of(aio, "prepare", spans);
}

json_t *plan_read_aio(struct plan_build *b, size_t index, const json_t *aio)
{
	const json_t *engine = json_object_get(aio, "engine");
	json_int_t random = percent_of(b, index, aio, "pattern", "sequential", "random_percent"), rounds;
	json_int_t reads = percent_of(b, index, aio, "direction", "write", "read_percent");
	uint64_t duration_ms = plan_workload_duration(b, index, aio, "duration");
	size_t complaints = b->doc.complaints->count;
	struct sizes s = {0};
	bool good = plan_workload_size(b, index, aio, "bs", &s.bs), prepare;
	json_t *w;

	good &= plan_workload_size(b, index, aio, "size", &s.size);
	good &= plan_workload_size(b, index, aio, "offset", &s.offset);
	good &= plan_workload_size(b, index, aio, "span", &s.span);
	if (good)
		check(b, index, aio, &s);
	rounds = rounds_of(b, index, aio, duration_ms);
	duration_ms = plan_scaled_ms(&b->plan->scale, duration_ms);
	prepare = prepares(b, index, aio, reads);
	if (good && s.bs && b->doc.complaints->count == complaints && b->plan->scale.denominator)
		scale(b, integer_of(aio, "jobs", 1), &s);
	w = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:b, s:I}",
	              "type", "aio", "engine", engine ? json_string_value(engine) : "libaio", "bs_bytes",
	              (json_int_t)s.bs, "size_bytes", (json_int_t)s.size, "duration_ms",
	              (json_int_t)duration_ms, "offset_bytes", (json_int_t)s.offset, "span_bytes",
	              (json_int_t)s.span, "iops", integer_of(aio, "iops", 0), "depth",
	              integer_of(aio, "depth", 1), "jobs", integer_of(aio, "jobs", 1), "random_percent",
	              random, "read_percent", reads, "direct", flag_of(aio, "direct", true), "verify",
	              flag_of(aio, "verify", false), "drop_caches", flag_of(aio, "drop_caches", true), "seed",
	              integer_of(aio, "seed", 1));
	if (w && prepare)
		json_object_set_new(w, "prepare", json_true());
	if (w && rounds > 1)
		json_object_set_new(w, "rounds", json_integer(rounds));
	return w;
}

json_t *plan_read_precondition(struct plan_build *b, size_t index, const json_t *precondition)
{
	const json_t *order = json_object_get(b->doc.root, "order");
	const json_t *engine = json_object_get(precondition, "engine");
	json_int_t depth = integer_of(precondition, "depth", 32);
	struct sizes s = {.bs = 128 << 10};
	size_t complaints = b->doc.complaints->count;
	bool good = plan_workload_size(b, index, precondition, "bs", &s.bs);

	good &= plan_workload_size(b, index, precondition, "span", &s.span);
	if (good)
		check(b, index, precondition, &s);
	if (order && (!json_is_string(order) || strcmp(json_string_value(order), "as-written") != 0))
		plan_workload_complain(b, index, "passes",
		                       "precondition comes before what it is for: order: as-written");
	if (b->doc.complaints->count == complaints && b->plan->scale.denominator)
		scale(b, 1, &s);
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I}", "type", "precondition", "engine",
	                 engine ? json_string_value(engine) : "libaio", "bs_bytes", (json_int_t)s.bs,
	                 "span_bytes", (json_int_t)s.span, "passes", integer_of(precondition, "passes", 2),
	                 "depth", depth, "seed", integer_of(precondition, "seed", 1));
}

/* The first part of the label, in fio's words: "randread", "seqwrite", "rand50rw70". */
static void label_what(const json_t *w, FILE *to)
{
	json_int_t random = integer_of(w, "random_percent", 0), reads = integer_of(w, "read_percent", 0);

	if (random == 0 || random == 100)
		fputs(random ? " aio rand" : " aio seq", to);
	else
		fprintf(to, " aio rand%d", (int)random);
	if (reads == 0 || reads == 100)
		fputs(reads ? "read" : "write", to);
	else
		fprintf(to, "rw%d", (int)reads);
}

static void label_precondition(const json_t *w, FILE *to)
{
	char text[64];

	fprintf(to, " precondition x%d %s", (int)integer_of(w, "passes", 0),
	        units_size_text((uint64_t)integer_of(w, "bs_bytes", 0), text, sizeof(text)));
	if (integer_of(w, "span_bytes", 0))
		fprintf(to, " span=%s",
		        units_size_text((uint64_t)integer_of(w, "span_bytes", 0), text, sizeof(text)));
}

bool plan_label_aio(const json_t *w, FILE *to)
{
	const json_int_t sizes[] = {integer_of(w, "size_bytes", 0), integer_of(w, "offset_bytes", 0),
	                            integer_of(w, "span_bytes", 0)};
	static const char *const names[] = {"", "offset=", "span="};
	char text[64];

	if (!strcmp(json_string_value(json_object_get(w, "type")), "precondition")) {
		label_precondition(w, to);
		return true;
	}
	if (strcmp(json_string_value(json_object_get(w, "type")), "aio"))
		return false;
	label_what(w, to);
	fprintf(to, " %s QD%d", units_size_text((uint64_t)integer_of(w, "bs_bytes", 0), text, sizeof(text)),
	        (int)integer_of(w, "depth", 1));
	if (integer_of(w, "jobs", 1) > 1)
		fprintf(to, " x%d", (int)integer_of(w, "jobs", 1));
	if (integer_of(w, "rounds", 1) > 1)
		fprintf(to, " %d rounds of", (int)integer_of(w, "rounds", 1));
	if (integer_of(w, "duration_ms", 0))
		fprintf(to, " %.4gs", (double)integer_of(w, "duration_ms", 0) / 1e3);
	for (int i = 0; i < 3; i++)
		if (sizes[i])
			fprintf(to, " %s%s", names[i],
			        units_size_text((uint64_t)sizes[i], text, sizeof(text)));
	if (integer_of(w, "iops", 0))
		fprintf(to, " %d/s", (int)integer_of(w, "iops", 0));
	if (strcmp(json_string_value(json_object_get(w, "engine")), "libaio"))
		fprintf(to, " %s", json_string_value(json_object_get(w, "engine")));
	if (!flag_of(w, "direct", true))
		fputs(" buffered", to);
	if (flag_of(w, "verify", false))
		fputs(" verify", to);
	if (!flag_of(w, "drop_caches", true))
		fputs(" caches-kept", to);
	if (integer_of(w, "seed", 1) != 1)
		fprintf(to, " seed=%" JSON_INTEGER_FORMAT, integer_of(w, "seed", 1));
	return true;
}
