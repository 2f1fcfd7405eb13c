/* SPDX-License-Identifier: GPL-2.0-or-later
 * Workloads that are DRBD's own: resync, verify. */
#include "plan_internal.h"
#include "units.h"

#include <inttypes.h>
#include <string.h>

enum { BLOCK_BYTES = 4096, BS_MAX_BYTES = 16 << 20, DEFAULT_BS_BYTES = 65536 };

static const char *word_of(const json_t *workload, const char *key, const char *missing)
{
	const json_t *value = json_object_get(workload, key);

	return value ? json_string_value(value) : missing;
}

static uint64_t bytes_of(const json_t *workload, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(workload, key));
}

static json_t *read_full(struct plan_build *b, size_t index, const json_t *resync)
{
	static const char *const partial[] = {"bs", "size", "span", "pattern", "seed"};

	for (size_t i = 0; i < sizeof(partial) / sizeof(*partial); i++)
		if (json_object_get(resync, partial[i]))
			plan_workload_complain(b, index, partial[i], "it has a meaning with what: partial");
	return json_pack("{s:s, s:s}", "type", "resync", "what", "full");
}

static void check(struct plan_build *b, size_t index, uint64_t bs, uint64_t size, uint64_t span)
{
	if (bs < BLOCK_BYTES || bs > BS_MAX_BYTES || bs % BLOCK_BYTES)
		plan_workload_complain(b, index, "bs",
		                       "%" PRIu64 " bytes; it is a multiple of DRBD's 4KiB, up to 16MiB", bs);
	else if (!size || size % bs)
		plan_workload_complain(b, index, "size",
		                       "what is written while the peer is away is a multiple of bs, %" PRIu64
		                       " bytes",
		                       bs);
	else if (span % bs)
		plan_workload_complain(b, index, "span", "the area is a multiple of bs, %" PRIu64 " bytes",
		                       bs);
}

json_t *plan_read_resync(struct plan_build *b, size_t index, const json_t *resync)
{
	uint64_t bs = DEFAULT_BS_BYTES, size = 0, span = 0;
	const json_t *seed = json_object_get(resync, "seed");
	size_t complaints = b->doc.complaints->count;
	bool good;

	if (!strcmp(word_of(resync, "what", "full"), "full"))
		return read_full(b, index, resync);
	good = plan_workload_size(b, index, resync, "bs", &bs);
	good &= plan_workload_size(b, index, resync, "size", &size);
	good &= plan_workload_size(b, index, resync, "span", &span);
	if (good)
		check(b, index, bs, size, span);
	if (b->doc.complaints->count == complaints && b->plan->scale.denominator) {
		bool whole = !span;

		size = plan_scaled(&b->plan->scale, size, bs);
		span = plan_scaled(&b->plan->scale, span, bs);
		size = size ? size : bs;
		span = whole ? 0 : span ? span : bs;
	}
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:s, s:I}", "type", "resync", "what", "partial",
	                 "bs_bytes", (json_int_t)bs, "size_bytes", (json_int_t)size, "span_bytes",
	                 (json_int_t)span, "pattern", word_of(resync, "pattern", "sequential"), "seed",
	                 seed ? json_integer_value(seed) : (json_int_t)1);
}

json_t *plan_read_verify(struct plan_build *b, size_t index, const json_t *verify)
{
	uint64_t plant = 0;

	if (plan_workload_size(b, index, verify, "plant", &plant) && plant % BLOCK_BYTES)
		plan_workload_complain(b, index, "plant",
		                       "what is altered beneath DRBD is a multiple of its 4KiB");
	return json_pack("{s:s, s:I}", "type", "verify", "plant_bytes", (json_int_t)plant);
}

bool plan_label_drbd(const json_t *w, FILE *to)
{
	const char *type = json_string_value(json_object_get(w, "type"));
	char text[64];

	if (!strcmp(type, "verify")) {
		fputs(" verify", to);
		if (bytes_of(w, "plant_bytes"))
			fprintf(to, " planted=%s",
			        units_size_text(bytes_of(w, "plant_bytes"), text, sizeof(text)));
		return true;
	}
	if (strcmp(type, "resync") != 0)
		return false;
	fprintf(to, " resync %s", word_of(w, "what", ""));
	if (bytes_of(w, "size_bytes")) {
		fprintf(to, " %s", units_size_text(bytes_of(w, "size_bytes"), text, sizeof(text)));
		fprintf(to, " in %s %s", units_size_text(bytes_of(w, "bs_bytes"), text, sizeof(text)),
		        word_of(w, "pattern", ""));
		if (bytes_of(w, "span_bytes"))
			fprintf(to, " span=%s",
			        units_size_text(bytes_of(w, "span_bytes"), text, sizeof(text)));
		if (bytes_of(w, "seed") != 1)
			fprintf(to, " seed=%" PRIu64, bytes_of(w, "seed"));
	}
	return true;
}
