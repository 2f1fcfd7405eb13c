/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "net_bond_slaves.h"

#include "file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse(struct failure *why, const char *object, const char *text)
{
	return fail(
	    why, -EINVAL, FAILURE_CELL, "net", object,
	    "Correct bond.slaves or bond.primary in the plan, or storage_nics of the node in the lab file.",
	    "%s", text);
}

/* "2,1" to ORDER. The count, or -EINVAL with *WHY filled. */
static int parse(const struct net *net, const char *wanted, unsigned int *order, struct failure *why)
{
	size_t count = 0, all = net->nics.count;
	char text[200];

	if (!strcmp(wanted, "all") || !strcmp(wanted, "reversed")) {
		for (size_t i = 0; i < all; i++)
			order[i] = (unsigned int)(*wanted == 'a' ? i + 1 : all - i);
		return (int)all;
	}
	for (const char *p = wanted; *p;) {
		char *end;
		unsigned long number = strtoul(p, &end, 10);

		if (end == p || (*end && *end != ',') || count == NET_MAX_NICS) {
			snprintf(text, sizeof(text),
			         "bond.slaves = %.32s is no list of storage NICs such as 1,2", wanted);
			return refuse(why, "bond.slaves", text);
		}
		if (number < 1 || number > all) {
			snprintf(text, sizeof(text),
			         "bond.slaves = %.32s: there is no slave %lu, the node has %zu storage NICs",
			         wanted, number, all);
			return refuse(why, "bond.slaves", text);
		}
		for (size_t i = 0; i < count; i++)
			if (order[i] == number) {
				snprintf(text, sizeof(text),
				         "bond.slaves = %.32s: slave %lu (NIC %s) appears twice", wanted,
				         number, net->nics.name[number - 1]);
				return refuse(why, net->nics.name[number - 1], text);
			}
		order[count++] = (unsigned int)number;
		p = *end ? end + 1 : end;
	}
	return (int)count;
}

int bond_slaves_choose(struct net *net, const char *wanted, const char *primary, struct failure *why)
{
	const struct net_nics nics = net->nics;
	unsigned int order[NET_MAX_NICS];
	bool primary_there = !strcmp(primary, "none");
	size_t slot = 0;
	char text[128];
	int count = parse(net, wanted, order, why);

	if (count < 0)
		return count;
	net->used = (size_t)count;
	for (; slot < net->used; slot++) {
		net->leg[slot] = order[slot];
		memcpy(net->nics.name[slot], nics.name[order[slot] - 1], IFNAMSIZ);
		primary_there |= strtoul(primary, NULL, 10) == order[slot];
	}
	/* The others stay in the list: they are to be down. */
	for (unsigned int i = 0; i < nics.count; i++) {
		bool used = false;

		for (size_t k = 0; k < net->used; k++)
			used |= net->leg[k] == i + 1;
		if (used)
			continue;
		net->leg[slot] = i + 1;
		memcpy(net->nics.name[slot++], nics.name[i], IFNAMSIZ);
	}
	if (primary_there)
		return 0;
	snprintf(text, sizeof(text), "bond.primary = %s is not among the slaves (bond.slaves = %s)", primary,
	         wanted);
	return refuse(why, "bond.primary", text);
}

int bond_slaves_free(const struct net *net, const char *sys, struct failure *why)
{
	char master[64];

	for (size_t i = 0; i < net->used; i++) {
		const char *name = net->nics.name[i];

		if (read_link_name(master, sizeof(master), "%s/class/net/%s/master", sys, name))
			continue;
		return fail(why, -EBUSY, FAILURE_CELL, "net", name,
		            "Reboot the node: nothing but Assay should make bonds or bridges there.",
		            "Storage NIC %s is already enslaved, to %s", name, master);
	}
	return 0;
}
