/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workload_fill.h"

#include "file.h"
#include "workload_aio.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORD_BYTES = 1 << 20, BLOCK_BYTES = 4096, SECTOR_BYTES = 512, DEPTH = 4 };

/* FROM … TO in records of BS; both are multiples of it. */
static int fill_part(const char *target, uint64_t from, uint64_t to, uint64_t bs, int64_t until_ns,
                     struct failure *why)
{
	const struct aio_request request = {
	    .bs_bytes = bs,
	    .size_bytes = to - from,
	    .offset_bytes = from,
	    .span_bytes = to - from,
	    .seed = 1,
	    .depth = DEPTH,
	    .jobs = 1,
	    .direct = true,
	    .engine = "libaio",
	};
	char fault[256] = "";
	struct aio aio;
	int r;

	if (from >= to)
		return 0;
	r = aio_prepare(&aio, &request, target, (long)((until_ns - now_ns()) / 1000000), why);
	r = r ? r : aio_run(&aio, why);
	if (!r)
		aio_fault(&aio, fault, sizeof(fault));
	if (*fault)
		r = fail(why, -EIO, FAILURE_SAMPLE, "measure", target,
		         "See the kernel log and the disk's own health data.",
		         "Writing what is to be read: %s", fault);
	aio_close(&aio);
	return r;
}

static int size_of(const char *target, uint64_t *bytes)
{
	int fd = open(target, O_RDONLY | O_CLOEXEC), r = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		r = -errno;
	else if (!S_ISBLK(st.st_mode))
		*bytes = (uint64_t)st.st_size;
	else if (ioctl(fd, BLKGETSIZE64, bytes))
		r = -errno;
	if (fd >= 0)
		close(fd);
	return r;
}

int fill_area(const char *target, uint64_t from, uint64_t to, long timeout_ms, struct failure *why)
{
	int64_t until_ns = now_ns() + timeout_ms * 1000000LL;
	uint64_t size, whole, blocks;
	int r = size_of(target, &size);

	if (r)
		return fail(why, r, FAILURE_SAMPLE, "measure", target, "See the node's kernel log.",
		            "The size of %s cannot be read", target);
	from = from / BLOCK_BYTES * BLOCK_BYTES;
	if (to > size)
		to = size;
	/* The workload itself says what is wrong with an area beyond the end. */
	if (from >= to)
		return 0;
	if (to % BLOCK_BYTES)
		to = size - to < BLOCK_BYTES ? size : (to / BLOCK_BYTES + 1) * BLOCK_BYTES;
	whole = from + (to - from) / RECORD_BYTES * RECORD_BYTES;
	blocks = whole + (to - whole) / BLOCK_BYTES * BLOCK_BYTES;
	r = fill_part(target, from, whole, RECORD_BYTES, until_ns, why);
	r = r ? r : fill_part(target, whole, blocks, BLOCK_BYTES, until_ns, why);
	return r ? r
	         : fill_part(target, blocks, to / SECTOR_BYTES * SECTOR_BYTES, SECTOR_BYTES, until_ns, why);
}

void workload_filled_add(struct workload_filled *filled, uint64_t from, uint64_t to)
{
	if (filled->to && from <= filled->to && to >= filled->from) {
		filled->from = from < filled->from ? from : filled->from;
		filled->to = to > filled->to ? to : filled->to;
	} else {
		*filled = (struct workload_filled){from, to};
	}
}

int workload_fill(struct workload_filled *filled, const char *target, uint64_t from, uint64_t to,
                  long timeout_ms, uint64_t *bytes, struct failure *why)
{
	struct stat st;
	uint64_t size;
	int r;

	*bytes = 0;
	if (stat(target, &st) || !S_ISBLK(st.st_mode) || size_of(target, &size))
		return 0;
	to = to > size ? size : to;
	if (from >= to || (from >= filled->from && to <= filled->to))
		return 0;
	r = fill_area(target, from, to, timeout_ms, why);
	if (r)
		return r;
	*bytes = to - from;
	workload_filled_add(filled, from, to);
	return 0;
}
