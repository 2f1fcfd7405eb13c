/* SPDX-License-Identifier: GPL-2.0-or-later
 * What files has to tell after a run. */
#include "workload_files.h"

#include <stdio.h>

#define NS_PER_S INT64_C(1000000000)

void files_fault(const struct files *f, char *buf, size_t size)
{
	*buf = '\0';
	if (f->bad)
		snprintf(buf, size, "%llu of %u files do not hold what was written",
		         (unsigned long long)f->bad, f->request.files);
}

static json_t *numbers(const uint64_t *values, int64_t ns, size_t most)
{
	json_t *list = json_array();

	for (size_t i = 0; i < most && (int64_t)i <= (ns - 1) / NS_PER_S; i++)
		json_array_append_new(list, json_integer((json_int_t)values[i]));
	return list;
}

static json_t *phase_json(const struct files *f, int p)
{
	const struct files_phase *phase = &f->phases[p];
	double s = (double)phase->ns / 1e9;

	return json_pack("{s:I, s:I, s:I, s:I, s:f, s:f, s:o, s:o}", "ns", (json_int_t)phase->ns, "bytes",
	                 (json_int_t)phase->bytes, "files", (json_int_t)phase->files, "folders",
	                 (json_int_t)phase->folders, "files_per_s", (double)phase->files / s, "mb_per_s",
	                 (double)phase->bytes / 1e6 / s, "second_files",
	                 numbers(phase->second_files, phase->ns, f->seconds), "second_bytes",
	                 numbers(phase->second_bytes, phase->ns, f->seconds));
}

json_t *files_json(const struct files *f)
{
	uint64_t bytes = 0;
	int64_t ns = 0;
	json_t *all = json_array(), *phases[FILES_PHASES];
	double s;

	for (int p = 0; p < FILES_PHASES; p++) {
		bytes += f->phases[p].bytes;
		ns += f->phases[p].ns;
		phases[p] = phase_json(f, p);
		json_array_extend(all, json_object_get(phases[p], "second_bytes"));
	}
	s = (double)ns / 1e9;
	return json_pack("{s:I, s:I, s:f, s:f, s:o, s:I, s:s, s:{s:o, s:o, s:o}}", "bytes", (json_int_t)bytes,
	                 "ns", (json_int_t)ns, "mb_per_s", (double)bytes / 1e6 / s, "mib_per_s",
	                 (double)bytes / 1048576 / s, "second_bytes", all, "cpu_ns", (json_int_t)f->cpu_ns,
	                 "equivalent",
	                 "cp -r TREE COPY; sync; echo 3 >/proc/sys/vm/drop_caches; tar -cf - COPY | cat "
	                 ">/dev/null; rm -r COPY; sync",
	                 "files", "create", phases[FILES_CREATE], "read", phases[FILES_READ], "unlink",
	                 phases[FILES_UNLINK]);
}
