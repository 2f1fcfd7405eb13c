/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "netlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define TIMEOUT_S 10

void netlink_begin(struct netlink_request *request, uint16_t type, uint16_t flags, const void *fixed,
                   size_t size)
{
	memset(request, 0, sizeof(*request));
	request->header.nlmsg_type = type;
	request->header.nlmsg_flags = NLM_F_REQUEST | flags;
	request->header.nlmsg_len = NLMSG_LENGTH(size);
	memcpy(request->body, fixed, size);
}

/* Room for SIZE bytes of payload at the end of the message, with the attribute's head written; NULL: no room.
 */
static void *attribute(struct netlink_request *request, uint16_t type, size_t size)
{
	size_t start = NLMSG_ALIGN(request->header.nlmsg_len);
	struct nlattr *attr = (struct nlattr *)((char *)&request->header + start);

	if (start + NLA_HDRLEN + NLA_ALIGN(size) > sizeof(request->header) + sizeof(request->body)) {
		request->overflow = true;
		return NULL;
	}
	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + size;
	request->header.nlmsg_len = start + NLA_HDRLEN + NLA_ALIGN(size);
	return (char *)attr + NLA_HDRLEN;
}

void netlink_put(struct netlink_request *request, uint16_t type, const void *data, size_t size)
{
	void *payload = attribute(request, type, size);

	if (payload && size)
		memcpy(payload, data, size);
}

void netlink_put_u8(struct netlink_request *request, uint16_t type, uint8_t value)
{
	netlink_put(request, type, &value, sizeof(value));
}

void netlink_put_u16(struct netlink_request *request, uint16_t type, uint16_t value)
{
	netlink_put(request, type, &value, sizeof(value));
}

void netlink_put_u32(struct netlink_request *request, uint16_t type, uint32_t value)
{
	netlink_put(request, type, &value, sizeof(value));
}

void netlink_put_string(struct netlink_request *request, uint16_t type, const char *text)
{
	netlink_put(request, type, text, strlen(text) + 1);
}

size_t netlink_nest_begin(struct netlink_request *request, uint16_t type)
{
	size_t start = NLMSG_ALIGN(request->header.nlmsg_len);

	attribute(request, type | NLA_F_NESTED, 0);
	return start;
}

void netlink_nest_end(struct netlink_request *request, size_t nest)
{
	struct nlattr *attr = (struct nlattr *)((char *)&request->header + nest);

	if (!request->overflow)
		attr->nla_len = request->header.nlmsg_len - nest;
}

/* A connected socket with REQUEST sent on it, or -errno. */
static int start(struct netlink_request *request)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct timeval timeout = {.tv_sec = TIMEOUT_S};
	int one = 1, fd, r;

	*request->error = '\0';
	if (request->overflow)
		return -EMSGSIZE;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, request->protocol);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	request->header.nlmsg_seq = 1; /* a socket serves one request */
	if (sendto(fd, &request->header, request->header.nlmsg_len, 0, (struct sockaddr *)&kernel,
	           sizeof(kernel)) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	return fd;
}

/* The kernel's words, which follow its errno. */
static void extended_ack(struct netlink_request *request, const struct nlmsghdr *message)
{
	const struct nlattr *attr;
	size_t at = NLMSG_LENGTH(sizeof(struct nlmsgerr));

	/* Without NLM_F_CAPPED the whole request stands between. */
	if (!(message->nlmsg_flags & NLM_F_ACK_TLVS) || !(message->nlmsg_flags & NLM_F_CAPPED))
		return;
	while (at + NLA_HDRLEN <= message->nlmsg_len) {
		attr = (const struct nlattr *)((const char *)message + at);
		if (attr->nla_len < NLA_HDRLEN || at + attr->nla_len > message->nlmsg_len)
			return;
		if ((attr->nla_type & NLA_TYPE_MASK) == NLMSGERR_ATTR_MSG)
			snprintf(request->error, sizeof(request->error), "%.*s",
			         (int)(attr->nla_len - NLA_HDRLEN), (const char *)attr + NLA_HDRLEN);
		at += NLA_ALIGN(attr->nla_len);
	}
}

/* Reads answers until the acknowledgement or the end of the dump. */
static int receive(int fd, struct netlink_request *request, netlink_each *each, void *ctx)
{
	/* The kernel never makes dump messages larger than this. */
	char buf[32768] __attribute__((aligned(NLMSG_ALIGNTO)));

	for (;;) {
		ssize_t n = recv(fd, buf, sizeof(buf), 0);
		struct nlmsghdr *message = (struct nlmsghdr *)buf;
		unsigned int left;
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		for (left = n; NLMSG_OK(message, left); message = NLMSG_NEXT(message, left)) {
			if (message->nlmsg_type == NLMSG_ERROR) {
				r = ((struct nlmsgerr *)NLMSG_DATA(message))->error;
				extended_ack(request, message);
				return r;
			}
			if (message->nlmsg_type == NLMSG_DONE)
				return *(int *)NLMSG_DATA(message);
			r = each ? each(ctx, message) : 0;
			if (r < 0)
				return r;
		}
	}
}

int netlink_send(struct netlink_request *request)
{
	int fd, r;

	request->header.nlmsg_flags |= NLM_F_ACK;
	fd = start(request);
	if (fd < 0)
		return fd;
	r = receive(fd, request, NULL, NULL);
	close(fd);
	return r;
}

int netlink_dump(struct netlink_request *request, netlink_each *each, void *ctx)
{
	int fd, r;

	request->header.nlmsg_flags |= NLM_F_DUMP;
	fd = start(request);
	if (fd < 0)
		return fd;
	r = receive(fd, request, each, ctx);
	close(fd);
	return r;
}

int link_set_up(const char *name, bool up)
{
	struct ifinfomsg link = {.ifi_index = if_nametoindex(name),
	                         .ifi_change = IFF_UP,
	                         .ifi_flags = up ? IFF_UP : 0};
	struct netlink_request request;

	if (!link.ifi_index)
		return -ENODEV;
	netlink_begin(&request, RTM_NEWLINK, 0, &link, sizeof(link));
	return netlink_send(&request);
}

int link_set_mtu(const char *name, unsigned int mtu_bytes)
{
	struct ifinfomsg link = {.ifi_index = if_nametoindex(name)};
	struct netlink_request request;

	if (!link.ifi_index)
		return -ENODEV;
	netlink_begin(&request, RTM_NEWLINK, 0, &link, sizeof(link));
	netlink_put_u32(&request, IFLA_MTU, mtu_bytes);
	return netlink_send(&request);
}

int address_add(const char *name, const char *address, unsigned int prefix_bits)
{
	struct ifaddrmsg fixed = {.ifa_family = AF_INET,
	                          .ifa_prefixlen = prefix_bits,
	                          .ifa_index = if_nametoindex(name)};
	struct netlink_request request;
	struct in_addr local, broadcast;
	int r;

	if (!fixed.ifa_index)
		return -ENODEV;
	if (inet_pton(AF_INET, address, &local) != 1 || prefix_bits > 32)
		return -EINVAL;
	netlink_begin(&request, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &fixed, sizeof(fixed));
	netlink_put(&request, IFA_LOCAL, &local, sizeof(local));
	netlink_put(&request, IFA_ADDRESS, &local, sizeof(local));
	if (prefix_bits < 31) {
		broadcast.s_addr = local.s_addr | htonl(prefix_bits ? (1U << (32 - prefix_bits)) - 1 : ~0U);
		netlink_put(&request, IFA_BROADCAST, &broadcast, sizeof(broadcast));
	}
	r = netlink_send(&request);
	return r == -EEXIST ? 0 : r;
}

/* The addresses of one interface, to be deleted when the dump has ended. */
struct flush {
	unsigned int index, count;
	struct {
		struct ifaddrmsg fixed;
		struct in_addr local;
	} found[64];
};

static int flush_each(void *ctx, const struct nlmsghdr *message)
{
	const struct ifaddrmsg *fixed = NLMSG_DATA(message);
	const struct rtattr *attr = IFA_RTA(fixed);
	int left = IFA_PAYLOAD(message);
	struct flush *flush = ctx;

	if (message->nlmsg_type != RTM_NEWADDR || fixed->ifa_index != flush->index ||
	    flush->count == sizeof(flush->found) / sizeof(*flush->found))
		return 0;
	for (; RTA_OK(attr, left); attr = RTA_NEXT(attr, left))
		if (attr->rta_type == IFA_LOCAL) {
			flush->found[flush->count].fixed = *fixed;
			memcpy(&flush->found[flush->count++].local, RTA_DATA(attr), sizeof(struct in_addr));
		}
	return 0;
}

int address_flush(const char *name)
{
	struct flush flush = {.index = if_nametoindex(name)};
	struct ifaddrmsg fixed = {.ifa_family = AF_INET};
	struct netlink_request request;
	int r;

	if (!flush.index)
		return -ENODEV;
	netlink_begin(&request, RTM_GETADDR, 0, &fixed, sizeof(fixed));
	r = netlink_dump(&request, flush_each, &flush);
	for (unsigned int i = 0; i < flush.count && !r; i++) {
		netlink_begin(&request, RTM_DELADDR, 0, &flush.found[i].fixed, sizeof(fixed));
		netlink_put(&request, IFA_LOCAL, &flush.found[i].local, sizeof(struct in_addr));
		r = netlink_send(&request);
		/* A secondary address goes with its primary. */
		if (r == -EADDRNOTAVAIL)
			r = 0;
	}
	return r;
}

int route_add_default(const char *name, const char *gateway)
{
	struct rtmsg fixed = {.rtm_family = AF_INET,
	                      .rtm_table = RT_TABLE_MAIN,
	                      .rtm_protocol = RTPROT_BOOT,
	                      .rtm_scope = RT_SCOPE_UNIVERSE,
	                      .rtm_type = RTN_UNICAST};
	uint32_t index = if_nametoindex(name);
	struct netlink_request request;
	struct in_addr address;
	int r;

	if (!index)
		return -ENODEV;
	if (inet_pton(AF_INET, gateway, &address) != 1)
		return -EINVAL;
	netlink_begin(&request, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &fixed, sizeof(fixed));
	netlink_put(&request, RTA_GATEWAY, &address, sizeof(address));
	netlink_put_u32(&request, RTA_OIF, index);
	r = netlink_send(&request);
	return r == -EEXIST ? 0 : r;
}
