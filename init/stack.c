/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stack.h"

#include "factor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int set_level(json_t *in_force, enum factor_id id, const char *level)
{
	return json_object_set_new(in_force, factors[id].name, json_string(level)) ? -ENOMEM : 0;
}

static const char *disk_target(const struct cell_build *build)
{
	return build->disk.device;
}

static int raw_in_force(const struct cell_build *build, json_t *in_force)
{
	(void)build;
	return set_level(in_force, FACTOR_STACK, "raw");
}

static int drbd_stack_build(struct cell_build *build, struct failure *why)
{
	build->has_drbd = true;
	return drbd_build(&build->drbd, why);
}

/* A connection that broke since shows here, as the next sample's failure; the state is then built anew. */
static int drbd_stack_look(struct cell_build *build, struct failure *why)
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

static int drbd_stack_prove(struct cell_build *build, long long deadline_ns, cell_progress *progress,
                            void *ctx, struct failure *why)
{
	if (build->proven)
		return drbd_stack_look(build, why);
	return drbd_prove(&build->drbd, build->measure, deadline_ns, progress, ctx, why);
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

static int drbd_stack_in_force(const struct cell_build *build, json_t *in_force)
{
	struct drbd_state state = {.connection = "Unconfigured"};
	char text[8192];
	int r;

	drbd_read_state(&state, text, sizeof(text));
	r = set_level(in_force, FACTOR_STACK, "drbd");
	r = r ? r : set_level(in_force, FACTOR_DRBD_LINK, link_in_force(build, &state));
	/* Not to be read back: it is what the commands did. */
	if (!r && factor_relevant(&factors[FACTOR_DRBD_INITIAL_SYNC], build->state))
		r = set_level(in_force, FACTOR_DRBD_INITIAL_SYNC,
		              factor_string(build->state, FACTOR_DRBD_INITIAL_SYNC));
	return r ? r : drbd_show_levels(build->drbd.show, in_force);
}

static int drbd_stack_down(struct cell_build *build)
{
	int r = drbd_down();

	build->has_drbd = false;
	return r;
}

static const char *drbd_target(const struct cell_build *build)
{
	(void)build;
	return DRBD_DEVICE;
}

static const struct stack stacks[] = {
    {.level = "raw", .in_force = raw_in_force, .target = disk_target},
    {.level = "drbd",
     .build = drbd_stack_build,
     .prove = drbd_stack_prove,
     .in_force = drbd_stack_in_force,
     .down = drbd_stack_down,
     .target = drbd_target},
};

const struct stack *stack_of(const json_t *state)
{
	const char *level = factor_string(state, FACTOR_STACK);

	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++)
		if (!strcmp(stacks[i].level, level))
			return &stacks[i];
	return NULL;
}
