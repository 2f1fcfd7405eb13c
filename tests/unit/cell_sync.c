/* SPDX-License-Identifier: GPL-2.0-or-later
 * What is made of looks at /proc/drbd during a resync and an online verify. Texts are those of DRBD 8.4.11.
 */
#include "drbd_state.h"
#include "workload_role.h"
#include "workload_sync_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define MS  1000000LL
#define KIB 1024LL

enum { SECONDS = 10 };

static uint64_t second_bytes[SECONDS];
static long long second_finish[SECONDS];

static struct sync_watch fresh(bool verify)
{
	memset(second_bytes, 0, sizeof(second_bytes));
	memset(second_finish, 0, sizeof(second_finish));
	return (struct sync_watch){.verify = verify,
	                           .second_bytes = second_bytes,
	                           .second_finish = second_finish,
	                           .seconds = SECONDS};
}

/* A look at MS; LEFT KiB, of a resync by oos:, of a verify by its own line. */
static enum sync_phase look(struct sync_watch *w, long long ms, const char *connection, const char *peer_disk,
                            long long left, long long oos, long long sent)
{
	char text[1024], line[256] = "";
	struct drbd_progress progress;
	struct drbd_state state;

	if (!strncmp(connection, "Sync", 4) || !strncmp(connection, "Verify", 6))
		snprintf(line, sizeof(line),
		         "\t[=>..................] %s: 12.3%% (%lld/262108)K\n\tfinish: 0:00:%02lld speed: "
		         "40,000 (40,000) K/sec\n",
		         w->verify ? "verified" : "sync'ed", left, left / 40000);
	snprintf(text, sizeof(text),
	         "version: 8.4.11 (api:1/proto:86-101)\n\n 0: cs:%s ro:Primary/Secondary ds:UpToDate/%s C "
	         "r-----\n    ns:%lld nr:7 dw:0 dr:0 al:0 bm:0 lo:0 pe:0 ua:0 ap:0 ep:1 wo:f oos:%lld\n%s",
	         connection, peer_disk, sent, oos, line);
	assert_int_equal(drbd_state_parse(text, 0, &state), 0);
	assert_int_equal(drbd_progress_parse(text, 0, &progress), 0);
	return sync_watch_add(w, ms * MS, &state, &progress);
}

static void a_full_resync(void **state)
{
	struct sync_watch w = fresh(false);

	(void)state;
	w.sent_first = 6 * KIB;
	assert_int_equal(look(&w, 10, "StartingSyncS", "Inconsistent", 0, 262108, 5), SYNC_WAITING);
	assert_int_equal(look(&w, 20, "WFBitMapS", "Inconsistent", 0, 262108, 6), SYNC_WAITING);
	assert_int_equal(look(&w, 50, "SyncSource", "Inconsistent", 262108, 262108, 10), SYNC_RUNNING);
	assert_int_equal(look(&w, 1000, "SyncSource", "Inconsistent", 162108, 162108, 100010), SYNC_RUNNING);
	assert_int_equal(look(&w, 1100, "SyncSource", "Inconsistent", 152108, 152108, 110010), SYNC_RUNNING);
	assert_int_equal(look(&w, 2550, "Connected", "UpToDate", 0, 0, 262114), SYNC_DONE);
	assert_int_equal(w.start_ns, 50 * MS);
	assert_int_equal(w.end_ns - w.start_ns, 2500 * MS);
	assert_int_equal(w.total_bytes, 262108 * KIB);
	assert_int_equal(w.left_bytes, 0);
	assert_int_equal(w.sent_bytes, 262108 * KIB);
	/* Second 0 goes to 1050: half of what was done from 1000 to 1100; second 1 to 2050, and so on. */
	assert_int_equal(second_bytes[0], 105000 * KIB);
	assert_int_equal(second_bytes[0] + second_bytes[1] + second_bytes[2], 262108 * KIB);
	assert_in_range(second_bytes[2], 152108 * KIB * 500 / 1450 - 1, 152108 * KIB * 500 / 1450 + 1);
	assert_int_equal(second_finish[0], 3);
	assert_int_equal(second_finish[2], 0);
	/* Looked for less often while much is left. */
	w.phase = SYNC_RUNNING;
	w.last_ns = 10050 * MS;
	w.left_bytes = w.total_bytes / 2;
	assert_int_equal(sync_watch_pause_ns(&w), 10000 * MS / 64);
	w.left_bytes = 4096;
	assert_int_equal(sync_watch_pause_ns(&w), SYNC_LOOK_LEAST_NS);
	w.left_bytes = w.total_bytes - 4096;
	assert_int_equal(sync_watch_pause_ns(&w), SYNC_LOOK_MOST_NS);
	assert_int_equal(w.states.count, 4);
	assert_string_equal(w.states.text[2], "SyncSource UpToDate/Inconsistent");
}

/* Over before the second look: it began after the first. */
static void a_quick_one(void **state)
{
	struct sync_watch w = fresh(false);

	(void)state;
	w.total_bytes = 64 * KIB;
	assert_int_equal(look(&w, 3, "Unconnected", "DUnknown", 0, 64, 0), SYNC_WAITING);
	assert_int_equal(look(&w, 13, "WFReportParams", "DUnknown", 0, 64, 0), SYNC_WAITING);
	assert_int_equal(look(&w, 23, "Connected", "UpToDate", 0, 0, 64), SYNC_DONE);
	assert_int_equal(w.start_ns, 13 * MS);
	assert_int_equal(w.end_ns, 23 * MS);
	assert_int_equal(w.total_bytes, 64 * KIB);
	assert_int_equal(second_bytes[0], 64 * KIB);
	assert_int_equal(w.sent_bytes, 64 * KIB);
}

/* Connected, but the bitmap still has blocks: it has not begun yet. */
static void not_done_yet(void **state)
{
	struct sync_watch w = fresh(false);

	(void)state;
	w.total_bytes = 64 * KIB;
	assert_int_equal(look(&w, 3, "Connected", "UpToDate", 0, 64, 0), SYNC_WAITING);
	assert_int_equal(look(&w, 5, "Connected", "Inconsistent", 0, 0, 0), SYNC_WAITING);
	assert_int_equal(look(&w, 6, "SyncSource", "Inconsistent", 64, 64, 0), SYNC_RUNNING);
	assert_int_equal(look(&w, 7, "Connected", "Inconsistent", 0, 0, 64), SYNC_RUNNING);
	assert_int_equal(look(&w, 8, "Connected", "UpToDate", 0, 0, 64), SYNC_DONE);
}

static void a_verify(void **state)
{
	struct sync_watch w = fresh(true);

	(void)state;
	assert_int_equal(look(&w, 2, "VerifyS", "UpToDate", 262108, 0, 1), SYNC_RUNNING);
	assert_int_equal(look(&w, 500, "VerifyS", "UpToDate", 100000, 64, 2), SYNC_RUNNING);
	assert_int_equal(look(&w, 802, "Connected", "UpToDate", 0, 64, 3), SYNC_DONE);
	assert_int_equal(w.total_bytes, 262108 * KIB);
	assert_int_equal(second_bytes[0], 262108 * KIB);
	assert_int_equal(w.end_ns - w.start_ns, 800 * MS);
	/* A verify that nobody saw run is no verify that is done. */
	w = fresh(true);
	assert_int_equal(look(&w, 2, "Connected", "UpToDate", 0, 0, 1), SYNC_WAITING);
}

static void a_peer_that_goes(void **state)
{
	static const char *const gone[] = {"NetworkFailure", "Unconnected", "WFConnection", "StandAlone"};

	(void)state;
	for (size_t i = 0; i < sizeof(gone) / sizeof(*gone); i++) {
		struct sync_watch w = fresh(i % 2);

		assert_int_equal(look(&w, 1, i % 2 ? "VerifyS" : "SyncSource", "Inconsistent", 9, 9, 0),
		                 SYNC_RUNNING);
		assert_int_equal(look(&w, 2, gone[i], "DUnknown", 0, 9, 0), SYNC_BROKEN);
	}
	for (size_t i = 0; i < 4; i++) {
		struct sync_watch w = fresh(false);

		assert_int_equal(look(&w, 1, gone[i], "DUnknown", 0, 9, 0),
		                 i < 3 ? SYNC_WAITING : SYNC_BROKEN);
	}
}

static void more_than_4_gib_is_in_mib(void **state)
{
	static const char text[] =
	    " 0: cs:SyncSource ro:Primary/Secondary ds:UpToDate/Inconsistent C r-----\n"
	    "    ns:4096 nr:0 dw:0 dr:0 al:0 bm:0 lo:0 pe:0 ua:0 ap:0 ep:1 wo:f oos:10485760\n"
	    "\t[>....................] sync'ed:  3.1% (10240/20480)M\n"
	    "\tfinish: 1:02:03 speed: 1,024 (1,024) K/sec\n";
	struct drbd_progress p;

	(void)state;
	assert_int_equal(drbd_progress_parse(text, 0, &p), 0);
	assert_true(p.running);
	assert_int_equal(p.left_bytes, 10240LL << 20);
	assert_int_equal(p.total_bytes, 20480LL << 20);
	assert_int_equal(p.finish_s, 3723);
	assert_int_equal(p.sent_bytes, 4096 * KIB);
	/* Cut anywhere: told, or without progress; never half of it. */
	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		char *cut = strndup(text, n);

		if (!drbd_progress_parse(cut, 0, &p) && p.running)
			assert_int_equal(p.total_bytes, 20480LL << 20);
		free(cut);
	}
}

static void writes_until_it_is_time(void **state)
{
	static uint64_t bins[200];
	struct failover_flow flow = {.bin_bytes = bins, .bins = 200, .pulled_ns = -1};
	char path[] = "out/assay-role.XXXXXX";
	unsigned char *record = role_record(8192), *data = malloc(65536);
	uint64_t sum = 0;
	struct timespec t;
	int fd = mkstemp(path), full = open("/dev/full", O_WRONLY);

	(void)state;
	assert_true(fd >= 0 && full >= 0 && record && data);
	clock_gettime(CLOCK_MONOTONIC, &t);
	assert_int_equal(role_write(fd, record, 8192, 65536, t.tv_sec * 1000000000LL + t.tv_nsec, 50 * MS,
	                            &flow),
	                 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), 65536);
	assert_int_equal(pread(fd, data, 65536, 0), 65536);
	for (int i = 0; i < 8; i++)
		assert_memory_equal(data + (size_t)i * 8192, record, 8192);
	for (size_t i = 0; i < 200; i++)
		sum += bins[i];
	assert_int_equal(sum, flow.bytes);
	assert_true(flow.last_ns >= 50 * MS);
	assert_int_equal(role_write(full, record, 8192, 65536, 0, 0, &flow), -ENOSPC);
	unlink(path);
	close(fd);
	close(full);
	free(record);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_full_resync),
	    cmocka_unit_test(a_quick_one),
	    cmocka_unit_test(not_done_yet),
	    cmocka_unit_test(a_verify),
	    cmocka_unit_test(a_peer_that_goes),
	    cmocka_unit_test(more_than_4_gib_is_in_mib),
	    cmocka_unit_test(writes_until_it_is_time),
	};

	return cmocka_run_group_tests_name("sync", tests, NULL, NULL);
}
