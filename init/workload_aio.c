/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workload_aio.h"

#include "file.h"
#include "workload_aio_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct aio_engine *const engines[] = {&aio_libaio, &aio_uring};

static uint64_t unsigned_of(const json_t *workload, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(workload, key));

	return value > 0 ? (uint64_t)value : 0;
}

int aio_parse(const json_t *workload, struct aio_request *request)
{
	const char *type = json_string_value(json_object_get(workload, "type"));
	bool fills = type && !strcmp(type, "precondition");

	*request = (struct aio_request){
	    .bs_bytes = unsigned_of(workload, "bs_bytes"),
	    .size_bytes = unsigned_of(workload, "size_bytes"),
	    .duration_ns = (int64_t)unsigned_of(workload, "duration_ms") * 1000000,
	    .rounds = (unsigned int)unsigned_of(workload, "rounds"),
	    .passes = (unsigned int)unsigned_of(workload, "passes"),
	    .offset_bytes = unsigned_of(workload, "offset_bytes"),
	    .span_bytes = unsigned_of(workload, "span_bytes"),
	    .iops = unsigned_of(workload, "iops"),
	    .seed = unsigned_of(workload, "seed"),
	    .depth = (unsigned int)unsigned_of(workload, "depth"),
	    .jobs = (unsigned int)unsigned_of(workload, "jobs"),
	    .random_percent = (unsigned int)unsigned_of(workload, "random_percent"),
	    .read_percent = (unsigned int)unsigned_of(workload, "read_percent"),
	    .direct = json_is_true(json_object_get(workload, "direct")),
	    .verify = json_is_true(json_object_get(workload, "verify")),
	    .drop_caches = json_is_true(json_object_get(workload, "drop_caches")),
	    .engine = json_string_value(json_object_get(workload, "engine")),
	};
	if (fills) {
		request->jobs = 1;
		request->direct = true;
	}
	if (!type || (!fills && strcmp(type, "aio")) || !request->engine || !request->bs_bytes ||
	    request->bs_bytes % 512 || !request->depth || !request->jobs || request->random_percent > 100 ||
	    request->read_percent > 100 || fills != !!request->passes ||
	    !!request->size_bytes + !!request->duration_ns + !!request->passes != 1 ||
	    (request->rounds > 1 && request->duration_ns % 1000000000))
		return -EINVAL;
	return 0;
}

static const struct aio_engine *engine_of(const char *name)
{
	for (size_t i = 0; i < sizeof(engines) / sizeof(*engines); i++)
		if (!strcmp(engines[i]->name, name))
			return engines[i];
	return NULL;
}

/* The area that each job uses, from the target's size, and how many I/Os it makes. */
static int share_out(struct aio *aio, uint64_t target_bytes, struct failure *why)
{
	struct aio_request *rq = &aio->request;
	uint64_t each, ios;

	if (!rq->span_bytes && target_bytes > rq->offset_bytes)
		rq->span_bytes = target_bytes - rq->offset_bytes;
	each = rq->span_bytes / rq->jobs / rq->bs_bytes;
	if (!each || rq->offset_bytes > target_bytes || rq->span_bytes > target_bytes - rq->offset_bytes)
		return fail(
		    why, -ENOSPC, FAILURE_CELL, "measure", aio->target,
		    "Make offset, span, or bs times jobs of the workload smaller, or use a larger disk.",
		    "The workload uses bytes %llu to %llu, %s has %llu", (unsigned long long)rq->offset_bytes,
		    (unsigned long long)(rq->offset_bytes + rq->span_bytes), aio->target,
		    (unsigned long long)target_bytes);
	if (rq->passes)
		rq->size_bytes = each * rq->jobs * rq->bs_bytes * rq->passes;
	ios = rq->size_bytes / rq->bs_bytes;
	for (unsigned int i = 0; i < rq->jobs; i++) {
		struct aio_job *job = &aio->jobs[i];

		job->blocks = each;
		job->area_bytes = rq->offset_bytes + i * each * rq->bs_bytes;
		job->limit = rq->size_bytes ? ios / rq->jobs + (i < ios % rq->jobs) : UINT64_MAX;
		job->interval_ns = rq->iops ? 1e9 * rq->jobs / (double)rq->iops : 0;
	}
	return 0;
}

static int open_job(struct aio_job *job, uint64_t *size_bytes, struct failure *why)
{
	const struct aio *aio = job->aio;
	const struct aio_request *rq = &aio->request;
	int flags = rq->read_percent == 100                ? O_RDONLY
	            : rq->read_percent == 0 && !rq->verify ? O_WRONLY
	                                                   : O_RDWR;
	struct stat st;
	int r;

	job->fd = open(aio->target, flags | O_CLOEXEC | (rq->direct ? O_DIRECT : 0));
	if (job->fd < 0) {
		r = -errno;
		return fail(why, r, FAILURE_SAMPLE, "measure", aio->target,
		            r == -EROFS ? "DRBD must be primary here: see the log before this."
		                        : "See the node's kernel log.",
		            "The workload cannot open %s", aio->target);
	}
	r = fstat(job->fd, &st);
	*size_bytes = (uint64_t)st.st_size;
	if (r || (S_ISBLK(st.st_mode) && ioctl(job->fd, BLKGETSIZE64, size_bytes)))
		return fail(why, -errno, FAILURE_SAMPLE, "measure", aio->target, "See the node's kernel log.",
		            "The size of %s cannot be read", aio->target);
	return 0;
}

static int make_job(struct aio_job *job)
{
	const struct aio_request *rq = &job->aio->request;
	int r = aio_data_make(job);

	job->slots = calloc(rq->depth, sizeof(*job->slots));
	job->free = calloc(rq->depth, sizeof(*job->free));
	job->queue = calloc(rq->depth, sizeof(*job->queue));
	job->done = calloc(rq->depth, sizeof(*job->done));
	job->seconds = malloc(job->aio->seconds * sizeof(*job->seconds));
	for (int op = 0; op < AIO_OPS; op++)
		job->latency[op] = malloc(sizeof(struct histogram));
	if (rq->verify && rq->read_percent < 100)
		job->written = malloc((size_t)job->blocks / 8 + 1);
	if (r || !job->slots || !job->free || !job->queue || !job->done || !job->seconds ||
	    !job->latency[0] || !job->latency[1] || (!job->written && rq->verify && rq->read_percent < 100))
		return -ENOMEM;
	/* Touched now, so that no page fault falls into the run. */
	for (uint32_t i = 0; i < rq->depth; i++) {
		job->slots[i] = (struct aio_slot){.start_ns = -1};
		job->free[i] = rq->depth - 1 - i;
		job->queue[i] = UINT32_MAX;
		job->done[i] = (struct aio_done){.slot = UINT32_MAX};
	}
	job->free_count = rq->depth;
	memset(job->seconds, 0, job->aio->seconds * sizeof(*job->seconds));
	histogram_clear(job->latency[AIO_READ]);
	histogram_clear(job->latency[AIO_WRITE]);
	if (job->written)
		memset(job->written, 0, (size_t)job->blocks / 8 + 1);
	return job->aio->engine->open(job);
}

/* Jobs go to the allowed CPUs from the last one down: the first has most of the node's own work. */
static void choose_cpus(struct aio *aio)
{
	unsigned int next = 0, count;
	cpu_set_t allowed;

	CPU_ZERO(&allowed);
	if (sched_getaffinity(0, sizeof(allowed), &allowed) || !CPU_COUNT(&allowed))
		CPU_SET(0, &allowed);
	count = (unsigned int)CPU_COUNT(&allowed);
	for (unsigned int i = 0; i < aio->request.jobs; i++) {
		unsigned int wanted = count - 1 - i % count;

		next = 0;
		for (unsigned int seen = 0; !CPU_ISSET(next, &allowed) || seen++ < wanted;)
			next++;
		aio->jobs[i].cpu = next;
	}
}

static int drop_caches(struct failure *why)
{
	int r;

	sync();
	r = write_file("/proc/sys/vm/drop_caches", "3");
	if (r)
		fail(why, r, FAILURE_SAMPLE, "measure", "/proc/sys/vm/drop_caches",
		     "The node must run as root.", "The page cache cannot be dropped");
	return r;
}

int aio_prepare(struct aio *aio, const struct aio_request *request, const char *target, long timeout_ms,
                struct failure *why)
{
	uint64_t size_bytes = 0;
	int r = 0;

	memset(aio, 0, sizeof(*aio));
	aio->request = *request;
	aio->request.rounds = request->rounds ? request->rounds : 1;
	snprintf(aio->target, sizeof(aio->target), "%s", target);
	aio->nonce = request->seed ^ (uint64_t)aio_clock_ns();
	aio->nonce = aio_random(&aio->nonce);
	aio->deadline_ns = (int64_t)timeout_ms * 1000000;
	aio->seconds = (size_t)timeout_ms / 1000 + 2;
	aio->engine = engine_of(request->engine);
	aio->jobs = calloc(request->jobs, sizeof(*aio->jobs));
	if (!aio->engine || !aio->jobs)
		return fail(why, aio->engine ? -ENOMEM : -EINVAL, FAILURE_CELL, "measure", request->engine,
		            "Report this: lab and node differ.", "The workload cannot be prepared");
	for (unsigned int i = 0; i < request->jobs; i++) {
		aio->jobs[i].aio = aio;
		aio->jobs[i].number = i;
		aio->jobs[i].fd = aio->jobs[i].bad_byte = -1;
		aio->jobs[i].random = request->seed * 1000003 + i;
	}
	choose_cpus(aio);
	for (unsigned int i = 0; i < request->jobs && !r; i++)
		r = open_job(&aio->jobs[i], &size_bytes, why);
	r = r ? r : share_out(aio, size_bytes, why);
	if (r)
		return r;
	for (unsigned int i = 0; i < request->jobs && !r; i++)
		r = make_job(&aio->jobs[i]);
	if (r)
		return fail(why, r, FAILURE_CELL, "measure", request->engine,
		            r == -ENOMEM ? "Make bs, depth or jobs of the workload smaller."
		                         : "Does the node's kernel have this engine?",
		            "%u jobs with %u I/Os of %llu bytes each cannot be made ready", request->jobs,
		            request->depth, (unsigned long long)request->bs_bytes);
	return request->drop_caches ? drop_caches(why) : 0;
}

struct start {
	struct aio_job *job;
	sem_t *ready, *go;
};

static void *run_thread(void *argument)
{
	const struct start *start = argument;
	struct aio_job *job = start->job;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(job->cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		job->error = errno;
	/* The kernel rounds waits up by 50 us, else; intended starts would be late by as much. */
	prctl(PR_SET_TIMERSLACK, 1);
	sem_post(start->ready);
	while (sem_wait(start->go))
		;
	if (!job->error)
		aio_job_run(job);
	/* What a buffered write is worth shows when it is on the disk. */
	if (!job->error && !job->aio->request.direct && job->aio->request.read_percent < 100 &&
	    fdatasync(job->fd))
		job->errors[errno < AIO_ERRNOS ? errno : 0]++;
	return NULL;
}

/* All threads, from one moment on. 0 or -errno. */
static int run_threads(struct aio *aio, pthread_t *threads, struct start *starts)
{
	struct aio_request *rq = &aio->request;
	struct timespec cpu;
	unsigned int made = 0;
	sem_t ready, go;
	int r = 0;

	sem_init(&ready, 0, 0);
	sem_init(&go, 0, 0);
	for (; made < rq->jobs && !r; made += !r) {
		starts[made] = (struct start){&aio->jobs[made], &ready, &go};
		r = -pthread_create(&threads[made], NULL, run_thread, &starts[made]);
	}
	for (unsigned int i = 0; i < made; i++)
		while (sem_wait(&ready))
			;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	aio->cpu_ns = -(cpu.tv_sec * INT64_C(1000000000) + cpu.tv_nsec);
	aio->start_ns = aio_clock_ns();
	aio->deadline_ns += aio->start_ns;
	for (unsigned int i = 0; i < made; i++) {
		aio->jobs[i].end_ns =
		    rq->duration_ns ? aio->start_ns + rq->duration_ns * rq->rounds : INT64_MAX;
		if (r)
			aio->jobs[i].limit = 0;
	}
	for (unsigned int i = 0; i < made; i++)
		sem_post(&go);
	for (unsigned int i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
	aio->ns = aio_clock_ns() - aio->start_ns;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	aio->cpu_ns += cpu.tv_sec * INT64_C(1000000000) + cpu.tv_nsec;
	sem_destroy(&ready);
	sem_destroy(&go);
	return r;
}

/* The first job that could not go on, as a failure. */
static int report(const struct aio *aio, struct failure *why)
{
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < aio->request.jobs; i++) {
		const struct aio_job *job = &aio->jobs[i];

		if (job->error)
			return fail(why, -job->error, FAILURE_SAMPLE, "measure", aio->target,
			            "See the node's kernel log.", "%s failed in job %u on CPU %u",
			            aio->engine->name, i, job->cpu);
		if (job->late)
			return fail(why, -ETIMEDOUT, FAILURE_SAMPLE, "measure", aio->target,
			            "Make the workload smaller, or its deadline in the plan longer.",
			            "Time was over when job %u had %u I/Os in flight", i, job->in_flight);
		bytes += job->bytes[AIO_READ] + job->bytes[AIO_WRITE];
	}
	if (!bytes) {
		char fault[1024];

		aio_fault(aio, fault, sizeof(fault));
		return fail(why, -EIO, FAILURE_SAMPLE, "measure", aio->target,
		            "See the kernel log and the disk's own health data.", "No I/O succeeded: %s",
		            fault);
	}
	return 0;
}

int aio_run(struct aio *aio, struct failure *why)
{
	pthread_t *threads = calloc(aio->request.jobs, sizeof(*threads));
	struct start *starts = calloc(aio->request.jobs, sizeof(*starts));
	int r = threads && starts ? 0 : -ENOMEM;

	r = r ? r : run_threads(aio, threads, starts);
	free(threads);
	free(starts);
	if (r)
		return fail(why, r, FAILURE_SAMPLE, "measure", aio->target, "See the node's kernel log.",
		            "The jobs' threads cannot be started");
	for (unsigned int i = 0; i < aio->request.jobs; i++)
		if (aio->jobs[i].written && !aio->jobs[i].error && !aio->jobs[i].late)
			aio_data_verify(&aio->jobs[i], aio->deadline_ns);
	return report(aio, why);
}

void aio_close(struct aio *aio)
{
	for (unsigned int i = 0; aio->jobs && i < aio->request.jobs; i++) {
		struct aio_job *job = &aio->jobs[i];

		if (job->engine)
			aio->engine->close(job);
		aio_data_free(job);
		if (job->fd >= 0)
			close(job->fd);
		free(job->slots);
		free(job->free);
		free(job->queue);
		free(job->done);
		free(job->seconds);
		free(job->written);
		free(job->latency[AIO_READ]);
		free(job->latency[AIO_WRITE]);
	}
	free(aio->jobs);
	aio->jobs = NULL;
}
