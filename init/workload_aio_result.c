/* SPDX-License-Identifier: GPL-2.0-or-later
 * What aio has to tell after a run. */
#include "workload_aio_engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct totals {
	uint64_t ios, bytes, partial, submit_again, not_issued, verified, verify_bad;
	uint64_t errors[AIO_ERRNOS], failed;
	int64_t bad_byte;
};

static void add_up(const struct aio *aio, struct totals *t)
{
	*t = (struct totals){.bad_byte = -1};
	for (unsigned int i = 0; i < aio->request.jobs; i++) {
		const struct aio_job *job = &aio->jobs[i];

		for (int op = 0; op < AIO_OPS; op++) {
			t->ios += job->latency[op]->count;
			t->bytes += job->bytes[op];
		}
		for (int e = 0; e < AIO_ERRNOS; e++) {
			t->errors[e] += job->errors[e];
			t->failed += job->errors[e];
		}
		t->partial += job->partial;
		t->submit_again += job->submit_again;
		t->not_issued += job->not_issued;
		t->verified += job->verified;
		t->verify_bad += job->verify_bad;
		if (t->bad_byte < 0)
			t->bad_byte = job->bad_byte;
	}
}

static const char *name_of(int error, char *buf, size_t size)
{
	const char *name = error ? errno_name(error) : "";

	if (*name)
		return name;
	snprintf(buf, size, "errno %d", error);
	return error ? buf : "unknown";
}

void aio_fault(const struct aio *aio, char *buf, size_t size)
{
	struct totals t;
	size_t at = 0;
	char name[32];

	add_up(aio, &t);
	*buf = '\0';
	if (t.failed)
		at += (size_t)snprintf(buf, size, "%llu I/Os failed (", (unsigned long long)t.failed);
	for (int e = 0; e < AIO_ERRNOS && at < size; e++)
		if (t.errors[e])
			at +=
			    (size_t)snprintf(buf + at, size - at, "%s %llu, ", name_of(e, name, sizeof(name)),
			                     (unsigned long long)t.errors[e]);
	if (t.failed && at < size)
		at += (size_t)snprintf(buf + at, size - at, "the first at byte %lld)", (long long)t.bad_byte);
	if (t.verify_bad && at < size)
		snprintf(buf + at, size - at,
		         "%s%llu of %llu blocks do not hold what was written, the first at byte %lld",
		         t.failed ? "; " : "", (unsigned long long)t.verify_bad,
		         (unsigned long long)t.verified, (long long)t.bad_byte);
}

static size_t add(char *buf, size_t size, size_t at, const char *key, uint64_t value)
{
	if (at >= size)
		return at;
	return at + (size_t)snprintf(buf + at, size - at, " --%s=%llu", key, (unsigned long long)value);
}

static size_t add_jobs(const struct aio *aio, char *buf, size_t size, size_t at)
{
	const struct aio_request *rq = &aio->request;
	uint64_t area = aio->jobs[0].blocks * rq->bs_bytes;

	at = add(buf, size, at, "numjobs", rq->jobs);
	at = add(buf, size, at, "offset", rq->offset_bytes);
	at = add(buf, size, at, "size", area);
	if (rq->jobs > 1)
		at = add(buf, size, at, "offset_increment", area);
	for (unsigned int i = 0; i < rq->jobs && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%u",
		                       i ? "," : " --cpus_allowed=", aio->jobs[i].cpu);
	if (rq->jobs > 1 && at < size)
		at += (size_t)snprintf(buf + at, size - at, " --cpus_allowed_policy=split");
	return at;
}

void aio_equivalent(const struct aio *aio, char *buf, size_t size)
{
	static const char *const names[2][3] = {{"read", "write", "rw"}, {"randread", "randwrite", "randrw"}};
	const struct aio_request *rq = &aio->request;
	int op = rq->read_percent == 100 ? 0 : rq->read_percent == 0 ? 1 : 2;
	size_t at = (size_t)snprintf(
	    buf, size,
	    "fio --name=aio --filename=%s --thread --group_reporting --ioengine=%s --rw=%s --direct=%d",
	    aio->target, aio->engine->name, names[rq->random_percent > 0][op], rq->direct);

	at = add(buf, size, at, "bs", rq->bs_bytes);
	at = add(buf, size, at, "iodepth", rq->depth);
	at = add_jobs(aio, buf, size, at);
	if (op == 2)
		at = add(buf, size, at, "rwmixread", rq->read_percent);
	if (rq->random_percent && rq->random_percent < 100)
		at = add(buf, size, at, "percentage_random", rq->random_percent);
	if (rq->random_percent && at < size)
		at += (size_t)snprintf(buf + at, size - at, " --norandommap");
	if (rq->passes)
		at = add(buf, size, at, "loops", rq->passes);
	else if (rq->size_bytes)
		at = add(buf, size, at, "io_size", rq->size_bytes / rq->jobs);
	else if (at < size)
		at += (size_t)snprintf(buf + at, size - at, " --time_based --runtime=%llums",
		                       (unsigned long long)(rq->duration_ns / 1000000 * rq->rounds));
	if (rq->iops)
		at = add(buf, size, at, "rate_iops", rq->iops / rq->jobs);
	if (op && at < size)
		snprintf(buf + at, size - at, " --refill_buffers%s", rq->direct ? "" : " --end_fsync=1");
}

static json_t *errors_json(const struct totals *t)
{
	json_t *errors = json_object();
	char name[32];

	for (int e = 0; e < AIO_ERRNOS; e++)
		if (t->errors[e])
			json_object_set_new(errors, name_of(e, name, sizeof(name)),
			                    json_integer((json_int_t)t->errors[e]));
	return errors;
}

/* Of reads and writes apart; NULL where there are none. *ALL gets them too. */
static json_t *op_json(const struct aio *aio, int op, struct histogram *one, struct histogram *all)
{
	uint64_t bytes = 0;

	histogram_clear(one);
	for (unsigned int i = 0; i < aio->request.jobs; i++) {
		histogram_merge(one, aio->jobs[i].latency[op]);
		bytes += aio->jobs[i].bytes[op];
	}
	histogram_merge(all, one);
	if (!one->count)
		return NULL;
	return json_pack("{s:I, s:I, s:o, s:o}", "ios", (json_int_t)one->count, "bytes", (json_int_t)bytes,
	                 "latency_ns", histogram_percentiles_json(one), "histogram", histogram_json(one));
}

/* Second S of all jobs together. */
static struct aio_second second_of(const struct aio *aio, size_t s)
{
	struct aio_second sum = {0};

	for (unsigned int i = 0; i < aio->request.jobs; i++) {
		const struct aio_second *one = &aio->jobs[i].seconds[s];

		sum.ios += one->ios;
		sum.bytes += one->bytes;
		sum.sum_ns += one->sum_ns;
		sum.max_ns = one->max_ns > sum.max_ns ? one->max_ns : sum.max_ns;
	}
	return sum;
}

static int64_t mean_ns(const struct aio_second *sum)
{
	return sum->ios ? sum->sum_ns / (int64_t)sum->ios : 0;
}

struct log {
	json_t *ios, *bytes, *max, *mean;
};

/* I/Os, bytes, the longest and the mean latency of each second. */
static struct log log_of(const struct aio *aio)
{
	struct log log = {json_array(), json_array(), json_array(), json_array()};

	for (size_t s = 0; s < aio->seconds && (int64_t)s <= (aio->ns - 1) / INT64_C(1000000000); s++) {
		struct aio_second sum = second_of(aio, s);

		json_array_append_new(log.ios, json_integer((json_int_t)sum.ios));
		json_array_append_new(log.bytes, json_integer((json_int_t)sum.bytes));
		json_array_append_new(log.max, json_integer(sum.max_ns));
		json_array_append_new(log.mean, json_integer(mean_ns(&sum)));
	}
	return log;
}

/* The same of each round. What was in flight at the end of the last is in none. */
static json_t *rounds_json(const struct aio *aio)
{
	size_t length = (size_t)(aio->request.duration_ns / INT64_C(1000000000));
	json_t *rounds = json_array();

	for (size_t round = 0; round < aio->request.rounds; round++) {
		struct aio_second sum = {0};

		for (size_t s = round * length; s < (round + 1) * length && s < aio->seconds; s++) {
			struct aio_second one = second_of(aio, s);

			sum.ios += one.ios;
			sum.bytes += one.bytes;
			sum.sum_ns += one.sum_ns;
			sum.max_ns = one.max_ns > sum.max_ns ? one.max_ns : sum.max_ns;
		}
		json_array_append_new(rounds,
		                      json_pack("{s:I, s:I, s:I, s:I}", "ios", (json_int_t)sum.ios, "bytes",
		                                (json_int_t)sum.bytes, "mean_ns", (json_int_t)mean_ns(&sum),
		                                "max_ns", (json_int_t)sum.max_ns));
	}
	return rounds;
}

static json_t *details_json(const struct aio *aio, const struct totals *t, const struct log *log)
{
	struct histogram *all = malloc(sizeof(*all)), *one = malloc(sizeof(*one));
	json_t *read = NULL, *write = NULL, *cpus = json_array(), *json = NULL;

	for (unsigned int i = 0; i < aio->request.jobs; i++)
		json_array_append_new(cpus, json_integer(aio->jobs[i].cpu));
	if (all && one) {
		histogram_clear(all);
		read = op_json(aio, AIO_READ, one, all);
		write = op_json(aio, AIO_WRITE, one, all);
		json = json_pack(
		    "{s:s, s:O, s:I, s:f, s:o, s:O, s:O, s:O, s:o, s:I, s:I, s:I, s:I, s:I, s:o*, s:o*}",
		    "engine", aio->engine->name, "cpus", cpus, "ios", (json_int_t)t->ios, "iops",
		    (double)t->ios * 1e9 / (double)aio->ns, "latency_ns", histogram_percentiles_json(all),
		    "second_ios", log->ios, "second_max_ns", log->max, "second_mean_ns", log->mean, "errors",
		    errors_json(t), "partial", (json_int_t)t->partial, "submit_again",
		    (json_int_t)t->submit_again, "not_issued", (json_int_t)t->not_issued, "verified",
		    (json_int_t)t->verified, "verify_bad", (json_int_t)t->verify_bad, "read", read, "write",
		    write);
	}
	if (json && aio->request.rounds > 1)
		json_object_set_new(json, "rounds", rounds_json(aio));
	free(all);
	free(one);
	json_decref(cpus);
	return json;
}

json_t *aio_json(const struct aio *aio)
{
	struct log log = log_of(aio);
	double s = (double)aio->ns / 1e9;
	char equivalent[2048];
	struct totals t;
	json_t *json;

	add_up(aio, &t);
	aio_equivalent(aio, equivalent, sizeof(equivalent));
	json =
	    json_pack("{s:I, s:I, s:f, s:f, s:O, s:I, s:s, s:o}", "bytes", (json_int_t)t.bytes, "ns",
	              (json_int_t)aio->ns, "mb_per_s", (double)t.bytes / 1e6 / s, "mib_per_s",
	              (double)t.bytes / 1048576 / s, "second_bytes", log.bytes, "cpu_ns",
	              (json_int_t)aio->cpu_ns, "equivalent", equivalent, "aio", details_json(aio, &t, &log));
	json_decref(log.ios);
	json_decref(log.bytes);
	json_decref(log.max);
	json_decref(log.mean);
	return json;
}
