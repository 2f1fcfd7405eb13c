/* SPDX-License-Identifier: GPL-2.0-or-later
 * Any bytes as a transcript of dd, as CSV and as fio's JSON: what is taken in is what the store relies on. */
#include "../../lab/import/import.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void check(struct import *import,
                  int (*read)(struct import *, const char *, size_t, struct complaints *), const char *text,
                  size_t size)
{
	struct complaints complaints = {0};
	int r = read(import, text, size, &complaints);

	assert(r || import->count);
	for (size_t i = 0; i < import->count; i++) {
		const struct import_sample *s = &import->samples[i];
		char *state = json_dumps(s->state, 0), *workload = json_dumps(s->workload, 0);

		assert(state && workload && s->bytes && s->ns && s->boot <= import->last_boot);
		assert(s->bytes <= INT64_MAX && s->ns <= INT64_MAX);
		free(state);
		free(workload);
	}
	complaints_free(&complaints);
	import_free(import);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import import = {0};
	char *text = calloc(size + 1, 1);

	assert(text);
	memcpy(text, data, size);
	check(&import, import_transcript, text, size);
	check(&import, import_csv, text, size);
	check(&import, import_fio, text, size);
	free(text);
	return 0;
}
