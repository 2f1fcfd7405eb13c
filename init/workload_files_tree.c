/* SPDX-License-Identifier: GPL-2.0-or-later
 * The tree of the workload files. What is known of the one that it stands for is how many folders and files
 * it had, and how large these were in the mean; sizes are drawn from an exponential distribution, of which
 * most files are small and few are large. Integers only: the tree is the same everywhere. */
#include "workload_files.h"

#include "workload_aio_engine.h"

#include <errno.h>
#include <stdlib.h>

enum { DEPTH_MAX = 16 };

/* 1024 times -ln(1 - (i + 1/2) / 64): the middle of each of 64 parts of equal probability. */
static const uint32_t quantiles[64] = {
    8,    24,   41,   58,   75,   92,   110,  128,  146,  165,  184,  203,  223,  243,  263,  284,
    305,  327,  349,  372,  395,  419,  444,  469,  494,  520,  547,  575,  603,  633,  663,  694,
    726,  759,  793,  828,  865,  903,  942,  983,  1026, 1070, 1117, 1166, 1217, 1271, 1328, 1388,
    1452, 1520, 1594, 1672, 1758, 1851, 1953, 2067, 2195, 2342, 2513, 2719, 2976, 3320, 3844, 4968,
};

static uint64_t below(uint64_t *random, uint64_t limit)
{
	return (uint64_t)(((unsigned __int128)aio_random(random) * limit) >> 64);
}

/* Each folder in one that came before, not too deep. */
static int make_folders(const struct files_request *rq, struct files_node *folders, uint64_t *random)
{
	unsigned char *depth = calloc((size_t)rq->folders + 1, 1);

	if (!depth)
		return -ENOMEM;
	for (uint32_t i = 1; i <= rq->folders; i++) {
		uint32_t parent = (uint32_t)below(random, i);

		while (depth[parent] >= DEPTH_MAX)
			parent = folders[parent].folder;
		folders[i].folder = parent;
		depth[i] = (unsigned char)(depth[parent] + 1);
	}
	free(depth);
	return 0;
}

/* What was drawn, stretched so that all files together have just the size asked for. */
static void make_files(const struct files_request *rq, struct files_node *files, uint64_t *random)
{
	uint64_t sum = 0, before = 0, at = 0;

	for (uint32_t i = 0; i < rq->files; i++) {
		files[i].folder = (uint32_t)below(random, (uint64_t)rq->folders + 1);
		files[i].size_bytes = quantiles[below(random, 64)] * UINT64_C(64) + below(random, 64);
		sum += files[i].size_bytes;
	}
	for (uint32_t i = 0; i < rq->files; i++) {
		uint64_t end;

		before += files[i].size_bytes;
		end = (uint64_t)((unsigned __int128)before * rq->size_bytes / sum);
		files[i].size_bytes = end - at;
		at = end;
	}
}

int files_tree_make(const struct files_request *request, struct files_tree *tree)
{
	uint64_t random = request->seed;
	int r;

	tree->folders = calloc((size_t)request->folders + 1, sizeof(*tree->folders));
	tree->files = calloc(request->files, sizeof(*tree->files));
	if (!tree->folders || !tree->files)
		return -ENOMEM;
	r = make_folders(request, tree->folders, &random);
	if (!r)
		make_files(request, tree->files, &random);
	return r;
}
