/* SPDX-License-Identifier: GPL-2.0-or-later
 * CrystalDiskMark 3's lines as cells of aio. It fills a test file (of 1000 MiB, in the seed), then for each
 * line reads for some seconds, unbuffered, then writes, and of several passes (five) shows the best, in MB/s;
 * sequential I/O is in records of 1 MiB. So its published source has it (DiskBench.cpp, Copyright 2007-2008
 * hiyohiyo, six seconds; later ones five, and queue depth 32). The best is the report's largest. */
#include "crystal.h"
#include "plan_internal.h"

#include <string.h>

enum { MIB = 1 << 20, DEFAULT_SIZE_BYTES = 1000 * MIB, DEFAULT_DURATION_MS = 5000, PASSES = 5 };

const struct crystal_line crystal_lines[CRYSTAL_LINES] = {
    {"Sequential Read", MIB, 1, 0, 100},
    {"Sequential Write", MIB, 1, 0, 0},
    {"Random Read 512KB", 512 << 10, 1, 100, 100},
    {"Random Write 512KB", 512 << 10, 1, 100, 0},
    {"Random Read 4KB (QD=1)", 4096, 1, 100, 100},
    {"Random Write 4KB (QD=1)", 4096, 1, 100, 0},
    {"Random Read 4KB (QD=32)", 4096, 32, 100, 100},
    {"Random Write 4KB (QD=32)", 4096, 32, 100, 0},
};

_Static_assert(CRYSTAL_LINES + 1 == PLAN_CRYSTAL_CELLS, "one to fill the area, then the lines");

static json_t *cell_of(const struct crystal_line *line, uint64_t span, uint64_t size, uint64_t duration_ms)
{
	return json_pack("{s:s, s:s, s:i, s:I, s:I, s:i, s:I, s:i, s:i, s:i, s:i, s:i, s:b, s:b, s:b, s:i}",
	                 "type", "aio", "engine", "libaio", "bs_bytes", line->bs_bytes, "size_bytes",
	                 (json_int_t)size, "duration_ms", (json_int_t)duration_ms, "offset_bytes", 0,
	                 "span_bytes", (json_int_t)span, "iops", 0, "depth", line->depth, "jobs", 1,
	                 "random_percent", line->random_percent, "read_percent", line->read_percent, "direct",
	                 1, "verify", 0, "drop_caches", 1, "seed", 1);
}

/* What differs from CrystalDiskMark's own way, and is allowed. */
static void note_differences(struct plan_build *b)
{
	if (b->plan->samples != PASSES)
		json_array_append_new(
		    b->plan->notes,
		    json_sprintf("crystal: CrystalDiskMark takes %d passes, this plan %u (repeat: samples)",
		                 PASSES, (unsigned int)b->plan->samples));
}

json_t *plan_read_crystal(struct plan_build *b, size_t index, const json_t *crystal)
{
	const json_t *order = json_object_get(b->doc.root, "order");
	uint64_t size = DEFAULT_SIZE_BYTES, duration_ms = DEFAULT_DURATION_MS;
	bool good = plan_workload_size(b, index, crystal, "size", &size);
	static const struct crystal_line fill = {"", MIB, 1, 0, 0};
	json_t *cells = json_array();
	int r = cells ? 0 : -1;

	if (json_object_get(crystal, "duration"))
		duration_ms = plan_workload_duration(b, index, crystal, "duration");
	if (good && (!size || size % MIB))
		plan_workload_complain(b, index, "size", "the test file is a multiple of 1MiB");
	if (order && (!json_is_string(order) || strcmp(json_string_value(order), "as-written") != 0))
		plan_workload_complain(b, index, "size",
		                       "crystal fills its area first, and so needs order: as-written");
	if (b->plan->scale.denominator) {
		size = plan_scaled(&b->plan->scale, size, MIB);
		size = size ? size : MIB;
		duration_ms = plan_scaled_ms(&b->plan->scale, duration_ms);
	}
	if (!r)
		r = json_array_append_new(cells, cell_of(&fill, size, size, 0));
	for (size_t i = 0; i < CRYSTAL_LINES && !r; i++)
		r = json_array_append_new(cells, cell_of(&crystal_lines[i], size, 0, duration_ms));
	if (!r) {
		note_differences(b);
		return cells;
	}
	json_decref(cells);
	return NULL;
}
