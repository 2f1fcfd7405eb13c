/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workload_sync_watch.h"

#include <stdio.h>
#include <string.h>

#define NS_PER_S 1000000000LL

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Data goes, or is read: the handshake before it (WFBitMapS …) is over. */
static bool runs(const struct sync_watch *w, const struct drbd_state *s)
{
	if (w->verify)
		return starts(s->connection, "Verify");
	return starts(s->connection, "SyncSource") || starts(s->connection, "SyncTarget") ||
	       starts(s->connection, "PausedSync");
}

/* A resync may be over between two looks; of a verify the command itself begins it. */
static bool is_done(const struct sync_watch *w, const struct drbd_state *s)
{
	if (strcmp(s->connection, "Connected") != 0)
		return false;
	if (w->verify)
		return w->phase == SYNC_RUNNING;
	return !s->out_of_sync_bytes && !strcmp(s->disk, "UpToDate") && !strcmp(s->peer_disk, "UpToDate");
}

/* Before it runs, the peers may need several attempts to meet, unless they refuse each other. */
static bool is_broken(const struct sync_watch *w, const struct drbd_state *s)
{
	if (!strcmp(s->connection, "StandAlone") || !strcmp(s->connection, "Unconfigured"))
		return true;
	return w->phase == SYNC_RUNNING && strcmp(s->connection, "Connected") != 0 && !runs(w, s);
}

static void note_state(struct sync_watch *w, const struct drbd_state *s)
{
	char text[FAILOVER_STATE_LENGTH];

	snprintf(text, sizeof(text), "%.31s %.31s/%.31s", s->connection, s->disk, s->peer_disk);
	failover_states_add(&w->states, text);
}

static void begin(struct sync_watch *w, int64_t ns, bool done, const struct drbd_state *s,
                  const struct drbd_progress *p)
{
	w->start_ns = done ? w->last_ns : ns;
	if (s->out_of_sync_bytes > w->total_bytes && !w->verify)
		w->total_bytes = s->out_of_sync_bytes;
	if (p->running && p->total_bytes > w->total_bytes)
		w->total_bytes = p->total_bytes;
	w->left_bytes = w->total_bytes;
	w->phase = SYNC_RUNNING;
}

/* What was done since the look before, to its seconds, as if it had gone evenly between two looks. */
static void account(struct sync_watch *w, int64_t ns, uint64_t left, long long finish_s)
{
	int64_t from_ns = w->last_ns > w->start_ns ? w->last_ns : w->start_ns, at_ns = from_ns;
	uint64_t done = left < w->left_bytes ? w->left_bytes - left : 0, told = 0;
	size_t second = (size_t)((at_ns - w->start_ns) / NS_PER_S);

	w->left_bytes -= done;
	for (; at_ns < ns && second < w->seconds; second++) {
		int64_t end_ns = w->start_ns + (int64_t)(second + 1) * NS_PER_S;
		uint64_t sum = done;

		if (end_ns < ns)
			sum = (uint64_t)((double)done * (double)(end_ns - from_ns) / (double)(ns - from_ns));
		w->second_bytes[second] += sum - told;
		w->second_finish[second] = finish_s;
		told = sum;
		at_ns = end_ns;
	}
}

int64_t sync_watch_pause_ns(const struct sync_watch *w)
{
	uint64_t done = w->total_bytes - w->left_bytes;
	double ns;

	if (w->phase != SYNC_RUNNING || !done)
		return SYNC_LOOK_LEAST_NS;
	ns = (double)(w->last_ns - w->start_ns) * (double)w->left_bytes / (double)done / 64;
	return ns < SYNC_LOOK_LEAST_NS  ? SYNC_LOOK_LEAST_NS
	       : ns > SYNC_LOOK_MOST_NS ? SYNC_LOOK_MOST_NS
	                                : (int64_t)ns;
}

enum sync_phase sync_watch_add(struct sync_watch *w, int64_t ns, const struct drbd_state *s,
                               const struct drbd_progress *p)
{
	bool done = is_done(w, s);

	note_state(w, s);
	if (is_broken(w, s))
		return w->phase = SYNC_BROKEN;
	if (w->phase == SYNC_WAITING && !w->total_bytes && !w->verify)
		w->total_bytes = s->out_of_sync_bytes;
	if (w->phase == SYNC_WAITING && (runs(w, s) || done))
		begin(w, ns, done, s, p);
	if (w->phase == SYNC_RUNNING && done) {
		account(w, ns, 0, 0);
		w->end_ns = ns;
		w->phase = SYNC_DONE;
	} else if (w->phase == SYNC_RUNNING) {
		account(w, ns,
		        w->verify ? (p->running ? p->left_bytes : w->left_bytes) : s->out_of_sync_bytes,
		        p->finish_s);
	}
	if (w->phase >= SYNC_RUNNING) {
		w->sent_bytes = p->sent_bytes - w->sent_first;
		w->received_bytes = p->received_bytes - w->received_first;
	}
	w->last_ns = ns;
	return w->phase;
}
