/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "net_bond_watch.h"

#include "netlink.h"

#include <errno.h>
#include <linux/if_bonding.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { QUEUE_BYTES = 1 << 20 };

/* The payload of attribute TYPE among SIZE bytes of attributes, at least WANTED bytes; NULL: it is not there.
 */
static const void *find(const void *attributes, size_t size, uint16_t type, size_t wanted, size_t *found)
{
	const char *p = attributes;

	for (size_t at = 0; at + NLA_HDRLEN <= size;) {
		struct nlattr attr;

		memcpy(&attr, p + at, sizeof(attr));
		if (attr.nla_len < NLA_HDRLEN || attr.nla_len > size - at)
			return NULL;
		if ((attr.nla_type & NLA_TYPE_MASK) == type) {
			*found = attr.nla_len - NLA_HDRLEN;
			return *found >= wanted ? p + at + NLA_HDRLEN : NULL;
		}
		at += NLA_ALIGN(attr.nla_len);
	}
	return NULL;
}

static struct bond_watch_slave *slave_of(struct bond_watch *watch, unsigned int index, const char *name)
{
	struct bond_watch_slave *slave = watch->slaves;

	for (; slave < watch->slaves + watch->slave_count; slave++)
		if (slave->index == index)
			return slave;
	if (watch->slave_count == NET_MAX_NICS)
		return NULL;
	watch->slave_count++;
	*slave = (struct bond_watch_slave){.index = index};
	snprintf(slave->name, sizeof(slave->name), "%s", name);
	return slave;
}

static void note(struct bond_watch *watch, const struct bond_watch_slave *slave, const char *what)
{
	if (watch->change_count == BOND_WATCH_STEPS)
		watch->lost = true;
	else
		snprintf(watch->changes[watch->change_count++], sizeof(*watch->changes), "%s %s", slave->name,
		         what);
}

/* Of the bond itself: who is active now. In modes where none is, the attribute is never there. */
static void take_bond(struct bond_watch *watch, const void *data, size_t size)
{
	size_t found;
	const void *index = find(data, size, IFLA_BOND_ACTIVE_SLAVE, sizeof(uint32_t), &found);
	uint32_t active = 0;

	if (index)
		memcpy(&active, index, sizeof(active));
	if (watch->active_count && watch->active[watch->active_count - 1] == active)
		return;
	if (watch->active_count == BOND_WATCH_STEPS)
		watch->lost = true;
	else
		watch->active[watch->active_count++] = active;
}

static void take_slave(struct bond_watch *watch, unsigned int index, const char *name, const void *data,
                       size_t size)
{
	static const char *const mii_names[] = {"is up", "fails", "is down", "comes back"};
	size_t found;
	const unsigned char *state = find(data, size, IFLA_BOND_SLAVE_STATE, 1, &found);
	const unsigned char *mii = find(data, size, IFLA_BOND_SLAVE_MII_STATUS, 1, &found);
	struct bond_watch_slave *slave = state && mii ? slave_of(watch, index, name) : NULL;

	if (!slave)
		return;
	if (watch->begun && *mii != slave->mii)
		note(watch, slave, *mii < 4 ? mii_names[*mii] : "is unknown");
	if (watch->begun && *state != slave->state)
		note(watch, slave, *state == BOND_STATE_ACTIVE ? "is active" : "is a backup");
	slave->mii = *mii;
	slave->state = *state;
}

static int take_link(void *ctx, const struct nlmsghdr *message)
{
	struct bond_watch *watch = ctx;
	const size_t head = NLMSG_LENGTH(sizeof(struct ifinfomsg));
	const char *attributes = (const char *)message + head, *name, *info, *data;
	size_t size, found, info_size;
	struct ifinfomsg link;
	const void *master;
	uint32_t bond = 0;

	if (message->nlmsg_type != RTM_NEWLINK || message->nlmsg_len < head)
		return 0;
	memcpy(&link, NLMSG_DATA(message), sizeof(link));
	size = message->nlmsg_len - head;
	info = find(attributes, size, IFLA_LINKINFO, 0, &info_size);
	if (!info)
		return 0;
	if ((unsigned int)link.ifi_index == watch->bond) {
		data = find(info, info_size, IFLA_INFO_DATA, 0, &found);
		if (data)
			take_bond(watch, data, found);
		return 0;
	}
	master = find(attributes, size, IFLA_MASTER, sizeof(bond), &found);
	if (master)
		memcpy(&bond, master, sizeof(bond));
	if (bond != watch->bond)
		return 0;
	name = find(attributes, size, IFLA_IFNAME, 1, &found);
	/* The kernel ends it with a 0. */
	if (!name || name[found - 1])
		return 0;
	data = find(info, info_size, IFLA_INFO_SLAVE_DATA, 0, &found);
	if (data)
		take_slave(watch, (unsigned int)link.ifi_index, name, data, found);
	return 0;
}

void bond_watch_take(struct bond_watch *watch, const void *messages, size_t size)
{
	const struct nlmsghdr *message = messages;
	int left = (int)size;

	for (; NLMSG_OK(message, left); message = NLMSG_NEXT(message, left))
		take_link(watch, message);
}

/* How things are; from now on, what differs is a change. What was told meanwhile is the same again. */
static int look(struct bond_watch *watch)
{
	struct ifinfomsg all = {.ifi_family = AF_UNSPEC};
	struct netlink_request request;
	int r;

	netlink_begin(&request, RTM_GETLINK, 0, &all, sizeof(all));
	r = netlink_dump(&request, take_link, watch);
	watch->begun = true;
	return r;
}

int bond_watch_start(struct bond_watch *watch, const char *bond, bool arp_monitored)
{
	struct sockaddr_nl links = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK};
	int bytes = QUEUE_BYTES, r;

	bond_watch_stop(watch);
	*watch = (struct bond_watch){.fd = -1, .bond = if_nametoindex(bond), .arp_monitored = arp_monitored};
	if (!watch->bond)
		return -ENODEV;
	watch->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	if (watch->fd < 0)
		return -errno;
	/* Else the queue is shorter; one that runs over is told. */
	setsockopt(watch->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	r = bind(watch->fd, (struct sockaddr *)&links, sizeof(links)) ? -errno : look(watch);
	if (r) {
		close(watch->fd);
		watch->fd = -1;
	}
	return r;
}

void bond_watch_stop(struct bond_watch *watch)
{
	/* The kernel never makes messages larger than this. */
	char buf[32768] __attribute__((aligned(NLMSG_ALIGNTO)));

	while (watch->begun && watch->fd >= 0) {
		ssize_t n = recv(watch->fd, buf, sizeof(buf), MSG_TRUNC);

		if (n > (ssize_t)sizeof(buf)) {
			watch->lost = true;
		} else if (n >= 0) {
			bond_watch_take(watch, buf, (size_t)n);
		} else if (errno == ENOBUFS) {
			watch->lost = true;
		} else if (errno != EINTR) {
			close(watch->fd);
			watch->fd = -1;
		}
	}
}

static const char *name_of(const struct bond_watch *watch, unsigned int index)
{
	for (size_t i = 0; i < watch->slave_count; i++)
		if (watch->slaves[i].index == index)
			return watch->slaves[i].name;
	return index ? "another" : "none";
}

json_t *bond_watch_json(const struct bond_watch *watch)
{
	json_t *active = json_array(), *changes = json_array();

	for (size_t i = 0; i < watch->active_count; i++)
		json_array_append_new(active, json_string(name_of(watch, watch->active[i])));
	for (size_t i = 0; i < watch->change_count; i++)
		json_array_append_new(changes, json_string(watch->changes[i]));
	return json_pack("{s:{s:o, s:o, s:b}}", "bond", "active_slaves", active, "changes", changes,
	                 "complete", !watch->lost);
}

void bond_watch_fault(const struct bond_watch *watch, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	if (watch->active_count > 1) {
		for (size_t i = 0; i < watch->active_count && used < size; i++)
			used += (size_t)snprintf(buf + used, size - used, "%s%s",
			                         i ? ", then "
			                           : "while the sample ran, the bond's active slave was ",
			                         name_of(watch, watch->active[i]));
	} else if (watch->lost) {
		snprintf(buf, size, "while the sample ran, more happened to the bond than could be kept");
	} else if (watch->change_count && !watch->arp_monitored) {
		snprintf(buf, size, "while the sample ran: slave %s", watch->changes[0]);
	}
}
