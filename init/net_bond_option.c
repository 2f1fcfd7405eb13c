/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "net_bond_option.h"

#include "factor.h"
#include "file.h"
#include "netlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { KIND_U8, KIND_U32, KIND_TARGET, KIND_PRIMARY };

/* In the order of setting: delays are counted in miimons, and ARP's targets must be there before it starts.
 */
static const struct option {
	enum factor_id id;
	enum kind kind;
	uint16_t attribute;
	const char *file; /* under bonding/ */
} options[] = {
    {FACTOR_BOND_MIIMON, KIND_U32, IFLA_BOND_MIIMON, "miimon"},
    {FACTOR_BOND_ARP_TARGET, KIND_TARGET, IFLA_BOND_ARP_IP_TARGET, "arp_ip_target"},
    {FACTOR_BOND_ARP_INTERVAL, KIND_U32, IFLA_BOND_ARP_INTERVAL, "arp_interval"},
    {FACTOR_BOND_UPDELAY, KIND_U32, IFLA_BOND_UPDELAY, "updelay"},
    {FACTOR_BOND_DOWNDELAY, KIND_U32, IFLA_BOND_DOWNDELAY, "downdelay"},
    {FACTOR_BOND_PRIMARY, KIND_PRIMARY, IFLA_BOND_PRIMARY, "primary"},
    {FACTOR_BOND_RESELECT, KIND_U8, IFLA_BOND_PRIMARY_RESELECT, "primary_reselect"},
    {FACTOR_BOND_FAIL_OVER_MAC, KIND_U8, IFLA_BOND_FAIL_OVER_MAC, "fail_over_mac"},
    {FACTOR_BOND_XMIT_HASH, KIND_U8, IFLA_BOND_XMIT_HASH_POLICY, "xmit_hash_policy"},
    {FACTOR_BOND_LACP_RATE, KIND_U8, IFLA_BOND_AD_LACP_RATE, "lacp_rate"},
    {FACTOR_BOND_AD_SELECT, KIND_U8, IFLA_BOND_AD_SELECT, "ad_select"},
    {FACTOR_BOND_GRAT_ARP, KIND_U8, IFLA_BOND_NUM_PEER_NOTIF, "num_grat_arp"},
    {FACTOR_BOND_RESEND_IGMP, KIND_U32, IFLA_BOND_RESEND_IGMP, "resend_igmp"},
    {FACTOR_BOND_TLB_DYNAMIC, KIND_U8, IFLA_BOND_TLB_DYNAMIC_LB, "tlb_dynamic_lb"},
    {FACTOR_BOND_ALL_ACTIVE, KIND_U8, IFLA_BOND_ALL_SLAVES_ACTIVE, "all_slaves_active"},
};

enum { OPTION_COUNT = sizeof(options) / sizeof(*options) };

int kmsg_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && lseek(fd, 0, SEEK_END) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Lines of the log since KMSG to BUF; the last of them to LAST. "6,339,5140900,-;text" */
static void kmsg_read(int kmsg, char *buf, size_t size, char *last, size_t last_size)
{
	char record[2048], *text;
	size_t used = 0;
	ssize_t n;

	*buf = *last = '\0';
	while (kmsg >= 0 && (n = read(kmsg, record, sizeof(record) - 1)) > 0) {
		record[n] = '\0';
		text = strchr(record, ';');
		text = text ? text + 1 : record;
		text[strcspn(text, "\n")] = '\0';
		snprintf(last, last_size, "%.*s", (int)last_size - 1, text);
		if (used < size)
			used += (size_t)snprintf(buf + used, size - used, "%s\n", text);
	}
}

int bond_refused(struct failure *why, int r, const char *object, const char *what, const char *extended,
                 int kmsg)
{
	char last[256], log[sizeof(why->log)];

	kmsg_read(kmsg, log, sizeof(log), last, sizeof(last));
	r = fail(why, r, failure_refusal(r), "net", object,
	         "Plan a combination that the kernel's bonding driver takes; the kernel's words say what it "
	         "misses.",
	         "%s%s%s", what, *extended || *last ? "; the kernel says: " : "",
	         *extended ? extended : last);
	memcpy(why->log, log, sizeof(log));
	return r;
}

/* What the state says of option O as text; "" where it does not have it. */
static void level_of(const json_t *state, const struct option *o, char *buf, size_t size)
{
	const json_t *level = json_object_get(state, factors[o->id].name);

	*buf = '\0';
	if (json_is_string(level))
		snprintf(buf, size, "%s", json_string_value(level));
	else if (level)
		snprintf(buf, size, "%lld", (long long)json_integer_value(level));
}

/* Which of NET's slaves is NIC number LEG of the lab file: its name, or NULL. */
static const char *slave_of(const struct net *net, unsigned int leg)
{
	for (size_t i = 0; i < net->used; i++)
		if (net->leg[i] == leg)
			return net->nics.name[i];
	return NULL;
}

/* Puts option O to REQUEST. 0; -ENOENT: nothing to be put. */
static int put_option(struct netlink_request *request, const struct net *net, const struct option *o,
                      const char *level)
{
	uint32_t value = factors[o->id].levels ? (uint32_t)factor_level_index(o->id, level)
	                                       : (uint32_t)strtoul(level, NULL, 10);
	const char *slave;
	struct in_addr target;
	size_t nest;

	switch (o->kind) {
	case KIND_U8:
		netlink_put_u8(request, o->attribute, (uint8_t)value);
		return 0;
	case KIND_U32:
		netlink_put_u32(request, o->attribute, value);
		return 0;
	case KIND_TARGET:
		if (strcmp(level, "peer") != 0 || inet_pton(AF_INET, net->peer, &target) != 1)
			return -ENOENT;
		nest = netlink_nest_begin(request, o->attribute);
		netlink_put(request, 0, &target, sizeof(target));
		netlink_nest_end(request, nest);
		return 0;
	case KIND_PRIMARY:
		slave = slave_of(net, (unsigned int)strtoul(level, NULL, 10));
		if (!slave)
			return -ENOENT;
		netlink_put_u32(request, o->attribute, if_nametoindex(slave));
		return 0;
	}
	return -ENOENT;
}

/* A change of NET_BOND, whose options are to be put between the two. */
static void begin_change(struct netlink_request *request, size_t *link, size_t *data)
{
	struct ifinfomsg info = {.ifi_family = AF_UNSPEC, .ifi_index = (int)if_nametoindex(NET_BOND)};

	netlink_begin(request, RTM_NEWLINK, 0, &info, sizeof(info));
	*link = netlink_nest_begin(request, IFLA_LINKINFO);
	netlink_put_string(request, IFLA_INFO_KIND, "bond");
	*data = netlink_nest_begin(request, IFLA_INFO_DATA);
}

int bond_activate(const char *slave)
{
	struct netlink_request request;
	size_t link, data;

	begin_change(&request, &link, &data);
	netlink_put_u32(&request, IFLA_BOND_ACTIVE_SLAVE, if_nametoindex(slave));
	netlink_nest_end(&request, data);
	netlink_nest_end(&request, link);
	return netlink_send(&request);
}

/* One option by a request of its own. */
static int set_option(const struct net *net, const struct option *o, int kmsg, struct failure *why)
{
	long long miimon = factor_integer(net->state, FACTOR_BOND_MIIMON);
	struct netlink_request request;
	char level[64], what[256];
	size_t link, data;
	int r;

	level_of(net->state, o, level, sizeof(level));
	if (!*level)
		return 0;
	begin_change(&request, &link, &data);
	/* Alone, the one would silently turn the other off: together they are refused. */
	if (o->id == FACTOR_BOND_ARP_INTERVAL && strcmp(level, "0") != 0 &&
	    json_object_get(net->state, factors[FACTOR_BOND_MIIMON].name) && miimon)
		netlink_put_u32(&request, IFLA_BOND_MIIMON, (uint32_t)miimon);
	r = put_option(&request, net, o, level);
	netlink_nest_end(&request, data);
	netlink_nest_end(&request, link);
	if (!r)
		r = netlink_send(&request);
	else
		return 0;
	if (!r)
		return 0;
	snprintf(what, sizeof(what), NET_BOND " refuses %s = %s in mode %s", factors[o->id].name, level,
	         factor_string(net->state, FACTOR_BOND_MODE));
	return bond_refused(why, r, NET_BOND, what, request.error, kmsg);
}

static int create(const struct net *net, int kmsg, struct failure *why)
{
	const char *mode = factor_string(net->state, FACTOR_BOND_MODE);
	struct ifinfomsg info = {.ifi_family = AF_UNSPEC};
	struct netlink_request request;
	size_t link, data;
	char what[128];
	int r;

	netlink_begin(&request, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof(info));
	netlink_put_string(&request, IFLA_IFNAME, NET_BOND);
	link = netlink_nest_begin(&request, IFLA_LINKINFO);
	netlink_put_string(&request, IFLA_INFO_KIND, "bond");
	data = netlink_nest_begin(&request, IFLA_INFO_DATA);
	netlink_put_u8(&request, IFLA_BOND_MODE, (uint8_t)(factor_level_index(FACTOR_BOND_MODE, mode) - 1));
	netlink_nest_end(&request, data);
	netlink_nest_end(&request, link);
	r = netlink_send(&request);
	if (!r)
		return 0;
	snprintf(what, sizeof(what), NET_BOND " cannot be made in mode %s", mode);
	return bond_refused(why, r, NET_BOND, what, request.error, kmsg);
}

int bond_create(const struct net *net, struct failure *why)
{
	int kmsg = kmsg_open(), r = create(net, kmsg, why);

	for (size_t i = 0; i < OPTION_COUNT && !r; i++)
		r = set_option(net, &options[i], kmsg, why);
	if (kmsg >= 0)
		close(kmsg);
	return r;
}

/* The level that TEXT, from sysfs, stands for. "layer2 0", "1", "10.99.0.2", "eth1" */
static json_t *level_in_force(const struct net *net, const struct option *o, const char *text)
{
	const struct factor *f = &factors[o->id];
	const char *levels = f->levels;
	char word[64], number[8];

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(text, " \n"), text);
	if (!levels)
		return json_integer(*word ? strtoll(word, NULL, 10) : -1);
	switch (o->kind) {
	case KIND_TARGET:
		return json_string(!*word ? "none" : strcmp(word, net->peer) ? word : "peer");
	case KIND_PRIMARY:
		for (size_t i = 0; i < net->used; i++)
			if (!strcmp(net->nics.name[i], word)) {
				snprintf(number, sizeof(number), "%u", net->leg[i]);
				return json_string(number);
			}
		return json_string(*word ? word : "none");
	default:
		if (!strcmp(levels, "no|yes") && *word)
			return json_string(strcmp(word, "0") ? "yes" : "no");
		return json_string(*word ? word : "unknown");
	}
}

int bond_options_in_force(const struct net *net, const char *sys, json_t *in_force)
{
	char text[512];

	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option *o = &options[i];
		const char *name = factors[o->id].name;

		if (!json_object_get(net->state, name))
			continue;
		read_file_at(text, sizeof(text), "%s/class/net/%s/bonding/%s", sys, net->device, o->file);
		if (json_object_set_new(in_force, name, level_in_force(net, o, text)))
			return -ENOMEM;
	}
	return 0;
}
