/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "import.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static void sample_free(struct import_sample *sample)
{
	json_decref(sample->state);
	json_decref(sample->workload);
	free(sample->node);
}

struct import_sample import_sample_new(void)
{
	struct import_sample sample = {.ns = 0};

	for (size_t f = 0; f < FIGURES; f++)
		sample.figure[f] = NAN;
	return sample;
}

int import_add(struct import *import, struct import_sample *sample)
{
	int r = sample->state && sample->workload ? 0 : -ENOMEM;

	if (!r && import->count == IMPORT_SAMPLES_MAX)
		r = -E2BIG;
	if (!r && !(import->count & (import->count + 1))) { /* 0, 1, 3, 7 … are full */
		struct import_sample *grown =
		    reallocarray(import->samples, 2 * import->count + 1, sizeof(*grown));

		if (grown)
			import->samples = grown;
		else
			r = -ENOMEM;
	}
	if (r) {
		sample_free(sample);
		return r;
	}
	if (sample->boot > import->last_boot)
		import->last_boot = sample->boot;
	import->samples[import->count++] = *sample;
	return 0;
}

void import_free(struct import *import)
{
	for (size_t i = 0; i < import->count; i++)
		sample_free(&import->samples[i]);
	free(import->samples);
	*import = (struct import){0};
}
