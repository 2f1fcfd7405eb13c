/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cell.h"

#include "boot_arguments.h"
#include "cell_build.h"
#include "cell_observe.h"
#include "console.h"
#include "evidence.h"
#include "kernel_log.h"
#include "factor.h"
#include "file.h"
#include "irq_balance.h"
#include "irq_list.h"
#include "layer.h"
#include "nic_counters.h"
#include "stack.h"
#include "workload.h"
#include "workload_peer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* Whether A and B ask for the same on this node: they may differ in workload, run and sample. */
static bool same_state(const json_t *a, const json_t *b)
{
	static const char *const keys[] = {"role", "self", "peers", "drbd_port"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i])))
			return false;
	return json_equal(cell_state(a), cell_state(b));
}

/* Whether what was proven is still there: a peer that rebooted meanwhile needs us to start with it. */
static bool still_there(struct cell_build *build)
{
	struct net_path path = build->path_count ? build->paths[build->path_count - 1] : (struct net_path){0};
	struct failure ignored;

	if (!build->proven || build->broken)
		return false;
	if (stack_prove(build, 0, NULL, NULL, &ignored))
		return false;
	path.full_passed = false;
	return !build->has_net || !net_path_probe(&path, 1, false, now_ns() + 1000000000LL, NULL, NULL);
}

int cell_called_off(struct failure *why)
{
	return fail(
	    why, -ECANCELED, FAILURE_SAMPLE, "apply", "the peer",
	    "The lab says why in the run's log; the sample is tried again as often as the plan allows.",
	    "the lab has called this sample off");
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
	r = cell_build_all(node, node->assignment, progress, ctx, why);
	if (r)
		node->build->broken = true;
	else
		node->state = json_incref((json_t *)cell_state(node->assignment));
	return r;
}

static int prove_whole_path(struct cell_build *build, long long until_ns, cell_progress *progress, void *ctx,
                            struct failure *why)
{
	struct net_path *path = &build->paths[build->net.used];
	int r;

	*path = (struct net_path){.mtu_bytes = build->net.mtu_bytes};
	memcpy(path->device, build->net.device, IFNAMSIZ);
	memcpy(path->address, build->net.address, sizeof(path->address));
	memcpy(path->peer, build->peer_address, sizeof(path->peer));
	build->path_count = build->net.used + 1;
	r = net_path_probe(path, 1, false, until_ns, progress, ctx);
	if (r == -ECANCELED)
		return cell_called_off(why);
	if (r == -ETIMEDOUT)
		return net_path_failure(path, 1, build->node, build->peer, why);
	if (r)
		return fail(why, r, FAILURE_SAMPLE, "net", "ICMP", "See the node's kernel log.",
		            "Pings cannot be sent");
	return 0;
}

static json_t *read_in_force(struct cell_build *build)
{
	const char *boot = factor_string(build->state, FACTOR_BOOT);
	json_t *in_force = json_object();
	struct utsname u = {0};
	int r;

	uname(&u);

	/* Warm asks for nothing, so it is in force on a fresh boot as well. */
	if (build->states_before > 0)
		boot = "warm";
	r = json_object_set_new(in_force, factors[FACTOR_BOOT].name, json_string(boot)) ? -ENOMEM : 0;
	if (!r)
		r = stack_in_force(build, in_force);
	if (!r)
		r = noise_in_force(build->state, in_force);
	if (!r)
		r = boot_arguments_in_force(build->state, "/proc", in_force);
	if (!r)
		r = boot_kernel_in_force(build->state, LAYERS_FOLDER, u.release, in_force);
	if (!r)
		r = knob_in_force(&build->place, build->state, in_force);
	if (!r)
		r = quiet_in_force(&build->quiet, "", &build->place, build->state, in_force);
	if (!r && build->has_net)
		r = net_in_force(&build->net, "/sys", in_force);
	if (!r && build->has_net)
		r = nic_driver_in_force(&build->net.nics, build->net.used, build->state, "/sys", in_force);
	if (!r && build->has_net)
		r = irq_in_force(&irq_roots_real, &build->net.nics, build->net.used, build->state, in_force);
	if (!r && build->has_net)
		r = irq_balance_in_force(&build->irq, build->state, in_force);
	if (!r && build->has_net)
		r = nic_in_force(&build->net.nics, build->net.used, build->state, in_force);
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
	r |= json_object_set_new(evidence, "settings", knob_settings(&build->place));
	r |= quiet_evidence(&build->quiet, "", evidence);
	r |= json_object_set_new(evidence, "disk", disk_json(&build->disk));
	r |= json_object_set_new(evidence, "stack", stack_evidence(build));
	r |= json_object_set_new(evidence, "layers", layer_evidence(LAYERS_FOLDER));
	r |= json_object_set_new(evidence, "nics",
	                         evidence_nics(&observe_roots_real, &build->net.nics,
	                                       build->has_net ? build->net.used : 0));
	r |= net_path_json(build->paths, build->path_count, paths);
	r |= json_object_set(evidence, "paths", paths);
	if (build->has_drbd) {
		r |= json_object_set_new(evidence, "drbd_show", json_string(build->drbd.show));
		drbd_conf(&build->drbd.setup, DRBD_8_4, conf, sizeof(conf));
		r |= json_object_set_new(evidence, "drbd_conf", json_string(conf));
		drbd_conf(&build->drbd.setup, DRBD_9, conf, sizeof(conf));
		r |= json_object_set_new(evidence, "drbd_conf_9", json_string(conf));
		r |= json_object_set(evidence, "drbd_commands", build->drbd.commands);
	}
	if (build->has_drbd)
		drbd_generation(build->generation, sizeof(build->generation));
	r = r ? -ENOMEM
	      : noise_before(&observe_roots_real, TRACING_FOLDER, build->state, &build->noise, evidence);
	if (!r)
		r = observe_now(build, &build->before);
	if (!r && build->before.has_bond)
		r = bond_watch_start(&build->watch, build->net.device, build->before.arp_monitored);
	if (!r && json_object_set_new(evidence, "before", observation_json(&build->before)))
		r = -ENOMEM;
	json_decref(build->irq_counts);
	build->irq_counts = build->has_net ? irq_counts("/sys", &build->net.nics, build->net.used) : NULL;
out:
	json_decref(in_force);
	json_decref(paths);
	return r;
}

/* The peer's end of a workload is there before the first node begins. */
static int serve_peer(struct cell_build *build, const json_t *assignment, struct failure *why)
{
	const struct workload *workload = workload_of(json_object_get(assignment, "cell"));

	peer_service_stop(&build->service);
	build->breaks_bond = workload && workload->breaks_bond;
	build->renews_data = workload && workload->renews_data;
	if (!workload || !workload->needs_peer || build->measure)
		return 0;
	return peer_service_start(build->net.address, build->service_port, &build->service, why);
}

int cell_prove(struct cell_node *node, const json_t *assignment, cell_progress *progress, void *ctx,
               json_t **evidence, struct failure *why)
{
	struct cell_build *build = node->build;
	long long until_ns = cell_deadline_ns(assignment, "apply_ms");
	int r = 0;

	*evidence = NULL;
	if (build->has_net) {
		progress(ctx, "prove", "full-size pings to the peer");
		r = prove_whole_path(build, until_ns, progress, ctx, why);
	}
	if (!r) {
		progress(ctx, "prove", factor_string(build->state, FACTOR_STACK));
		r = stack_prove(build, until_ns, progress, ctx, why);
	}
	if (!r && !build->proven)
		r = knob_apply(&build->knobs, &build->place, build->state, KNOB_LAST, why);
	if (!r && (r = quiet_place_workload(&build->quiet, build->state)))
		fail(why, r, FAILURE_SAMPLE, "prove", "cpu.quiet", "See the node's kernel log.",
		     "The workload cannot be put on the CPUs that measure");
	if (!r)
		r = stack_prepare(build, json_object_get(json_object_get(assignment, "cell"), "workload"),
		                  why);
	if (!r)
		r = serve_peer(build, assignment, why);
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

void cell_watch(struct cell_node *node, const json_t *assignment)
{
	cell_observe(node->build, cell_deadline_ms(assignment, "measure_ms"));
}

int cell_measure(struct cell_node *node, const json_t *assignment, json_t **measurement, struct failure *why)
{
	const json_t *cell = json_object_get(assignment, "cell");
	const struct workload *workload = workload_of(cell);
	struct cell_build *build = node->build;
	const struct workload_run run = {
	    .workload = json_object_get(cell, "workload"),
	    .build = build,
	    .target = stack_target(build),
	    .folder =
	        factor_stack_is_files(factor_string(build->state, FACTOR_STACK)) ? STACK_MOUNT_POINT : NULL,
	    .timeout_ms = cell_deadline_ms(assignment, "measure_ms"),
	    .filled = &build->filled,
	    .fault = build->workload_fault,
	    .fault_size = sizeof(build->workload_fault),
	    .observer = build->observer,
	};
	int r;

	*measurement = NULL;
	build->workload_fault[0] = '\0';
	if (!workload)
		return fail(why, -EINVAL, FAILURE_CELL, "measure", "workload",
		            "Report this: lab and node differ.", "The workload cannot be understood");
	r = workload->run(&run, measurement, why);
	observer_stop(build->observer);
	if (!r && !*measurement)
		r = fail(why, -ENOMEM, FAILURE_SAMPLE, "measure", "", "", "Out of memory");
	return r;
}

static void find_drbd_fault(const struct cell_build *build, char *buf, size_t size)
{
	char generation[sizeof(build->generation)];

	drbd_state_fault(&build->drbd.setup, build->measure, &build->before.drbd, buf, size);
	if (!buf[0])
		drbd_state_fault(&build->drbd.setup, build->measure, &build->after.drbd, buf, size);
	if (buf[0])
		return;
	/* Alone, a primary begins a generation with its first write. */
	if (strcmp(factor_string(build->state, FACTOR_DRBD_LINK), "connected") || !build->measure ||
	    build->renews_data)
		return;
	drbd_generation(generation, sizeof(generation));
	if (!generation[0] || strcmp(generation, build->generation) != 0)
		snprintf(buf, size, "DRBD lost its peer meanwhile: its data generation went from %s to %s",
		         build->generation, generation);
}

/* The first thing that makes the sample invalid, to BUF; "" if nothing does. Whether the state is not to be
 * used again: what the NICs count, and noise, is the sample's fault
 * alone. */
static bool find_fault(const struct cell_build *build, const json_t *evidence, char *buf, size_t size)
{
	evidence_differences_fault(json_object_get(evidence, "differences"), buf, size);
	if (build->breaks_bond)
		return buf[0];
	if (!buf[0] && build->workload_fault[0])
		snprintf(buf, size, "%s", build->workload_fault);
	if (!buf[0])
		bond_watch_fault(&build->watch, buf, size);
	if (!buf[0])
		observe_bond_fault(&build->before, &build->after, buf, size);
	if (!buf[0] && build->has_drbd)
		find_drbd_fault(build, buf, size);
	if (buf[0])
		return true;
	evidence_nics_fault(json_object_get(evidence, "nics"), buf, size);
	if (!buf[0])
		snprintf(buf, size, "%s", build->noise_fault);
	return false;
}

/* How the storage NICs' interrupts of the sample spread over the CPUs. */
static void add_interrupts(const struct cell_build *build, json_t *evidence)
{
	json_t *after;

	if (!build->has_net)
		return;
	after = irq_counts("/sys", &build->net.nics, build->net.used);
	json_object_set_new(evidence, "interrupts", irq_spread(&build->net.nics, build->irq_counts, after));
	json_decref(after);
}

/* What the reader should know, though it does not make the sample invalid. */
static int add_notes(struct cell_build *build, json_t *evidence)
{
	static void (*const of_nics[])(const json_t *nics, char *buf, size_t size) = {evidence_nics_note,
	                                                                              nic_counters_note};
	char note[1024] = "";
	int r = 0;

	for (size_t i = 0; i < 2 && !r && !build->breaks_bond; i++) {
		of_nics[i](json_object_get(evidence, "nics"), note, sizeof(note));
		r = note[0] ? evidence_note(evidence, note) : 0;
	}
	note[0] = '\0';
	if (!build->breaks_bond)
		observe_bond_note(&build->before, &build->after, note, sizeof(note));
	else if (build->has_drbd)
		find_drbd_fault(build, note, sizeof(note));
	/* Both nodes build anew then, but not what must stay the first state of its boot. */
	if (build->breaks_bond && strcmp(factor_string(build->state, FACTOR_BOOT), "fresh") != 0)
		build->broken = true;
	return !r && note[0] ? evidence_note(evidence, note) : r;
}

int cell_evidence_after(struct cell_node *node, const json_t *assignment, json_t *evidence, char **reason,
                        struct failure *why)
{
	struct cell_build *build = node->build;
	char fault[1024];
	int r = cell_observe_end(build, evidence);

	(void)assignment;
	if (!r)
		r = observe_now(build, &build->after);
	peer_service_stop(&build->service);
	bond_watch_stop(&build->watch);
	*reason = NULL;
	if (!r && json_object_set_new(evidence, "after", observation_json(&build->after)))
		r = -ENOMEM;
	if (!r && build->before.has_bond &&
	    json_object_set_new(evidence, "during", bond_watch_json(&build->watch)))
		r = -ENOMEM;
	add_interrupts(build, evidence);
	evidence_nics_after(&observe_roots_real, json_object_get(evidence, "nics"));
	if (!r)
		r = noise_after(&observe_roots_real, TRACING_FOLDER, build->noise, evidence,
		                build->noise_fault, sizeof(build->noise_fault));
	if (!r)
		r = add_notes(build, evidence);
	if (!r && json_object_set_new(
	              evidence, "kernel_warnings",
	              kernel_log_warnings("/dev/kmsg",
	                                  json_integer_value(json_object_get(evidence, "uptime_ns")) / 1000)))
		r = -ENOMEM;
	if (r)
		return fail(why, r, FAILURE_SAMPLE, "evidence", "after", "See the node's kernel log.",
		            "The state after the sample cannot be read");
	if (find_fault(build, evidence, fault, sizeof(fault)))
		build->broken = true;
	if (!fault[0])
		return 0;
	*reason = strdup(fault);
	return *reason ? 0 : fail(why, -ENOMEM, FAILURE_SAMPLE, "evidence", "", "", "Out of memory");
}

void cell_restore(struct cell_node *node)
{
	struct cell_build *build = node->build;
	/* Also without a build: an earlier worker may have left something. */
	int r = stack_down(build);

	if (r)
		say("The stack cannot be taken down: %s", strerror(-r));
	if (build) {
		peer_service_stop(&build->service);
		bond_watch_stop(&build->watch);
		cell_observe_end(build, NULL);
		irq_restore(&build->irq);
		/* While there is a link: see nic_knob.h. */
		nic_restore(&build->nic);
		r = build->has_net ? net_down(&build->net) : 0;
		if (r)
			say("The storage network cannot be taken down: %s", strerror(-r));
		nic_driver_restore(&build->drivers);
		quiet_restore(&build->quiet);
		knob_restore(&build->knobs, &build->place);
		net_path_clear(build->paths, NET_MAX_NICS + 1);
		json_decref(build->irq_counts);
		noise_free(build->noise);
		json_decref(build->drbd.commands);
	}
	free(build);
	json_decref(node->state);
	json_decref(node->assignment);
	node->build = NULL;
	node->state = NULL;
	node->assignment = NULL;
}
