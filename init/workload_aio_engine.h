/* SPDX-License-Identifier: GPL-2.0-or-later
 * Inside the workload aio: how a job submits and reaps, and what its blocks hold. */
#ifndef ASSAY_WORKLOAD_AIO_ENGINE_H
#define ASSAY_WORKLOAD_AIO_ENGINE_H

#include "workload_aio.h"

#include <time.h>

struct aio_engine {
	const char *name;
	/* Makes job->engine. 0 or -errno. */
	int (*open)(struct aio_job *job);
	/* Submits COUNT slots, the first of them first. How many were taken; -errno: the first was not. */
	int (*submit)(struct aio_job *job, const uint32_t *slots, uint32_t count);
	/* Fills job->done with what has completed; waits for one at most WAIT_NS (0: not at all). Count or
	 * -errno. */
	int (*reap)(struct aio_job *job, int64_t wait_ns);
	/* Waits for what is in flight. */
	void (*close)(struct aio_job *job);
};

extern const struct aio_engine aio_libaio, aio_uring;

static inline int64_t aio_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* splitmix64 (Steele, Lea, Flood 2014). */
static inline uint64_t aio_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static inline uint64_t aio_slot_byte(const struct aio_job *job, const struct aio_slot *slot)
{
	return job->area_bytes + slot->block * job->aio->request.bs_bytes + slot->done_bytes;
}

/* Buffers of JOB, filled. 0 or -ENOMEM. */
int aio_data_make(struct aio_job *job);
void aio_data_free(struct aio_job *job);

/* Points SLOT at its next record, every sector of it stamped with its place and the job's count of I/Os. */
void aio_data_stamp(struct aio_job *job, uint32_t slot);

/* Reads back what was written, and counts what is not as it was written. */
void aio_data_verify(struct aio_job *job, int64_t deadline_ns);

/* The job's loop: from aio->start_ns until all is done. */
void aio_job_run(struct aio_job *job);

#endif
