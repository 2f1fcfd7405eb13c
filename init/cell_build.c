/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cell_build.h"

#include "factor.h"
#include "file.h"
#include "stack.h"
#include "workload_peer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RTT_PINGS = 50 };

const json_t *cell_state(const json_t *assignment)
{
	return json_object_get(json_object_get(assignment, "cell"), "state");
}

long cell_deadline_ms(const json_t *assignment, const char *which)
{
	return (long)json_integer_value(json_object_get(json_object_get(assignment, "deadlines"), which));
}

long long cell_deadline_ns(const json_t *assignment, const char *which)
{
	return now_ns() + cell_deadline_ms(assignment, which) * 1000000LL;
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

	build->state = cell_state(assignment);
	build->measure = role && !strcmp(role, "measure");
	snprintf(build->node, sizeof(build->node), "%s", name ? name : "?");
	snprintf(build->peer, sizeof(build->peer), "%s", peer_name ? peer_name : "");
	r = split_cidr(self, build->net.address, sizeof(build->net.address), &build->net.prefix_bits);
	if (r || !build->state)
		return fail(why, -EINVAL, FAILURE_CELL, "apply", "assignment",
		            "Report this: lab and node differ.", "The assignment cannot be understood");
	if (!factor_stack_has(build->state, STACK_DRBD))
		return 0;
	/* One that never connects is measured alone. */
	if (strcmp(factor_string(build->state, FACTOR_DRBD_LINK), "never-connected") != 0 &&
	    (split_cidr(peer, build->peer_address, sizeof(build->peer_address), &bits) ||
	     json_array_size(json_object_get(assignment, "peers")) != 1))
		return fail(why, -EINVAL, FAILURE_CELL, "apply", "peers",
		            "Let the group have two nodes: DRBD 8.4 replicates to one peer.",
		            "A stack with drbd needs one peer, this sample has %zu",
		            json_array_size(json_object_get(assignment, "peers")));
	memcpy(setup->node, build->node, sizeof(setup->node));
	memcpy(setup->peer, build->peer, sizeof(setup->peer));
	memcpy(setup->address, build->net.address, sizeof(setup->address));
	memcpy(setup->peer_address, build->peer_address, sizeof(setup->peer_address));
	setup->port = (unsigned int)json_integer_value(json_object_get(assignment, "drbd_port"));
	build->service_port = setup->port + 1;
	setup->mark = (unsigned int)(now_ns() / 1000) & 0xffffff;
	setup->state = build->state;
	return 0;
}

static unsigned int index_of(const json_t *binding)
{
	return (unsigned int)json_integer_value(json_object_get(binding, "index"));
}

/* Both nodes send at once. Neither goes on, which takes the legs down, before the other is done as well. */
static int prove_tcp(struct cell_build *build, long long until_ns, cell_progress *progress, void *ctx,
                     struct failure *why)
{
	const struct net *net = &build->net;
	int r = net_path_tcp(build->paths, net->used, build->service_port, build->node, build->peer, why);

	if (r)
		return r;
	r = net_path_meet(build->paths, net->used, until_ns, progress, ctx);
	peer_service_stop(&build->service);
	net_path_counters_end(build->paths, net->used, "/sys");
	if (r == -ECANCELED)
		return cell_called_off(why);
	if (r)
		return fail(why, r, FAILURE_SAMPLE, "net", build->net.device,
		            "Look at the other node's error.",
		            "Node %s does not say that its own proof of the legs, by TCP, is done",
		            build->peer);
	return 0;
}

/* Every leg alone, before a bond hides which of them carries the traffic. */
static int prove_legs(struct cell_build *build, const json_t *assignment, long long until_ns,
                      cell_progress *progress, void *ctx, struct failure *why)
{
	struct net *net = &build->net;
	bool shared = false;
	int r = 0;

	build->path_count = net->used;
	for (unsigned int leg = 0; leg < net->used && !r; leg++) {
		struct net_path *path = &build->paths[leg];

		*path = (struct net_path){.mtu_bytes = net->mtu_bytes, .leg = net->leg[leg]};
		memcpy(path->device, net->nics.name[leg], IFNAMSIZ);
		net_path_leg_address(path->leg, index_of(json_object_get(assignment, "self")), path->address,
		                     sizeof(path->address));
		net_path_leg_address(path->leg,
		                     index_of(json_array_get(json_object_get(assignment, "peers"), 0)),
		                     path->peer, sizeof(path->peer));
		r = net_add_address(path->device, path->address, 24, why);
	}
	if (!r)
		r = net_path_duplicates(build->paths, net->used, NULL, NULL, why);
	/* There before the peer can know that we are. */
	if (!r)
		r = peer_service_start("0.0.0.0", build->service_port, &build->service, why);
	if (r)
		return r;
	net_path_counters_begin(build->paths, net->used, "/sys");
	r = net_path_probe(build->paths, net->used, true, until_ns, progress, ctx);
	if (r == -ETIMEDOUT)
		return net_path_failure(build->paths, net->used, build->node, build->peer, why);
	if (r == -ECANCELED)
		return cell_called_off(why);
	if (!r)
		r = net_path_rtt(build->paths, net->used, RTT_PINGS);
	if (r)
		return fail(why, r, FAILURE_SAMPLE, "net", "ICMP", "See the node's kernel log.",
		            "Pings cannot be sent");
	r = prove_tcp(build, until_ns, progress, ctx, why);
	if (r)
		return r;
	/* Only now is it sure that the switch's ports forward. */
	r = net_path_duplicates(build->paths, net->used, net->address, &shared, why);
	return r ? r : net_legs_suit(net, shared, why);
}

/* The storage NICs, with the driver that the state asks for. */
static int find_nics(struct cell_build *build, const struct cell_node *node, const json_t *wanted,
                     long long until_ns, struct failure *why)
{
	struct net_nics *nics = &build->net.nics;
	bool bond = strcmp(factor_string(build->state, FACTOR_BOND_MODE), "none") != 0, switched;
	int r = net_find_nics("/sys", wanted, node->management_nic, nics, why);

	if (!r)
		r = nic_driver_apply(&build->drivers, nics, bond ? nics->count : 1, node->management_nic,
		                     build->state, &switched, why);
	if (r || !switched)
		return r;
	while ((r = net_find_nics("/sys", wanted, node->management_nic, nics, why)) == -ENODEV &&
	       now_ns() < until_ns)
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	/* They were there with the other driver. */
	if (r)
		why->scope = FAILURE_CELL;
	return r;
}

/* Until when the bond must be there, now that the peer and its legs are; in all, applying takes no longer
 * than both deadlines together from START_NS on. */
static long long build_deadline_ns(const json_t *assignment, long long start_ns)
{
	long long both_ns =
	    (cell_deadline_ms(assignment, "apply_ms") + cell_deadline_ms(assignment, "peer_ms")) * 1000000LL;
	long long own_ns = cell_deadline_ns(assignment, "apply_ms");

	return own_ns < start_ns + both_ns ? own_ns : start_ns + both_ns;
}

static int build_net(struct cell_build *build, const struct cell_node *node, const json_t *assignment,
                     cell_progress *progress, void *ctx, struct failure *why)
{
	const json_t *nics = json_object_get(json_object_get(assignment, "self"), "storage_nics");
	long long start_ns = now_ns(), link_ns = cell_deadline_ns(assignment, "apply_ms");
	long long peer_ns = cell_deadline_ns(assignment, "peer_ms");
	int r;

	progress(ctx, "net", "storage NICs and their driver");
	r = find_nics(build, node, nics, link_ns, why);
	if (r)
		return r;
	build->has_net = true;
	memcpy(build->net.peer, build->peer_address, sizeof(build->net.peer));
	progress(ctx, "net", "storage NICs up, waiting for their links");
	r = net_legs_up(&build->net, build->state, link_ns, why);
	if (!r)
		r = nic_apply(&build->nic, &build->net.nics, build->net.used, build->state, "/sys", link_ns,
		              why);
	if (r)
		return r;
	progress(ctx, "net", "proving each leg with the peer");
	/* The peer may come as late as it may, and then needs its links as well. */
	r = prove_legs(build, assignment, peer_ns > link_ns ? peer_ns : link_ns, progress, ctx, why);
	if (r)
		return r;
	progress(ctx, "net", build->net.bond ? "building the bond" : "setting the address");
	r = net_build(&build->net, build_deadline_ns(assignment, start_ns), why);
	/* Last: setting a NIC down and up may make its interrupts anew. */
	return r ? r
	         : irq_apply(&build->irq, &irq_roots_real, &build->net.nics, build->net.used, build->state,
	                     why);
}

int cell_build_all(struct cell_node *node, const json_t *assignment, cell_progress *progress, void *ctx,
                   struct failure *why)
{
	struct cell_build *build = node->build;
	int r = read_assignment(build, assignment, why);

	if (r)
		return r;
	progress(ctx, "disk", "choosing the disk");
	r = disk_select(&disk_roots_real, json_object_get(json_object_get(assignment, "self"), "disk"),
	                &build->disk, why);
	if (r)
		return r;
	build->place = (struct knob_place){.sys = "/sys", .proc = "/proc"};
	snprintf(build->place.disk, sizeof(build->place.disk), "%.63s", strrchr(build->disk.device, '/') + 1);
	memcpy(build->place.top, build->place.disk, sizeof(build->place.top));
	r = stack_plan(build, why);
	if (!r)
		r = knob_apply(&build->knobs, &build->place, build->state, KNOB_FIRST, why);
	/* Before the stack makes threads of its own: those are what is measured. */
	if (!r && quiet_apply(&build->quiet, "", node->management_nic, build->state))
		r = fail(why, -ENOMEM, FAILURE_SAMPLE, "apply", "cpu.quiet", "", "Out of memory");
	if (!r && factor_relevant(&factors[FACTOR_NIC_MTU], build->state))
		r = build_net(build, node, assignment, progress, ctx, why);
	if (!r) {
		progress(ctx, "stack", factor_string(build->state, FACTOR_STACK));
		r = stack_build(build, why);
	}
	return r;
}
