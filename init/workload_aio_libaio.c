/* SPDX-License-Identifier: GPL-2.0-or-later
 * The engine of aio on the kernel's native asynchronous I/O. */
#include "workload_aio_engine.h"

#include <errno.h>
#include <libaio.h>
#include <stdlib.h>

struct libaio {
	io_context_t context;
	struct iocb *iocbs, **list;
	struct io_event *events;
};

static void libaio_close(struct aio_job *job)
{
	struct libaio *l = job->engine;

	if (!l)
		return;
	if (l->context)
		io_destroy(l->context);
	free(l->iocbs);
	free(l->list);
	free(l->events);
	free(l);
	job->engine = NULL;
}

static int libaio_open(struct aio_job *job)
{
	unsigned int depth = job->aio->request.depth;
	struct libaio *l = calloc(1, sizeof(*l));

	job->engine = l;
	if (!l)
		return -ENOMEM;
	l->iocbs = calloc(depth, sizeof(*l->iocbs));
	l->list = calloc(depth, sizeof(struct iocb *));
	l->events = calloc(depth, sizeof(*l->events));
	if (!l->iocbs || !l->list || !l->events)
		return -ENOMEM;
	for (unsigned int i = 0; i < depth; i++) {
		l->iocbs[i].aio_fildes = job->fd;
		l->iocbs[i].data = (void *)(uintptr_t)i;
	}
	return io_setup((int)depth, &l->context);
}

static int libaio_submit(struct aio_job *job, const uint32_t *slots, uint32_t count)
{
	uint64_t bs = job->aio->request.bs_bytes;
	struct libaio *l = job->engine;

	for (uint32_t i = 0; i < count; i++) {
		const struct aio_slot *slot = &job->slots[slots[i]];
		struct iocb *iocb = &l->iocbs[slots[i]];

		iocb->aio_lio_opcode = slot->write ? IO_CMD_PWRITE : IO_CMD_PREAD;
		iocb->u.c.buf = slot->data + slot->done_bytes;
		iocb->u.c.nbytes = bs - slot->done_bytes;
		iocb->u.c.offset = (long long)aio_slot_byte(job, slot);
		l->list[i] = iocb;
	}
	return io_submit(l->context, count, l->list);
}

static int libaio_reap(struct aio_job *job, int64_t wait_ns)
{
	struct libaio *l = job->engine;
	struct timespec wait = {.tv_sec = wait_ns / 1000000000, .tv_nsec = wait_ns % 1000000000};
	int n = io_getevents(l->context, wait_ns > 0, (long)job->aio->request.depth, l->events, &wait);

	for (int i = 0; i < n; i++)
		job->done[i] = (struct aio_done){
		    .slot = (uint32_t)(uintptr_t)l->events[i].data,
		    .result = (int64_t)l->events[i].res,
		};
	return n;
}

const struct aio_engine aio_libaio = {
    .name = "libaio",
    .open = libaio_open,
    .submit = libaio_submit,
    .reap = libaio_reap,
    .close = libaio_close,
};
