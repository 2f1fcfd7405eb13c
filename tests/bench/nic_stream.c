/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traffic with as little work for the CPU as possible: one buffer sent over and over, and a receiver that
 * lets the kernel throw the bytes away. usage: nic_stream recv PORT CONNECTIONS                takes so many,
 * prints bytes and MB/s (10^6) of them all nic_stream send ADDRESS PORT SECONDS CONNECTIONS   feeds them
 *        nic_stream udp ADDRESS PORT COUNT BYTES         datagrams as fast as they go; gives up after 10 s;
 *                                                        prints how many went
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64 };

static char block[256 * 1024];

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int fail(const char *what)
{
	fprintf(stderr, "nic_stream: %s: %s\n", what, strerror(errno));
	return 1;
}

static int peer(const char *address, const char *port, int type)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
	struct timeval limit = {.tv_sec = 1};
	int fd = socket(AF_INET, type, 0);

	if (fd < 0 || inet_pton(AF_INET, address, &to.sin_addr) != 1 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0 ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		return -1;
	return fd;
}

static int listen_at(const char *port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	return bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, MOST) < 0 ? -1 : fd;
}

static int receive(const char *port, int count)
{
	struct pollfd from[MOST];
	int fd = listen_at(port), left = count;
	double begin, bytes = 0;

	if (fd < 0)
		return fail("listen");
	for (int i = 0; i < count; i++) {
		from[i] = (struct pollfd){.fd = accept(fd, NULL, NULL), .events = POLLIN};
		if (from[i].fd < 0)
			return fail("accept");
	}
	begin = seconds();
	while (left && poll(from, (nfds_t)count, -1) > 0)
		for (int i = 0; i < count; i++) {
			ssize_t n = from[i].revents ? recv(from[i].fd, block, sizeof(block), MSG_TRUNC) : 1;

			if (n < 0)
				return fail("recv");
			bytes += from[i].revents ? (double)n : 0;
			if (n)
				continue;
			from[i].fd = -1;
			left--;
		}
	printf("%.0f bytes %.1f MB/s\n", bytes, bytes / 1e6 / (seconds() - begin));
	return 0;
}

static int send_for(const char *address, const char *port, int limit_seconds, int count)
{
	double end = seconds() + limit_seconds;
	struct pollfd to[MOST];

	for (int i = 0; i < count; i++) {
		to[i] = (struct pollfd){.fd = peer(address, port, SOCK_STREAM), .events = POLLOUT};
		if (to[i].fd < 0)
			return fail(address);
	}
	while (seconds() < end && poll(to, (nfds_t)count, 1000) >= 0)
		for (int i = 0; i < count; i++)
			if (to[i].revents &&
			    send(to[i].fd, block, sizeof(block), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
			    errno != EAGAIN)
				return fail("send");
	for (int i = 0; i < count; i++)
		close(to[i].fd);
	return 0;
}

static int send_datagrams(const char *address, const char *port, int count, size_t bytes)
{
	double end = seconds() + 10;
	int fd = peer(address, port, SOCK_DGRAM), sent = 0;

	if (fd < 0 || bytes > sizeof(block))
		return fail(address);
	while (sent < count && seconds() < end)
		if (send(fd, block, bytes, 0) >= 0)
			sent++;
	printf("%d\n", sent);
	return 0;
}

/* How many connections; 0: that makes no sense */
static int number_of(const char *text)
{
	int count = atoi(text);

	return count >= 1 && count <= MOST ? count : 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "recv") && number_of(argv[3]))
		return receive(argv[2], number_of(argv[3]));
	if (argc == 6 && !strcmp(argv[1], "send") && number_of(argv[5]))
		return send_for(argv[2], argv[3], atoi(argv[4]), number_of(argv[5]));
	if (argc == 6 && !strcmp(argv[1], "udp"))
		return send_datagrams(argv[2], argv[3], atoi(argv[4]), (size_t)atoi(argv[5]));
	fprintf(
	    stderr,
	    "usage: nic_stream recv PORT CONNECTIONS | send ADDRESS PORT SECONDS CONNECTIONS | udp ADDRESS "
	    "PORT COUNT BYTES\n");
	return 2;
}
