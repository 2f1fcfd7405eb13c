/* SPDX-License-Identifier: GPL-2.0-or-later
 * What aio writes: random bytes, that no controller can compress, in sectors of which no two are alike. Each
 * carries its place, so that one that landed elsewhere shows, and which I/O of which run wrote it. */
#include "workload_aio_engine.h"
#include "workload_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { SECTOR = 512, STAMP_AT = 480, STAMP = 16, RECORD_BITS = 24, MIN_POOL_BYTES = 16 << 20 };

/* Odd, so that multiplying by it can be undone: a stamp looks random, and still tells its numbers. */
#define SPREAD  0x9e3779b97f4a7c15ULL
#define GATHER  0xf1de83e19937733dULL
#define COUNTER 0x5851f42d4c957f2dULL

static size_t records_bytes(const struct aio_job *job)
{
	const struct aio_request *rq = &job->aio->request;

	return (size_t)(rq->bs_bytes * rq->depth * job->records_per_slot);
}

int aio_data_make(struct aio_job *job)
{
	const struct aio_request *rq = &job->aio->request;
	uint64_t seed = rq->seed + job->number, each = MIN_POOL_BYTES / rq->jobs / rq->depth / rq->bs_bytes;

	job->records_per_slot = each ? (uint32_t)each : 1;
	if (rq->read_percent) {
		job->buffers = memory_map((size_t)(rq->bs_bytes * rq->depth));
		if (!job->buffers)
			return -ENOMEM;
	}
	if (rq->read_percent == 100)
		return 0;
	job->records = memory_map(records_bytes(job));
	if (!job->records)
		return -ENOMEM;
	for (size_t at = 0; at < records_bytes(job); at += sizeof(uint64_t)) {
		uint64_t word = aio_random(&seed);

		memcpy(job->records + at, &word, sizeof(word));
	}
	/* Nothing left on the disk must look like a boot sector to the next run's check of it. */
	for (size_t at = 0; at < records_bytes(job); at += SECTOR)
		job->records[at + 510] = 0;
	return 0;
}

void aio_data_free(struct aio_job *job)
{
	const struct aio_request *rq = &job->aio->request;

	if (job->buffers)
		memory_unmap(job->buffers, (size_t)(rq->bs_bytes * rq->depth));
	if (job->records)
		memory_unmap(job->records, records_bytes(job));
	job->buffers = job->records = NULL;
}

void aio_data_stamp(struct aio_job *job, uint32_t number)
{
	struct aio_slot *slot = &job->slots[number];
	uint64_t bs = job->aio->request.bs_bytes, nonce = job->aio->nonce;
	uint32_t record = number * job->records_per_slot + slot->turn;
	uint64_t place = aio_slot_byte(job, slot) / SECTOR * SPREAD;
	uint64_t count = ((job->issued << RECORD_BITS | record) * SPREAD) ^ nonce ^ COUNTER;

	slot->turn = slot->turn + 1 == job->records_per_slot ? 0 : slot->turn + 1;
	slot->data = job->records + record * bs;
	for (unsigned char *at = slot->data + STAMP_AT; at < slot->data + bs; at += SECTOR) {
		uint64_t word = place ^ nonce;

		memcpy(at, &word, sizeof(word));
		memcpy(at + sizeof(word), &count, sizeof(count));
		place += SPREAD;
	}
}

/* Whether the block at BYTE holds what this run wrote there: any of its writes, since of two that were in
 * flight together either may be the last. */
static bool is_ours(const struct aio_job *job, const unsigned char *data, uint64_t byte)
{
	uint64_t bs = job->aio->request.bs_bytes, nonce = job->aio->nonce, count;
	uint64_t record, first = byte / SECTOR;

	memcpy(&count, data + STAMP_AT + 8, sizeof(count));
	record = (count ^ nonce ^ COUNTER) * GATHER;
	if (record >> RECORD_BITS >= job->issued)
		return false;
	record &= (1 << RECORD_BITS) - 1;
	if (record >= (uint64_t)job->records_per_slot * job->aio->request.depth)
		return false;
	for (uint64_t s = 0; s < bs / SECTOR; s++) {
		const unsigned char *is = data + s * SECTOR, *was = job->records + record * bs + s * SECTOR;
		uint64_t words[2] = {((first + s) * SPREAD) ^ nonce, count};

		if (memcmp(is, was, STAMP_AT) || memcmp(is + STAMP_AT, words, STAMP) ||
		    memcmp(is + STAMP_AT + STAMP, was + STAMP_AT + STAMP, SECTOR - STAMP_AT - STAMP))
			return false;
	}
	return true;
}

static int read_block(int fd, unsigned char *data, uint64_t bs, uint64_t byte)
{
	uint64_t done = 0;

	while (done < bs) {
		ssize_t n = pread(fd, data + done, bs - done, (off_t)(byte + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : ENODATA;
		done += (uint64_t)n;
	}
	return 0;
}

void aio_data_verify(struct aio_job *job, int64_t deadline_ns)
{
	uint64_t bs = job->aio->request.bs_bytes;
	unsigned char *data = memory_map((size_t)bs);

	if (!data) {
		job->error = ENOMEM;
		return;
	}
	/* What the page cache has says nothing of the disk. */
	posix_fadvise(job->fd, 0, 0, POSIX_FADV_DONTNEED);
	for (uint64_t b = 0; b < job->blocks && !job->late; b++) {
		uint64_t byte = job->area_bytes + b * bs;
		int error;

		if (!(job->written[b / 8] & 1 << b % 8))
			continue;
		error = read_block(job->fd, data, bs, byte);
		job->errors[error]++;
		job->verified++;
		if (!error && !is_ours(job, data, byte))
			job->verify_bad++;
		if ((error || job->verify_bad) && job->bad_byte < 0)
			job->bad_byte = (int64_t)byte;
		job->late = aio_clock_ns() > deadline_ns;
	}
	job->errors[0] = 0;
	memory_unmap(data, (size_t)bs);
}
