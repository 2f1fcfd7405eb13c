/* SPDX-License-Identifier: GPL-2.0-or-later
 * rtnetlink: requests with attributes, each acknowledged by the kernel; and the few every node needs. */
#ifndef ASSAY_NETLINK_H
#define ASSAY_NETLINK_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One request. Begin it, put attributes to it, send it. An attribute too many is told by the sending. */
struct netlink_request {
	struct nlmsghdr header;
	char body[2048];
	bool overflow;
	int protocol;    /* NETLINK_ROUTE after netlink_begin(); set NETLINK_GENERIC where that is meant */
	char error[128]; /* what the kernel says beside its errno (extended ack); "" if nothing */
};

/* TYPE (RTM_NEWLINK …), FLAGS (NLM_F_CREATE | NLM_F_EXCL, NLM_F_DUMP …; NLM_F_REQUEST is added), and the
 * family's fixed part (struct ifinfomsg …), which is copied. */
void netlink_begin(struct netlink_request *request, uint16_t type, uint16_t flags, const void *fixed,
                   size_t size);

void netlink_put(struct netlink_request *request, uint16_t type, const void *data, size_t size);
void netlink_put_u8(struct netlink_request *request, uint16_t type, uint8_t value);
void netlink_put_u16(struct netlink_request *request, uint16_t type, uint16_t value);
void netlink_put_u32(struct netlink_request *request, uint16_t type, uint32_t value);
void netlink_put_string(struct netlink_request *request, uint16_t type, const char *text);

/* Everything put between the two is inside an attribute of TYPE. What _begin returns is handed to _end. */
size_t netlink_nest_begin(struct netlink_request *request, uint16_t type);
void netlink_nest_end(struct netlink_request *request, size_t nest);

/* Sends REQUEST and waits for the kernel's acknowledgement, 10 s at most. 0 or -errno (the kernel's, or
 * -ETIMEDOUT; -EMSGSIZE: too many attributes), with REQUEST->error. */
int netlink_send(struct netlink_request *request);

/* Called for each message of a dump; a -errno ends the dump. */
typedef int netlink_each(void *ctx, const struct nlmsghdr *message);

/* Sends REQUEST (NLM_F_DUMP) and hands every answer to EACH. 0, -errno, or what EACH returned. */
int netlink_dump(struct netlink_request *request, netlink_each *each, void *ctx);

/* All of these: 0 or -errno; -ENODEV where there is no interface NAME. Addresses are "10.0.0.1". */
int link_set_up(const char *name, bool up);
int link_set_mtu(const char *name, unsigned int mtu_bytes);
int address_add(const char *name, const char *address, unsigned int prefix_bits); /* again: 0 */
int address_flush(const char *name);                                              /* every IPv4 address */
int route_add_default(const char *name, const char *gateway);                     /* again: 0 */

#endif
