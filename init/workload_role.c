/* SPDX-License-Identifier: GPL-2.0-or-later
 * The workload `failover` of roles, on the first node. */
#include "workload.h"

#include "file.h"
#include "workload_peer.h"
#include "workload_role.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

struct role {
	const struct workload_run *run;
	uint64_t bs_bytes, size_bytes;
	int64_t before_ns, after_ns;
	int fd, connection;
	unsigned char *record;
	uint64_t *second_bytes;
	size_t seconds;
	struct failover_flow flow;
	struct failover_states states;
	int64_t start_ns, stopped_ns, secondary_ns, first_ns, end_ns, back_ns, cpu_ns;
	struct role_first first; /* in this machine's order, once it is there */
	struct role_last last;
	struct command_result said;
};

static int64_t since(const struct role *role)
{
	return now_ns() - role->start_ns;
}

/* The roles now, and what DRBD says of the connection. */
static int look(struct role *role, struct drbd_state *state)
{
	char text[8192], line[FAILOVER_STATE_LENGTH];
	int r = drbd_read_state(state, text, sizeof(text));

	if (r)
		return r;
	snprintf(line, sizeof(line), "%.23s %.15s/%.15s %.15s/%.15s", state->connection, state->role,
	         state->peer_role, state->disk, state->peer_disk);
	failover_states_add(&role->states, line);
	return 0;
}

static int open_device(struct role *role, struct failure *why)
{
	role->fd = open(role->run->target, O_WRONLY | O_DIRECT | O_CLOEXEC);
	if (role->fd >= 0)
		return 0;
	return fail(why, -errno, FAILURE_SAMPLE, "measure", role->run->target, "See the node's kernel log.",
	            "The workload cannot open %s", role->run->target);
}

static int prepare(struct role *role, struct failure *why)
{
	const struct cell_build *build = role->run->build;
	struct timeval timeout = {.tv_sec = role->run->timeout_ms / 1000 + 1};
	int64_t longest_ns = role->before_ns + role->after_ns + role->run->timeout_ms * 1000000LL;

	role->seconds = (size_t)(longest_ns / 1000000000) + 2;
	role->flow.bins = role->seconds * 1000 / FAILOVER_BIN_MS;
	role->flow.bin_bytes = calloc(role->flow.bins, sizeof(*role->flow.bin_bytes));
	role->second_bytes = calloc(role->seconds, sizeof(*role->second_bytes));
	role->record = role_record(role->bs_bytes);
	if (!role->flow.bin_bytes || !role->second_bytes || !role->record)
		return fail(why, -ENOMEM, FAILURE_SAMPLE, "measure", "", "", "Out of memory");
	memset(role->flow.bin_bytes, 0, role->flow.bins * sizeof(*role->flow.bin_bytes));
	role->connection = peer_connect(build->peer_address, build->service_port, PEER_ROLE, 0);
	if (role->connection < 0)
		return fail(why, role->connection, FAILURE_SAMPLE, "measure", build->peer_address,
		            "See both nodes' kernel logs.", "The peer %s cannot be told to take over",
		            build->peer);
	setsockopt(role->connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	return open_device(role, why);
}

static void to_host(void *numbers, size_t size)
{
	uint64_t *n = numbers;

	for (size_t i = 0; i < size / sizeof(*n); i++)
		n[i] = be64toh(n[i]);
}

static int peer_failed(const struct role *role, int error, const char *what, struct failure *why)
{
	return fail(why, -error, FAILURE_SAMPLE, "measure", role->run->build->peer,
	            "See the kernel log of the node named.", "The peer %s %s", role->run->build->peer, what);
}

/* This node gives its role away, and the peer writes: until its first write is done here is known. */
static int hand_over(struct role *role, struct failure *why)
{
	const struct role_order order = {htobe64(role->bs_bytes), htobe64(role->size_bytes),
	                                 htobe64((uint64_t)role->after_ns / 1000000)};
	struct drbd_state state;
	int r;

	close(role->fd);
	role->fd = -1;
	r = drbd_command(&role->run->build->drbd, DRBD_SECONDARY, &role->said, why);
	if (r)
		return r;
	role->secondary_ns = since(role) - role->stopped_ns;
	r = peer_send_all(role->connection, &order, sizeof(order));
	r = r ? r : peer_receive_all(role->connection, &role->first, sizeof(role->first));
	role->first_ns = since(role);
	if (r)
		return peer_failed(role, -r, "did not answer when it was to take over", why);
	to_host(&role->first, sizeof(role->first));
	if (role->first.error)
		return peer_failed(role, (int)role->first.error, "could not become primary and write", why);
	failover_flow_add(&role->flow, role->first_ns, role->bs_bytes);
	r = look(role, &state);
	if (r || strcmp(state.role, "Secondary") != 0 || strcmp(state.peer_role, "Primary") != 0)
		return fail(why, r, FAILURE_SAMPLE, "measure", DRBD_DEVICE, "See both nodes' kernel logs.",
		            "The roles are %s/%s when the peer writes, not Secondary/Primary", state.role,
		            state.peer_role);
	return 0;
}

/* What the peer wrote meanwhile; it is secondary again after this. */
static int receive_flow(struct role *role, struct failure *why)
{
	int r = peer_receive_all(role->connection, &role->last, sizeof(role->last));
	uint64_t bytes = 0;

	to_host(&role->last, sizeof(role->last));
	if (!r && role->last.bins > ROLE_BINS_MAX)
		r = -EBADMSG;
	role->end_ns = role->first_ns;
	for (uint64_t i = 0; i < (r ? 0 : role->last.bins) && !r; i++) {
		int64_t at_ns = role->first_ns + (int64_t)i * FAILOVER_BIN_MS * 1000000;

		r = peer_receive_all(role->connection, &bytes, sizeof(bytes));
		bytes = be64toh(bytes);
		if (r || !bytes)
			continue;
		/* To the bin, as the peer has it; where in it, is not told. */
		failover_flow_add(&role->flow, at_ns, bytes);
		role->end_ns = at_ns + FAILOVER_BIN_MS * 1000000;
	}
	if (r)
		return peer_failed(role, -r, "did not tell what it wrote", why);
	if (role->last.error)
		return peer_failed(role, (int)role->last.error, "could not write on, or give the role back",
		                   why);
	return 0;
}

static int change_roles(struct role *role, struct failure *why)
{
	struct drbd_state state;
	int r;

	role->start_ns = now_ns();
	look(role, &state);
	r = role_write(role->fd, role->record, role->bs_bytes, role->size_bytes, role->start_ns,
	               role->before_ns, &role->flow);
	if (r)
		return fail(why, r, FAILURE_SAMPLE, "measure", role->run->target,
		            "See both nodes' kernel logs.", "Writing %s failed", role->run->target);
	role->stopped_ns = role->flow.last_ns;
	role->flow.pulled_ns = role->stopped_ns;
	r = hand_over(role, why);
	r = r ? r : receive_flow(role, why);
	if (r)
		return r;
	role->back_ns = since(role);
	r = drbd_command(&role->run->build->drbd, DRBD_PRIMARY, &role->said, why);
	role->back_ns = since(role) - role->back_ns;
	look(role, &state);
	return r;
}

static void fill_seconds(struct role *role)
{
	for (size_t i = 0; i < role->flow.bins; i++)
		if (i * FAILOVER_BIN_MS / 1000 < role->seconds)
			role->second_bytes[i * FAILOVER_BIN_MS / 1000] += role->flow.bin_bytes[i];
}

static json_t *role_json(struct role *role)
{
	const struct failover_flow *flow = &role->flow;
	json_t *json, *states = json_array();
	char equivalent[400];

	fill_seconds(role);
	snprintf(equivalent, sizeof(equivalent),
	         "dd if=FILE_OF_RANDOM_BYTES of=%s bs=%llu oflag=direct on %s, stopped; drbdsetup "
	         "secondary " DRBD_MINOR "; on %s drbdsetup primary " DRBD_MINOR " and the same dd",
	         role->run->target, (unsigned long long)role->bs_bytes, role->run->build->node,
	         role->run->build->peer);
	json = workload_measurement(flow->bytes, role->end_ns, role->second_bytes, role->seconds,
	                            role->cpu_ns, equivalent);
	for (size_t i = 0; i < role->states.count; i++)
		json_array_append_new(states, json_string(role->states.text[i]));
	json_object_set_new(
	    json, "role_change",
	    json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:o}", "from",
	              role->run->build->node, "to", role->run->build->peer, "stopped_ns",
	              (json_int_t)role->stopped_ns, "stall_ns",
	              (json_int_t)(role->first_ns - role->stopped_ns), "secondary_ns",
	              (json_int_t)role->secondary_ns, "primary_ns", (json_int_t)role->first.primary_ns,
	              "open_ns", (json_int_t)role->first.open_ns, "first_write_ns",
	              (json_int_t)role->first.write_ns, "back_ns",
	              (json_int_t)(role->back_ns + (int64_t)role->last.secondary_ns), "longest_before_ns",
	              (json_int_t)flow->longest_before_ns, "recovered_ns",
	              (json_int_t)failover_flow_recovered_ns(flow, role->end_ns), "baseline_mb_per_s",
	              failover_flow_baseline(flow) / 1e6, "drbd_states", states));
	return json;
}

int workload_role_run(const struct workload_run *run, json_t **measurement, struct failure *why)
{
	const json_t *w = run->workload;
	struct role *role = calloc(1, sizeof(*role));
	int r;

	if (!role)
		return fail(why, -ENOMEM, FAILURE_SAMPLE, "measure", "", "", "Out of memory");
	*role = (struct role){
	    .run = run,
	    .bs_bytes = (uint64_t)json_integer_value(json_object_get(w, "bs_bytes")),
	    .size_bytes = (uint64_t)json_integer_value(json_object_get(w, "size_bytes")),
	    .before_ns = json_integer_value(json_object_get(w, "before_ms")) * 1000000,
	    .after_ns = json_integer_value(json_object_get(w, "after_ms")) * 1000000,
	    .fd = -1,
	    .connection = -1,
	    .flow.pulled_ns = -1,
	};
	r = prepare(role, why);
	observer_begin(run->observer);
	role->cpu_ns = -process_cpu_ns();
	r = r ? r : change_roles(role, why);
	role->cpu_ns += process_cpu_ns();
	if (!r)
		*measurement = role_json(role);
	if (role->fd >= 0)
		close(role->fd);
	if (role->connection >= 0)
		close(role->connection);
	free(role->record);
	free(role->flow.bin_bytes);
	free(role->second_bytes);
	free(role);
	return r;
}
