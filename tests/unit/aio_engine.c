/* SPDX-License-Identifier: GPL-2.0-or-later
 * The workload aio on files: what it writes, counts, and finds; and what a faulty engine does to it. */
#include "workload_aio_engine.h"
#include "workload_fill.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { FILE_BYTES = 4 << 20, BS = 4096, BLOCKS = FILE_BYTES / BS };

/* Not in /tmp: that may be a file system without O_DIRECT. */
static char path[64];
static const struct aio_request base = {
    .bs_bytes = BS,
    .size_bytes = FILE_BYTES,
    .seed = 1,
    .depth = 8,
    .jobs = 1,
    .direct = true,
    .verify = true,
    .engine = "libaio",
};

static int set_up(void **state)
{
	int fd;

	(void)state;
	mkdir("out", 0755);
	strcpy(path, "out/assay-aio.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(posix_fallocate(fd, 0, FILE_BYTES), 0);
	close(fd);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

/* Runs RQ with ENGINE's submit and reap (NULL: its own); the measurement, and why it is invalid to FAULT. */
static json_t *run(const struct aio_request *rq, const struct aio_engine *engine, char *fault, size_t size)
{
	struct failure why = {.error = 0};
	struct aio aio;
	json_t *json;

	if (aio_prepare(&aio, rq, path, 20000, &why))
		fail_msg("%s: %s", why.message, strerror(why.error));
	aio.engine = engine ? engine : aio.engine;
	if (aio_run(&aio, &why))
		fail_msg("%s: %s", why.message, strerror(why.error));
	aio_fault(&aio, fault, size);
	json = aio_json(&aio);
	assert_non_null(json);
	aio_close(&aio);
	return json;
}

static long long number(const json_t *json, const char *name)
{
	const json_t *value = json_object_get(json_object_get(json, "aio"), name);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static long long sum(const json_t *list)
{
	long long total = 0;

	for (size_t i = 0; i < json_array_size(list); i++)
		total += json_integer_value(json_array_get(list, i));
	return total;
}

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, 512);
}

/* Writes every block once: each sector of the file is then unlike all others, and nothing compresses. */
static void writes_are_unlike(void **state)
{
	static unsigned char data[FILE_BYTES];
	char fault[256], command[128], text[32] = "";
	struct aio_request rq = base;
	FILE *gzip;
	json_t *json;
	int fd;

	(void)state;
	rq.jobs = 2;
	json = run(&rq, NULL, fault, sizeof(fault));
	assert_string_equal(fault, "");
	assert_int_equal(number(json, "ios"), BLOCKS);
	assert_int_equal(number(json, "verified"), BLOCKS);
	assert_int_equal(json_integer_value(json_object_get(json, "bytes")), FILE_BYTES);
	assert_int_equal(sum(json_object_get(json, "second_bytes")), FILE_BYTES);
	assert_int_equal(sum(json_object_get(json_object_get(json, "aio"), "second_ios")), BLOCKS);
	json_decref(json);
	snprintf(command, sizeof(command), "gzip -c %s | wc -c", path);
	gzip = popen(command, "r");
	assert_non_null(gzip);
	assert_non_null(fgets(text, sizeof(text), gzip));
	pclose(gzip);
	assert_true(atoll(text) > FILE_BYTES * 99LL / 100);
	fd = open(path, O_RDONLY);
	assert_int_equal(read(fd, data, sizeof(data)), sizeof(data));
	close(fd);
	qsort(data, FILE_BYTES / 512, 512, by_bytes);
	for (size_t at = 512; at < FILE_BYTES; at += 512)
		assert_true(memcmp(data + at, data + at - 512, 512) != 0);
}

/* Reads, writes, patterns, engines, buffered: all I/Os are there, each with its latency. */
static void every_io_is_counted(void **state)
{
	static const unsigned int percents[] = {0, 50, 100};
	static const char *const names[] = {"libaio", "io_uring"};
	char fault[256];

	(void)state;
	for (int i = 0; i < 36; i++) {
		struct aio_request rq = base;
		struct histogram *h = malloc(sizeof(*h));
		uint64_t counted = 0;
		json_t *json;

		rq.random_percent = percents[i % 3];
		rq.read_percent = percents[i / 3 % 3];
		rq.engine = names[i / 9 % 2];
		rq.direct = i < 18;
		rq.jobs = 1 + (unsigned int)i % 2;
		json = run(&rq, NULL, fault, sizeof(fault));
		assert_string_equal(fault, "");
		assert_int_equal(number(json, "ios"), BLOCKS);
		assert_true((rq.read_percent < 100) == (number(json, "verified") > 0));
		for (int op = 0; op < 2; op++) {
			const json_t *one =
			    json_object_get(json_object_get(json, "aio"), op ? "write" : "read");

			assert_true((one != NULL) == (op ? rq.read_percent < 100 : rq.read_percent > 0));
			if (!one)
				continue;
			assert_int_equal(histogram_read(json_object_get(one, "histogram"), h), 0);
			assert_int_equal(json_integer_value(json_object_get(one, "ios")), h->count);
			assert_int_equal(json_integer_value(json_object_get(one, "bytes")), h->count * BS);
			counted += h->count;
		}
		assert_int_equal(counted, BLOCKS);
		json_decref(json);
		free(h);
	}
}

static unsigned int calls;

/* Of every tenth completion another one's result. */
static int faulty_reap(struct aio_job *job, int64_t wait)
{
	static const int64_t results[] = {-EIO, 0, -EAGAIN, 100, -ENOSPC, -EIO, 512};
	int n = aio_libaio.reap(job, wait);

	for (int i = 0; i < n; i++)
		if (job->done[i].result == BS && ++calls % 10 == 0 && calls <= 70)
			job->done[i].result = results[calls / 10 - 1];
	return n;
}

/* Takes none, or one, or refuses the first. */
static int faulty_submit(struct aio_job *job, const uint32_t *slots, uint32_t count)
{
	switch (++calls % 4) {
	case 0:
		return -EAGAIN;
	case 1:
		return calls == 41 ? -EIO : -EINTR;
	case 2:
		return aio_libaio.submit(job, slots, 1);
	default:
		return aio_libaio.submit(job, slots, count);
	}
}

static void errors_are_named(void **state)
{
	const struct aio_engine faulty = {"libaio", NULL, aio_libaio.submit, faulty_reap, aio_libaio.close};
	char fault[256];
	json_t *json, *errors;

	(void)state;
	calls = 0;
	json = run(&base, &faulty, fault, sizeof(fault));
	errors = json_object_get(json_object_get(json, "aio"), "errors");
	assert_int_equal(json_integer_value(json_object_get(errors, "EIO")), 3);
	assert_int_equal(json_integer_value(json_object_get(errors, "ENOSPC")), 2);
	assert_int_equal(json_integer_value(json_object_get(errors, "EAGAIN")), 1);
	assert_int_equal(json_object_size(errors), 3);
	assert_int_equal(number(json, "partial"), 1);
	assert_int_equal(number(json, "ios"), BLOCKS - 6);
	assert_int_equal(number(json, "verified"), BLOCKS - 6);
	assert_int_equal(number(json, "verify_bad"), 0);
	assert_non_null(strstr(fault, "6 I/Os failed (EIO 3, EAGAIN 1, ENOSPC 2, the first at byte "));
	json_decref(json);
}

static void refusals_lose_nothing(void **state)
{
	const struct aio_engine faulty = {"libaio", NULL, faulty_submit, aio_libaio.reap, aio_libaio.close};
	char fault[256];
	json_t *json;

	(void)state;
	calls = 0;
	json = run(&base, &faulty, fault, sizeof(fault));
	assert_int_equal(number(json, "ios"), BLOCKS - 1);
	assert_true(number(json, "submit_again") > 10);
	assert_non_null(strstr(fault, "1 I/Os failed (EIO 1, "));
	json_decref(json);
}

/* The kernel itself: a limit of file sizes cuts one write short, and refuses what is beyond. */
static void the_kernels_refusals_are_named(void **state)
{
	static const char *const names[] = {"libaio", "io_uring"};
	struct rlimit before, limit;
	char fault[256], wanted[128];

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_IGN);
	for (int i = 0; i < 2; i++) {
		struct aio_request rq = base;
		json_t *json, *errors;

		rq.engine = names[i];
		rq.direct = false;
		rq.depth = 1; /* the rest of the short write is tried before what is beyond */
		limit = (struct rlimit){1000 * BS + 2048, before.rlim_max};
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		json = run(&rq, NULL, fault, sizeof(fault));
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
		errors = json_object_get(json_object_get(json, "aio"), "errors");
		assert_int_equal(json_integer_value(json_object_get(errors, "EFBIG")), 24);
		assert_int_equal(json_object_size(errors), 1);
		assert_int_equal(number(json, "partial"), 1);
		assert_int_equal(number(json, "ios"), 1000);
		assert_int_equal(number(json, "verified"), 1000);
		assert_int_equal(number(json, "verify_bad"), 0);
		snprintf(wanted, sizeof(wanted), "24 I/Os failed (EFBIG 24, the first at byte %d)",
		         1000 * BS + 2048);
		assert_string_equal(fault, wanted);
		json_decref(json);
	}
	signal(SIGXFSZ, SIG_DFL);
}

/* The disk says it has written, and has not: what an earlier run wrote there is still there. */
static int losing_submit(struct aio_job *job, const uint32_t *slots, uint32_t count)
{
	struct aio_slot *slot = &job->slots[slots[0]];
	int n;

	if (++calls != 5)
		return aio_libaio.submit(job, slots, count);
	slot->write = false;
	n = aio_libaio.submit(job, slots, 1);
	slot->write = true;
	return n;
}

/* The disk writes, but elsewhere. */
static int straying_submit(struct aio_job *job, const uint32_t *slots, uint32_t count)
{
	struct aio_slot *slot = &job->slots[slots[0]];
	int n;

	if (++calls != 5)
		return aio_libaio.submit(job, slots, count);
	slot->block--;
	n = aio_libaio.submit(job, slots, 1);
	slot->block++;
	return n;
}

static void wrong_data_is_found(void **state)
{
	const struct aio_engine losing = {"libaio", NULL, losing_submit, aio_libaio.reap, aio_libaio.close},
	                        straying = {"libaio", NULL, straying_submit, aio_libaio.reap,
	                                    aio_libaio.close};
	struct aio_request rq = base;
	char fault[256];

	(void)state;
	rq.depth = 1;
	json_decref(run(&rq, NULL, fault, sizeof(fault)));
	assert_string_equal(fault, "");
	calls = 0;
	json_decref(run(&rq, &losing, fault, sizeof(fault)));
	assert_string_equal(fault, "1 of 1024 blocks do not hold what was written, the first at byte 16384");
	calls = 0;
	json_decref(run(&rq, &straying, fault, sizeof(fault)));
	assert_string_equal(fault, "2 of 1024 blocks do not hold what was written, the first at byte 12288");
}

/* Of libasan; gcc has no header for it. */
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));

static _Atomic bool measuring;
static _Atomic unsigned int allocations, at_last;

static void on_malloc(const volatile void *p, size_t size)
{
	(void)p;
	(void)size;
	allocations += measuring;
}

static void on_free(const volatile void *p)
{
	(void)p;
}

static int watched_submit(struct aio_job *job, const uint32_t *slots, uint32_t count)
{
	measuring = true;
	return aio_libaio.submit(job, slots, count);
}

static int watched_reap(struct aio_job *job, int64_t wait)
{
	int n = aio_libaio.reap(job, wait);

	at_last = allocations;
	return n;
}

/* From the first submission to the last completion nobody allocates (ASan counts). */
static void nothing_is_allocated_meanwhile(void **state)
{
	const struct aio_engine watched = {"libaio", NULL, watched_submit, watched_reap, aio_libaio.close};
	struct aio_request rq = base;
	char fault[256];
	void *volatile p;

	(void)state;
	rq.verify = false;
	rq.random_percent = 100;
	rq.read_percent = 50;
	assert_int_not_equal(__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free), 0);
	json_decref(run(&rq, &watched, fault, sizeof(fault)));
	assert_string_equal(fault, "");
	assert_int_equal(at_last, 0);
	p = malloc(1);
	free(p);
	assert_true(allocations > 0); /* it does count */
	measuring = false;
}

/* Once, the disk takes 200 ms. */
static int stalling_reap(struct aio_job *job, int64_t wait)
{
	int n = aio_libaio.reap(job, wait);

	if (n > 0 && ++calls == 50)
		usleep(200000);
	return n;
}

/* At 1,000 a second, a stall of 200 ms delays some 200 I/Os, by 100 ms in the mean: not one alone. */
static void a_stall_is_not_omitted(void **state)
{
	const struct aio_engine stalling = {"libaio", NULL, aio_libaio.submit, stalling_reap,
	                                    aio_libaio.close};
	struct aio_request rq = base;
	char fault[256];
	const json_t *latency;
	json_t *json;

	(void)state;
	rq.size_bytes = 0;
	rq.duration_ns = 1000000000;
	rq.iops = 1000;
	rq.random_percent = rq.read_percent = 100;
	calls = 0;
	json = run(&rq, &stalling, fault, sizeof(fault));
	assert_string_equal(fault, "");
	assert_in_range(number(json, "ios") + number(json, "not_issued"), 995, 1001);
	latency = json_object_get(json_object_get(json, "aio"), "latency_ns");
	assert_true(json_integer_value(json_object_get(latency, "max")) >= 190000000);
	assert_true(json_integer_value(json_object_get(latency, "p90")) >= 90000000);
	json_decref(json);
}

/* Rounds are the log of seconds, cut; what is in flight at the end is in none of them. */
static void rounds_add_up(void **state)
{
	struct aio_request rq = base;
	const json_t *details, *round;
	long long ios = 0, seconds[2] = {0};
	char fault[256];
	json_t *json;
	size_t i;

	(void)state;
	rq.size_bytes = 0;
	rq.duration_ns = 1000000000;
	rq.rounds = 2;
	rq.iops = 400;
	rq.verify = false;
	json = run(&rq, NULL, fault, sizeof(fault));
	details = json_object_get(json, "aio");
	assert_int_equal(json_array_size(json_object_get(details, "rounds")), 2);
	for (i = 0; i < 2; i++)
		seconds[i] = json_integer_value(json_array_get(json_object_get(details, "second_ios"), i));
	json_array_foreach (json_object_get(details, "rounds"), i, round) {
		long long n = json_integer_value(json_object_get(round, "ios"));

		assert_int_equal(n, seconds[i]);
		assert_in_range(n, 1, 500);
		assert_int_equal(json_integer_value(json_object_get(round, "bytes")), n * BS);
		assert_true(json_integer_value(json_object_get(round, "mean_ns")) > 0);
		assert_true(json_integer_value(json_object_get(round, "mean_ns")) <=
		            json_integer_value(json_object_get(round, "max_ns")));
		ios += n;
	}
	assert_in_range(number(json, "ios"), ios, ios + rq.depth);
	assert_in_range(number(json, "ios") + number(json, "not_issued"), 795, 801);
	json_decref(json);
}

static void passes_cover_the_area(void **state)
{
	static unsigned char before[FILE_BYTES], after[FILE_BYTES];
	struct failure why = {.error = 0};
	struct aio_request rq;
	json_t *cell =
	    json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:i}", "type", "precondition", "engine", "io_uring",
	              "bs_bytes", 131072, "span_bytes", 3 << 20, "passes", 2, "depth", 4, "seed", 1);
	char fault[256], text[1024];
	struct aio aio;
	json_t *json;
	int fd;

	(void)state;
	assert_int_equal(aio_parse(cell, &rq), 0);
	json = run(&rq, NULL, fault, sizeof(fault));
	assert_string_equal(fault, "");
	assert_int_equal(json_integer_value(json_object_get(json, "bytes")), 2 * (3 << 20));
	assert_int_equal(number(json, "ios"), 48);
	json_decref(json);
	fd = open(path, O_RDONLY);
	assert_int_equal(read(fd, after, sizeof(after)), sizeof(after));
	close(fd);
	for (size_t at = 0; at < 3 << 20; at += 4096)
		assert_true(memcmp(after + at, before + at, 4096) != 0);
	assert_memory_equal(after + (3 << 20), before + (3 << 20), 1 << 20);
	assert_int_equal(aio_prepare(&aio, &rq, path, 1000, &why), 0);
	aio_equivalent(&aio, text, sizeof(text));
	assert_non_null(strstr(text, "--rw=write --direct=1 --bs=131072 --iodepth=4"));
	assert_non_null(strstr(text, "--size=3145728"));
	assert_non_null(strstr(text, "--loops=2"));
	aio_close(&aio);
	json_object_set_new(cell, "size_bytes", json_integer(4096));
	assert_int_equal(aio_parse(cell, &rq), -EINVAL);
	json_object_del(cell, "size_bytes");
	json_object_del(cell, "passes");
	assert_int_equal(aio_parse(cell, &rq), -EINVAL);
	json_decref(cell);
}

static bool is_zero(const unsigned char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (data[i])
			return false;
	return true;
}

/* What is to be read is written, in whole blocks, and nothing else is. */
static void an_area_is_filled(void **state)
{
	static unsigned char data[FILE_BYTES];
	static const size_t from = 5000, to = (2 << 20) + 9000;
	size_t first = from / BS * BS, last = (to + BS - 1) / BS * BS;
	struct workload_filled filled = {0};
	struct failure why;
	uint64_t bytes;
	int fd;

	(void)state;
	assert_int_equal(fill_area(path, from, to, 20000, &why), 0);
	fd = open(path, O_RDONLY);
	assert_int_equal(read(fd, data, sizeof(data)), sizeof(data));
	assert_true(is_zero(data, first));
	for (size_t at = first; at < last; at += 512)
		assert_false(is_zero(data + at, 512));
	assert_true(is_zero(data + last, FILE_BYTES - last));
	/* To the end; beyond it there is nothing to do. */
	assert_int_equal(fill_area(path, FILE_BYTES - 100, UINT64_MAX, 20000, &why), 0);
	assert_int_equal(pread(fd, data, 512, FILE_BYTES - 512), 512);
	assert_false(is_zero(data, 512));
	assert_int_equal(fill_area(path, FILE_BYTES, UINT64_MAX, 20000, &why), 0);
	assert_int_equal(fill_area("out/no-such-file", 0, 4096, 20000, &why), -ENOENT);
	assert_int_equal(lseek(fd, 0, SEEK_END), FILE_BYTES);
	close(fd);
	/* A file is its stack's to fill. */
	assert_int_equal(workload_fill(&filled, path, 0, 4096, 20000, &bytes, &why), 0);
	assert_int_equal(bytes, 0);
	assert_int_equal(filled.to, 0);
	workload_filled_add(&filled, 4096, 8192);
	workload_filled_add(&filled, 8192, 12288);
	workload_filled_add(&filled, 0, 4096);
	assert_int_equal(filled.from, 0);
	assert_int_equal(filled.to, 12288);
	workload_filled_add(&filled, 20480, 24576);
	assert_int_equal(filled.from, 20480);
}

static void too_small_is_refused(void **state)
{
	struct aio_request rq = base;
	struct failure why = {.error = 0};
	struct aio aio;

	(void)state;
	rq.offset_bytes = FILE_BYTES / 2;
	rq.span_bytes = FILE_BYTES;
	assert_int_equal(aio_prepare(&aio, &rq, path, 1000, &why), -ENOSPC);
	assert_non_null(strstr(why.message, "uses bytes 2097152 to 6291456"));
	aio_close(&aio);
	rq.span_bytes = 4096;
	rq.jobs = 2;
	assert_int_equal(aio_prepare(&aio, &rq, path, 1000, &why), -ENOSPC);
	aio_close(&aio);
	assert_int_equal(aio_prepare(&aio, &base, "out/no-such-file", 1000, &why), -ENOENT);
	aio_close(&aio);
}

static void fio_does_the_same(void **state)
{
	struct aio_request rq = base;
	struct failure why = {.error = 0};
	char text[1024], wanted[1024];
	struct aio aio;

	(void)state;
	rq.random_percent = 100;
	rq.read_percent = 70;
	assert_int_equal(aio_prepare(&aio, &rq, path, 1000, &why), 0);
	aio_equivalent(&aio, text, sizeof(text));
	snprintf(wanted, sizeof(wanted),
	         "fio --name=aio --filename=%s --thread --group_reporting --ioengine=libaio --rw=randrw "
	         "--direct=1 --bs=4096 --iodepth=8 --numjobs=1 --offset=0 --size=4194304 --cpus_allowed=%u "
	         "--rwmixread=70 --norandommap --io_size=4194304 --refill_buffers",
	         path, aio.jobs[0].cpu);
	assert_string_equal(text, wanted);
	aio_close(&aio);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(writes_are_unlike, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(every_io_is_counted, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(errors_are_named, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(refusals_lose_nothing, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(the_kernels_refusals_are_named, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(nothing_is_allocated_meanwhile, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(wrong_data_is_found, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_stall_is_not_omitted, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(rounds_add_up, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(passes_cover_the_area, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(an_area_is_filled, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(too_small_is_refused, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(fio_does_the_same, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("aio", tests, NULL, NULL);
}
