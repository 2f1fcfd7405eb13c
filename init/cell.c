/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cell.h"

#include "console.h"
#include "evidence.h"
#include "factor.h"
#include "file.h"
#include "stack.h"
#include "workload_copy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const json_t *state_of(const json_t *assignment)
{
	return json_object_get(json_object_get(assignment, "cell"), "state");
}

static long deadline_ms(const json_t *assignment, const char *which)
{
	return (long)json_integer_value(json_object_get(json_object_get(assignment, "deadlines"), which));
}

static long long deadline_ns(const json_t *assignment, const char *which)
{
	return now_ns() + deadline_ms(assignment, which) * 1000000LL;
}

/* Whether A and B ask for the same on this node: they may differ in workload, run and sample. */
static bool same_state(const json_t *a, const json_t *b)
{
	static const char *const keys[] = {"role", "self", "peers", "drbd_port"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i])))
			return false;
	return json_equal(state_of(a), state_of(b));
}

/* "10.99.0.1/24" to its parts. 0 or -EINVAL. */
static int split_cidr(const json_t *binding, char *address, size_t size, unsigned int *prefix_bits)
{
	const char *text = json_string_value(json_object_get(binding, "storage_address"));
	const char *slash = text ? strchr(text, '/') : NULL;

	if (!slash || (size_t)(slash - text) >= size)
		return -EINVAL;
	snprintf(address, size, "%.*s", (int)(slash - text), text);
	*prefix_bits = (unsigned int)strtoul(slash + 1, NULL, 10);
	return 0;
}

/* What the assignment says, to BUILD. */
static int read_assignment(struct cell_build *build, const json_t *assignment, struct failure *why)
{
	const json_t *self = json_object_get(assignment, "self");
	const json_t *peer = json_array_get(json_object_get(assignment, "peers"), 0);
	const char *role = json_string_value(json_object_get(assignment, "role"));
	const char *name = json_string_value(json_object_get(self, "name"));
	const char *peer_name = json_string_value(json_object_get(peer, "name"));
	struct drbd_setup *setup = &build->drbd.setup;
	unsigned int bits;
	int r;

	build->state = state_of(assignment);
	build->measure = role && !strcmp(role, "measure");
	snprintf(build->node, sizeof(build->node), "%s", name ? name : "?");
	snprintf(build->peer, sizeof(build->peer), "%s", peer_name ? peer_name : "?");
	r = split_cidr(self, build->net.address, sizeof(build->net.address), &build->net.prefix_bits);
	if (r || !build->state || !stack_of(build->state))
		return fail(why, -EINVAL, FAILURE_CELL, "apply", "assignment",
		            "Report this: lab and node differ.", "The assignment cannot be understood");
	if (strcmp(factor_string(build->state, FACTOR_STACK), "drbd") != 0)
		return 0;
	if (split_cidr(peer, build->peer_address, sizeof(build->peer_address), &bits) ||
	    json_array_size(json_object_get(assignment, "peers")) != 1)
		return fail(why, -EINVAL, FAILURE_CELL, "apply", "peers",
		            "Let the group have two nodes: DRBD 8.4 replicates to one peer.",
		            "The stack drbd needs one peer, this sample has %zu",
		            json_array_size(json_object_get(assignment, "peers")));
	memcpy(setup->node, build->node, sizeof(setup->node));
	memcpy(setup->peer, build->peer, sizeof(setup->peer));
	memcpy(setup->address, build->net.address, sizeof(setup->address));
	memcpy(setup->peer_address, build->peer_address, sizeof(setup->peer_address));
	setup->port = (unsigned int)json_integer_value(json_object_get(assignment, "drbd_port"));
	setup->mark = (unsigned int)(now_ns() / 1000) & 0xffffff;
	setup->state = build->state;
	return 0;
}

static unsigned int index_of(const json_t *binding)
{
	return (unsigned int)json_integer_value(json_object_get(binding, "index"));
}

/* Every leg alone, before a bond hides which of them carries the traffic. */
static int prove_legs(struct cell_build *build, const json_t *assignment, long long until_ns,
                      struct failure *why)
{
	struct net *net = &build->net;
	int r = 0;

	build->path_count = net->used;
	for (unsigned int leg = 0; leg < net->used && !r; leg++) {
		struct net_path *path = &build->paths[leg];

		*path = (struct net_path){.mtu_bytes = net->mtu_bytes, .leg = leg + 1};
		memcpy(path->device, net->nics.name[leg], IFNAMSIZ);
		net_path_leg_address(leg + 1, index_of(json_object_get(assignment, "self")), path->address,
		                     sizeof(path->address));
		net_path_leg_address(leg + 1,
		                     index_of(json_array_get(json_object_get(assignment, "peers"), 0)),
		                     path->peer, sizeof(path->peer));
		r = net_add_address(path->device, path->address, 24, why);
	}
	if (r)
		return r;
	r = net_path_probe(build->paths, net->used, true, until_ns);
	if (r == -ETIMEDOUT)
		return net_path_failure(build->paths, net->used, build->node, build->peer, why);
	if (r)
		return fail(why, r, FAILURE_SAMPLE, "net", "ICMP", "See the node's kernel log.",
		            "Pings cannot be sent");
	return 0;
}

static int build_net(struct cell_build *build, const struct cell_node *node, const json_t *assignment,
                     cell_progress *progress, void *ctx, struct failure *why)
{
	const json_t *nics = json_object_get(json_object_get(assignment, "self"), "storage_nics");
	long long link_ns = deadline_ns(assignment, "apply_ms"), peer_ns = deadline_ns(assignment, "peer_ms");
	int r;

	r = net_find_nics("/sys", nics, node->management_nic, &build->net.nics, why);
	if (r)
		return r;
	build->has_net = true;
	progress(ctx, "net", "storage NICs up, waiting for their links");
	r = net_legs_up(&build->net, build->state, link_ns, why);
	if (r)
		return r;
	progress(ctx, "net", "proving each leg with the peer");
	/* The peer may come as late as it may, and then needs its links as well. */
	r = prove_legs(build, assignment, peer_ns > link_ns ? peer_ns : link_ns, why);
	if (r)
		return r;
	progress(ctx, "net", build->net.bond ? "building the bond" : "setting the address");
	return net_build(&build->net, build->state, deadline_ns(assignment, "apply_ms"), why);
}

static int build_all(struct cell_node *node, const json_t *assignment, cell_progress *progress, void *ctx,
                     struct failure *why)
{
	struct cell_build *build = node->build;
	const struct stack *stack;
	int r = read_assignment(build, assignment, why);

	if (r)
		return r;
	progress(ctx, "disk", "choosing the disk");
	r = disk_select(&disk_roots_real, json_object_get(json_object_get(assignment, "self"), "disk"),
	                &build->disk, why);
	if (r)
		return r;
	snprintf(build->drbd.setup.disk, sizeof(build->drbd.setup.disk), "%.63s", build->disk.device);
	if (factor_relevant(&factors[FACTOR_NIC_MTU], build->state))
		r = build_net(build, node, assignment, progress, ctx, why);
	stack = stack_of(build->state);
	if (!r && stack->build) {
		progress(ctx, "stack", stack->level);
		r = stack->build(build, why);
	}
	return r;
}

/* Whether what was proven is still there: a peer that rebooted meanwhile needs us to start with it. */
static bool still_there(struct cell_build *build)
{
	struct net_path path = build->path_count ? build->paths[build->path_count - 1] : (struct net_path){0};
	struct failure ignored;

	if (!build->proven || build->broken)
		return false;
	if (build->has_drbd && stack_of(build->state)->prove(build, 0, NULL, NULL, &ignored))
		return false;
	path.full_passed = false;
	return !build->has_net || !net_path_probe(&path, 1, false, now_ns() + 1000000000LL);
}

int cell_apply(struct cell_node *node, const json_t *assignment, cell_progress *progress, void *ctx,
               struct failure *why)
{
	int r;

	if (node->build && same_state(node->assignment, assignment) && still_there(node->build))
		return 0;
	progress(ctx, "apply", "taking down what is there");
	cell_restore(node);
	node->build = calloc(1, sizeof(*node->build));
	node->assignment = json_deep_copy(assignment);
	if (!node->build || !node->assignment)
		return fail(why, -ENOMEM, FAILURE_SAMPLE, "apply", "", "", "Out of memory");
	node->build->drbd.commands = json_array();
	node->build->states_before = node->states_built++;
	r = build_all(node, node->assignment, progress, ctx, why);
	if (r)
		node->build->broken = true;
	else
		node->state = json_incref((json_t *)state_of(node->assignment));
	return r;
}

static int prove_whole_path(struct cell_build *build, long long until_ns, struct failure *why)
{
	struct net_path *path = &build->paths[build->net.used];
	int r;

	*path = (struct net_path){.mtu_bytes = build->net.mtu_bytes};
	memcpy(path->device, build->net.device, IFNAMSIZ);
	memcpy(path->address, build->net.address, sizeof(path->address));
	memcpy(path->peer, build->peer_address, sizeof(path->peer));
	build->path_count = build->net.used + 1;
	r = net_path_probe(path, 1, false, until_ns);
	if (r == -ETIMEDOUT)
		return net_path_failure(path, 1, build->node, build->peer, why);
	if (r)
		return fail(why, r, FAILURE_SAMPLE, "net", "ICMP", "See the node's kernel log.",
		            "Pings cannot be sent");
	return 0;
}

static json_t *read_in_force(const struct cell_build *build)
{
	const char *boot = factor_string(build->state, FACTOR_BOOT);
	json_t *in_force = json_object();
	int r;

	/* Warm asks for nothing, so it is in force on a fresh boot as well. */
	if (build->states_before > 0)
		boot = "warm";
	r = json_object_set_new(in_force, factors[FACTOR_BOOT].name, json_string(boot)) ? -ENOMEM : 0;
	if (!r)
		r = stack_of(build->state)->in_force(build, in_force);
	if (!r && build->has_net)
		r = net_in_force(&build->net, "/sys", in_force);
	if (!r)
		return in_force;
	json_decref(in_force);
	return NULL;
}

static int observe_now(const struct cell_build *build, struct observation *o)
{
	return observe(&observe_roots_real, build->has_net && build->net.bond ? build->net.device : NULL,
	               build->has_drbd, o);
}

/* Evidence that holds for the whole sample, and `before`. */
static int evidence_before(const struct cell_node *node, struct cell_build *build, json_t *evidence)
{
	json_t *in_force = read_in_force(build), *paths = json_array();
	char conf[8192];
	int r = in_force ? evidence_machine(&observe_roots_real, evidence) : -ENOMEM;

	if (r)
		goto out;
	r = json_object_set_new(evidence, "image_id", json_string(node->image_id));
	r |= json_object_set_new(evidence, "states_built_before", json_integer(build->states_before));
	r |= json_object_set_new(evidence, "differences", evidence_differences(build->state, in_force));
	r |= json_object_set(evidence, "in_force", in_force);
	r |= json_object_set_new(evidence, "disk", disk_json(&build->disk));
	r |= json_object_set_new(evidence, "nics",
	                         evidence_nics(&observe_roots_real, &build->net.nics,
	                                       build->has_net ? build->net.used : 0));
	r |= net_path_json(build->paths, build->path_count, paths);
	r |= json_object_set(evidence, "paths", paths);
	if (build->has_drbd) {
		drbd_conf(&build->drbd.setup, conf, sizeof(conf));
		r |= json_object_set_new(evidence, "drbd_show", json_string(build->drbd.show));
		r |= json_object_set_new(evidence, "drbd_conf", json_string(conf));
		r |= json_object_set(evidence, "drbd_commands", build->drbd.commands);
	}
	r = r ? -ENOMEM : observe_now(build, &build->before);
	if (!r && json_object_set_new(evidence, "before", observation_json(&build->before)))
		r = -ENOMEM;
out:
	json_decref(in_force);
	json_decref(paths);
	return r;
}

int cell_prove(struct cell_node *node, const json_t *assignment, cell_progress *progress, void *ctx,
               json_t **evidence, struct failure *why)
{
	struct cell_build *build = node->build;
	const struct stack *stack = stack_of(build->state);
	long long until_ns = deadline_ns(assignment, "apply_ms");
	int r = 0;

	*evidence = NULL;
	if (build->has_net) {
		progress(ctx, "prove", "full-size pings to the peer");
		r = prove_whole_path(build, until_ns, why);
	}
	if (!r && stack->prove) {
		progress(ctx, "prove", stack->level);
		r = stack->prove(build, until_ns, progress, ctx, why);
	}
	if (!r) {
		*evidence = json_object();
		r = evidence_before(node, build, *evidence);
		if (r)
			fail(why, r, FAILURE_SAMPLE, "prove", "evidence", "See the node's kernel log.",
			     "The state in force cannot be read back");
	}
	if (r) {
		build->broken = true;
		json_decref(*evidence);
		*evidence = NULL;
	} else {
		build->proven = true;
	}
	return r;
}

int cell_measure(struct cell_node *node, const json_t *assignment, json_t **measurement, struct failure *why)
{
	const json_t *workload = json_object_get(json_object_get(assignment, "cell"), "workload");
	struct cell_build *build = node->build;
	struct copy_request request;
	struct copy copy;
	int r = copy_parse(workload, &request);

	*measurement = NULL;
	if (r)
		return fail(why, r, FAILURE_CELL, "measure", "workload", "Report this: lab and node differ.",
		            "The workload cannot be understood");
	r = copy_prepare(&copy, &request, stack_of(build->state)->target(build),
	                 deadline_ms(assignment, "measure_ms"), why);
	if (!r)
		r = copy_run(&copy, why);
	if (!r) {
		*measurement = copy_json(&copy);
		if (!*measurement)
			r = fail(why, -ENOMEM, FAILURE_SAMPLE, "measure", "", "", "Out of memory");
	}
	copy_close(&copy);
	return r;
}

/* The first thing that makes the sample invalid, to BUF; "" if nothing does. */
static void find_fault(const struct cell_build *build, const json_t *evidence, char *buf, size_t size)
{
	evidence_differences_fault(json_object_get(evidence, "differences"), buf, size);
	if (!buf[0])
		observe_bond_fault(&build->before, &build->after, buf, size);
	if (!buf[0] && build->has_drbd)
		drbd_state_fault(&build->drbd.setup, build->measure, &build->before.drbd, buf, size);
	if (!buf[0] && build->has_drbd)
		drbd_state_fault(&build->drbd.setup, build->measure, &build->after.drbd, buf, size);
	if (!buf[0])
		evidence_nics_fault(json_object_get(evidence, "nics"), buf, size);
}

int cell_evidence_after(struct cell_node *node, const json_t *assignment, json_t *evidence, char **reason,
                        struct failure *why)
{
	struct cell_build *build = node->build;
	char fault[1024];
	int r = observe_now(build, &build->after);

	(void)assignment;
	*reason = NULL;
	if (!r && json_object_set_new(evidence, "after", observation_json(&build->after)))
		r = -ENOMEM;
	if (r)
		return fail(why, r, FAILURE_SAMPLE, "evidence", "after", "See the node's kernel log.",
		            "The state after the sample cannot be read");
	evidence_nics_after(&observe_roots_real, json_object_get(evidence, "nics"));
	find_fault(build, evidence, fault, sizeof(fault));
	if (!fault[0])
		return 0;
	/* Another sample of the same state would only be invalid again. */
	build->broken = true;
	*reason = strdup(fault);
	return *reason ? 0 : fail(why, -ENOMEM, FAILURE_SAMPLE, "evidence", "", "", "Out of memory");
}

void cell_restore(struct cell_node *node)
{
	struct cell_build *build = node->build;
	int r = drbd_down();

	/* Also without a build: an earlier worker may have left it. */
	if (r)
		say("DRBD cannot be taken down: %s", strerror(-r));
	if (build) {
		r = build->has_net ? net_down(&build->net) : 0;
		if (r)
			say("The storage network cannot be taken down: %s", strerror(-r));
		json_decref(build->drbd.commands);
	}
	free(build);
	json_decref(node->state);
	json_decref(node->assignment);
	node->build = NULL;
	node->state = NULL;
	node->assignment = NULL;
}
