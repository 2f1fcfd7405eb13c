/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "net_bond_lacp.h"

#include "file.h"

#include <errno.h>
#include <linux/if_bonding.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOBODY "00:00:00:00:00:00"

enum {
	IN_USE = LACP_STATE_AGGREGATION | LACP_STATE_SYNCHRONIZATION | LACP_STATE_COLLECTING |
	         LACP_STATE_DISTRIBUTING
};

static const struct {
	unsigned int bit;
	const char *name;
} states_named[] = {
    {LACP_STATE_LACP_ACTIVITY, "activity"},  {LACP_STATE_LACP_TIMEOUT, "short-timeout"},
    {LACP_STATE_AGGREGATION, "aggregation"}, {LACP_STATE_SYNCHRONIZATION, "synchronization"},
    {LACP_STATE_COLLECTING, "collecting"},   {LACP_STATE_DISTRIBUTING, "distributing"},
    {LACP_STATE_DEFAULTED, "defaulted"},     {LACP_STATE_EXPIRED, "expired"},
};

enum { STATE_COUNT = sizeof(states_named) / sizeof(*states_named) };

static long long number_of(const char *sys, const char *nic, const char *file)
{
	char path[320];
	long long number = -1;

	snprintf(path, sizeof(path), "%s/class/net/%s/%s", sys, nic, file);
	read_integer(path, &number);
	return number;
}

struct lacp_ports lacp_ports_of(const char *sys, const char *name)
{
	return (struct lacp_ports){
	    .actor = number_of(sys, name, "bonding_slave/ad_actor_oper_port_state"),
	    .partner = number_of(sys, name, "bonding_slave/ad_partner_oper_port_state"),
	};
}

bool lacp_ports_ready(const struct lacp_ports *ports)
{
	return ports->actor >= 0 && ports->partner >= 0 && (ports->actor & IN_USE) == IN_USE &&
	       (ports->partner & IN_USE) == IN_USE &&
	       !(ports->actor & (LACP_STATE_DEFAULTED | LACP_STATE_EXPIRED));
}

json_t *lacp_states_json(long long states)
{
	json_t *array = json_array();

	for (size_t i = 0; i < STATE_COUNT && states >= 0; i++)
		if (states & states_named[i].bit)
			json_array_append_new(array, json_string(states_named[i].name));
	return array;
}

void lacp_states_text(long long states, char *buf, size_t size)
{
	size_t used = 0;

	snprintf(buf, size, "%s", states < 0 ? "unknown" : "nothing");
	for (size_t i = 0; i < STATE_COUNT && states > 0 && used < size; i++)
		if (states & states_named[i].bit)
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? "+" : "",
			                         states_named[i].name);
}

void lacp_lacks(const struct net *net, const char *sys, char *buf, size_t size)
{
	long long count = number_of(sys, NET_BOND, "bonding/ad_num_ports");
	char partner[32], ours[128], theirs[128];

	buf[0] = '\0';
	read_file_at(partner, sizeof(partner), "%s/class/net/" NET_BOND "/bonding/ad_partner_mac", sys);
	if (!partner[0] || !strcmp(partner, NOBODY)) {
		snprintf(buf, size, "no partner answers LACP");
		return;
	}
	if (count != (long long)net->used) {
		snprintf(buf, size, "%lld of %zu slaves are in the active aggregator, whose partner is %s",
		         count, net->used, partner);
		return;
	}
	for (size_t i = 0; i < net->used; i++) {
		const char *name = net->nics.name[i];
		struct lacp_ports ports = lacp_ports_of(sys, name);

		if (lacp_ports_ready(&ports))
			continue;
		lacp_states_text(ports.actor, ours, sizeof(ours));
		lacp_states_text(ports.partner, theirs, sizeof(theirs));
		snprintf(buf, size,
		         "slave %s (leg %u) does not yet collect and distribute at both ends: its port is "
		         "%s; that of partner %s is %s",
		         name, net->leg[i], ours, partner, theirs);
		return;
	}
}

int lacp_wait(const struct net *net, long long deadline_ns, struct failure *why)
{
	char lacks[512];

	for (;;) {
		lacp_lacks(net, "/sys", lacks, sizeof(lacks));
		if (!lacks[0])
			return 0;
		if (now_ns() >= deadline_ns)
			return fail(
			    why, -ETIMEDOUT, FAILURE_SAMPLE, "net", NET_BOND,
			    "Set the switch's ports (or the peer) to LACP, all of a node's ports in one "
			    "group; "
			    "a bridge between the nodes must forward 01:80:c2:00:00:02. With bond.lacp-rate: "
			    "slow allow for 90 s (deadlines: apply).",
			    "802.3ad: %s", lacks);
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	}
}
