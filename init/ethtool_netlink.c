/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ethtool.h"
#include "netlink.h"

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <string.h>

/* The header is the first attribute of every message. */
_Static_assert(ETHTOOL_A_RINGS_HEADER == 1 && ETHTOOL_A_PAUSE_HEADER == 1 && ETHTOOL_A_COALESCE_HEADER == 1 &&
                   ETHTOOL_A_CHANNELS_HEADER == 1,
               "ethtool's messages begin alike");

struct family {
	const char *name;
	uint16_t id;
};

static int find_family(void *ctx, const struct nlmsghdr *message)
{
	const char *at = (const char *)NLMSG_DATA(message) + GENL_HDRLEN;
	const char *end = (const char *)message + message->nlmsg_len;
	struct family *family = ctx;
	const char *name = NULL;
	uint16_t id = 0;

	while (at + NLA_HDRLEN <= end) {
		const struct nlattr *attr = (const struct nlattr *)at;

		if (attr->nla_len < NLA_HDRLEN || at + attr->nla_len > end)
			break;
		if (attr->nla_type == CTRL_ATTR_FAMILY_ID)
			memcpy(&id, at + NLA_HDRLEN, sizeof(id));
		if (attr->nla_type == CTRL_ATTR_FAMILY_NAME)
			name = at + NLA_HDRLEN;
		at += NLA_ALIGN(attr->nla_len);
	}
	if (name && !strcmp(name, family->name))
		family->id = id;
	return 0;
}

/* The number that the kernel gave ethtool's family, or -errno (-ENOENT: a kernel without it). */
static int family_id(void)
{
	struct genlmsghdr fixed = {.cmd = CTRL_CMD_GETFAMILY, .version = 1};
	struct family family = {.name = ETHTOOL_GENL_NAME};
	struct netlink_request request;
	int r;

	netlink_begin(&request, GENL_ID_CTRL, 0, &fixed, sizeof(fixed));
	request.protocol = NETLINK_GENERIC;
	r = netlink_dump(&request, find_family, &family);
	if (r)
		return r;
	return family.id ? family.id : -ENOENT;
}

int ethtool_set(const char *nic, uint8_t message, const struct ethtool_attribute *values, size_t count,
                char *words, size_t size)
{
	struct genlmsghdr fixed = {.cmd = message, .version = ETHTOOL_GENL_VERSION};
	struct netlink_request request;
	int r = family_id();
	size_t header;

	*words = '\0';
	if (r < 0)
		return r;
	netlink_begin(&request, (uint16_t)r, 0, &fixed, sizeof(fixed));
	request.protocol = NETLINK_GENERIC;
	header = netlink_nest_begin(&request, ETHTOOL_A_RINGS_HEADER);
	netlink_put_string(&request, ETHTOOL_A_HEADER_DEV_NAME, nic);
	netlink_nest_end(&request, header);
	for (size_t i = 0; i < count; i++) {
		if (values[i].flag)
			netlink_put_u8(&request, values[i].attribute, (uint8_t)values[i].value);
		else
			netlink_put_u32(&request, values[i].attribute, values[i].value);
	}
	r = netlink_send(&request);
	snprintf(words, size, "%s", request.error);
	return r;
}
