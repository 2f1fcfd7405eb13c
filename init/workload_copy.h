/* SPDX-License-Identifier: GPL-2.0-or-later
 * The workload `copy`: what dd does, record by record; a read goes to a buffer that nobody looks at. */
#ifndef ASSAY_WORKLOAD_COPY_H
#define ASSAY_WORKLOAD_COPY_H

#include "failure.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum copy_conv { COPY_CONV_NONE, COPY_CONV_FSYNC, COPY_CONV_FDATASYNC };

struct copy_request {
	uint64_t bs_bytes, size_bytes, seek_bytes;
	uint64_t seed;
	bool read, direct, dsync, sync, incompressible, drop_caches;
	enum copy_conv conv;
};

/* One copy: prepared (everything allocated and touched), run, closed. */
struct copy {
	struct copy_request request;
	char target[256];
	int fd, zero_fd;
	unsigned char *pool; /* records to write, cycled through; the one to read to */
	size_t pool_records, pool_bytes;
	uint64_t *second_bytes;
	size_t seconds; /* length of second_bytes */
	int64_t deadline_ns;

	/* after the run */
	uint64_t bytes, records_full, records_partial;
	int64_t ns, sync_ns, cpu_ns;
	int error;             /* errno of the write or sync that failed */
	uint64_t error_offset; /* where in the target */
	bool error_in_sync;
	bool late; /* the deadline passed */
};

/* cell.json's workload to *REQUEST. 0 or -EINVAL. */
int copy_parse(const json_t *workload, struct copy_request *request);

/* Opens TARGET, allocates, fills the pool, drops the page cache if asked. TIMEOUT_MS bounds the run. 0 or
 * -errno with *WHY filled; copy_close() is due in either case. */
int copy_prepare(struct copy *copy, const struct copy_request *request, const char *target, long timeout_ms,
                 struct failure *why);

/* Writes or reads it all. Allocates nothing, says nothing. 0 or -errno with *WHY filled. */
int copy_run(struct copy *copy, struct failure *why);

void copy_close(struct copy *copy);

/* Result as result.json's measurement; the caller owns it. */
json_t *copy_json(const struct copy *copy);

/* The dd command that does the same, to BUF. */
void copy_equivalent(const struct copy *copy, char *buf, size_t size);

#endif
