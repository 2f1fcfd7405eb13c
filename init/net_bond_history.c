/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "net_bond_history.h"

#include "factor.h"
#include "netlink.h"

/* Used by nobody: of the range for tests (RFC 2544). */
#define OTHER_ADDRESS "198.18.0.1"
#define OTHER_BITS    30

static int did_not_follow(struct failure *why, int r, const char *object, const char *what, unsigned int nth)
{
	return fail(why, r, FAILURE_SAMPLE, "net", object, "See the node's kernel log.",
	            "%s did not follow %s %u", object, what, nth);
}

/* Each slave in turn down, seen down by the bond, up, seen up. */
static int cycle(struct net *net, long long deadline_ns, struct failure *why)
{
	/* ARP monitoring sees a link, without one nobody sees. */
	bool seen = factor_integer(net->state, FACTOR_BOND_ARP_INTERVAL) ||
	            factor_integer(net->state, FACTOR_BOND_MIIMON);

	for (size_t i = 0; i < net->used; i++) {
		const char *name = net->nics.name[i];
		int r = link_set_up(name, false);

		if (!r && seen)
			r = net_wait_for(name, "bonding_slave/mii_status", "down", deadline_ns);
		if (!r)
			r = link_set_up(name, true);
		if (r)
			return did_not_follow(why, r, name, "down-up cycle", net->cycles_done + 1);
		r = net_wait_slaves(net, deadline_ns, why);
		if (r)
			return r;
	}
	net->cycles_done++;
	return 0;
}

static int change_address(struct net *net, long long deadline_ns, struct failure *why)
{
	int r = address_flush(net->device);

	(void)deadline_ns;
	if (!r)
		r = address_add(net->device, OTHER_ADDRESS, OTHER_BITS);
	if (!r)
		r = address_flush(net->device);
	if (!r)
		r = address_add(net->device, net->address, net->prefix_bits);
	if (r)
		return did_not_follow(why, r, net->device, "address change", net->address_changes_done + 1);
	net->address_changes_done++;
	return 0;
}

/* Many drivers reset the NIC for it, which costs it its link. */
static int change_mtu(struct net *net, long long deadline_ns, struct failure *why)
{
	int r = link_set_mtu(net->device, net->mtu_bytes == 1500 ? 1400 : 1500);

	if (!r)
		r = net_wait_slaves(net, deadline_ns, why);
	else
		return did_not_follow(why, r, net->device, "MTU change", net->mtu_changes_done + 1);
	if (r)
		return r;
	r = link_set_mtu(net->device, net->mtu_bytes);
	if (r)
		return did_not_follow(why, r, net->device, "MTU change", net->mtu_changes_done + 1);
	net->mtu_changes_done++;
	return net_wait_slaves(net, deadline_ns, why);
}

int bond_history(struct net *net, long long deadline_ns, struct failure *why)
{
	static const struct {
		enum factor_id id;
		int (*once)(struct net *net, long long deadline_ns, struct failure *why);
	} kinds[] = {
	    {FACTOR_BOND_CYCLES, cycle},
	    {FACTOR_BOND_ADDRESS_CHANGES, change_address},
	    {FACTOR_BOND_MTU_CHANGES, change_mtu},
	};
	int r = 0;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		for (long long i = factor_integer(net->state, kinds[k].id); i > 0 && !r; i--)
			r = kinds[k].once(net, deadline_ns, why);
	return r;
}
