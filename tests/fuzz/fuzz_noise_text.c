/* SPDX-License-Identifier: GPL-2.0-or-later
 * The tracer's file is read while it is written; texts of /proc may come from another kernel. */
#include "noise_text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	const char *p = text;
	struct noise_cpu noise;
	int64_t counts[4], run_ns;

	memcpy(text, data, size);
	text[size] = '\0';
	while (noise_osnoise(&p, &noise)) {
		assert(p > text && p <= text + strlen(text));
		assert(noise.runtime_us > 0 && noise.noise_us >= 0 && noise.thread >= 0);
	}
	noise_interrupts(text, "LOC:", counts, 4);
	noise_schedstat(text, &run_ns);
	assert(noise_last_cpu(text) >= -1);
	free(text);
	return 0;
}
