/* SPDX-License-Identifier: GPL-2.0-or-later
 * The workload copy against GNU dd, on files. */
#include "canonical.h"
#include "file.h"
#include "workload_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB (1024LL * 1024)

/* Not in /tmp: that may be a file system without O_DIRECT. */
static char ours[64] = "out/assay-copy.XXXXXX", dds[64] = "out/assay-dd.XXXXXX";

static int set_up(void **state)
{
	int a, b;

	(void)state;
	mkdir("out", 0755);
	strcpy(ours, "out/assay-copy.XXXXXX");
	strcpy(dds, "out/assay-dd.XXXXXX");
	a = mkstemp(ours);
	b = mkstemp(dds);
	assert_true(a >= 0 && b >= 0);
	close(a);
	close(b);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(ours);
	unlink(dds);
	return 0;
}

/* Runs RQ on our file; the measurement. */
static json_t *run(const struct copy_request *rq)
{
	struct failure why = {.error = 0};
	struct copy copy;
	json_t *json;

	if (copy_prepare(&copy, rq, ours, 60000, &why) || copy_run(&copy, &why))
		fail_msg("%s", why.message);
	json = copy_json(&copy);
	copy_close(&copy);
	return json;
}

static char *slurp(const char *path, size_t *length)
{
	char *data;

	assert_int_equal(read_file_alloc(path, 1 << 28, &data, length), 0);
	return data;
}

static void same_files(void)
{
	size_t a, b;
	char *one = slurp(ours, &a), *two = slurp(dds, &b);

	assert_int_equal(a, b);
	assert_memory_equal(one, two, a);
	free(one);
	free(two);
}

static json_int_t integer(const json_t *json, const char *key)
{
	return json_integer_value(json_object_get(json, key));
}

/* The dd command that the measurement says does the same must do the same. */
static void compare_with_dd(const struct copy_request *rq, uint64_t full, uint64_t partial)
{
	json_t *json = run(rq);
	const char *dd = json_string_value(json_object_get(json, "equivalent"));
	char command[512], said[512] = "", expected[64];
	const char *of = strstr(dd, ours);
	size_t i;
	json_t *second;
	json_int_t sum = 0;
	FILE *pipe;

	assert_non_null(of);
	snprintf(command, sizeof(command), "%.*s%s%s 2>&1", (int)(of - dd), dd, dds, of + strlen(ours));
	pipe = popen(command, "r");
	assert_true(fread(said, 1, sizeof(said) - 1, pipe) > 0);
	assert_int_equal(pclose(pipe), 0);
	snprintf(expected, sizeof(expected), "%llu+%llu records out", (unsigned long long)full,
	         (unsigned long long)partial);
	if (!strstr(said, expected))
		fail_msg("%s: %s", command, said);
	same_files();
	assert_int_equal(integer(json, "records_full"), full);
	assert_int_equal(integer(json, "records_partial"), partial);
	assert_int_equal(integer(json, "bytes"), rq->size_bytes);
	json_array_foreach (json_object_get(json, "second_bytes"), i, second)
		sum += json_integer_value(second);
	assert_int_equal(sum, rq->size_bytes);
	assert_true(integer(json, "ns") > 0);
	assert_true(integer(json, "cpu_ns") > 0);
	json_decref(json);
}

static void test_whole_records(void **state)
{
	const struct copy_request rq = {.bs_bytes = 32768, .size_bytes = 4 * MIB};

	(void)state;
	compare_with_dd(&rq, 128, 0);
}

static void test_short_last_record(void **state)
{
	const struct copy_request rq = {.bs_bytes = 65536, .size_bytes = 3 * 65536 + 1234};

	(void)state;
	compare_with_dd(&rq, 3, 1);
}

static void test_direct(void **state)
{
	const struct copy_request rq = {.bs_bytes = 65536, .size_bytes = 4 * MIB, .direct = true};

	(void)state;
	compare_with_dd(&rq, 64, 0);
}

static void test_direct_short_last_record(void **state)
{
	const struct copy_request rq = {.bs_bytes = 65536, .size_bytes = 65536 + 1000, .direct = true};

	(void)state;
	compare_with_dd(&rq, 1, 1);
}

static void test_flags(void **state)
{
	(void)state;
	for (unsigned int bits = 0; bits < 24; bits++) {
		const struct copy_request rq = {
		    .bs_bytes = 4096,
		    .size_bytes = 64 * 1024,
		    .direct = bits & 1,
		    .dsync = bits & 2,
		    .sync = bits & 4,
		    .conv = (enum copy_conv)(bits / 8),
		};
		json_t *json = run(&rq);
		const char *dd = json_string_value(json_object_get(json, "equivalent"));

		assert_int_equal(!!strstr(dd, "direct"), rq.direct);
		assert_int_equal(!!strstr(dd, "dsync"), rq.dsync);
		assert_int_equal(!!strstr(dd, "conv=fsync"), rq.conv == COPY_CONV_FSYNC);
		assert_int_equal(!!strstr(dd, "conv=fdatasync"), rq.conv == COPY_CONV_FDATASYNC);
		assert_int_equal(integer(json, "sync_ns") > 0, rq.conv != COPY_CONV_NONE);
		json_decref(json);
		compare_with_dd(&rq, 16, 0);
	}
}

/* On a file, dd cuts at the seek; what is before it must stay. */
static void test_seek(void **state)
{
	const struct copy_request whole = {.bs_bytes = 4096, .size_bytes = 8192, .seek_bytes = 4096};
	const struct copy_request odd = {.bs_bytes = 4096, .size_bytes = 8192, .seek_bytes = 1000};

	(void)state;
	create_file(ours, "head");
	create_file(dds, "head");
	compare_with_dd(&whole, 2, 0);
	assert_int_equal(truncate(ours, 0), 0);
	compare_with_dd(&odd, 2, 0);
}

static void test_units(void **state)
{
	struct copy copy = {.request = {.bs_bytes = 4 * MIB, .size_bytes = 400 * MIB}, .bytes = 400 * MIB};
	json_t *json;

	(void)state;
	copy.ns = 4000000000LL;
	json = copy_json(&copy);
	assert_true(json_real_value(json_object_get(json, "mb_per_s")) - 104.8576 < 1e-9);
	assert_true(json_real_value(json_object_get(json, "mb_per_s")) - 104.8576 > -1e-9);
	assert_true(json_real_value(json_object_get(json, "mib_per_s")) == 100.0);
	assert_string_equal(json_string_value(json_object_get(json, "equivalent")),
	                    "dd if=/dev/zero of= bs=4194304 count=100");
	json_decref(json);
}

static void hash_of_run(uint64_t seed, char hex[SHA256_HEX_SIZE])
{
	const struct copy_request rq = {.bs_bytes = 1 * MIB,
	                                .size_bytes = 40 * MIB,
	                                .incompressible = true,
	                                .seed = seed};
	size_t length;
	char *data;

	json_decref(run(&rq));
	data = slurp(ours, &length);
	assert_int_equal(length, 40 * MIB);
	assert_int_equal(sha256_hex(data, length, hex), 0);
	free(data);
}

static void test_seed(void **state)
{
	char one[SHA256_HEX_SIZE], again[SHA256_HEX_SIZE], other[SHA256_HEX_SIZE];

	(void)state;
	hash_of_run(7, one);
	hash_of_run(7, again);
	hash_of_run(8, other);
	assert_string_equal(one, again);
	assert_string_not_equal(one, other);
	/* The bytes are part of what a seed means: they must not change from one version to the next. */
	assert_string_equal(one, "aaae7ec1a061618bdfbf07ebb7c21f71ac18f66d5add8a2a0b3c7192b01f596f");
}

static int compare_sectors(const void *a, const void *b)
{
	return memcmp(a, b, 512);
}

/* Runs over the pool of 16 MiB more than twice: no sector may come again, none may look like a boot sector,
 * and nothing may be gained by compressing. */
static void test_incompressible(void **state)
{
	const struct copy_request rq = {.bs_bytes = 32768,
	                                .size_bytes = 52 * MIB,
	                                .incompressible = true,
	                                .seed = 1};
	size_t length, runs = 0;
	char *data;
	char command[256];

	(void)state;
	json_decref(run(&rq));
	snprintf(command, sizeof(command), "test $(gzip -1 -c %s | wc -c) -gt %lld", ours, 50 * MIB);
	assert_int_equal(system(command), 0);
	data = slurp(ours, &length);
	for (size_t at = 0; at < length; at += 512)
		assert_false(data[at + 510] == 0x55 && (unsigned char)data[at + 511] == 0xaa);
	qsort(data, length / 512, 512, compare_sectors);
	for (size_t at = 512; at < length; at += 512)
		runs += !memcmp(data + at, data + at - 512, 512);
	assert_int_equal(runs, 0);
	free(data);
}

static void test_full_disk_is_named(void **state)
{
	const struct copy_request rq = {.bs_bytes = 4096, .size_bytes = 8192};
	struct failure why;
	struct copy copy;

	(void)state;
	assert_int_equal(copy_prepare(&copy, &rq, "/dev/full", 1000, &why), 0);
	assert_int_equal(copy_run(&copy, &why), -ENOSPC);
	assert_non_null(strstr(why.message, "/dev/full failed at byte 0"));
	assert_int_equal(why.scope, FAILURE_SAMPLE);
	copy_close(&copy);
}

/* A file that may not grow over 6000 bytes: the second record is cut, the rest fails there. */
static void test_error_offset(void **state)
{
	const struct copy_request rq = {.bs_bytes = 4096, .size_bytes = 3 * 4096, .seek_bytes = 100};
	struct rlimit old, small;
	struct failure why;
	struct copy copy;
	int r;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){.rlim_cur = 6000, .rlim_max = old.rlim_max};
	assert_int_equal(copy_prepare(&copy, &rq, ours, 1000, &why), 0);
	setrlimit(RLIMIT_FSIZE, &small);
	r = copy_run(&copy, &why);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(r, -EFBIG);
	assert_int_equal(copy.error_offset, 6000);
	assert_int_equal(copy.bytes, 5900);
	assert_int_equal(copy.records_full, 1);
	assert_int_equal(copy.records_partial, 1);
	assert_non_null(strstr(why.message, "failed at byte 6000"));
	copy_close(&copy);
}

static void test_deadline(void **state)
{
	const struct copy_request rq = {.bs_bytes = 512, .size_bytes = 1LL << 40};
	struct failure why;
	struct copy copy;

	(void)state;
	assert_int_equal(copy_prepare(&copy, &rq, "/dev/null", 50, &why), 0);
	assert_int_equal(copy_run(&copy, &why), -ETIMEDOUT);
	assert_non_null(strstr(why.message, "in 50 ms"));
	copy_close(&copy);
}

static void test_missing_target(void **state)
{
	const struct copy_request rq = {.bs_bytes = 512, .size_bytes = 512};
	struct failure why;
	struct copy copy;

	(void)state;
	assert_int_equal(copy_prepare(&copy, &rq, "/dev/no-such-disk", 50, &why), -ENOENT);
	assert_string_equal(why.object, "/dev/no-such-disk");
	copy_close(&copy);
	assert_int_not_equal(access("/dev/no-such-disk", F_OK), 0);
}

static json_t *workload(void)
{
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:b, s:b, s:b, s:s, s:s, s:I, s:b}", "type", "copy",
	                 "direction", "write", "bs_bytes", (json_int_t)4096, "size_bytes", (json_int_t)8192,
	                 "seek_bytes", (json_int_t)512, "direct", 1, "dsync", 0, "sync", 1, "conv",
	                 "fdatasync", "source", "incompressible", "seed", (json_int_t)9, "drop_caches", 1);
}

static void test_parse(void **state)
{
	json_t *json = workload();
	struct copy_request rq;

	(void)state;
	assert_int_equal(copy_parse(json, &rq), 0);
	assert_int_equal(rq.bs_bytes, 4096);
	assert_int_equal(rq.size_bytes, 8192);
	assert_int_equal(rq.seek_bytes, 512);
	assert_int_equal(rq.seed, 9);
	assert_true(rq.direct && !rq.dsync && rq.sync && rq.incompressible && rq.drop_caches);
	assert_int_equal(rq.conv, COPY_CONV_FDATASYNC);
	json_object_set_new(json, "conv", json_string("fsnyc"));
	assert_int_equal(copy_parse(json, &rq), -EINVAL);
	json_decref(json);
	json = workload();
	json_object_set_new(json, "direction", json_string("read"));
	assert_int_equal(copy_parse(json, &rq), 0);
	assert_true(rq.read);
	json_object_set_new(json, "direction", json_string("raed"));
	assert_int_equal(copy_parse(json, &rq), -EINVAL);
	json_decref(json);
}

static void test_read(void **state)
{
	const struct copy_request rq = {.read = true,
	                                .bs_bytes = 1000,
	                                .size_bytes = 3000,
	                                .seek_bytes = 500};
	unsigned char data[3500];
	struct failure why;
	struct copy copy;
	char text[256];
	int fd = open(ours, O_WRONLY | O_TRUNC);

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7);
	assert_int_equal(write(fd, data, sizeof(data)), sizeof(data));
	assert_int_equal(copy_prepare(&copy, &rq, ours, 5000, &why), 0);
	assert_int_equal(copy_run(&copy, &why), 0);
	assert_int_equal(copy.bytes, 3000);
	assert_int_equal(copy.records_full, 3);
	/* The last record that was read. */
	assert_memory_equal(copy.pool, data + 2500, 1000);
	copy_equivalent(&copy, text, sizeof(text));
	assert_non_null(strstr(text, "of=/dev/null bs=1000 count=3 skip=500 iflag=skip_bytes"));
	assert_ptr_equal(strstr(text, "dd if="), text);
	copy.request.drop_caches = true;
	copy_equivalent(&copy, text, sizeof(text));
	assert_ptr_equal(strstr(text, "sync; echo 3 >/proc/sys/vm/drop_caches; dd if="), text);
	copy_close(&copy);
	/* A device that is shorter than it said. */
	assert_int_equal(ftruncate(fd, 2000), 0);
	close(fd);
	assert_int_equal(copy_prepare(&copy, &rq, ours, 5000, &why), 0);
	assert_int_equal(copy_run(&copy, &why), -EIO);
	assert_non_null(strstr(why.message, "Reading"));
	copy_close(&copy);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    T(test_whole_records),  T(test_short_last_record),
	    T(test_direct),         T(test_direct_short_last_record),
	    T(test_flags),          T(test_seek),
	    T(test_units),          T(test_seed),
	    T(test_incompressible), T(test_full_disk_is_named),
	    T(test_error_offset),   T(test_deadline),
	    T(test_missing_target), T(test_parse),
	    T(test_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
