/* SPDX-License-Identifier: GPL-2.0-or-later
 * The workload `failover`: direct writes one after the other, and in the midst of them a slave of the bond is
 * pulled. */
#include "workload.h"

#include "console.h"
#include "drbd_argv.h"
#include "drbd_state.h"
#include "factor.h"
#include "file.h"
#include "net_bond_option.h"
#include "netlink.h"
#include "workload_failover_watch.h"
#include "workload_role.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 10, BACK_S = 60 };

struct failover {
	const struct workload_run *run;
	uint64_t bs_bytes, size_bytes;
	int64_t before_ns, after_ns;
	bool by_hand, asked;
	int fd;
	unsigned char *record;
	struct failover_flow flow;
	struct failover_states states;
	char slave[IFNAMSIZ], active_after[IFNAMSIZ];
	int64_t start_ns, end_ns, switched_ns;
	_Atomic int64_t pulled_ns; /* since the start; -1: not yet */
	atomic_bool stop;
	int pull_error, error;
	long long cpu_ns, retransmitted, timeouts;
	uint64_t *second_bytes;
	size_t seconds;
};

static int64_t since(const struct failover *f)
{
	return now_ns() - f->start_ns;
}

static void active_slave(const struct failover *f, char *name, size_t size)
{
	read_file_at(name, size, "/sys/class/net/%s/bonding/active_slave", f->run->build->net.device);
}

static void look_at_drbd(struct failover *f)
{
	char text[8192], state[FAILOVER_STATE_LENGTH];
	struct drbd_state drbd;

	if (read_file("/proc/drbd", text, sizeof(text)) < 0 ||
	    drbd_state_parse(text, atoi(DRBD_MINOR), &drbd))
		return;
	snprintf(state, sizeof(state), "%.31s %.31s/%.31s", drbd.connection, drbd.disk, drbd.peer_disk);
	failover_states_add(&f->states, state);
}

/* Pulls, or sees that it was done; then sees which slave the bond turns to. */
static void look_at_bond(struct failover *f)
{
	char carrier[8], active[IFNAMSIZ];
	int64_t at_ns = since(f);

	if (f->pulled_ns < 0 && f->by_hand) {
		if (!f->asked && at_ns >= f->before_ns) {
			say("failover: pull the cable of %s now", f->slave);
			f->asked = true;
		}
		read_file_at(carrier, sizeof(carrier), "/sys/class/net/%s/carrier", f->slave);
		if (strcmp(carrier, "1") != 0)
			f->pulled_ns = at_ns;
	} else if (f->pulled_ns < 0 && at_ns >= f->before_ns) {
		f->pulled_ns = at_ns;
		f->pull_error = link_set_up(f->slave, false);
	}
	if (f->pulled_ns < 0 || f->switched_ns >= 0)
		return;
	active_slave(f, active, sizeof(active));
	if (*active && strcmp(active, f->slave) != 0) {
		f->switched_ns = since(f) - f->pulled_ns;
		snprintf(f->active_after, sizeof(f->active_after), "%s", active);
	}
}

static void *watch(void *ctx)
{
	struct failover *f = ctx;

	while (!atomic_load(&f->stop)) {
		look_at_bond(f);
		look_at_drbd(f);
		nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000}, NULL);
	}
	return NULL;
}

/* By hand, the cable may be pulled at any time until before + after are over. */
static bool goes_on(const struct failover *f, int64_t at_ns)
{
	int64_t pulled_ns = f->pulled_ns;

	if (pulled_ns >= 0)
		return at_ns < pulled_ns + f->after_ns;
	return at_ns < f->before_ns + (f->by_hand ? f->run->timeout_ms * 1000000LL / 2 : f->after_ns);
}

static void write_all(struct failover *f)
{
	uint64_t offset = 0;
	int64_t at_ns = 0;

	while (goes_on(f, at_ns)) {
		ssize_t n = pwrite(f->fd, f->record, f->bs_bytes, (off_t)offset);

		if (n != (ssize_t)f->bs_bytes) {
			f->error = n < 0 ? errno : EIO;
			return;
		}
		at_ns = since(f);
		f->flow.pulled_ns = f->pulled_ns;
		failover_flow_add(&f->flow, at_ns, f->bs_bytes);
		if ((size_t)(at_ns / 1000000000) < f->seconds)
			f->second_bytes[at_ns / 1000000000] += f->bs_bytes;
		offset += f->bs_bytes;
		if (offset + f->bs_bytes > f->size_bytes)
			offset = 0;
	}
	f->end_ns = at_ns;
}

static long long counter(const char *file, const char *protocol, const char *name)
{
	char *text = NULL;
	long long value = -1;

	if (!read_file_alloc(file, 1 << 20, &text, NULL))
		value = failover_counter(text, protocol, name);
	free(text);
	return value;
}

static int run_both(struct failover *f)
{
	long long retransmitted = counter("/proc/net/snmp", "Tcp", "RetransSegs");
	long long timeouts = counter("/proc/net/netstat", "TcpExt", "TCPTimeouts"), cpu_ns = process_cpu_ns();
	pthread_t watcher;
	int r;

	f->start_ns = now_ns();
	r = -pthread_create(&watcher, NULL, watch, f);
	if (r)
		return r;
	write_all(f);
	atomic_store(&f->stop, true);
	pthread_join(watcher, NULL);
	f->cpu_ns = process_cpu_ns() - cpu_ns;
	f->retransmitted = counter("/proc/net/snmp", "Tcp", "RetransSegs") - retransmitted;
	f->timeouts = counter("/proc/net/netstat", "TcpExt", "TCPTimeouts") - timeouts;
	return 0;
}

/* The slave in use, or where all are, the first. */
static int prepare(struct failover *f, struct failure *why)
{
	const struct net *net = &f->run->build->net;
	int64_t longest_ns = f->before_ns + f->after_ns + f->run->timeout_ms * 1000000LL;

	if (!net->bond || net->used < 2)
		return fail(why, -EINVAL, FAILURE_CELL, "measure", "workload",
		            "Plan a bond of two slaves or more for the workload failover.",
		            "There is nothing to fail over to: the network has %zu NIC", net->used);
	active_slave(f, f->slave, sizeof(f->slave));
	if (!*f->slave)
		memcpy(f->slave, net->nics.name[0], IFNAMSIZ);
	f->seconds = (size_t)(longest_ns / 1000000000) + 2;
	f->flow.bins = f->seconds * 1000 / FAILOVER_BIN_MS;
	f->flow.bin_bytes = calloc(f->flow.bins, sizeof(*f->flow.bin_bytes));
	f->second_bytes = calloc(f->seconds, sizeof(*f->second_bytes));
	f->record = role_record(f->bs_bytes);
	if (!f->flow.bin_bytes || !f->second_bytes || !f->record)
		return fail(why, -ENOMEM, FAILURE_SAMPLE, "measure", "", "", "Out of memory");
	/* Touched now, so that no page fault falls into the run. */
	memset(f->flow.bin_bytes, 0, f->flow.bins * sizeof(*f->flow.bin_bytes));
	memset(f->second_bytes, 0, f->seconds * sizeof(*f->second_bytes));
	f->fd = open(f->run->target, O_WRONLY | O_DIRECT | O_CLOEXEC);
	if (f->fd < 0)
		return fail(why, -errno, FAILURE_SAMPLE, "measure", f->run->target,
		            "See the node's kernel log.", "The workload cannot open %s", f->run->target);
	return 0;
}

/* The slave up again, and in use again where it was: the next sample finds the bond as this one did. But not
 * where ARP decides: a backup that nobody answers is down for it. */
static int put_back(const struct failover *f, struct failure *why)
{
	const struct net *net = &f->run->build->net;
	bool arp = factor_integer(net->state, FACTOR_BOND_ARP_INTERVAL) > 0;
	char now[IFNAMSIZ] = "";
	int r = f->by_hand ? 0 : link_set_up(f->slave, true);

	if (f->by_hand)
		say("failover: plug the cable of %s in again", f->slave);
	if (!r)
		r = net_wait_for(f->slave, arp ? "carrier" : "bonding_slave/mii_status", arp ? "1" : "up",
		                 now_ns() + BACK_S * 1000000000LL);
	active_slave(f, now, sizeof(now));
	if (!r && !arp && *now && strcmp(now, f->slave) != 0 && *f->active_after)
		r = bond_activate(f->slave);
	if (r)
		return fail(why, r, FAILURE_SAMPLE, "measure", f->slave, "See the node's kernel log.",
		            "Slave %s of %s, which was pulled, does not come back", f->slave, net->device);
	return 0;
}

static json_t *failover_json(const struct failover *f)
{
	json_t *json, *states = json_array();
	char equivalent[320];

	snprintf(equivalent, sizeof(equivalent),
	         "dd if=/dev/urandom of=%s bs=%llu oflag=direct & ip link set %s down", f->run->target,
	         (unsigned long long)f->bs_bytes, f->slave);
	json = workload_measurement(f->flow.bytes, f->end_ns, f->second_bytes, f->seconds, f->cpu_ns,
	                            equivalent);
	for (size_t i = 0; i < f->states.count; i++)
		json_array_append_new(states, json_string(f->states.text[i]));
	json_object_set_new(json, "failover",
	                    json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:I, s:o}", "pull",
	                              f->by_hand ? "operator" : "admin-down", "slave", f->slave,
	                              "active_after", f->active_after, "pulled_ns", (json_int_t)f->pulled_ns,
	                              "switched_ns", (json_int_t)f->switched_ns, "stall_ns",
	                              (json_int_t)f->flow.stall_ns, "longest_before_ns",
	                              (json_int_t)f->flow.longest_before_ns, "recovered_ns",
	                              (json_int_t)failover_flow_recovered_ns(&f->flow, f->end_ns),
	                              "baseline_mb_per_s", failover_flow_baseline(&f->flow) / 1e6,
	                              "retransmitted_segments", (json_int_t)f->retransmitted, "tcp_timeouts",
	                              (json_int_t)f->timeouts, "drbd_states", states));
	return json;
}

static int check(const struct failover *f, struct failure *why)
{
	if (f->error)
		return fail(why, -f->error, FAILURE_SAMPLE, "measure", f->run->target,
		            "See both kernel logs: the failover may have cost DRBD its disk or its peer.",
		            "Writing %s failed %lld ms after slave %s was pulled", f->run->target,
		            f->pulled_ns < 0 ? -1LL : (long long)(since(f) - f->pulled_ns) / 1000000,
		            f->slave);
	if (f->pull_error)
		return fail(why, f->pull_error, FAILURE_SAMPLE, "measure", f->slave,
		            "See the node's kernel log.", "Slave %s cannot be set down", f->slave);
	if (f->pulled_ns < 0)
		return fail(why, -ETIMEDOUT, FAILURE_SAMPLE, "measure", f->slave,
		            "Pull the cable when the console says so, or plan pull: admin-down.",
		            "Nobody pulled the cable of slave %s", f->slave);
	return 0;
}

int workload_failover_run(const struct workload_run *run, json_t **measurement, struct failure *why)
{
	const json_t *w = run->workload;
	const char *pull = json_string_value(json_object_get(w, "pull"));
	struct failover f = {
	    .run = run,
	    .bs_bytes = (uint64_t)json_integer_value(json_object_get(w, "bs_bytes")),
	    .size_bytes = (uint64_t)json_integer_value(json_object_get(w, "size_bytes")),
	    .before_ns = json_integer_value(json_object_get(w, "before_ms")) * 1000000,
	    .after_ns = json_integer_value(json_object_get(w, "after_ms")) * 1000000,
	    .by_hand = pull && !strcmp(pull, "operator"),
	    .fd = -1,
	    .flow.pulled_ns = -1,
	    .pulled_ns = -1,
	    .switched_ns = -1,
	};
	struct failure back;
	int r = prepare(&f, why);

	if (!r && f.by_hand)
		say("failover: in %lld s you will be asked to pull the cable of %s",
		    (long long)(f.before_ns / 1000000000), f.slave);
	if (!r) {
		r = run_both(&f);
		r = r ? fail(why, r, FAILURE_SAMPLE, "measure", "", "", "A thread cannot be started")
		      : check(&f, why);
		if (f.pulled_ns >= 0 && put_back(&f, &back) && !r) {
			*why = back;
			r = -EIO;
		}
	}
	if (!r)
		*measurement = failover_json(&f);
	if (f.fd >= 0)
		close(f.fd);
	free(f.record);
	free(f.flow.bin_bytes);
	free(f.second_bytes);
	return r;
}
