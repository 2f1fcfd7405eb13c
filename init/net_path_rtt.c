/* SPDX-License-Identifier: GPL-2.0-or-later
 * How long small packets take there and back: an ordinary echo socket, the kernel at the other end. */
#include "net_path.h"

#include "file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_MS = 200, MAX_PINGS = 1000, IDENTITY = 0x4154 };

struct ping {
	struct icmphdr icmp;
	unsigned char data[56]; /* as ping(8) */
};

static uint16_t sum_of(const void *data, size_t length)
{
	const uint16_t *p = data;
	uint32_t sum = 0;

	for (size_t i = 0; i < length / 2; i++)
		sum += p[i];
	sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t) ~(sum + (sum >> 16));
}

static int open_socket(const struct net_path *path, struct sockaddr_in *peer)
{
	int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_ICMP), r = 0;

	if (fd < 0)
		return -errno;
	*peer = (struct sockaddr_in){.sin_family = AF_INET};
	if (inet_pton(AF_INET, path->peer, &peer->sin_addr) != 1)
		r = -EINVAL;
	else if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, path->device, (socklen_t)strlen(path->device)))
		r = -errno;
	if (!r)
		return fd;
	close(fd);
	return r;
}

/* Waits for the answer to SEQUENCE. When it came, or -1. */
static long long wait_answer(int fd, uint16_t sequence)
{
	long long until_ns = now_ns() + ANSWER_MS * 1000000LL;
	unsigned char packet[256];

	for (;;) {
		struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
		long long left_ns = until_ns - now_ns(), came_ns;
		struct icmphdr icmp;
		ssize_t n;

		if (left_ns <= 0 || poll(&poll_fd, 1, (int)(left_ns / 1000000) + 1) <= 0)
			return -1;
		n = recv(fd, packet, sizeof(packet), 0);
		came_ns = now_ns();
		if (n < (ssize_t)(sizeof(struct iphdr) + sizeof(icmp)))
			continue;
		memcpy(&icmp, packet + (size_t)(packet[0] & 15) * 4, sizeof(icmp));
		if (icmp.type == ICMP_ECHOREPLY && icmp.un.echo.id == htons(IDENTITY) &&
		    icmp.un.echo.sequence == htons(sequence))
			return came_ns;
	}
}

static int by_length(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return (x > y) - (x < y);
}

static int ping_path(struct net_path *path, unsigned int count)
{
	struct ping ping = {.icmp = {.type = ICMP_ECHO, .un.echo.id = htons(IDENTITY)}};
	long long took_ns[MAX_PINGS];
	struct net_rtt *rtt = &path->rtt;
	struct sockaddr_in peer;
	int fd = open_socket(path, &peer);

	*rtt = (struct net_rtt){0};
	if (fd < 0)
		return fd;
	for (; rtt->sent < count && rtt->sent < MAX_PINGS; rtt->sent++) {
		long long sent_ns, came_ns;

		ping.icmp.un.echo.sequence = htons((uint16_t)rtt->sent);
		ping.icmp.checksum = 0;
		ping.icmp.checksum = sum_of(&ping, sizeof(ping));
		sent_ns = now_ns();
		if (sendto(fd, &ping, sizeof(ping), 0, (const struct sockaddr *)&peer, sizeof(peer)) < 0)
			continue;
		came_ns = wait_answer(fd, (uint16_t)rtt->sent);
		if (came_ns >= 0)
			took_ns[rtt->answered++] = came_ns - sent_ns;
	}
	close(fd);
	if (!rtt->answered)
		return 0;
	qsort(took_ns, rtt->answered, sizeof(*took_ns), by_length);
	rtt->min_ns = took_ns[0];
	rtt->median_ns = took_ns[rtt->answered / 2];
	rtt->p99_ns = took_ns[(rtt->answered * 99 - 1) / 100];
	rtt->max_ns = took_ns[rtt->answered - 1];
	return 0;
}

int net_path_rtt(struct net_path *paths, size_t path_count, unsigned int count)
{
	int r = 0;

	for (size_t i = 0; i < path_count && !r; i++)
		r = ping_path(&paths[i], count);
	return r;
}
