/* SPDX-License-Identifier: GPL-2.0-or-later
 * The engine of aio on io_uring, by its system calls. Both rings are one mapping (kernels since 5.4). */
#include "workload_aio_engine.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct uring {
	int fd;
	unsigned char *rings;
	size_t rings_bytes, entries_bytes;
	struct io_uring_sqe *entries;
	unsigned int *sq_head, *sq_tail, *sq_array, sq_mask;
	unsigned int *cq_head, *cq_tail, cq_mask;
	struct io_uring_cqe *cqes;
};

static void uring_close(struct aio_job *job)
{
	struct uring *u = job->engine;

	if (!u)
		return;
	/* Closing cancels, and the kernel still writes to the buffers: wait for what can be waited for. */
	while (job->in_flight && !job->late && !job->error) {
		int n = aio_uring.reap(job, 1000000000);

		if (n < 0 && n != -EINTR)
			break;
		job->in_flight -= n > 0 ? (uint32_t)n : 0;
	}
	if (u->entries)
		munmap(u->entries, u->entries_bytes);
	if (u->rings)
		munmap(u->rings, u->rings_bytes);
	if (u->fd >= 0)
		close(u->fd);
	free(u);
	job->engine = NULL;
}

static void *map_ring(const struct uring *u, size_t bytes, off_t what)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, u->fd, what);

	return p == MAP_FAILED ? NULL : p;
}

static int uring_open(struct aio_job *job)
{
	struct io_uring_params p = {.flags = 0};
	struct uring *u = calloc(1, sizeof(*u));

	job->engine = u;
	if (!u)
		return -ENOMEM;
	u->fd = (int)syscall(SYS_io_uring_setup, job->aio->request.depth, &p);
	if (u->fd < 0)
		return -errno;
	/* Waiting with a timeout is there since 5.11. */
	if (!(p.features & IORING_FEAT_SINGLE_MMAP) || !(p.features & IORING_FEAT_EXT_ARG))
		return -EOPNOTSUPP;
	u->rings_bytes = p.sq_off.array + p.sq_entries * sizeof(unsigned int);
	if (u->rings_bytes < p.cq_off.cqes + p.cq_entries * sizeof(*u->cqes))
		u->rings_bytes = p.cq_off.cqes + p.cq_entries * sizeof(*u->cqes);
	u->entries_bytes = p.sq_entries * sizeof(*u->entries);
	u->rings = map_ring(u, u->rings_bytes, IORING_OFF_SQ_RING);
	u->entries = map_ring(u, u->entries_bytes, IORING_OFF_SQES);
	if (!u->rings || !u->entries)
		return -ENOMEM;
	u->sq_head = (unsigned int *)(u->rings + p.sq_off.head);
	u->sq_tail = (unsigned int *)(u->rings + p.sq_off.tail);
	u->sq_array = (unsigned int *)(u->rings + p.sq_off.array);
	u->sq_mask = p.sq_entries - 1;
	u->cq_head = (unsigned int *)(u->rings + p.cq_off.head);
	u->cq_tail = (unsigned int *)(u->rings + p.cq_off.tail);
	u->cq_mask = p.cq_entries - 1;
	u->cqes = (struct io_uring_cqe *)(u->rings + p.cq_off.cqes);
	return 0;
}

static int uring_submit(struct aio_job *job, const uint32_t *slots, uint32_t count)
{
	struct uring *u = job->engine;
	unsigned int tail = *u->sq_tail, begun = tail;
	uint64_t bs = job->aio->request.bs_bytes;
	int n;

	for (uint32_t i = 0; i < count; i++, tail++) {
		const struct aio_slot *slot = &job->slots[slots[i]];
		struct io_uring_sqe *e = &u->entries[tail & u->sq_mask];

		/* All other fields are zero from the start: the kernel reads entries, and never writes them.
		 */
		e->opcode = slot->write ? IORING_OP_WRITE : IORING_OP_READ;
		e->fd = job->fd;
		e->addr = (uintptr_t)(slot->data + slot->done_bytes);
		e->len = (uint32_t)(bs - slot->done_bytes);
		e->off = aio_slot_byte(job, slot);
		e->user_data = slots[i];
		u->sq_array[tail & u->sq_mask] = tail & u->sq_mask;
	}
	__atomic_store_n(u->sq_tail, tail, __ATOMIC_RELEASE);
	n = (int)syscall(SYS_io_uring_enter, u->fd, count, 0, 0, NULL, 0);
	n = n < 0 ? -errno : n;
	/* What the kernel did not take is taken back: the caller offers it again. */
	__atomic_store_n(u->sq_tail, begun + (unsigned int)(n > 0 ? n : 0), __ATOMIC_RELEASE);
	return n;
}

static int uring_reap(struct aio_job *job, int64_t wait_ns)
{
	struct uring *u = job->engine;
	unsigned int head = *u->cq_head, tail = __atomic_load_n(u->cq_tail, __ATOMIC_ACQUIRE);
	int n = 0;

	if (head == tail) {
		struct __kernel_timespec wait = {.tv_sec = wait_ns / 1000000000,
		                                 .tv_nsec = wait_ns % 1000000000};
		struct io_uring_getevents_arg arg = {.ts = (uintptr_t)&wait};
		long r = syscall(SYS_io_uring_enter, u->fd, 0, wait_ns > 0,
		                 IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &arg, sizeof(arg));

		if (r < 0 && errno != ETIME && errno != EINTR)
			return -errno;
		tail = __atomic_load_n(u->cq_tail, __ATOMIC_ACQUIRE);
	}
	for (; head != tail && (unsigned int)n < job->aio->request.depth; head++, n++) {
		const struct io_uring_cqe *c = &u->cqes[head & u->cq_mask];

		job->done[n] = (struct aio_done){.slot = (uint32_t)c->user_data, .result = c->res};
	}
	__atomic_store_n(u->cq_head, head, __ATOMIC_RELEASE);
	return n;
}

const struct aio_engine aio_uring = {
    .name = "io_uring",
    .open = uring_open,
    .submit = uring_submit,
    .reap = uring_reap,
    .close = uring_close,
};
