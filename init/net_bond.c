/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "net_bond.h"

#include "factor.h"
#include "file.h"
#include "module.h"
#include "netlink.h"

#include <errno.h>
#include <linux/if_bonding.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEFAULT_MTU_BYTES 1500

/* Polls the file that FORMAT and NAME make until it says WANTED. 0 or -ETIMEDOUT. */
static int wait_for_text(const char *format_before, const char *name, const char *file, const char *wanted,
                         long long deadline_ns)
{
	char text[64];

	for (;;) {
		read_file_at(text, sizeof(text), "%s/%s/%s", format_before, name, file);
		if (!strcmp(text, wanted))
			return 0;
		if (now_ns() >= deadline_ns)
			return -ETIMEDOUT;
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	}
}

static int wait_carrier(const char *name, size_t leg, long long deadline_ns, struct failure *why)
{
	int r = wait_for_text("/sys/class/net", name, "carrier", "1", deadline_ns);

	if (r)
		return fail(why, r, FAILURE_SAMPLE, "net", name,
		            "Check the cable, the module (SFP) and the switch port or the peer's NIC at the "
		            "other end.",
		            "Storage NIC %s (leg %zu) has no link", name, leg + 1);
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
		return fail(why, r, FAILURE_CELL, "net", name, "Plan a nic.mtu that the NIC can do.",
		            "Storage NIC %s refuses an MTU of %u bytes", name, net->mtu_bytes);
	r = link_set_up(name, true);
	if (r)
		return fail(why, r, FAILURE_SAMPLE, "net", name, "See the node's kernel log.",
		            "Storage NIC %s cannot be set up", name);
	return 0;
}

int net_legs_up(struct net *net, const json_t *state, long long deadline_ns, struct failure *why)
{
	int r = 0;

	net->mtu_bytes = (unsigned int)factor_integer(state, FACTOR_NIC_MTU);
	net->bond = strcmp(factor_string(state, FACTOR_BOND_MODE), "none") != 0;
	net->used = net->bond ? net->nics.count : 1;
	for (size_t leg = 0; leg < net->used && !r; leg++)
		r = leg_up(net, leg, why);
	/* All at once first: each negotiates for seconds. */
	for (size_t leg = 0; leg < net->used && !r; leg++)
		r = wait_carrier(net->nics.name[leg], leg, deadline_ns, why);
	return r;
}

static int create_bond(const json_t *state)
{
	struct ifinfomsg info = {.ifi_family = AF_UNSPEC};
	struct netlink_request request;
	size_t link, data;

	netlink_begin(&request, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof(info));
	netlink_put_string(&request, IFLA_IFNAME, NET_BOND);
	link = netlink_nest_begin(&request, IFLA_LINKINFO);
	netlink_put_string(&request, IFLA_INFO_KIND, "bond");
	data = netlink_nest_begin(&request, IFLA_INFO_DATA);
	netlink_put_u8(&request, IFLA_BOND_MODE, BOND_MODE_ACTIVEBACKUP);
	netlink_put_u32(&request, IFLA_BOND_MIIMON, (uint32_t)factor_integer(state, FACTOR_BOND_MIIMON));
	netlink_nest_end(&request, data);
	netlink_nest_end(&request, link);
	return netlink_send(&request);
}

static int enslave(const char *name)
{
	struct ifinfomsg info = {.ifi_family = AF_UNSPEC, .ifi_index = (int)if_nametoindex(name)};
	struct netlink_request request;

	if (!info.ifi_index)
		return -ENODEV;
	netlink_begin(&request, RTM_NEWLINK, 0, &info, sizeof(info));
	netlink_put_u32(&request, IFLA_MASTER, if_nametoindex(NET_BOND));
	return netlink_send(&request);
}

static int wait_slave(const char *name, long long deadline_ns, struct failure *why)
{
	int r = wait_for_text("/sys/class/net", name, "bonding_slave/mii_status", "up", deadline_ns);

	if (r)
		return fail(
		    why, r, FAILURE_SAMPLE, "net", name,
		    "Check the NIC's cable; /proc/net/bonding and the kernel log say what the bond saw.",
		    "Slave %s did not come up in " NET_BOND, name);
	return 0;
}

static int build_bond(struct net *net, const json_t *state, long long deadline_ns, struct failure *why)
{
	int r = module_load("bonding", "max_bonds=0");

	if (r)
		return fail(why, r, FAILURE_CELL, "net", "bonding.ko",
		            "The image must have the module bonding.", "The bonding module cannot be loaded");
	r = create_bond(state);
	if (!r)
		r = link_set_mtu(NET_BOND, net->mtu_bytes);
	if (!r)
		r = link_set_up(NET_BOND, true);
	if (r)
		return fail(why, r, FAILURE_SAMPLE, "net", NET_BOND, "See the node's kernel log.",
		            NET_BOND " cannot be made");
	for (size_t i = 0; i < net->used; i++) {
		const char *name = net->nics.name[i];

		r = address_flush(name);
		if (!r)
			r = link_set_up(name, false);
		if (!r)
			r = enslave(name);
		if (r)
			return fail(why, r, FAILURE_SAMPLE, "net", name, "See the node's kernel log.",
			            "%s cannot become a slave of " NET_BOND, name);
	}
	for (size_t i = 0; i < net->used && !r; i++)
		r = wait_slave(net->nics.name[i], deadline_ns, why);
	return r;
}

/* Each slave in turn down, seen down by the bond, up, seen up. */
static int cycle(struct net *net, long long deadline_ns, struct failure *why)
{
	for (size_t i = 0; i < net->used; i++) {
		const char *name = net->nics.name[i];
		int r = link_set_up(name, false);

		if (!r)
			r = wait_for_text("/sys/class/net", name, "bonding_slave/mii_status", "down",
			                  deadline_ns);
		if (!r)
			r = link_set_up(name, true);
		if (r)
			return fail(why, r, FAILURE_SAMPLE, "net", name, "See the node's kernel log.",
			            "Slave %s of " NET_BOND " did not follow down-up cycle %u", name,
			            net->cycles_done + 1);
		r = wait_slave(name, deadline_ns, why);
		if (r)
			return r;
	}
	net->cycles_done++;
	return 0;
}

int net_add_address(const char *device, const char *address, unsigned int prefix_bits, struct failure *why)
{
	int r = address_add(device, address, prefix_bits);

	if (r)
		return fail(why, r, FAILURE_SAMPLE, "net", device, "See the node's kernel log.",
		            "%s/%u cannot be added to %s", address, prefix_bits, device);
	return 0;
}

int net_build(struct net *net, const json_t *state, long long deadline_ns, struct failure *why)
{
	long long cycles = net->bond ? factor_integer(state, FACTOR_BOND_CYCLES) : 0;
	int r = 0;

	snprintf(net->device, sizeof(net->device), "%s", net->bond ? NET_BOND : net->nics.name[0]);
	net->cycles_done = 0;
	if (net->bond)
		r = build_bond(net, state, deadline_ns, why);
	else
		r = address_flush(net->device);
	for (long long i = 0; i < cycles && !r; i++)
		r = cycle(net, deadline_ns, why);
	if (r)
		return net->bond
		           ? r
		           : fail(why, r, FAILURE_SAMPLE, "net", net->device, "See the node's kernel log.",
		                  "Addresses of %s cannot be removed", net->device);
	r = net_add_address(net->device, net->address, net->prefix_bits, why);
	return r ? r : wait_carrier(net->device, 0, deadline_ns, why);
}

static int set_integer(json_t *in_force, enum factor_id id, long long value)
{
	return json_object_set_new(in_force, factors[id].name, json_integer(value)) ? -ENOMEM : 0;
}

int net_in_force(const struct net *net, const char *sys, json_t *in_force)
{
	char path[320], mode[64] = "none";
	long long mtu = -1, one, miimon = -1;
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
		snprintf(path, sizeof(path), "%s/class/net/%s/bonding/miimon", sys, net->device);
		read_integer(path, &miimon);
		r = r ? r : set_integer(in_force, FACTOR_BOND_MIIMON, miimon);
		r = r ? r : set_integer(in_force, FACTOR_BOND_CYCLES, net->cycles_done);
	}
	if (!r && json_object_set_new(in_force, factors[FACTOR_BOND_MODE].name, json_string(mode)))
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
