/* SPDX-License-Identifier: GPL-2.0-or-later
 * The workload `aio`: many I/Os in flight, the latency of each counted. */
#ifndef ASSAY_WORKLOAD_AIO_H
#define ASSAY_WORKLOAD_AIO_H

#include "failure.h"
#include "histogram.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { AIO_READ, AIO_WRITE, AIO_OPS, AIO_ERRNOS = 256 };

struct aio_request {
	uint64_t bs_bytes;                 /* a multiple of 512 */
	uint64_t size_bytes;               /* of all jobs; 0: bound by time */
	int64_t duration_ns;               /* of each round; 0: bound by size */
	unsigned int rounds;               /* one after the other, without a pause; 1 where bound by size */
	unsigned int passes;               /* instead of a size: so often over the whole area; 0: not so */
	uint64_t offset_bytes, span_bytes; /* the area used; a span of 0 goes to the end of the target */
	uint64_t iops;                     /* of all jobs, open loop; 0: closed loop */
	uint64_t seed;
	unsigned int depth, jobs; /* depth: of each job */
	unsigned int random_percent, read_percent;
	bool direct, verify, drop_caches;
	const char *engine; /* "libaio", "io_uring" */
};

/* One I/O in flight. */
struct aio_slot {
	int64_t start_ns;
	uint64_t block; /* of the job's area */
	unsigned char *data;
	uint64_t done_bytes; /* of an earlier, partial completion */
	uint32_t turn;       /* of the records that this slot writes by turns */
	bool write;
};

struct aio_second {
	uint64_t ios, bytes;
	int64_t max_ns, sum_ns; /* of latencies */
};

struct aio_done {
	uint32_t slot;
	int64_t result; /* bytes, or -errno */
};

struct aio;
struct aio_engine;

/* One thread. Nothing of it is shared while it runs. */
struct aio_job {
	struct aio *aio;
	unsigned int number, cpu;
	int fd;
	void *engine; /* private to the engine */

	struct aio_slot *slots;
	uint32_t *free, *queue; /* slots at rest; prepared, not yet submitted */
	uint32_t free_count, queued, in_flight;
	struct aio_done *done;

	uint64_t area_bytes, blocks; /* from byte area_bytes on */
	uint64_t next_block, issued, limit;
	double interval_ns; /* between intended starts; 0: closed loop */
	uint64_t random;

	unsigned char *records, *buffers; /* what is written; what is read */
	uint32_t records_per_slot;
	unsigned char *written; /* a bit a block, for verify */

	struct aio_second *seconds;
	size_t second;
	int64_t second_end_ns, end_ns;
	struct histogram *latency[AIO_OPS];
	uint64_t bytes[AIO_OPS];
	uint64_t errors[AIO_ERRNOS];
	uint64_t partial, submit_again, not_issued, verified, verify_bad;
	int64_t bad_byte; /* where the first error or wrong block was; -1 */
	int error;        /* the engine itself failed */
	bool late;
};

struct aio {
	struct aio_request request;
	const struct aio_engine *engine;
	char target[256];
	uint64_t nonce; /* of this run, in its stamps */
	struct aio_job *jobs;
	size_t seconds; /* length of each job's log */
	int64_t start_ns, deadline_ns;

	/* after the run */
	int64_t ns, cpu_ns;
};

/* cell.json's workload to *REQUEST, which borrows its engine's name. 0 or -EINVAL. */
int aio_parse(const json_t *workload, struct aio_request *request);

/* Opens TARGET for each job, allocates and touches all that the run needs, drops the page cache if asked.
 * TIMEOUT_MS bounds run and verify. 0 or -errno with *WHY filled; aio_close() is due in either case. */
int aio_prepare(struct aio *aio, const struct aio_request *request, const char *target, long timeout_ms,
                struct failure *why);

/* Runs, then verifies if asked. While it measures it allocates nothing and makes no system call but to submit
 * and to reap. I/Os that fail are counted in the job, and are no failure of the run: see aio_fault(). 0 or
 * -errno with *WHY filled. */
int aio_run(struct aio *aio, struct failure *why);

void aio_close(struct aio *aio);

/* Why the sample is invalid (I/Os that failed, data that came back wrong), by name and count, to BUF; "" if
 * it is not. */
void aio_fault(const struct aio *aio, char *buf, size_t size);

/* Result as result.json's measurement; the caller owns it. */
json_t *aio_json(const struct aio *aio);

/* The fio command that does the same, to BUF. */
void aio_equivalent(const struct aio *aio, char *buf, size_t size);

#endif
