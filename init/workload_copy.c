/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workload_copy.h"

#include "file.h"
#include "workload_copy_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL

static uint64_t unsigned_of(const json_t *workload, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(workload, key));

	return value > 0 ? (uint64_t)value : 0;
}

int copy_parse(const json_t *workload, struct copy_request *request)
{
	static const char *const convs[] = {"none", "fsync", "fdatasync"};
	const char *type = json_string_value(json_object_get(workload, "type"));
	const char *direction = json_string_value(json_object_get(workload, "direction"));
	const char *conv = json_string_value(json_object_get(workload, "conv"));
	const char *source = json_string_value(json_object_get(workload, "source"));
	size_t c = 0;

	if (!type || strcmp(type, "copy") || !direction || !conv || !source ||
	    (strcmp(direction, "write") != 0 && strcmp(direction, "read") != 0))
		return -EINVAL;
	while (c < 3 && strcmp(conv, convs[c]))
		c++;
	*request = (struct copy_request){
	    .bs_bytes = unsigned_of(workload, "bs_bytes"),
	    .size_bytes = unsigned_of(workload, "size_bytes"),
	    .seek_bytes = unsigned_of(workload, "seek_bytes"),
	    .seed = unsigned_of(workload, "seed"),
	    .read = !strcmp(direction, "read"),
	    .direct = json_is_true(json_object_get(workload, "direct")),
	    .dsync = json_is_true(json_object_get(workload, "dsync")),
	    .sync = json_is_true(json_object_get(workload, "sync")),
	    .drop_caches = json_is_true(json_object_get(workload, "drop_caches")),
	    .incompressible = !strcmp(source, "incompressible"),
	    .conv = (enum copy_conv)c,
	};
	return c == 3 || !request->bs_bytes || !request->size_bytes ? -EINVAL : 0;
}

static int open_target(struct copy *copy, struct failure *why)
{
	const struct copy_request *rq = &copy->request;
	int flags = (rq->read ? O_RDONLY : O_WRONLY) | O_CLOEXEC | (rq->direct ? O_DIRECT : 0) |
	            (rq->dsync ? O_DSYNC : 0) | (rq->sync ? O_SYNC : 0);
	uint64_t size = 0;
	struct stat st;
	int r;

	copy->fd = open(copy->target, flags);
	if (copy->fd < 0) {
		r = -errno;
		return fail(why, r, FAILURE_SAMPLE, "measure", copy->target,
		            r == -EROFS ? "DRBD must be primary here: see the log before this."
		                        : "See the node's kernel log.",
		            "The workload cannot open %s", copy->target);
	}
	if (fstat(copy->fd, &st) || (S_ISBLK(st.st_mode) && ioctl(copy->fd, BLKGETSIZE64, &size)))
		return fail(why, -errno, FAILURE_SAMPLE, "measure", copy->target,
		            "See the node's kernel log.", "The size of %s cannot be read", copy->target);
	/* As dd, which begins a file anew but for what it seeks over. */
	if (S_ISREG(st.st_mode) && !rq->read && ftruncate(copy->fd, (off_t)rq->seek_bytes))
		return fail(why, -errno, FAILURE_SAMPLE, "measure", copy->target,
		            "See the node's kernel log.", "%s cannot be truncated", copy->target);
	if (S_ISBLK(st.st_mode) && (rq->seek_bytes > size || rq->size_bytes > size - rq->seek_bytes))
		return fail(why, -ENOSPC, FAILURE_CELL, "measure", copy->target,
		            "Make size or seek of the workload smaller in the plan, or use a larger disk.",
		            "The workload ends at byte %llu, %s has %llu",
		            (unsigned long long)(rq->seek_bytes + rq->size_bytes), copy->target,
		            (unsigned long long)size);
	return 0;
}

int copy_prepare(struct copy *copy, const struct copy_request *request, const char *target, long timeout_ms,
                 struct failure *why)
{
	int r;

	memset(copy, 0, sizeof(*copy));
	copy->fd = copy->zero_fd = -1;
	copy->request = *request;
	snprintf(copy->target, sizeof(copy->target), "%s", target);
	r = open_target(copy, why);
	if (r)
		return r;
	copy->deadline_ns = (int64_t)timeout_ms * 1000000;
	copy->seconds = (size_t)timeout_ms / 1000 + 2;
	copy->second_bytes = malloc(copy->seconds * sizeof(*copy->second_bytes));
	r = copy_pool_make(copy);
	if (r || !copy->second_bytes)
		return fail(why, r ? r : -ENOMEM, FAILURE_CELL, "measure", target,
		            "Make bs of the workload smaller.", "Records of %llu bytes cannot be made",
		            (unsigned long long)request->bs_bytes);
	/* Touched now, so that no page fault falls into the run. */
	memset(copy->second_bytes, 0, copy->seconds * sizeof(*copy->second_bytes));
	if (request->drop_caches) {
		sync();
		r = write_file("/proc/sys/vm/drop_caches", "3");
		if (r)
			return fail(why, r, FAILURE_SAMPLE, "measure", "/proc/sys/vm/drop_caches",
			            "The node must run as root.", "The page cache cannot be dropped");
	}
	return 0;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* All of LENGTH, as dd's iwrite(): EINTR again, a short write goes on with the rest, nothing written is
 * ENOSPC. Bytes written; errno tells of an error. */
static size_t write_record(int fd, const unsigned char *data, size_t length)
{
	size_t done = 0;

	errno = 0;
	while (done < length) {
		ssize_t n = write(fd, data + done, length - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC;
		if (n <= 0)
			return done;
		done += (size_t)n;
	}
	errno = 0;
	return done;
}

/* The same for reading; nothing read is EIO, since the device is as long as the workload. */
static size_t read_record(int fd, unsigned char *data, size_t length)
{
	size_t done = 0;

	errno = 0;
	while (done < length) {
		ssize_t n = read(fd, data + done, length - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = EIO;
		if (n <= 0)
			return done;
		done += (size_t)n;
	}
	errno = 0;
	return done;
}

static size_t copy_record(struct copy *copy, uint64_t record, size_t length)
{
	const unsigned char *data;

	if (copy->request.read)
		return read_record(copy->fd, copy->pool, length);
	data = copy_pool_record(copy, record);
	return data ? write_record(copy->fd, data, length) : 0;
}

/* A last record shorter than bs cannot be direct: dd writes it through the page cache and syncs, so do we. */
static bool leave_direct(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_DIRECT))
		return false;
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return true;
}

/* The clock for each record is the coarse one (right to a tick): the exact one may cost a slow register read,
 * where the kernel does not trust the TSC, and dd reads no clock at all. */
static void copy_all(struct copy *copy, enum copy_conv *conv)
{
	const struct copy_request *rq = &copy->request;
	int64_t start_ns = clock_ns(CLOCK_MONOTONIC_COARSE);
	uint64_t offset = 0, record = 0;

	while (offset < rq->size_bytes) {
		uint64_t left = rq->size_bytes - offset;
		size_t length = left < rq->bs_bytes ? (size_t)left : (size_t)rq->bs_bytes;
		int64_t elapsed_ns;
		size_t n;

		if (length < rq->bs_bytes && rq->direct) {
			leave_direct(copy->fd);
			*conv = rq->read ? COPY_CONV_NONE : COPY_CONV_FSYNC;
		}
		n = copy_record(copy, record++, length);
		elapsed_ns = clock_ns(CLOCK_MONOTONIC_COARSE) - start_ns;
		copy->bytes += n;
		if ((uint64_t)elapsed_ns / NS_PER_S < copy->seconds)
			copy->second_bytes[elapsed_ns / NS_PER_S] += n;
		if (n == rq->bs_bytes)
			copy->records_full++;
		else if (n)
			copy->records_partial++;
		offset += n;
		if (n < length) {
			copy->error = errno;
			copy->error_offset = rq->seek_bytes + offset;
			return;
		}
		if (elapsed_ns > copy->deadline_ns && offset < rq->size_bytes) {
			copy->late = true;
			return;
		}
	}
}

static void sync_all(struct copy *copy, enum copy_conv conv)
{
	int64_t start_ns = clock_ns(CLOCK_MONOTONIC);
	int r = 0;

	if (conv == COPY_CONV_FDATASYNC)
		r = fdatasync(copy->fd);
	else if (conv == COPY_CONV_FSYNC)
		r = fsync(copy->fd);
	if (r) {
		copy->error = errno;
		copy->error_in_sync = true;
	}
	if (conv != COPY_CONV_NONE)
		copy->sync_ns = clock_ns(CLOCK_MONOTONIC) - start_ns;
}

static int report(const struct copy *copy, struct failure *why)
{
	if (copy->error && copy->error_in_sync)
		return fail(why, -copy->error, FAILURE_SAMPLE, "measure", copy->target,
		            "See the kernel log and the disk's own health data.",
		            "Syncing %s after %llu bytes failed", copy->target,
		            (unsigned long long)copy->bytes);
	if (copy->error)
		return fail(why, -copy->error, FAILURE_SAMPLE, "measure", copy->target,
		            "See the kernel log and the disk's own health data.", "%s %s failed at byte %llu",
		            copy->request.read ? "Reading" : "Writing", copy->target,
		            (unsigned long long)copy->error_offset);
	return fail(why, -ETIMEDOUT, FAILURE_SAMPLE, "measure", copy->target,
	            "Make the workload smaller, or its deadline in the plan longer.",
	            "The workload copied %llu of %llu bytes in %lld ms, then its time was over",
	            (unsigned long long)copy->bytes, (unsigned long long)copy->request.size_bytes,
	            (long long)(copy->deadline_ns / 1000000));
}

int copy_run(struct copy *copy, struct failure *why)
{
	enum copy_conv conv = copy->request.conv;
	int64_t cpu_ns, start_ns;

	if (lseek(copy->fd, (off_t)copy->request.seek_bytes, SEEK_SET) < 0)
		return fail(why, -errno, FAILURE_CELL, "measure", copy->target, "Correct seek in the plan.",
		            "Seeking to byte %llu failed", (unsigned long long)copy->request.seek_bytes);
	cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	start_ns = clock_ns(CLOCK_MONOTONIC);
	copy_all(copy, &conv);
	if (!copy->error && !copy->late)
		sync_all(copy, conv);
	copy->ns = clock_ns(CLOCK_MONOTONIC) - start_ns;
	copy->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
	return copy->error || copy->late ? report(copy, why) : 0;
}

void copy_close(struct copy *copy)
{
	if (copy->fd >= 0)
		close(copy->fd);
	free(copy->second_bytes);
	copy_pool_free(copy);
	copy->fd = -1;
	copy->second_bytes = NULL;
}

void copy_equivalent(const struct copy *copy, char *buf, size_t size)
{
	const struct copy_request *rq = &copy->request;
	bool whole_seek = rq->seek_bytes % rq->bs_bytes == 0, whole = rq->size_bytes % rq->bs_bytes == 0;
	char oflag[64];
	int n;

	if (rq->read) {
		n = snprintf(buf, size, "%sdd if=%s of=/dev/null bs=%llu count=%llu",
		             rq->drop_caches ? "sync; echo 3 >/proc/sys/vm/drop_caches; " : "", copy->target,
		             (unsigned long long)rq->bs_bytes,
		             (unsigned long long)(rq->size_bytes / rq->bs_bytes));
		if (rq->seek_bytes)
			n += snprintf(buf + n, size - (size_t)n, " skip=%llu",
			              (unsigned long long)(whole_seek ? rq->seek_bytes / rq->bs_bytes
			                                              : rq->seek_bytes));
		if (rq->direct || (rq->seek_bytes && !whole_seek))
			snprintf(buf + n, size - (size_t)n, " iflag=%s%s%s", rq->direct ? "direct" : "",
			         rq->direct && rq->seek_bytes && !whole_seek ? "," : "",
			         rq->seek_bytes && !whole_seek ? "skip_bytes" : "");
		return;
	}
	n = snprintf(buf, size, "dd if=%s of=%s bs=%llu count=%llu",
	             rq->incompressible ? "FILE_OF_RANDOM_BYTES" : "/dev/zero", copy->target,
	             (unsigned long long)rq->bs_bytes,
	             (unsigned long long)(whole ? rq->size_bytes / rq->bs_bytes : rq->size_bytes));
	if (!whole)
		n += snprintf(buf + n, size - (size_t)n, " iflag=count_bytes,fullblock");
	if (rq->seek_bytes)
		n += snprintf(buf + n, size - (size_t)n, " seek=%llu",
		              (unsigned long long)(whole_seek ? rq->seek_bytes / rq->bs_bytes
		                                              : rq->seek_bytes));
	snprintf(oflag, sizeof(oflag), "%s%s%s%s", rq->direct ? ",direct" : "", rq->dsync ? ",dsync" : "",
	         rq->sync ? ",sync" : "", rq->seek_bytes && !whole_seek ? ",seek_bytes" : "");
	if (oflag[0])
		n += snprintf(buf + n, size - (size_t)n, " oflag=%s", oflag + 1);
	if (rq->conv != COPY_CONV_NONE)
		snprintf(buf + n, size - (size_t)n, " conv=%s",
		         rq->conv == COPY_CONV_FSYNC ? "fsync" : "fdatasync");
}

json_t *copy_json(const struct copy *copy)
{
	json_t *seconds = json_array();
	double s = (double)copy->ns / NS_PER_S;
	char equivalent[1024];

	copy_equivalent(copy, equivalent, sizeof(equivalent));
	for (size_t i = 0; i < copy->seconds && (int64_t)i <= (copy->ns - 1) / NS_PER_S; i++)
		json_array_append_new(seconds, json_integer((json_int_t)copy->second_bytes[i]));
	return json_pack("{s:I, s:I, s:f, s:f, s:I, s:I, s:o, s:I, s:I, s:s}", "bytes",
	                 (json_int_t)copy->bytes, "ns", (json_int_t)copy->ns, "mb_per_s",
	                 (double)copy->bytes / 1e6 / s, "mib_per_s", (double)copy->bytes / 1048576 / s,
	                 "records_full", (json_int_t)copy->records_full, "records_partial",
	                 (json_int_t)copy->records_partial, "second_bytes", seconds, "sync_ns",
	                 (json_int_t)copy->sync_ns, "cpu_ns", (json_int_t)copy->cpu_ns, "equivalent",
	                 equivalent);
}
