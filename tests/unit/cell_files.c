/* SPDX-License-Identifier: GPL-2.0-or-later
 * The workload files on a folder of this machine: the tree, its phases, and what goes wrong. */
#include "workload_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define ROOT "out/files-test"

static const struct files_request seeds_own = {.folders = 1472,
                                               .files = 6942,
                                               .size_bytes = 6942 * UINT64_C(200000),
                                               .bs_bytes = 131072,
                                               .seed = 1,
                                               .sync = FILES_SYNC_SYNCFS};

static const struct files_request small = {
    .folders = 20, .files = 100, .size_bytes = 5000000, .bs_bytes = 8192, .seed = 7};

static int set_up(void **state)
{
	(void)state;
	mkdir("out", 0755);
	return mkdir(ROOT, 0755);
}

static int tear_down(void **state)
{
	(void)state;
	return rmdir(ROOT); /* fails where a test left something */
}

static void the_tree_follows_from_the_seed(void **state)
{
	struct files_tree a, b;
	uint64_t sum = 0, large = 0, small_ones = 0;

	(void)state;
	assert_int_equal(files_tree_make(&seeds_own, &a), 0);
	assert_int_equal(files_tree_make(&seeds_own, &b), 0);
	assert_memory_equal(a.files, b.files, seeds_own.files * sizeof(*a.files));
	assert_memory_equal(a.folders, b.folders, (seeds_own.folders + 1) * sizeof(*a.folders));
	for (uint32_t i = 0; i < seeds_own.files; i++) {
		assert_true(a.files[i].folder <= seeds_own.folders);
		sum += a.files[i].size_bytes;
		large += a.files[i].size_bytes > 600000;
		small_ones += a.files[i].size_bytes < 138629;
	}
	/* Of an exponential distribution e^-3 are above three times the mean, half below ln 2 of it. */
	assert_int_equal(sum, seeds_own.size_bytes);
	assert_in_range(large, 6942 * 4 / 100, 6942 * 6 / 100);
	assert_in_range(small_ones, 6942 * 47 / 100, 6942 * 53 / 100);
	for (uint32_t i = 1; i <= seeds_own.folders; i++)
		assert_true(a.folders[i].folder < i);
	/* What one seed gives, once and for all: the first file, and the last folder. */
	free(b.files);
	free(b.folders);
	{
		struct files_request other = seeds_own;

		other.seed = 2;
		assert_int_equal(files_tree_make(&other, &b), 0);
		assert_true(memcmp(a.files, b.files, seeds_own.files * sizeof(*a.files)) != 0);
	}
	free(a.files);
	free(a.folders);
	free(b.files);
	free(b.folders);
}

static uint64_t seen_files, seen_folders, seen_bytes;

static int see(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)path;
	if (type == FTW_F) {
		seen_files++;
		seen_bytes += (uint64_t)st->st_size;
	} else if (ftw->level > 0) {
		seen_folders++;
	}
	return 0;
}

static long long number(const json_t *json, const char *phase, const char *name)
{
	return json_integer_value(
	    json_object_get(json_object_get(json_object_get(json, "files"), phase), name));
}

static long long total(const json_t *list)
{
	long long sum = 0;

	for (size_t i = 0; i < json_array_size(list); i++)
		sum += json_integer_value(json_array_get(list, i));
	return sum;
}

static void phases_do_what_they_say(void **state)
{
	static const enum files_sync kinds[] = {FILES_SYNC_NONE, FILES_SYNC_FSYNC, FILES_SYNC_SYNCFS};
	struct failure why;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct files_request rq = small;
		struct files files;
		char fault[256];
		json_t *json;

		rq.sync = kinds[i];
		assert_int_equal(files_prepare(&files, &rq, ROOT, 60000, &why), 0);
		if (files_run(&files, &why))
			fail_msg("%s: %s", why.message, strerror(why.error));
		files_fault(&files, fault, sizeof(fault));
		assert_string_equal(fault, "");
		json = files_json(&files);
		assert_int_equal(number(json, "create", "files"), 100);
		assert_int_equal(number(json, "create", "folders"), 20);
		assert_int_equal(number(json, "create", "bytes"), 5000000);
		assert_int_equal(number(json, "read", "files"), 100);
		assert_int_equal(number(json, "read", "bytes"), 5000000);
		assert_int_equal(number(json, "unlink", "files"), 100);
		assert_int_equal(number(json, "unlink", "folders"), 20);
		assert_int_equal(json_integer_value(json_object_get(json, "bytes")), 10000000);
		assert_int_equal(json_integer_value(json_object_get(json, "ns")),
		                 number(json, "create", "ns") + number(json, "read", "ns") +
		                     number(json, "unlink", "ns"));
		assert_int_equal(total(json_object_get(json, "second_bytes")), 10000000);
		assert_int_equal(total(json_object_get(json_object_get(json_object_get(json, "files"),
		                                                       "create"),
		                                       "second_files")),
		                 100);
		json_decref(json);
		files_close(&files);
	}
}

/* The disk: what happens to the tree between its making and its reading. */
static void (*in_between)(void);

static int in_between_instead(int root_fd)
{
	(void)root_fd;
	in_between();
	return 0;
}

static int prepare(struct files *files, struct failure *why)
{
	int r = files_prepare(files, &small, ROOT, 60000, why);

	files->make_cold = in_between_instead;
	return r;
}

static void count_tree(void)
{
	seen_files = seen_folders = seen_bytes = 0;
	assert_int_equal(nftw(ROOT "/assay-files", see, 16, FTW_PHYS), 0);
}

static void the_tree_is_on_the_disk(void **state)
{
	struct failure why;
	struct files files;

	(void)state;
	in_between = count_tree;
	assert_int_equal(prepare(&files, &why), 0);
	assert_int_equal(files_run(&files, &why), 0);
	files_close(&files);
	assert_int_equal(seen_files, 100);
	assert_int_equal(seen_folders, 20);
	assert_int_equal(seen_bytes, 5000000);
}

static int spoiled;

/* The last byte of the first file, and the lengths of the next two. */
static int spoil(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	int fd;

	(void)ftw;
	if (type != FTW_F || st->st_size < 100 || spoiled >= 3)
		return 0;
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	if (spoiled == 0)
		assert_int_equal(pwrite(fd, "x", 1, st->st_size - 1), 1);
	else if (spoiled == 1)
		assert_int_equal(ftruncate(fd, st->st_size - 1), 0);
	else
		assert_int_equal(ftruncate(fd, st->st_size + 1), 0);
	spoiled++;
	close(fd);
	return 0;
}

static void spoil_tree(void)
{
	spoiled = 0;
	assert_int_equal(nftw(ROOT "/assay-files", spoil, 16, FTW_PHYS), 0);
}

static void wrong_files_are_found(void **state)
{
	struct failure why;
	struct files files;
	char fault[256];

	(void)state;
	in_between = spoil_tree;
	assert_int_equal(prepare(&files, &why), 0);
	assert_int_equal(files_run(&files, &why), 0);
	files_fault(&files, fault, sizeof(fault));
	assert_string_equal(fault, "3 of 100 files do not hold what was written");
	files_close(&files);
}

static void remove_one(void)
{
	assert_int_equal(unlink(ROOT "/assay-files/f-not-there"), -1);
	for (int i = 0; i < 100; i++) {
		char path[64];

		snprintf(path, sizeof(path), ROOT "/assay-files/f%d", i);
		if (!unlink(path))
			return;
	}
	fail_msg("no file lies in the root");
}

static void errors_are_told_and_cleaned_up(void **state)
{
	struct failure why;
	struct files files, again;

	(void)state;
	in_between = remove_one;
	assert_int_equal(prepare(&files, &why), 0);
	assert_int_equal(files_prepare(&again, &small, ROOT, 60000, &why), -EEXIST);
	files_close(&again);
	assert_int_equal(files_run(&files, &why), -ENOENT);
	assert_non_null(strstr(why.message, "Reading the tree failed at f"));
	files_close(&files);
	assert_int_equal(files_prepare(&files, &small, ROOT, 0, &why), 0);
	assert_int_equal(files_run(&files, &why), -ETIMEDOUT);
	files_close(&files);
	assert_int_equal(files_prepare(&files, &small, "out/no-such-folder", 1000, &why), -ENOENT);
	files_close(&files);
}

static void requests_are_checked(void **state)
{
	struct files_request rq;
	json_t *w =
	    json_pack("{s:s, s:i, s:i, s:i, s:i, s:s, s:i}", "type", "files", "folders", 1472, "files", 6942,
	              "size_bytes", 1388400000, "bs_bytes", 131072, "sync", "fsync", "seed", 1);

	(void)state;
	assert_int_equal(files_parse(w, &rq), 0);
	assert_int_equal(rq.files, 6942);
	assert_int_equal(rq.sync, FILES_SYNC_FSYNC);
	json_object_set_new(w, "sync", json_string("sometimes"));
	assert_int_equal(files_parse(w, &rq), -EINVAL);
	json_object_set_new(w, "sync", json_string("none"));
	json_object_set_new(w, "files", json_integer(0));
	assert_int_equal(files_parse(w, &rq), -EINVAL);
	json_decref(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_tree_follows_from_the_seed),
	    cmocka_unit_test_setup_teardown(phases_do_what_they_say, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(the_tree_is_on_the_disk, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(wrong_files_are_found, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(errors_are_told_and_cleaned_up, set_up, tear_down),
	    cmocka_unit_test(requests_are_checked),
	};

	return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
