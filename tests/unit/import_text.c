/* SPDX-License-Identifier: GPL-2.0-or-later
 * What is read from transcripts and CSV, and what is not. */
#include "../../lab/import/import.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef int reader(struct import *import, const char *text, size_t size, struct complaints *complaints);

/* Reads TEXT, wants RESULT and so many COMPLAINTS, the first at LINE. */
static void read_text(struct import *import, reader *read, const char *text, int result, size_t complaints,
                      int line)
{
	struct complaints c = {0};

	*import = (struct import){0};
	assert_int_equal(read(import, text, strlen(text), &c), result);
	assert_int_equal(c.count, complaints);
	if (complaints)
		assert_int_equal(c.items[0].line, line);
	complaints_free(&c);
}

static const char *setting(const struct import *import, size_t i, const char *key)
{
	return json_string_value(json_object_get(import->samples[i].state, key));
}

static void test_dd(void **state)
{
	struct import i;

	(void)state;
	read_text(&i, import_transcript,
	          "set A:\n$ dd if=/dev/zero of=/dev/drbd0 bs=4M\n80000+0 records in\n"
	          "335544320000 bytes (336 GB) copied, 663.575 s, 506 MB/s\r\n"
	          "  # set B\n\n * 335544320000 bytes (336 GB, 312 GiB) copied, 289.298 s, 1.2 GB/s\n"
	          "67108864 bytes (64.0MB) copied, 0.123456 seconds, 518.4MB/s",
	          0, 0, 0);
	assert_int_equal(i.count, 3);
	assert_string_equal(setting(&i, 0, "settings"), "set A");
	assert_string_equal(setting(&i, 1, "settings"), "set B");
	assert_int_equal(i.samples[0].bytes, 335544320000);
	assert_int_equal(i.samples[0].ns, 663575000000);
	assert_int_equal(i.samples[2].ns, 123456000);
	assert_int_equal(i.samples[1].line, 7);
	assert_int_equal(i.last_boot, 0);
	import_free(&i);
	read_text(&i, import_transcript,
	          "1 byte copied, 0.5 s, 2.0 B/s\n-- reboot --\n512 bytes copied, 1 s, 0.5 kB/s\nrebooted\n"
	          "512 bytes copied, 1 s, 0.5 kB/s\n",
	          0, 0, 0);
	assert_int_equal(i.samples[1].boot, 1);
	assert_int_equal(i.samples[2].boot, 1); /* "rebooted" is a setting */
	assert_string_equal(setting(&i, 2, "settings"), "rebooted");
	assert_string_equal(setting(&i, 0, "settings"), "none");
	import_free(&i);
}

static void test_dd_refused(void **state)
{
	static const char *const wrong[] = {
	    "",
	    "nothing of dd",
	    "512 bytes copied, 0 s, Infinity B/s",
	    "512 bytes copied, 1 s, 512 MB/s",
	    "512 bytes copied, 1 s",
	    "512 bytes copied, 1 h, 512 B/s",
	    "512 bytes (unended copied, 1 s, 512 B/s",
	    "0 bytes copied, 1 s, 0 B/s",
	    "512 bytes copied, nan s, 512 B/s",
	    "512 bytes copied, 0x1 s, 512 B/s",
	};
	struct import i;

	(void)state;
	for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
		read_text(&i, import_transcript, wrong[k], -EINVAL, 1, k < 2 ? 0 : 1);
		assert_int_equal(i.count, 0);
		import_free(&i);
	}
}

static void test_csv(void **state)
{
	struct import i;

	(void)state;
	read_text(&i, import_csv,
	          "\xef\xbb\xbf"
	          "a,\"b \"\"c\"\"\",boot,bytes,seconds,p99_us,node\r\n"
	          "x,\"1,2\",3,1000,0.5,7.5,n1\r\n\r\n,y,4,2000,1,,n2\n",
	          0, 0, 0);
	assert_int_equal(i.count, 2);
	assert_string_equal(setting(&i, 0, "a"), "x");
	assert_string_equal(setting(&i, 0, "b \"c\""), "1,2");
	assert_null(setting(&i, 1, "a"));
	assert_int_equal(i.samples[0].bytes, 1000);
	assert_int_equal(i.samples[0].ns, 500000000);
	assert_true(i.samples[0].figure[FIGURE_P99_US] == 7.5);
	assert_true(isnan(i.samples[1].figure[FIGURE_P99_US]));
	assert_int_equal(i.samples[1].boot, 4);
	assert_string_equal(i.samples[1].node, "n2");
	assert_int_equal(i.samples[1].line, 4);
	import_free(&i);
	read_text(&i, import_csv, "mb_per_s\n787.24", 0, 0, 0);
	assert_int_equal(i.samples[0].bytes, 787240000);
	assert_int_equal(i.samples[0].ns, 1000000000);
	import_free(&i);
	read_text(&i, import_csv, "a,bytes\nx,5\n", -EINVAL, 1, 2); /* no time */
	import_free(&i);
	read_text(&i, import_csv, "mb_per_s,boot\n1,0.5\n1,1,1\n-1,1\n", -EINVAL, 3, 2);
	import_free(&i);
	read_text(&i, import_csv, "mb_per_s\n", -EINVAL, 1, 0);
	import_free(&i);
}

static void test_fio(void **state)
{
	static const char twins[] = "{\"jobs\":[{\"jobname\":\"j\",\"read\":{\"io_bytes\":1,\"runtime\":1}},"
	                            "{\"jobname\":\"j\",\"read\":{\"io_bytes\":1,\"runtime\":1}}]}";
	struct import i;

	(void)state;
	read_text(&i, import_fio,
	          "{\"jobs\":[{\"jobname\":\"j\",\"read\":{\"io_bytes\":4096,\"runtime\":2,\"iops\":500},"
	          "\"write\":{\"io_bytes\":8192,\"runtime\":2}}]}",
	          0, 0, 0);
	assert_int_equal(i.count, 2); /* reads and writes are two cells */
	assert_int_equal(i.samples[0].ns, 2000000);
	assert_true(i.samples[0].figure[FIGURE_IOPS] == 500);
	assert_true(isnan(i.samples[1].figure[FIGURE_IOPS]));
	import_free(&i);
	read_text(&i, import_fio, twins, -EINVAL, 1, 0);
	import_free(&i);
	read_text(&i, import_fio, "{\"jobs\":", -EINVAL, 1, 1);
	import_free(&i);
	read_text(&i, import_fio, "no JSON", -EINVAL, 1, 1);
	import_free(&i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_dd),
	    cmocka_unit_test(test_dd_refused),
	    cmocka_unit_test(test_csv),
	    cmocka_unit_test(test_fio),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
