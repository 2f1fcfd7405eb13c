/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stack.h"

#include "cell_build.h"
#include "command.h"
#include "console.h"
#include "dm.h"
#include "kernel_log.h"
#include "layer.h"
#include "stack_drbd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

/* Making a file system writes all its tables: some GB on a large disk. */
#define STEP_TIMEOUT_MS 600000
#define DOWN_ROUNDS     4

static const struct stack_kind *const kinds[STACK_LAYER_COUNT] = {
    [STACK_DM_LINEAR] = &stack_dm_linear, [STACK_LVM] = &stack_lvm,   [STACK_LUKS] = &stack_luks,
    [STACK_DRBD] = &stack_drbd,           [STACK_EXT4] = &stack_ext4, [STACK_XFS] = &stack_xfs,
};

int stack_plan(struct cell_build *build, struct failure *why)
{
	struct stack *stack = &build->stack;
	enum stack_layer layers[STACK_LAYER_COUNT];
	int count = factor_stack_layers(factor_string(build->state, FACTOR_STACK), layers);
	const char *lower = build->disk.device;
	bool above_drbd = false;

	if (count < 0)
		return fail(why, -EINVAL, FAILURE_CELL, "apply", "stack", "Report this: lab and node differ.",
		            "The stack \"%s\" cannot be understood",
		            factor_string(build->state, FACTOR_STACK));
	stack->count = (size_t)count;
	for (size_t i = 0; i < stack->count; i++) {
		struct stack_level *level = &stack->levels[i];

		level->layer = layers[i];
		level->elsewhere = above_drbd && !build->measure;
		above_drbd |= level->layer == STACK_DRBD;
		snprintf(level->lower, sizeof(level->lower), "%.63s", lower);
		snprintf(level->device, sizeof(level->device), "%s", kinds[level->layer]->device);
		lower = level->device;
		if (level->layer == STACK_DRBD)
			memcpy(build->drbd.setup.disk, level->lower, sizeof(build->drbd.setup.disk));
	}
	return 0;
}

int stack_run(struct cell_build *build, struct stack_level *level, enum stack_step step, const char *uuid,
              bool options, char *output, size_t size, struct failure *why)
{
	static struct command_result result;
	const char *name = stack_layer_names[level->layer];
	const char *words[LAYER_WORDS], *const *argv = words;
	struct stack_argv command;
	char path[64], text[1024], log[4096];
	int mark, r = stack_argv(step, level->layer, build->state, level->lower, uuid, &command);

	if (!r && command.layer)
		r = layer_argv(command.layer, command.argv, path, words);
	else
		argv = command.argv;
	if (r)
		return fail(why, r, FAILURE_CELL, "stack", name, "Report this.", "Command too long");
	if (command.layer) {
		r = layer_enter(command.layer, why);
		if (r)
			return r;
	}
	command_text(argv, text, sizeof(text));
	json_array_append_new(build->stack.commands, json_string(text));
	mark = kernel_log_mark();
	r = command_run(argv, STEP_TIMEOUT_MS, &result);
	kernel_log_since(mark, log, sizeof(log));
	if (output)
		snprintf(output, size, "%.*s", (int)size - 1, result.output);
	if (!r)
		return 0;
	fail(why, r == -EREMOTEIO ? 0 : r, options ? FAILURE_UNSUPPORTED : FAILURE_SAMPLE, "stack",
	     level->lower, "The log below is what the tool said, and the kernel after it.",
	     "Layer %s: `%s` failed with status %d", name, text, result.status);
	snprintf(why->log, sizeof(why->log), "%.3000s\n%.4000s", result.output, log);
	return r;
}

int stack_new_uuid(const struct stack_level *level, char uuid[40])
{
	uint8_t random[16];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EIO;
	stack_uuid(level->layer, random, uuid);
	return 0;
}

/* Where the block factors find what LEVEL made. A file system makes no device. */
static void note_device(struct cell_build *build, const struct stack_level *level)
{
	char *name = build->place.layer[level->layer];
	struct dm_table table;

	if (level->layer == STACK_DRBD)
		snprintf(name, sizeof(build->place.layer[0]), "drbd" DRBD_MINOR);
	else if (!strncmp(level->device, DM_FOLDER, strlen(DM_FOLDER)) &&
	         !dm_read_table(level->device + strlen(DM_FOLDER), &table))
		snprintf(name, sizeof(build->place.layer[0]), "dm-%u", table.minor);
	if (name[0])
		snprintf(build->place.top, sizeof(build->place.top), "%s", name);
}

/* Levels FROM to below TO. */
static int build_levels(struct cell_build *build, size_t from, size_t to, cell_progress *progress, void *ctx,
                        struct failure *why)
{
	int r = 0;

	for (size_t i = from; i < to && !r; i++) {
		struct stack_level *level = &build->stack.levels[i];

		if (progress)
			progress(ctx, "stack", stack_layer_names[level->layer]);
		r = kinds[level->layer]->build(build, level, why);
		if (!r)
			note_device(build, level);
	}
	return r;
}

/* How many levels stand without the peer. */
static size_t first_part(const struct stack *stack)
{
	for (size_t i = 0; i < stack->count; i++)
		if (stack->levels[i].layer == STACK_DRBD)
			return i + 1;
	return stack->count;
}

int stack_build(struct cell_build *build, struct failure *why)
{
	if (!build->stack.commands)
		build->stack.commands = json_array();
	return build_levels(build, 0, first_part(&build->stack), NULL, NULL, why);
}

/* The first thing that is not as it was proven to be, to WHY. */
static int look(struct cell_build *build, struct failure *why)
{
	for (size_t i = 0; i < build->stack.count; i++) {
		const struct stack_level *level = &build->stack.levels[i];
		json_t *in_force = json_object(), *what = json_object();
		char real[256] = "";

		if (level->layer != STACK_DRBD && !level->elsewhere)
			kinds[level->layer]->read(build, level, real, sizeof(real), in_force, what);
		json_decref(in_force);
		json_decref(what);
		if (real[0])
			return fail(why, 0, FAILURE_SAMPLE, "stack", level->device,
			            "Nothing, if it happens once: the state is built anew. Else see the "
			            "node's kernel log.",
			            "The state in force broke since the sample before: %s is %s",
			            stack_layer_names[level->layer], real);
	}
	return build->has_drbd ? stack_drbd_look(build, why) : 0;
}

int stack_prove(struct cell_build *build, long long deadline_ns, cell_progress *progress, void *ctx,
                struct failure *why)
{
	int r;

	if (build->proven)
		return look(build, why);
	r = build->has_drbd ? drbd_prove(&build->drbd, build->measure, deadline_ns, progress, ctx, why) : 0;
	/* This node's highest device is not the one that the workload uses. */
	if (!build->measure && first_part(&build->stack) < build->stack.count)
		build->place.top[0] = '\0';
	if (r || !build->measure)
		return r;
	return build_levels(build, first_part(&build->stack), build->stack.count, progress, ctx, why);
}

/* What a node that does not measure cannot have: its factors are as asked, on the node that measures. */
static int take_as_asked(const struct cell_build *build, enum stack_layer layer, json_t *in_force)
{
	int r = 0;

	for (size_t i = 0; i < FACTOR_COUNT && !r; i++) {
		const struct factor *f = &factors[i];
		json_t *level = json_object_get(build->state, f->name);
		size_t n = strlen(stack_layer_names[layer]);

		if (level && !strncmp(f->name, stack_layer_names[layer], n) && f->name[n] == '.')
			r = json_object_set(in_force, f->name, level);
	}
	return r ? -ENOMEM : 0;
}

int stack_in_force(const struct cell_build *build, json_t *in_force)
{
	char stack[512] = "", above[512];
	int r = 0;

	for (size_t i = 0; i < build->stack.count && !r; i++) {
		const struct stack_level *level = &build->stack.levels[i];
		json_t *what = json_object();
		char real[256] = "";

		if (level->elsewhere)
			r = take_as_asked(build, level->layer, in_force);
		else
			kinds[level->layer]->read(build, level, real, sizeof(real), in_force, what);
		json_decref(what);
		memcpy(above, stack, sizeof(above));
		snprintf(stack, sizeof(stack), "%.120s%s%.120s%s%.250s", stack_layer_names[level->layer],
		         real[0] ? " that is " : "", real, *above ? "/" : "", above);
	}
	if (!r &&
	    json_object_set_new(in_force, factors[FACTOR_STACK].name, json_string(*stack ? stack : "raw")))
		r = -ENOMEM;
	return r;
}

json_t *stack_evidence(const struct cell_build *build)
{
	json_t *layers = json_array();

	for (size_t i = 0; i < build->stack.count; i++) {
		const struct stack_level *level = &build->stack.levels[i];
		json_t *what = json_pack("{s:s, s:s, s:s}", "layer", stack_layer_names[level->layer], "on",
		                         level->lower, "device", level->device);
		json_t *in_force = json_object();
		char real[256] = "";

		if (!level->elsewhere) {
			kinds[level->layer]->read(build, level, real, sizeof(real), in_force, what);
			json_array_append(layers, what);
		}
		json_decref(in_force);
		json_decref(what);
	}
	return json_pack("{s:o, s:O}", "layers", layers, "commands", build->stack.commands);
}

/* Something that looks at every new device may hold it open for a moment. */
static int down_patiently(enum stack_layer layer)
{
	int r = -EBUSY;

	for (int i = 0; i < 100 && r == -EBUSY; i++) {
		if (i)
			nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
		r = kinds[layer]->down();
	}
	return r;
}

/* In which order an earlier worker had them is not known: again, until nothing goes any more. */
static int down_all(void)
{
	int r = 0;

	for (int round = 0; round < DOWN_ROUNDS; round++) {
		r = 0;
		for (int layer = STACK_LAYER_COUNT; layer--;) {
			int one = kinds[layer]->down();

			r = r ? r : one;
		}
		if (!r)
			break;
	}
	return r;
}

int stack_down(struct cell_build *build)
{
	int r = 0;

	if (!build)
		return down_all();
	for (size_t i = build->stack.count; i--;) {
		enum stack_layer layer = build->stack.levels[i].layer;
		int one = down_patiently(layer);

		if (one)
			say("The stack's layer %s cannot be taken down: %s", stack_layer_names[layer],
			    strerror(-one));
		r = r ? r : one;
		build->place.layer[layer][0] = '\0';
	}
	build->has_drbd = false;
	json_decref(build->stack.commands);
	build->stack.commands = NULL;
	return r;
}
