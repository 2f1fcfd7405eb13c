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
	HOLE_AFTER_MS = 3000, /* so long small ones pass alone before the size that passes is looked for */
	HOLE_FOUND_MS = 2000, /* then the peer may still look for its own */
	TRIES = 3,            /* of a size, in one round */
	FAREWELLS = 3, /* rounds after the end: the peer may still wait to hear that we had our answer */
	MAX_MTU_BYTES = 65535,
};

#define HOLE        2
#define TELL_NS     2000000000LL
#define PROBE_MAGIC 0x41736179 /* "Asay" */

struct probe {
	struct icmphdr icmp;
	uint32_t magic;
	uint32_t leg;
	uint32_t full; /* this one is of full size */
	uint32_t done; /* its sender had a full-size answer on this leg; HOLE: it never will */
	uint32_t phase;
	uint32_t round;
	/* what its sender had from us: the round of the last small one, the size of the largest packet */
	uint32_t heard_round, heard_bytes;
	int64_t sent_ns;
} __attribute__((packed));

struct link {
	struct net_path *path;
	struct sockaddr_in peer;
	int fd;
	uint32_t round, heard_round, peer_heard_round;
	long long small_ns; /* when the first small answer came; 0: none yet */
	/* Bisection: sizes up to path->mtu_out_bytes pass, those over .too_large do not. */
	unsigned int too_large, size;
	uint32_t size_round; /* in which SIZE was sent; 0: it was not */
	bool found;          /* by us, or the peer says so of its own */
	/* What a broadcast said: it was sent on another leg. So it is where legs share a network, too. */
	unsigned int other_leg;
	long long other_ns; /* when the first came */
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
	int discover = IP_PMTUDISC_PROBE, buffer = 1 << 20, one = 1;

	link->path = path;
	path->mtu_in_bytes = path->mtu_out_bytes = 0;
	link->fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_ICMP);
	if (link->fd < 0)
		return -errno;
	link->peer = (struct sockaddr_in){.sin_family = AF_INET};
	if (inet_pton(AF_INET, path->peer, &link->peer.sin_addr) != 1)
		return -EINVAL;
	if (setsockopt(link->fd, SOL_SOCKET, SO_BINDTODEVICE, path->device,
	               (socklen_t)strlen(path->device)) ||
	    setsockopt(link->fd, SOL_SOCKET, SO_BROADCAST, &one, sizeof(one)) ||
	    setsockopt(link->fd, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof(discover)))
		return -errno;
	setsockopt(link->fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
	setsockopt(link->fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof(buffer));
	path->rtt_ns = -1;
	link->too_large = path->mtu_bytes + 1;
	return 0;
}

/* To TO; BYTES: of the IP packet; 0: as small as can be. */
static void send_probe_to(const struct link *link, const struct sockaddr_in *to, unsigned char *frame,
                          unsigned int bytes)
{
	bool full = bytes == link->path->mtu_bytes;
	size_t length = bytes ? bytes - IP_ICMP_BYTES + sizeof(struct icmphdr) : sizeof(struct probe);
	struct probe probe = {
	    .icmp = {.type = ICMP_ECHO, .un.echo = {.id = htons(0x4153), .sequence = htons(full)}},
	    .magic = htonl(PROBE_MAGIC),
	    .leg = htonl(link->path->leg),
	    .full = htonl(full),
	    .done = htonl(link->found && !link->path->full_passed ? HOLE : link->path->full_passed),
	    .phase = htonl(link->path->phase),
	    .round = htonl(link->round),
	    .heard_round = htonl(link->heard_round),
	    .heard_bytes = htonl(link->path->mtu_in_bytes),
	    .sent_ns = now_ns(),
	};

	if (length < sizeof(probe))
		length = sizeof(probe);
	memset(frame, 0, length);
	memcpy(frame, &probe, sizeof(probe));
	probe.icmp.checksum = checksum(frame, length);
	memcpy(frame, &probe, sizeof(probe));
	if (sendto(link->fd, frame, length, 0, (const struct sockaddr *)to, sizeof(*to)) < 0 && full)
		link->path->send_error = errno;
}

static void send_probe(const struct link *link, unsigned char *frame, unsigned int bytes)
{
	send_probe_to(link, &link->peer, frame, bytes);
}

/* The peer's request: which leg it was sent on, and what the peer had from us. */
static void take_request(struct link *link, const struct probe *probe, size_t length)
{
	struct net_path *path = link->path;

	if (ntohl(probe->leg) != path->leg) {
		path->wrong_leg = ntohl(probe->leg);
		return;
	}
	/* One who is further on was here, too. */
	if (ntohl(probe->phase) < path->phase)
		return;
	if (ntohl(probe->done) == HOLE)
		link->found = true;
	else
		path->peer_done |= ntohl(probe->done) != 0;
	if (length > path->mtu_in_bytes)
		path->mtu_in_bytes = (unsigned int)length;
	if (ntohl(probe->heard_bytes) > path->mtu_out_bytes)
		path->mtu_out_bytes = ntohl(probe->heard_bytes);
	if (ntohl(probe->heard_round) > link->peer_heard_round)
		link->peer_heard_round = ntohl(probe->heard_round);
	/* The small one is sent last: whatever was sent before in its round has come, or never will. */
	if (length <= sizeof(*probe) + sizeof(struct iphdr) && ntohl(probe->round) > link->heard_round)
		link->heard_round = ntohl(probe->round);
}

/* Sent to everybody, it needs no ARP: it comes in also where the cable leads to another leg, which has no
 * answer for our address. */
static void take_broadcast(struct link *link, const struct iphdr *ip, const struct probe *probe)
{
	struct in_addr ours;

	/* Where legs share a network, the other NIC's come in as well. */
	if (ntohl(probe->leg) == link->path->leg || inet_pton(AF_INET, link->path->address, &ours) != 1 ||
	    (ip->saddr & htonl(0xff)) == (ours.s_addr & htonl(0xff)))
		return;
	link->other_leg = ntohl(probe->leg);
	link->other_ns = link->other_ns ? link->other_ns : now_ns();
}

static void take(struct link *link, const unsigned char *packet, size_t length)
{
	size_t header = length ? (size_t)(packet[0] & 15) * 4 : 0;
	struct net_path *path = link->path;
	struct probe probe;
	struct iphdr ip;

	if (header < sizeof(struct iphdr) || length < header + sizeof(probe))
		return;
	memcpy(&ip, packet, sizeof(ip));
	memcpy(&probe, packet + header, sizeof(probe));
	if (ntohl(probe.magic) != PROBE_MAGIC)
		return;
	if (probe.icmp.type == ICMP_ECHO && ip.daddr == INADDR_BROADCAST) {
		take_broadcast(link, &ip, &probe);
	} else if (probe.icmp.type == ICMP_ECHO) {
		take_request(link, &probe, length);
	} else if (probe.icmp.type == ICMP_ECHOREPLY && ntohl(probe.leg) == path->leg) {
		path->small_passed = true;
		link->small_ns = link->small_ns ? link->small_ns : now_ns();
		if (ntohl(probe.full) && length >= path->mtu_bytes) {
			path->full_passed = true;
			path->rtt_ns = now_ns() - probe.sent_ns;
			/* There and back, which the peer may not have told yet, and then has no reason to. */
			path->mtu_out_bytes = path->mtu_bytes;
			path->mtu_in_bytes =
			    path->mtu_in_bytes > path->mtu_bytes ? path->mtu_in_bytes : path->mtu_bytes;
		}
	}
}

/* Where small ones pass and full ones do not: halves what lies between, each size sent in a round and judged
 * when the peer says that it had a later round's small one. */
static void bisect(struct link *link, unsigned char *frame)
{
	struct net_path *path = link->path;

	if (link->found || path->mtu_out_bytes >= path->mtu_bytes || !path->mtu_out_bytes ||
	    !link->small_ns || now_ns() - link->small_ns < HOLE_AFTER_MS * 1000000LL)
		return;
	if (link->size_round) {
		if (link->peer_heard_round < link->size_round)
			return;
		if (path->mtu_out_bytes < link->size)
			link->too_large = link->size;
	}
	if (path->mtu_out_bytes + 1 >= link->too_large) {
		link->found = true;
		return;
	}
	link->size = path->mtu_out_bytes + (link->too_large - path->mtu_out_bytes) / 2;
	link->size_round = link->round;
	for (int i = 0; i < TRIES; i++)
		send_probe(link, frame, link->size);
}

/* One more of everything, the small one last. */
static void send_round(struct link *link, unsigned char *frame)
{
	const struct sockaddr_in everybody = {.sin_family = AF_INET, .sin_addr.s_addr = INADDR_BROADCAST};
	struct net_path *path = link->path;

	link->round++;
	if (path->leg && !path->small_passed) {
		send_probe_to(link, &everybody, frame, 0);
		/* On a network that legs share, its own answer comes long before this. */
		if (link->other_leg && now_ns() - link->other_ns > CROSSED_MS * 1000000LL)
			path->wrong_leg = link->other_leg;
	}
	send_probe(link, frame, path->mtu_bytes);
	bisect(link, frame);
	send_probe(link, frame, 0);
}

/* When it is no use to wait longer on LINK: its cables are crossed, or the size that passes is known. */
static long long give_up_ns(const struct link *link, long long now, long long deadline_ns)
{
	long long soon = link->path->wrong_leg ? now + CROSSED_MS * 1000000LL
	                 : link->found         ? now + HOLE_FOUND_MS * 1000000LL
	                                       : deadline_ns;

	return soon < deadline_ns ? soon : deadline_ns;
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

int net_path_probe(struct net_path *paths, size_t count, bool both_ways, long long deadline_ns,
                   cell_progress *progress, void *ctx)
{
	long long told_ns = now_ns();
	unsigned char *frame = malloc(MAX_MTU_BYTES);
	struct link links[64];
	unsigned int farewells = both_ways ? FAREWELLS : 0;
	int r = frame ? 0 : -ENOMEM;

	if (count > sizeof(links) / sizeof(*links))
		count = sizeof(links) / sizeof(*links);
	for (size_t i = 0; i < count; i++)
		links[i] = (struct link){.fd = -1};
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
		if (!done && progress && now - told_ns > TELL_NS) {
			r = progress(ctx, "net", "waiting for the peer's answers");
			if (r)
				break;
			told_ns = now_ns();
		}
		for (size_t i = 0; i < count; i++) {
			send_round(&links[i], frame);
			deadline_ns = give_up_ns(&links[i], now, deadline_ns);
		}
		receive(links, paths, count, both_ways, !done, now + (done ? 2 : ROUND_MS) * 1000000LL,
		        frame);
	}
	for (size_t i = 0; i < count; i++)
		if (links[i].fd >= 0)
			close(links[i].fd);
	free(frame);
	return r;
}

int net_path_meet(const struct net_path *paths, size_t count, long long deadline_ns, cell_progress *progress,
                  void *ctx)
{
	struct net_path *again = calloc(count ? count : 1, sizeof(*again));
	int r;

	if (!again)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		again[i] = (struct net_path){.mtu_bytes = paths[i].mtu_bytes,
		                             .leg = paths[i].leg,
		                             .phase = paths[i].phase + 1};
		memcpy(again[i].device, paths[i].device, sizeof(again[i].device));
		memcpy(again[i].address, paths[i].address, sizeof(again[i].address));
		memcpy(again[i].peer, paths[i].peer, sizeof(again[i].peer));
	}
	r = net_path_probe(again, count, true, deadline_ns, progress, ctx);
	free(again);
	return r;
}
