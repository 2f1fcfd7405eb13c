/* SPDX-License-Identifier: GPL-2.0-or-later
 * The workloads `resync` and `verify`: how fast DRBD copies what the peer lacks, and how fast it compares
 * both nodes' data. The command is DRBD's; here it is only watched. */
#include "workload.h"

#include "console.h"
#include "file.h"
#include "workload_aio.h"
#include "workload_sync_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 10, BLOCK_BYTES = 4096, WRITE_DEPTH = 16 };

struct sync_run {
	const struct workload_run *run;
	struct sync_watch watch;
	uint64_t device_bytes, written_bytes, planted_bytes, out_of_sync_bytes;
	int64_t deadline_ns, cpu_ns;
	char text[8192]; /* /proc/drbd */
	struct command_result said;
};

static long long integer_of(const struct sync_run *s, const char *key)
{
	return json_integer_value(json_object_get(s->run->workload, key));
}

static bool word_is(const struct sync_run *s, const char *key, const char *word)
{
	const char *text = json_string_value(json_object_get(s->run->workload, key));

	return text && !strcmp(text, word);
}

static int command(struct sync_run *s, enum drbd_step step, struct failure *why)
{
	return drbd_command(&s->run->build->drbd, step, &s->said, why);
}

static int look(struct sync_run *s, struct drbd_state *state, struct drbd_progress *progress,
                struct failure *why)
{
	int r = drbd_read_state(state, s->text, sizeof(s->text));

	if (!r && progress)
		r = drbd_progress_parse(s->text, (unsigned int)atoi(DRBD_MINOR), progress);
	if (!r)
		return 0;
	return fail(why, r, FAILURE_SAMPLE, "measure", "/proc/drbd", "See the node's kernel log.",
	            "DRBD's state cannot be read");
}

/* A failure of what DRBD did, with its state as the log. */
static int give_up(const struct sync_run *s, int r, struct failure *why, const char *what)
{
	const struct failover_states *states = &s->watch.states;

	fail(why, r, FAILURE_SAMPLE, "measure", DRBD_DEVICE,
	     r == -ETIMEDOUT ? "Give the plan a longer deadline (measure), or let the resync go faster."
	                     : "See both nodes' kernel logs.",
	     "%s: DRBD was %s at last, %llu bytes were left", what,
	     states->count ? states->text[states->count - 1] : "not seen",
	     (unsigned long long)s->watch.left_bytes);
	snprintf(why->log, sizeof(why->log), "%s", s->text);
	return r;
}

/* From STEP's command until it is done. */
static int watch(struct sync_run *s, enum drbd_step step, struct failure *why)
{
	struct drbd_progress progress;
	struct drbd_state state;
	enum sync_phase phase;
	int64_t begun_ns;
	int r = look(s, &state, &progress, why);

	/* What a connection has sent before; one that is yet to be made begins anew. */
	s->watch.sent_first = step == DRBD_CONNECT ? 0 : progress.sent_bytes;
	s->watch.received_first = step == DRBD_CONNECT ? 0 : progress.received_bytes;
	begun_ns = now_ns();
	r = r ? r : command(s, step, why);
	if (r)
		return r;
	do {
		r = look(s, &state, &progress, why);
		if (r)
			return r;
		phase = sync_watch_add(&s->watch, now_ns() - begun_ns, &state, &progress);
		s->out_of_sync_bytes = state.out_of_sync_bytes;
		if (phase == SYNC_BROKEN)
			return give_up(s, -ECONNABORTED, why, "The connection to the peer broke");
		if (phase == SYNC_DONE)
			return 0;
		nanosleep(&(struct timespec){.tv_nsec = sync_watch_pause_ns(&s->watch)}, NULL);
	} while (now_ns() < s->deadline_ns);
	return give_up(s, -ETIMEDOUT, why, "Time was over");
}

static int wait_for_connection(struct sync_run *s, const char *wanted, struct failure *why)
{
	struct drbd_state state;
	int r;

	while (!(r = look(s, &state, NULL, why)) && strcmp(state.connection, wanted) != 0) {
		if (now_ns() > s->deadline_ns)
			return give_up(s, -ETIMEDOUT, why, "Time was over");
		nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000}, NULL);
	}
	s->watch.total_bytes = r ? 0 : state.out_of_sync_bytes;
	return r;
}

/* The peer must find blocks missing when it comes again. */
static int write_alone(struct sync_run *s, struct failure *why)
{
	const struct aio_request request = {
	    .bs_bytes = (uint64_t)integer_of(s, "bs_bytes"),
	    .size_bytes = (uint64_t)integer_of(s, "size_bytes"),
	    .span_bytes = (uint64_t)integer_of(s, "span_bytes"),
	    .random_percent = word_is(s, "pattern", "random") ? 100 : 0,
	    .seed = (uint64_t)integer_of(s, "seed"),
	    .depth = WRITE_DEPTH,
	    .jobs = 1,
	    .direct = true,
	    .engine = "libaio",
	};
	char fault[256];
	struct aio aio;
	int r = aio_prepare(&aio, &request, DRBD_DEVICE, s->run->timeout_ms, why);

	if (!r)
		r = aio_run(&aio, why);
	if (!r)
		aio_fault(&aio, fault, sizeof(fault));
	if (!r && *fault)
		r = fail(why, -EIO, FAILURE_SAMPLE, "measure", DRBD_DEVICE, "See the node's kernel log.",
		         "Writing while the peer was away: %s", fault);
	aio_close(&aio);
	s->written_bytes = request.size_bytes;
	return r;
}

static int prepare(struct sync_run *s, struct failure *why)
{
	struct sync_watch *w = &s->watch;
	int fd = open(DRBD_DEVICE, O_RDONLY | O_CLOEXEC), r = fd < 0 ? -errno : 0;

	s->deadline_ns = now_ns() + s->run->timeout_ms * 1000000LL;
	if (!r && ioctl(fd, BLKGETSIZE64, &s->device_bytes))
		r = -errno;
	if (fd >= 0)
		close(fd);
	if (r)
		return fail(why, r, FAILURE_SAMPLE, "measure", DRBD_DEVICE, "See the node's kernel log.",
		            "The size of %s cannot be read", DRBD_DEVICE);
	w->seconds = (size_t)(s->run->timeout_ms / 1000) + 2;
	w->second_bytes = calloc(w->seconds, sizeof(*w->second_bytes));
	w->second_finish = calloc(w->seconds, sizeof(*w->second_finish));
	if (!w->second_bytes || !w->second_finish)
		return fail(why, -ENOMEM, FAILURE_SAMPLE, "measure", "", "", "Out of memory");
	return 0;
}

static json_t *states_json(const struct failover_states *states)
{
	json_t *list = json_array();

	for (size_t i = 0; i < states->count; i++)
		json_array_append_new(list, json_string(states->text[i]));
	return list;
}

/* How many whole or begun seconds it took. */
static size_t seconds_of(const struct sync_watch *w)
{
	size_t n = (size_t)((w->end_ns - w->start_ns - 1) / 1000000000) + 1;

	return n < w->seconds ? n : w->seconds;
}

static json_t *measurement_of(const struct sync_run *s, const char *equivalent, json_t **details)
{
	const struct sync_watch *w = &s->watch;
	json_t *finish = json_array();

	for (size_t i = 0; i < seconds_of(w); i++)
		json_array_append_new(finish, json_integer(w->second_finish[i]));
	*details =
	    json_pack("{s:I, s:I, s:I, s:o, s:o}", "handshake_ns", (json_int_t)w->start_ns, "sent_bytes",
	              (json_int_t)w->sent_bytes, "received_bytes", (json_int_t)w->received_bytes,
	              "second_finish_s", finish, "drbd_states", states_json(&w->states));
	return workload_measurement(w->total_bytes, w->end_ns - w->start_ns, w->second_bytes, w->seconds,
	                            s->cpu_ns, equivalent);
}

static void finish(struct sync_run *s)
{
	free(s->watch.second_bytes);
	free(s->watch.second_finish);
	free(s);
}

static json_t *resync_json(const struct sync_run *s)
{
	static const char full[] =
	    "drbdsetup invalidate-remote " DRBD_MINOR " && drbdsetup wait-sync-resource " DRBD_RESOURCE,
	                  partial[] = "drbdsetup disconnect ADDRESSES; write to " DRBD_DEVICE
	                              "; drbdsetup connect " DRBD_RESOURCE
	                              " ADDRESSES; drbdsetup wait-sync-resource " DRBD_RESOURCE;
	bool is_full = word_is(s, "what", "full");
	json_t *details, *json = measurement_of(s, is_full ? full : partial, &details);

	json_object_set_new(details, "what", json_string(is_full ? "full" : "partial"));
	json_object_set_new(details, "written_bytes", json_integer((json_int_t)s->written_bytes));
	json_object_set_new(details, "device_bytes", json_integer((json_int_t)s->device_bytes));
	json_object_set_new(json, "resync", details);
	return json;
}

int workload_resync_run(const struct workload_run *run, json_t **measurement, struct failure *why)
{
	struct sync_run *s = calloc(1, sizeof(*s));
	enum drbd_step step = DRBD_INVALIDATE_REMOTE;
	int r;

	if (!s)
		return fail(why, -ENOMEM, FAILURE_SAMPLE, "measure", "", "", "Out of memory");
	s->run = run;
	r = prepare(s, why);
	if (!r && word_is(s, "what", "partial")) {
		step = DRBD_CONNECT;
		r = command(s, DRBD_DISCONNECT, why);
		r = r ? r : wait_for_connection(s, "StandAlone", why);
		r = r ? r : write_alone(s, why);
		r = r ? r : wait_for_connection(s, "StandAlone", why);
	} else {
		/* All bits are set at once, and the first look may come after some are cleared again. */
		s->watch.total_bytes = (s->device_bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
	}
	observer_begin(run->observer);
	s->cpu_ns = -process_cpu_ns();
	r = r ? r : watch(s, step, why);
	s->cpu_ns += process_cpu_ns();
	if (!r)
		*measurement = resync_json(s);
	finish(s);
	return r;
}

/* Alters this node's disk beneath DRBD, in the middle: one byte in each block. */
static int plant(struct sync_run *s, struct failure *why)
{
	const char *disk = s->run->build->disk.device;
	uint64_t at = s->device_bytes / 2 / BLOCK_BYTES * BLOCK_BYTES, end = at + s->planted_bytes;
	unsigned char *block = NULL;
	int fd = open(disk, O_RDWR | O_DIRECT | O_CLOEXEC), r = fd < 0 ? -errno : 0;

	if (!r && end > s->device_bytes)
		r = -ENOSPC;
	if (!r)
		r = -posix_memalign((void **)&block, BLOCK_BYTES, BLOCK_BYTES);
	for (; !r && at < end; at += BLOCK_BYTES) {
		if (pread(fd, block, BLOCK_BYTES, (off_t)at) != BLOCK_BYTES)
			r = -EIO;
		else
			block[0] ^= 0xff;
		if (!r && pwrite(fd, block, BLOCK_BYTES, (off_t)at) != BLOCK_BYTES)
			r = -EIO;
	}
	free(block);
	if (fd >= 0)
		close(fd);
	if (!r)
		return 0;
	return fail(why, r, r == -ENOSPC ? FAILURE_CELL : FAILURE_SAMPLE, "measure", disk,
	            "Plan a smaller plant, or see the node's kernel log.",
	            "%llu bytes cannot be altered beneath DRBD", (unsigned long long)s->planted_bytes);
}

/* What a verify found is copied to the peer when it connects anew. */
static int heal(struct sync_run *s, struct failure *why)
{
	struct sync_run again = {.run = s->run, .deadline_ns = s->deadline_ns};
	int r = command(s, DRBD_DISCONNECT, why);

	r = r ? r : wait_for_connection(s, "StandAlone", why);
	again.watch.seconds = 0;
	return r ? r : watch(&again, DRBD_CONNECT, why);
}

static json_t *verify_json(const struct sync_run *s)
{
	static const char equivalent[] =
	    "drbdsetup verify " DRBD_MINOR " && drbdsetup wait-sync-resource " DRBD_RESOURCE
	    "; grep oos: /proc/drbd";
	json_t *details, *json = measurement_of(s, equivalent, &details);

	json_object_set_new(details, "out_of_sync_bytes", json_integer((json_int_t)s->out_of_sync_bytes));
	json_object_set_new(details, "planted_bytes", json_integer((json_int_t)s->planted_bytes));
	json_object_set_new(json, "verify", details);
	return json;
}

int workload_verify_run(const struct workload_run *run, json_t **measurement, struct failure *why)
{
	struct sync_run *s = calloc(1, sizeof(*s));
	uint64_t found;
	int r;

	if (!s)
		return fail(why, -ENOMEM, FAILURE_SAMPLE, "measure", "", "", "Out of memory");
	s->run = run;
	s->watch.verify = true;
	s->planted_bytes = (uint64_t)integer_of(s, "plant_bytes");
	r = prepare(s, why);
	if (!r && s->planted_bytes)
		r = plant(s, why);
	observer_begin(run->observer);
	s->cpu_ns = -process_cpu_ns();
	r = r ? r : watch(s, DRBD_VERIFY, why);
	s->cpu_ns += process_cpu_ns();
	if (!r)
		*measurement = verify_json(s);
	found = s->out_of_sync_bytes;
	if (!r && found != s->planted_bytes)
		snprintf(run->fault, run->fault_size,
		         "online verify found %llu bytes that differ between the nodes, not %llu",
		         (unsigned long long)found, (unsigned long long)s->planted_bytes);
	if (!r && found)
		r = heal(s, why);
	finish(s);
	return r;
}
