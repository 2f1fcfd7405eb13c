/* SPDX-License-Identifier: GPL-2.0-or-later
 * The workload files: a tree on a file system. */
#include "plan_internal.h"
#include "units.h"

#include <inttypes.h>
#include <string.h>

enum {
	DEFAULT_FOLDERS = 1472,
	DEFAULT_FILES = 6942,
	DEFAULT_MEAN_BYTES = 200000,
	DEFAULT_BS_BYTES = 128 << 10,
	BS_MAX_BYTES = 16 << 20
};

static json_int_t integer_of(const json_t *workload, const char *key, json_int_t missing)
{
	const json_t *value = json_object_get(workload, key);

	return value ? json_integer_value(value) : missing;
}

json_t *plan_read_files(struct plan_build *b, size_t index, const json_t *files)
{
	uint64_t mean = DEFAULT_MEAN_BYTES, bs = DEFAULT_BS_BYTES, size;
	uint64_t count = (uint64_t)integer_of(files, "files", DEFAULT_FILES);
	uint64_t folders = (uint64_t)integer_of(files, "folders", DEFAULT_FOLDERS);
	const json_t *sync = json_object_get(files, "sync");
	bool good = plan_workload_size(b, index, files, "mean", &mean);

	good &= plan_workload_size(b, index, files, "bs", &bs);
	if (good && (bs < 512 || bs > BS_MAX_BYTES))
		plan_workload_complain(b, index, "bs", "%" PRIu64 " bytes; it goes from 512 bytes to 16MiB",
		                       bs);
	if (good && (!mean || __builtin_mul_overflow(mean, count, &size) || size > UINT64_C(1) << 53))
		plan_workload_complain(b, index, "mean",
		                       "%" PRIu64 " files of %" PRIu64 " bytes are out of range", count,
		                       mean);
	/* Fewer files, not smaller ones. */
	count = plan_scaled(&b->plan->scale, count, 1);
	count = count ? count : 1;
	folders = plan_scaled(&b->plan->scale, folders, 1);
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:s, s:I}", "type", "files", "folders",
	                 (json_int_t)folders, "files", (json_int_t)count, "size_bytes",
	                 (json_int_t)(count * mean), "bs_bytes", (json_int_t)bs, "sync",
	                 sync ? json_string_value(sync) : "syncfs", "seed", integer_of(files, "seed", 1));
}

bool plan_label_files(const json_t *w, FILE *to)
{
	json_int_t count = integer_of(w, "files", 1);
	char text[64];

	if (strcmp(json_string_value(json_object_get(w, "type")), "files") != 0)
		return false;
	fprintf(to, " files %" JSON_INTEGER_FORMAT " in %" JSON_INTEGER_FORMAT " of %s %s", count,
	        integer_of(w, "folders", 0),
	        units_size_text((uint64_t)(integer_of(w, "size_bytes", 0) / count), text, sizeof(text)),
	        json_string_value(json_object_get(w, "sync")));
	if (integer_of(w, "bs_bytes", 0) != DEFAULT_BS_BYTES)
		fprintf(to, " bs=%s",
		        units_size_text((uint64_t)integer_of(w, "bs_bytes", 0), text, sizeof(text)));
	if (integer_of(w, "seed", 1) != 1)
		fprintf(to, " seed=%" JSON_INTEGER_FORMAT, integer_of(w, "seed", 1));
	return true;
}
