/* SPDX-License-Identifier: GPL-2.0-or-later
 * The kernel answers echo requests; the requests of the peer are seen as well, for a raw socket gets a copy.
 * They carry which leg they were sent on and whether their sender had an answer, so that one exchange proves
 * both directions and tells crossed cables. */
#include "net_path.h"

#include "file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	IP_ICMP_BYTES = 28,
	ROUND_MS = 50,
	CROSSED_MS = 2000,
	FAREWELLS = 3, /* rounds after the end: the peer may still wait to hear that we had our answer */
	MAX_MTU_BYTES = 65535,
};

#define PROBE_MAGIC 0x41736179 /* "Asay" */

struct probe {
	struct icmphdr icmp;
	uint32_t magic;
	uint32_t leg;
	uint32_t full; /* this one is of full size */
	uint32_t done; /* its sender had a full-size answer on this leg */
	int64_t sent_ns;
} __attribute__((packed));

struct link {
	struct net_path *path;
	struct sockaddr_in peer;
	int fd;
};

static uint16_t checksum(const void *data, size_t length)
{
	const unsigned char *p = data;
	uint32_t sum = 0;

	for (size_t i = 0; i + 1 < length; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	if (length & 1)
		sum += (uint32_t)p[length - 1] << 8;
	sum = (sum >> 16) + (sum & 0xffff);
	sum += sum >> 16;
	return htons((uint16_t)~sum);
}

static int open_link(struct link *link, struct net_path *path)
{
	/* PROBE sets DF and, unlike DO, does not believe in a smaller path MTU that some router once said. */
	int discover = IP_PMTUDISC_PROBE, buffer = 1 << 20;

	link->path = path;
	link->fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_ICMP);
	if (link->fd < 0)
		return -errno;
	link->peer = (struct sockaddr_in){.sin_family = AF_INET};
	if (inet_pton(AF_INET, path->peer, &link->peer.sin_addr) != 1)
		return -EINVAL;
	if (setsockopt(link->fd, SOL_SOCKET, SO_BINDTODEVICE, path->device,
	               (socklen_t)strlen(path->device)) ||
	    setsockopt(link->fd, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof(discover)))
		return -errno;
	setsockopt(link->fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
	setsockopt(link->fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof(buffer));
	path->rtt_ns = -1;
	return 0;
}

static void send_probe(const struct link *link, unsigned char *frame, bool full)
{
	size_t length =
	    full ? link->path->mtu_bytes - IP_ICMP_BYTES + sizeof(struct icmphdr) : sizeof(struct probe);
	struct probe probe = {
	    .icmp = {.type = ICMP_ECHO, .un.echo = {.id = htons(0x4153), .sequence = htons(full)}},
	    .magic = htonl(PROBE_MAGIC),
	    .leg = htonl(link->path->leg),
	    .full = htonl(full),
	    .done = htonl(link->path->full_passed),
	    .sent_ns = now_ns(),
	};

	memset(frame, 0, length);
	memcpy(frame, &probe, sizeof(probe));
	probe.icmp.checksum = checksum(frame, length);
	memcpy(frame, &probe, sizeof(probe));
	if (sendto(link->fd, frame, length, 0, (const struct sockaddr *)&link->peer, sizeof(link->peer)) <
	        0 &&
	    full)
		link->path->send_error = errno;
}

static void take(struct link *link, const unsigned char *packet, size_t length)
{
	size_t header = length ? (size_t)(packet[0] & 15) * 4 : 0;
	struct net_path *path = link->path;
	struct probe probe;

	if (header < sizeof(struct iphdr) || length < header + sizeof(probe))
		return;
	memcpy(&probe, packet + header, sizeof(probe));
	if (ntohl(probe.magic) != PROBE_MAGIC)
		return;
	if (probe.icmp.type == ICMP_ECHO) {
		if (ntohl(probe.leg) != path->leg)
			path->wrong_leg = ntohl(probe.leg);
		else if (ntohl(probe.done))
			path->peer_done = true;
	} else if (probe.icmp.type == ICMP_ECHOREPLY && ntohl(probe.leg) == path->leg) {
		path->small_passed = true;
		if (ntohl(probe.full) && length >= path->mtu_bytes) {
			path->full_passed = true;
			path->rtt_ns = now_ns() - probe.sent_ns;
		}
	}
}

static bool all_done(const struct net_path *paths, size_t count, bool both_ways)
{
	for (size_t i = 0; i < count; i++)
		if (!paths[i].full_passed || (both_ways && !paths[i].peer_done))
			return false;
	return true;
}

/* Takes what comes, until UNTIL_NS; where CHANGE, only until all is done. */
static void receive(struct link *links, struct net_path *paths, size_t count, bool both_ways, bool change,
                    long long until_ns, unsigned char *frame)
{
	struct pollfd fds[64];

	for (size_t i = 0; i < count; i++)
		fds[i] = (struct pollfd){.fd = links[i].fd, .events = POLLIN};
	for (;;) {
		long long left_ms = (until_ns - now_ns()) / 1000000;

		if (left_ms <= 0 || poll(fds, count, (int)left_ms) <= 0)
			return;
		for (size_t i = 0; i < count; i++) {
			ssize_t n = fds[i].revents ? recv(links[i].fd, frame, MAX_MTU_BYTES, 0) : -1;

			if (n > 0)
				take(&links[i], frame, (size_t)n);
		}
		if (change && all_done(paths, count, both_ways))
			return;
	}
}

int net_path_probe(struct net_path *paths, size_t count, bool both_ways, long long deadline_ns)
{
	unsigned char *frame = malloc(MAX_MTU_BYTES);
	struct link links[64];
	unsigned int farewells = both_ways ? FAREWELLS : 0;
	int r = frame ? 0 : -ENOMEM;

	if (count > sizeof(links) / sizeof(*links))
		count = sizeof(links) / sizeof(*links);
	for (size_t i = 0; i < count; i++)
		links[i].fd = -1;
	for (size_t i = 0; i < count && !r; i++)
		r = open_link(&links[i], &paths[i]);
	while (!r) {
		bool done = all_done(paths, count, both_ways);
		long long now = now_ns();

		if (done && farewells-- == 0)
			break;
		if (!done && now >= deadline_ns) {
			r = -ETIMEDOUT;
			break;
		}
		for (size_t i = 0; i < count; i++) {
			send_probe(&links[i], frame, false);
			send_probe(&links[i], frame, true);
		}
		/* Crossed legs stay so: no use to wait long for them. */
		for (size_t i = 0; i < count; i++)
			if (paths[i].wrong_leg && deadline_ns > now + CROSSED_MS * 1000000LL)
				deadline_ns = now + CROSSED_MS * 1000000LL;
		receive(links, paths, count, both_ways, !done, now + (done ? 2 : ROUND_MS) * 1000000LL,
		        frame);
	}
	for (size_t i = 0; i < count; i++)
		if (links[i].fd >= 0)
			close(links[i].fd);
	free(frame);
	return r;
}

static const char *leg_name(const struct net_path *path, char *buf, size_t size)
{
	if (path->leg)
		snprintf(buf, size, "leg %u", path->leg);
	else
		snprintf(buf, size, "the storage network");
	return buf;
}

int net_path_failure(const struct net_path *paths, size_t count, const char *node, const char *peer,
                     struct failure *why)
{
	const struct net_path *bad = NULL;
	bool any = false;
	char leg[32];

	for (size_t i = 0; i < count; i++) {
		any |= paths[i].small_passed;
		/* The first that has the most to say. */
		if (paths[i].full_passed && paths[i].peer_done)
			continue;
		if (!bad || (!bad->wrong_leg && paths[i].wrong_leg))
			bad = &paths[i];
	}
	if (!bad)
		return fail(why, -ETIMEDOUT, FAILURE_SAMPLE, "net", "", "Try again.", "No path is at fault");
	leg_name(bad, leg, sizeof(leg));
	if (bad->wrong_leg)
		return fail(
		    why, -ETIMEDOUT, FAILURE_RUN, "net", bad->device,
		    "Swap the cables at one of the two nodes, or the order of storage_nics in the lab file.",
		    "Legs are crossed: NIC %s of node %s is %s here, but what %s sends on its leg %u comes "
		    "in",
		    bad->device, node, leg, peer, bad->wrong_leg);
	if (bad->small_passed && !bad->full_passed)
		return fail(
		    why, bad->send_error ? -bad->send_error : -EMSGSIZE, FAILURE_SAMPLE, "net", bad->device,
		    "Set an MTU as large on every switch port of that leg, or plan a smaller nic.mtu.",
		    "Black hole on %s, NIC %s of node %s: small pings to %s (%s) pass, packets of %u bytes "
		    "do "
		    "not",
		    leg, bad->device, node, peer, bad->peer, bad->mtu_bytes);
	if (bad->full_passed)
		return fail(
		    why, -ETIMEDOUT, FAILURE_SAMPLE, "net", bad->device,
		    "Look at the other node's error: its direction fails.",
		    "On %s, NIC %s: node %s reaches %s, which does not say that it reaches %s as well", leg,
		    bad->device, node, peer, node);
	return fail(why, -ETIMEDOUT, FAILURE_SAMPLE, "net", bad->device,
	            any ? "Check that leg's cabling, VLAN and switch, at both nodes."
	                : "Check that the peer is up (assay status), and the storage cabling of both nodes.",
	            "No answer on %s: NIC %s of node %s has link, but %s (%s) answers no ping%s", leg,
	            bad->device, node, peer, bad->peer, any ? "; other legs work" : ", on no leg");
}

int net_path_json(const struct net_path *paths, size_t count, json_t *array)
{
	int r = 0;

	for (size_t i = 0; i < count; i++)
		if (paths[i].rtt_ns >= 0)
			r |= json_array_append_new(array, json_pack("{s:s, s:s, s:i, s:s, s:I}", "device",
			                                            paths[i].device, "peer", paths[i].peer,
			                                            "mtu_bytes", (int)paths[i].mtu_bytes,
			                                            "direction", "out", "rtt_ns",
			                                            (json_int_t)paths[i].rtt_ns));
	return r ? -ENOMEM : 0;
}

void net_path_leg_address(unsigned int leg, unsigned int index, char *buf, size_t size)
{
	snprintf(buf, size, "169.254.%u.%u", leg % 256, (index + 1) % 256);
}
