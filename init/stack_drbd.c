/* SPDX-License-Identifier: GPL-2.0-or-later
 * DRBD as a layer of the stack. */
#include "stack_drbd.h"

#include "cell_build.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WIPE_BYTES (1 << 20)

static void set_level(json_t *in_force, enum factor_id id, const char *level)
{
	json_object_set_new(in_force, factors[id].name, json_string(level));
}

/* drbdmeta refuses a device that begins with what looks like data, whatever it is told. The disk is ours by
 * consent, and what another stack left on it is not data. */
static int wipe_start(const char *device)
{
	static const char zeros[WIPE_BYTES];
	int fd = open(device, O_WRONLY | O_CLOEXEC), r = 0;

	if (fd < 0)
		return -errno;
	for (size_t done = 0; done < sizeof(zeros) && !r;) {
		ssize_t n = pwrite(fd, zeros + done, sizeof(zeros) - done, (off_t)done);

		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			r = n ? -errno : -ENOSPC;
	}
	if (!r && fsync(fd))
		r = -errno;
	close(fd);
	return r;
}

static int build_drbd(struct cell_build *build, struct stack_level *level, struct failure *why)
{
	int r = wipe_start(level->lower);

	if (r)
		return fail(why, r, FAILURE_SAMPLE, "drbd", level->lower,
		            "See the kernel log and the disk's own health data.",
		            "The beginning of %s cannot be wiped", level->lower);
	json_array_append_new(build->drbd.commands,
	                      json_sprintf("dd if=/dev/zero of=%s bs=1M count=1 conv=fsync", level->lower));
	build->has_drbd = true;
	return drbd_build(&build->drbd, why);
}

/* A connection that broke since shows here, as the next sample's failure; the state is then built anew. */
int stack_drbd_look(struct cell_build *build, struct failure *why)
{
	struct drbd_state state;
	char text[8192], fault[256];
	int r = drbd_read_state(&state, text, sizeof(text));

	if (r)
		return fail(why, r, FAILURE_SAMPLE, "drbd", "/proc/drbd", "See the node's kernel log.",
		            "DRBD's state cannot be read");
	drbd_state_fault(&build->drbd.setup, build->measure, &state, fault, sizeof(fault));
	if (!fault[0])
		return 0;
	return fail(why, 0, FAILURE_SAMPLE, "drbd", DRBD_DEVICE,
	            "Nothing, if it happens once: the state is built anew. Else see both kernel logs.",
	            "The state in force broke since the sample before: %s", fault);
}

/* What the kernel's words say, in the words of the plan; what fits none is said as it is. */
static const char *link_in_force(const struct cell_build *build, const struct drbd_state *state)
{
	const char *asked = factor_string(build->state, FACTOR_DRBD_LINK);

	if (!strcmp(state->connection, "Connected"))
		return "connected";
	if (!strcmp(state->connection, "StandAlone") && strcmp(asked, "connected") != 0)
		return asked;
	return state->connection;
}

/* Whether LOWER is what it is attached to: `disk "/dev/vda";` in what drbdsetup shows. */
static bool is_on(const char *show, const char *lower)
{
	char quoted[80];

	snprintf(quoted, sizeof(quoted), "\"%s\"", lower);
	return strstr(show, quoted) != NULL;
}

static void read_drbd(const struct cell_build *build, const struct stack_level *level, char *real,
                      size_t size, json_t *in_force, json_t *what)
{
	struct drbd_state state = {.connection = "Unconfigured"};
	char text[8192];

	(void)what;
	drbd_read_state(&state, text, sizeof(text));
	set_level(in_force, FACTOR_DRBD_LINK, link_in_force(build, &state));
	/* Not to be read back: it is what the commands did. */
	if (factor_relevant(&factors[FACTOR_DRBD_INITIAL_SYNC], build->state))
		set_level(in_force, FACTOR_DRBD_INITIAL_SYNC,
		          factor_string(build->state, FACTOR_DRBD_INITIAL_SYNC));
	drbd_show_levels(build->drbd.show, in_force);
	if (!is_on(build->drbd.show, level->lower))
		snprintf(real, size, "not on %s", level->lower);
}

const struct stack_kind stack_drbd = {
    .build = build_drbd,
    .read = read_drbd,
    .down = drbd_down,
    .device = DRBD_DEVICE,
};
