/* SPDX-License-Identifier: GPL-2.0-or-later
 * What one thread of aio does while it is measured. */
#include "workload_aio_engine.h"

#include <errno.h>

#define NS_PER_S INT64_C(1000000000)
/* Before an intended start the job polls: a timer's wakeup is late by this much. */
#define POLL_NS  50000
#define LOOK_NS  (NS_PER_S / 5)

static void prepare(struct aio_job *job, uint32_t number, int64_t start_ns)
{
	const struct aio_request *rq = &job->aio->request;
	struct aio_slot *slot = &job->slots[number];
	bool random = rq->random_percent == 100;

	if (rq->random_percent && rq->random_percent < 100)
		random = aio_random(&job->random) % 100 < rq->random_percent;
	if (random)
		slot->block = (uint64_t)(((unsigned __int128)aio_random(&job->random) * job->blocks) >> 64);
	else
		slot->block = job->next_block;
	if (!random && ++job->next_block == job->blocks)
		job->next_block = 0;
	slot->write = rq->read_percent == 0;
	if (rq->read_percent && rq->read_percent < 100)
		slot->write = aio_random(&job->random) % 100 >= rq->read_percent;
	slot->start_ns = start_ns;
	slot->done_bytes = 0;
	if (slot->write)
		aio_data_stamp(job, number);
	else
		slot->data = job->buffers + number * rq->bs_bytes;
	job->issued++;
}

static int64_t next_due_ns(const struct aio_job *job)
{
	return job->aio->start_ns + (int64_t)((double)job->issued * job->interval_ns);
}

static bool more(const struct aio_job *job, int64_t now_ns)
{
	return job->issued < job->limit && now_ns < job->end_ns;
}

/* Takes free slots for what is to be issued: closed loop all, open loop what is due. */
static void gather(struct aio_job *job, int64_t now_ns)
{
	while (job->free_count && job->issued < job->limit) {
		uint32_t number = job->free[job->free_count - 1];
		int64_t due_ns = -1;

		if (job->interval_ns > 0) {
			due_ns = next_due_ns(job);
			if (due_ns > now_ns || due_ns >= job->end_ns)
				return;
		}
		job->free_count--;
		prepare(job, number, due_ns);
		job->queue[job->queued++] = number;
	}
}

static void note_error(struct aio_job *job, uint32_t number, int64_t error)
{
	const struct aio_slot *slot = &job->slots[number];

	job->errors[error > 0 && error < AIO_ERRNOS ? error : 0]++;
	if (job->bad_byte < 0)
		job->bad_byte = (int64_t)aio_slot_byte(job, slot);
	if (job->written && slot->write)
		job->written[slot->block / 8] &= (unsigned char)~(1 << slot->block % 8);
	job->free[job->free_count++] = number;
}

static void submit(struct aio_job *job)
{
	int64_t now_ns = aio_clock_ns();
	uint32_t at = 0;

	/* An I/O that waits for the kernel to take it keeps its first start. */
	for (uint32_t i = 0; i < job->queued; i++)
		if (job->slots[job->queue[i]].start_ns < 0)
			job->slots[job->queue[i]].start_ns = now_ns;
	while (at < job->queued) {
		int n = job->aio->engine->submit(job, job->queue + at, job->queued - at);

		if (n > 0) {
			at += (uint32_t)n;
			job->in_flight += (uint32_t)n;
		} else if (n == 0 || n == -EAGAIN) {
			job->submit_again++;
			break;
		} else if (n != -EINTR) {
			/* The first of them was refused; the others may yet be taken. */
			note_error(job, job->queue[at++], -n);
		}
	}
	job->queued -= at;
	for (uint32_t i = 0; at && i < job->queued; i++)
		job->queue[i] = job->queue[at + i];
}

static void record(struct aio_job *job, const struct aio_slot *slot, int64_t now_ns)
{
	struct aio_second *second = &job->seconds[job->second];
	int64_t ns = now_ns - slot->start_ns;
	uint64_t bs = job->aio->request.bs_bytes;

	histogram_record(job->latency[slot->write], ns);
	job->bytes[slot->write] += bs;
	second->ios++;
	second->bytes += bs;
	second->sum_ns += ns;
	if (ns > second->max_ns)
		second->max_ns = ns;
	if (job->written && slot->write)
		job->written[slot->block / 8] |= (unsigned char)(1 << slot->block % 8);
}

static void complete(struct aio_job *job, const struct aio_done *done, int64_t now_ns)
{
	struct aio_slot *slot = &job->slots[done->slot];
	int64_t left = (int64_t)(job->aio->request.bs_bytes - slot->done_bytes);

	if (__builtin_expect(done->result == left, 1)) {
		record(job, slot, now_ns);
		job->free[job->free_count++] = done->slot;
	} else if (done->result > 0 && done->result < left &&
	           (!job->aio->request.direct || done->result % 512 == 0)) {
		/* The rest goes again, and the whole counts as one. */
		job->partial++;
		slot->done_bytes += (uint64_t)done->result;
		job->queue[job->queued++] = done->slot;
	} else if (done->result >= 0) {
		note_error(job, done->slot, done->result ? EIO : slot->write ? ENOSPC : ENODATA);
	} else {
		note_error(job, done->slot, -done->result);
	}
}

static int64_t wait_ns(const struct aio_job *job, int64_t now_ns)
{
	int64_t wait = LOOK_NS;

	if (job->interval_ns > 0 && job->free_count && more(job, now_ns)) {
		wait = next_due_ns(job) - now_ns - POLL_NS;
		wait = wait < job->end_ns - now_ns ? wait : job->end_ns - now_ns;
		wait = wait < 0 ? 0 : wait > LOOK_NS ? LOOK_NS : wait;
	} else if (!job->in_flight) {
		wait = job->queued ? POLL_NS : 0;
	}
	return wait;
}

static void reap(struct aio_job *job, int64_t *now_ns)
{
	int n = job->aio->engine->reap(job, wait_ns(job, *now_ns));

	*now_ns = aio_clock_ns();
	while (*now_ns >= job->second_end_ns && job->second + 1 < job->aio->seconds) {
		job->second_end_ns += NS_PER_S;
		job->second++;
	}
	for (int i = 0; i < n; i++)
		complete(job, &job->done[i], *now_ns);
	if (n > 0)
		job->in_flight -= (uint32_t)n;
	else if (n < 0 && n != -EINTR && n != -EAGAIN)
		job->error = -n;
}

void aio_job_run(struct aio_job *job)
{
	int64_t now_ns = aio_clock_ns();

	job->second_end_ns = job->aio->start_ns + NS_PER_S;
	while (job->in_flight || job->queued || more(job, now_ns)) {
		if (now_ns < job->end_ns)
			gather(job, now_ns);
		if (job->queued)
			submit(job);
		reap(job, &now_ns);
		if (job->error)
			return;
		if (now_ns > job->aio->deadline_ns) {
			job->late = true;
			return;
		}
	}
	if (job->interval_ns > 0 && job->end_ns != INT64_MAX) {
		double due = (double)(job->end_ns - job->aio->start_ns) / job->interval_ns;

		if (due > (double)job->issued + 1)
			job->not_issued = (uint64_t)due - job->issued;
	}
}
