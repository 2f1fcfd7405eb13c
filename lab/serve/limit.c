/* SPDX-License-Identifier: GPL-2.0-or-later
 * How often an address may ask without having shown the token of a node that is up: a bucket of tries each.
 */
#include "server.h"

#include <stdlib.h>

#define ADDRESSES   4096 /* remembered; who was not heard of for longest makes room */
#define WAYS        8
#define BURST       200
#define TRIES_PER_S 20
#define TRY_NS      (INT64_C(1000000000) / TRIES_PER_S)

struct bucket {
	uint32_t address;
	int64_t full_ns; /* when it will be full again */
};

struct limit {
	pthread_mutex_t lock;
	struct bucket buckets[ADDRESSES / WAYS][WAYS];
};

struct limit *limit_new(void)
{
	struct limit *limit = calloc(1, sizeof(*limit));

	if (limit)
		pthread_mutex_init(&limit->lock, NULL);
	return limit;
}

void limit_free(struct limit *limit)
{
	if (!limit)
		return;
	pthread_mutex_destroy(&limit->lock);
	free(limit);
}

bool limit_take(struct limit *limit, uint32_t address, struct moment now)
{
	struct bucket *set = limit->buckets[(address * UINT32_C(2654435761) >> 16) % (ADDRESSES / WAYS)];
	struct bucket *found = &set[0];
	bool allowed;

	pthread_mutex_lock(&limit->lock);
	for (size_t i = 0; i < WAYS; i++) {
		if (set[i].address == address) {
			found = &set[i];
			break;
		}
		if (set[i].full_ns < found->full_ns)
			found = &set[i];
	}
	if (found->address != address || found->full_ns < now.mono_ns)
		*found = (struct bucket){.address = address, .full_ns = now.mono_ns};
	allowed = found->full_ns - now.mono_ns < BURST * TRY_NS;
	if (allowed)
		found->full_ns += TRY_NS;
	pthread_mutex_unlock(&limit->lock);
	return allowed;
}
