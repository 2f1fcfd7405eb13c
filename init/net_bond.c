/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "net_bond.h"

#include "factor.h"
#include "file.h"
#include "module.h"
#include "net_bond_history.h"
#include "net_bond_lacp.h"
#include "net_bond_option.h"
#include "net_bond_slaves.h"
#include "net_path.h"
#include "netlink.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_MTU_BYTES 1500

int net_wait_for(const char *name, const char *file, const char *wanted, long long deadline_ns)
{
	char text[64];

	for (;;) {
		read_file_at(text, sizeof(text), "/sys/class/net/%s/%s", name, file);
		if (!strcmp(text, wanted))
			return 0;
		if (now_ns() >= deadline_ns)
			return -ETIMEDOUT;
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	}
}

static int wait_carrier(const char *name, unsigned int leg, long long deadline_ns, struct failure *why)
{
	int r = net_wait_for(name, "carrier", "1", deadline_ns);

	if (r)
		return fail(why, r, FAILURE_SAMPLE, "net", name,
		            "Check the cable, the module (SFP) and the switch port or the peer's NIC at the "
		            "other end.",
		            "Storage NIC %s (leg %u) has no link", name, leg);
	return 0;
}

static int leg_up(const struct net *net, size_t leg, struct failure *why)
{
	const char *name = net->nics.name[leg];
	int r;

	r = link_set_up(name, false);
	if (!r)
		r = address_flush(name);
	if (r)
		return fail(why, r, FAILURE_SAMPLE, "net", name, "See the node's kernel log.",
		            "Storage NIC %s cannot be set down", name);
	r = link_set_mtu(name, net->mtu_bytes);
	if (r)
		return fail(why, r, failure_refusal(r), "net", name, "Plan a nic.mtu that the NIC can do.",
		            "Storage NIC %s refuses an MTU of %u bytes", name, net->mtu_bytes);
	net_path_own_arp(name);
	r = link_set_up(name, true);
	if (r)
		return fail(why, r, FAILURE_SAMPLE, "net", name, "See the node's kernel log.",
		            "Storage NIC %s cannot be set up", name);
	return 0;
}

static int choose_nics(struct net *net, struct failure *why)
{
	for (unsigned int i = 0; i < net->nics.count; i++)
		net->leg[i] = i + 1;
	net->used = 1;
	if (json_object_get(net->state, factors[FACTOR_NIC_PORT].name)) {
		if (net->bond)
			return fail(why, -EINVAL, FAILURE_CELL, "net", "nic.port",
			            "Say bond.slaves instead, or bond.mode: none.",
			            "nic.port chooses the NIC where there is no bond, and this cell has one");
		return bond_slaves_choose(net, factor_string(net->state, FACTOR_NIC_PORT), "none", why);
	}
	if (!net->bond)
		return 0;
	return bond_slaves_choose(net, factor_string(net->state, FACTOR_BOND_SLAVES),
	                          factor_string(net->state, FACTOR_BOND_PRIMARY), why);
}

int net_legs_up(struct net *net, const json_t *state, long long deadline_ns, struct failure *why)
{
	int r;

	net->state = state;
	net->mtu_bytes = (unsigned int)factor_integer(state, FACTOR_NIC_MTU);
	net->bond = strcmp(factor_string(state, FACTOR_BOND_MODE), "none") != 0;
	r = choose_nics(net, why);
	if (!r)
		r = bond_slaves_free(net, "/sys", why);
	for (size_t i = 0; i < net->used && !r; i++)
		r = leg_up(net, i, why);
	/* All at once first: each negotiates for seconds. */
	for (size_t i = 0; i < net->used && !r; i++)
		r = wait_carrier(net->nics.name[i], net->leg[i], deadline_ns, why);
	return r;
}

static int enslave(const char *name, int kmsg, struct failure *why)
{
	struct ifinfomsg info = {.ifi_family = AF_UNSPEC, .ifi_index = (int)if_nametoindex(name)};
	struct netlink_request request = {.error = ""};
	int r = info.ifi_index ? address_flush(name) : -ENODEV;
	char what[128];

	if (!r)
		r = link_set_up(name, false);
	if (!r) {
		netlink_begin(&request, RTM_NEWLINK, 0, &info, sizeof(info));
		netlink_put_u32(&request, IFLA_MASTER, if_nametoindex(NET_BOND));
		r = netlink_send(&request);
	}
	if (!r)
		return 0;
	snprintf(what, sizeof(what), "%s cannot become a slave of " NET_BOND, name);
	return bond_refused(why, r, name, what, request.error, kmsg);
}

static int wait_slave(const char *name, long long deadline_ns, struct failure *why)
{
	int r = net_wait_for(name, "bonding_slave/mii_status", "up", deadline_ns);

	if (r)
		return fail(
		    why, r, FAILURE_SAMPLE, "net", name,
		    "Check the NIC's cable; /proc/net/bonding and the kernel log say what the bond saw.",
		    "Slave %s did not come up in " NET_BOND, name);
	return 0;
}

int net_legs_suit(const struct net *net, bool shared, struct failure *why)
{
	const char *mode = factor_string(net->state, FACTOR_BOND_MODE);
	bool tlb = !strcmp(mode, "balance-tlb"), alb = !strcmp(mode, "balance-alb");

	if (shared || net->used < 2 || (!tlb && !alb))
		return 0;
	/* A slave that is not in use drops what the peer sends to it. */
	if (tlb && !strcmp(factor_string(net->state, FACTOR_BOND_ALL_ACTIVE), "yes"))
		return 0;
	return fail(
	    why, -EINVAL, FAILURE_CELL, "net", NET_BOND,
	    "Connect all legs to one switch or VLAN for these modes, or plan another mode "
	    "(or bond.all-slaves-active: yes with balance-tlb).",
	    "%s cannot work here: each node sends on any slave to any slave of the other, and the legs are "
	    "networks apart",
	    mode);
}

int net_wait_slaves(const struct net *net, long long deadline_ns, struct failure *why)
{
	int r = 0;

	/* A backup that no ARP comes in on is down for ARP monitoring, rightly or not. */
	if (factor_integer(net->state, FACTOR_BOND_ARP_INTERVAL))
		return wait_carrier(NET_BOND, 0, deadline_ns, why);
	for (size_t i = 0; i < net->used && !r; i++)
		r = wait_slave(net->nics.name[i], deadline_ns, why);
	if (!r && !strcmp(factor_string(net->state, FACTOR_BOND_MODE), "802.3ad"))
		r = lacp_wait(net, deadline_ns, why);
	return r;
}

static int build_bond(struct net *net, struct failure *why)
{
	int r = module_load("bonding", "max_bonds=0"), kmsg;

	if (r)
		return fail(why, r, failure_refusal(r), "net", "bonding.ko",
		            "The image must have the module bonding.", "The bonding module cannot be loaded");
	r = bond_create(net, why);
	if (r)
		return r;
	r = link_set_mtu(NET_BOND, net->mtu_bytes);
	if (!r)
		r = link_set_up(NET_BOND, true);
	if (r)
		return fail(why, r, FAILURE_SAMPLE, "net", NET_BOND, "See the node's kernel log.",
		            NET_BOND " cannot be set up");
	kmsg = kmsg_open();
	for (size_t i = 0; i < net->used && !r; i++)
		r = enslave(net->nics.name[i], kmsg, why);
	if (kmsg >= 0)
		close(kmsg);
	return r;
}

int net_add_address(const char *device, const char *address, unsigned int prefix_bits, struct failure *why)
{
	int r = address_add(device, address, prefix_bits);

	if (r)
		return fail(why, r, FAILURE_SAMPLE, "net", device, "See the node's kernel log.",
		            "%s/%u cannot be added to %s", address, prefix_bits, device);
	return 0;
}

int net_build(struct net *net, long long deadline_ns, struct failure *why)
{
	int r;

	snprintf(net->device, sizeof(net->device), "%s", net->bond ? NET_BOND : net->nics.name[0]);
	net->cycles_done = net->address_changes_done = net->mtu_changes_done = 0;
	if (net->bond) {
		r = build_bond(net, why);
		if (r)
			return r;
	} else {
		r = address_flush(net->device);
		if (r)
			return fail(why, r, FAILURE_SAMPLE, "net", net->device, "See the node's kernel log.",
			            "Addresses of %s cannot be removed", net->device);
	}
	/* The address first: ARP monitoring asks with it. */
	r = net_add_address(net->device, net->address, net->prefix_bits, why);
	if (!r && net->bond)
		r = net_wait_slaves(net, deadline_ns, why);
	if (!r && net->bond)
		r = bond_history(net, deadline_ns, why);
	return r ? r : wait_carrier(net->device, 0, deadline_ns, why);
}

static int set_integer(json_t *in_force, enum factor_id id, long long value)
{
	return json_object_set_new(in_force, factors[id].name, json_integer(value)) ? -ENOMEM : 0;
}

/* "all", or what the bond has: its slaves in its own order, which is that of their enslaving. */
static int slaves_in_force(const struct net *net, const char *sys, json_t *in_force)
{
	const char *asked = factor_string(net->state, FACTOR_BOND_SLAVES);
	char text[512], list[128] = "", expected[128] = "", *save = NULL;
	size_t used = 0, wanted = 0;

	for (size_t i = 0; i < net->used; i++)
		wanted += (size_t)snprintf(expected + wanted, sizeof(expected) - wanted, "%s%u", i ? "," : "",
		                           net->leg[i]);
	read_file_at(text, sizeof(text), "%s/class/net/%s/bonding/slaves", sys, net->device);
	for (char *name = strtok_r(text, " \n", &save); name && used < sizeof(list);
	     name = strtok_r(NULL, " \n", &save)) {
		unsigned int leg = 0;

		for (size_t i = 0; i < net->nics.count; i++)
			if (!strcmp(net->nics.name[i], name))
				leg = net->leg[i];
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%u", used ? "," : "", leg);
	}
	return json_object_set_new(in_force, factors[FACTOR_BOND_SLAVES].name,
	                           json_string(strcmp(list, expected) ? list : asked))
	           ? -ENOMEM
	           : 0;
}

static int bond_in_force(const struct net *net, const char *sys, json_t *in_force)
{
	int r = slaves_in_force(net, sys, in_force);

	r = r ? r : bond_options_in_force(net, sys, in_force);
	r = r ? r : set_integer(in_force, FACTOR_BOND_CYCLES, net->cycles_done);
	r = r ? r : set_integer(in_force, FACTOR_BOND_ADDRESS_CHANGES, net->address_changes_done);
	return r ? r : set_integer(in_force, FACTOR_BOND_MTU_CHANGES, net->mtu_changes_done);
}

int net_in_force(const struct net *net, const char *sys, json_t *in_force)
{
	char path[320], mode[64] = "none";
	long long mtu = -1, one;
	int r;

	snprintf(path, sizeof(path), "%s/class/net/%s/mtu", sys, net->device);
	read_integer(path, &mtu);
	for (size_t i = 0; i < net->used; i++) {
		one = -1;
		snprintf(path, sizeof(path), "%s/class/net/%s/mtu", sys, net->nics.name[i]);
		read_integer(path, &one);
		/* The one that is not as the others is what there is to say. */
		if (one != net->mtu_bytes)
			mtu = one;
	}
	r = set_integer(in_force, FACTOR_NIC_MTU, mtu);
	if (net->bond) {
		/* "active-backup 1" */
		read_file_at(mode, sizeof(mode), "%s/class/net/%s/bonding/mode", sys, net->device);
		mode[strcspn(mode, " ")] = '\0';
		r = r ? r : bond_in_force(net, sys, in_force);
	}
	if (!r && json_object_set_new(in_force, factors[FACTOR_BOND_MODE].name, json_string(mode)))
		r = -ENOMEM;
	if (!r && json_object_get(net->state, factors[FACTOR_NIC_PORT].name) &&
	    json_object_set_new(in_force, factors[FACTOR_NIC_PORT].name, json_sprintf("%u", net->leg[0])))
		r = -ENOMEM;
	return r;
}

static int delete_bond(void)
{
	struct ifinfomsg info = {.ifi_family = AF_UNSPEC, .ifi_index = (int)if_nametoindex(NET_BOND)};
	struct netlink_request request;

	if (!info.ifi_index)
		return 0;
	netlink_begin(&request, RTM_DELLINK, 0, &info, sizeof(info));
	return netlink_send(&request);
}

int net_down(const struct net *net)
{
	int first = delete_bond();

	for (size_t i = 0; i < net->nics.count; i++) {
		const char *name = net->nics.name[i];
		const int r[] = {address_flush(name), link_set_up(name, false),
		                 link_set_mtu(name, DEFAULT_MTU_BYTES)};

		for (size_t k = 0; k < sizeof(r) / sizeof(*r); k++)
			first = first ? first : r[k];
	}
	return first;
}
