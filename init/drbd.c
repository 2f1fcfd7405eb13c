/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drbd.h"

#include "factor.h"
#include "file.h"
#include "module.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define COMMAND_TIMEOUT_MS 30000
#define MD_TIMEOUT_MS      120000 /* writes 32 KiB of bitmap for each GiB of the disk */
#define PROC_DRBD          "/proc/drbd"

#define HELD_NS      100000000LL
#define TRANSIENT_NS 10000000000LL

static bool link_is(const struct drbd_setup *setup, const char *level)
{
	return !strcmp(factor_string(setup->state, FACTOR_DRBD_LINK), level);
}

bool drbd_is_transient(const char *output)
{
	return strstr(output, "(-18)") != NULL;
}

int drbd_command(const struct drbd *drbd, enum drbd_step step, struct command_result *result,
                 struct failure *why)
{
	struct drbd_argv argv;
	char text[1024];
	long long deadline_ns = now_ns() + TRANSIENT_NS;
	int r = drbd_argv(step, &drbd->setup, &argv);

	if (r)
		return fail(why, r, FAILURE_CELL, "drbd", DRBD_RESOURCE, "Report this.", "Command too long");
	command_text(argv.argv, text, sizeof(text));
	json_array_append_new(drbd->commands, json_string(text));
	while ((r = command_run(argv.argv, step == DRBD_CREATE_MD ? MD_TIMEOUT_MS : COMMAND_TIMEOUT_MS,
	                        result)) &&
	       drbd_is_transient(result->output) && now_ns() < deadline_ns)
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	if (r) {
		fail(why, r == -EREMOTEIO ? 0 : r,
		     drbd_refuses_level(step, result->output) ? FAILURE_UNSUPPORTED : FAILURE_SAMPLE, "drbd",
		     drbd->setup.disk,
		     "The log below is what the tool said; the node's kernel log has DRBD's reason.",
		     "`%s` failed with status %d", text, result->status);
		snprintf(why->log, sizeof(why->log), "%.8000s", result->output);
	}
	return r;
}

static int run_step(struct drbd *drbd, enum drbd_step step, struct failure *why)
{
	static struct command_result result;
	int r = drbd_command(drbd, step, &result, why);

	if (!r && step == DRBD_SHOW)
		snprintf(drbd->show, sizeof(drbd->show), "%.8000s", result.output);
	return r;
}

static int run_steps(struct drbd *drbd, const enum drbd_step *steps, size_t n, struct failure *why)
{
	int r = 0;

	for (size_t i = 0; i < n && !r; i++)
		r = run_step(drbd, steps[i], why);
	return r;
}

int drbd_build(struct drbd *drbd, struct failure *why)
{
	static const enum drbd_step steps[] = {DRBD_CREATE_MD, DRBD_MARK_MD, DRBD_NEW_RESOURCE,
	                                       DRBD_NEW_MINOR, DRBD_ATTACH,  DRBD_CONNECT};
	size_t n = sizeof(steps) / sizeof(*steps) - (link_is(&drbd->setup, "never-connected") ? 1 : 0);
	/* Its default helper, drbdadm, is not here; none is needed, for the lab decides. */
	int r = module_load("drbd", "usermode_helper=/bin/true");

	if (r)
		return fail(why, r, failure_refusal(r), "drbd", "drbd.ko",
		            "The image must have the modules drbd, lru_cache and libcrc32c.",
		            "DRBD's kernel module cannot be loaded");
	return run_steps(drbd, steps, n, why);
}

int drbd_read_state(struct drbd_state *state, char *text, size_t size)
{
	int r = read_file(PROC_DRBD, text, size);

	return r < 0 ? r : drbd_state_parse(text, 0, state);
}

void drbd_generation(char *buf, size_t size)
{
	static struct command_result result;
	const struct drbd_setup none = {.disk = ""};
	struct drbd_argv argv;

	buf[0] = '\0';
	if (drbd_argv(DRBD_GENERATION, &none, &argv) || command_run(argv.argv, COMMAND_TIMEOUT_MS, &result))
		return;
	snprintf(buf, size, "%.*s", (int)strcspn(result.output, ":\n"), result.output);
}

typedef bool state_test(const struct drbd_state *state);

static bool is_connected(const struct drbd_state *s)
{
	return !strcmp(s->connection, "Connected");
}

static bool is_in_sync(const struct drbd_state *s)
{
	return is_connected(s) && !strcmp(s->disk, "UpToDate") && !strcmp(s->peer_disk, "UpToDate");
}

/* The source's view, also when the target has left already. */
static bool is_all_sent(const struct drbd_state *s)
{
	return !strcmp(s->disk, "UpToDate") && !s->out_of_sync_bytes &&
	       strncmp(s->connection, "Sync", 4) != 0;
}

static bool is_up_to_date(const struct drbd_state *s)
{
	return !strcmp(s->disk, "UpToDate");
}

static bool is_standalone(const struct drbd_state *s)
{
	return !strcmp(s->connection, "StandAlone");
}

static const char *advice(const struct drbd_setup *setup, const struct drbd_state *state, char *buf,
                          size_t size)
{
	if (!strcmp(state->connection, "StandAlone"))
		snprintf(buf, size, "The two nodes refused each other: the kernel logs of both say why.");
	else if (!strncmp(state->connection, "WF", 2) || !strcmp(state->connection, "Unconnected"))
		snprintf(buf, size,
		         "Nothing answered at %s:%u. See what the peer %s says; check the storage NICs' "
		         "cabling.",
		         setup->peer_address, setup->port, setup->peer);
	else
		snprintf(buf, size, "If it was only slow, give the plan a longer deadline (apply).");
	return buf;
}

/* Polls until TEST has held for HELD_NS: DRBD's states flicker while both sides tell each other theirs. Where
 * FATAL_STANDALONE, a refused connection ends the wait at once. */
static int wait_for(struct drbd *drbd, state_test *test, bool fatal_standalone, const char *what,
                    long long deadline_ns, cell_progress *progress, void *ctx, struct failure *why)
{
	long long started_ns = now_ns(), told_ns = started_ns, held_since_ns = 0;
	struct drbd_state state;
	char text[8192], hint[256];

	for (;;) {
		int r = drbd_read_state(&state, text, sizeof(text));
		long long now = now_ns();

		if (r)
			return fail(why, r, FAILURE_SAMPLE, "drbd", PROC_DRBD, "See the node's kernel log.",
			            "DRBD's state cannot be read");
		if (!test(&state))
			held_since_ns = 0;
		else if (!held_since_ns)
			held_since_ns = now;
		else if (now - held_since_ns >= HELD_NS)
			return 0;
		if (now >= deadline_ns || (fatal_standalone && is_standalone(&state))) {
			fail(why, now >= deadline_ns ? -ETIMEDOUT : 0, FAILURE_SAMPLE, "drbd", DRBD_DEVICE,
			     advice(&drbd->setup, &state, hint, sizeof(hint)),
			     "DRBD did not become %s in %lld ms: it is %s %s/%s", what,
			     (now - started_ns) / 1000000, state.connection, state.disk, state.peer_disk);
			snprintf(why->log, sizeof(why->log), "%s", text);
			return why->error ? -why->error : -EIO;
		}
		if (progress && now - told_ns > 2000000000LL) {
			char line[160];

			snprintf(line, sizeof(line), "waiting for %s: %s %s/%s, %llu MiB out of sync", what,
			         state.connection, state.disk, state.peer_disk,
			         (unsigned long long)state.out_of_sync_bytes >> 20);
			if (progress(ctx, "drbd", line) == -ECANCELED)
				return cell_called_off(why);
			told_ns = now;
		}
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
}

/* Both sides get the same data, or are declared to have it. */
static int make_equal(struct drbd *drbd, bool measure, long long deadline_ns, cell_progress *progress,
                      void *ctx, struct failure *why)
{
	bool skip = !strcmp(factor_string(drbd->setup.state, FACTOR_DRBD_INITIAL_SYNC), "skip");
	bool stays = link_is(&drbd->setup, "connected");
	int r = 0;

	if (measure) {
		r = wait_for(drbd, is_connected, true, "Connected", deadline_ns, progress, ctx, why);
		if (!r)
			r = run_step(drbd, skip ? DRBD_SKIP_SYNC : DRBD_PRIMARY_FORCE, why);
	}
	if (r)
		return r;
	if (stays)
		return wait_for(drbd, is_in_sync, true, "Connected UpToDate/UpToDate", deadline_ns, progress,
		                ctx, why);
	/* Where the cell disconnects, the other side may have done so before we look. */
	return wait_for(drbd, measure ? is_all_sent : is_up_to_date, false, "UpToDate", deadline_ns, progress,
	                ctx, why);
}

int drbd_prove(struct drbd *drbd, bool measure, long long deadline_ns, cell_progress *progress, void *ctx,
               struct failure *why)
{
	bool never = link_is(&drbd->setup, "never-connected");
	int r = never ? 0 : make_equal(drbd, measure, deadline_ns, progress, ctx, why);

	if (!r)
		r = run_step(drbd, DRBD_SHOW, why);
	if (!r && link_is(&drbd->setup, "disconnected")) {
		r = run_step(drbd, DRBD_DISCONNECT, why);
		if (!r)
			r = wait_for(drbd, is_standalone, false, "StandAlone", deadline_ns, progress, ctx,
			             why);
	}
	if (!r && measure)
		r = run_step(drbd, never ? DRBD_PRIMARY_FORCE : DRBD_PRIMARY, why);
	return r;
}

void drbd_state_fault(const struct drbd_setup *setup, bool measure, const struct drbd_state *state, char *buf,
                      size_t size)
{
	bool connected = link_is(setup, "connected"), never = link_is(setup, "never-connected");
	const char *connection = connected ? "Connected" : "StandAlone";
	/* A peer that never met anyone has nothing up to date, which is right. */
	bool disk = (never && !measure) || !strcmp(state->disk, "UpToDate");
	bool peer = !connected || !strcmp(state->peer_disk, "UpToDate");
	bool role = !measure || !strcmp(state->role, "Primary");

	buf[0] = '\0';
	if (strcmp(state->connection, connection) || !disk || !peer || !role)
		snprintf(buf, size, "DRBD is %s %s %s/%s, not %s%s UpToDate%s",
		         state->connection[0] ? state->connection : "gone", state->role, state->disk,
		         state->peer_disk, connection, measure ? " Primary" : "",
		         connected ? "/UpToDate" : "");
}

int drbd_down(void)
{
	static struct command_result result;
	const struct drbd_setup none = {.disk = ""};
	long long deadline_ns = now_ns() + 5000000000LL;
	struct drbd_argv argv;
	int r;

	if (access(PROC_DRBD, F_OK))
		return 0;
	r = drbd_argv(DRBD_DOWN, &none, &argv);
	/* Something that looks at every new device (a partition scan) may hold it open for a moment. */
	while (!r) {
		struct drbd_state state;
		char text[8192];

		r = command_run(argv.argv, COMMAND_TIMEOUT_MS, &result);
		if (r == -EREMOTEIO && now_ns() < deadline_ns) {
			nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
			r = 0;
			continue;
		}
		if (!r && !drbd_read_state(&state, text, sizeof(text)) &&
		    strcmp(state.connection, "Unconfigured") != 0)
			r = -EBUSY;
		break;
	}
	return r;
}
