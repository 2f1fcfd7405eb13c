/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workload_peer.h"

#include "workload_role.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define HELLO_MAGIC 0x41535741u /* "ASWA" */

enum { BACKLOG = 256, SINK_BYTES = 1 << 20, MESSAGE_MAX_BYTES = 1 << 20, CONNECT_S = 10 };

struct hello {
	uint32_t magic, service, message_bytes;
};

int peer_send_all(int fd, const void *data, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = send(fd, (const char *)data + done, size - done, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return 0;
}

int peer_receive_all(int fd, void *data, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = recv(fd, (char *)data + done, size - done, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ECONNRESET;
		done += (size_t)n;
	}
	return 0;
}

/* MSG_TRUNC: TCP drops the bytes without copying them anywhere. */
static void serve_sink(int fd)
{
	uint64_t total = 0;
	ssize_t n;

	for (;;) {
		n = recv(fd, NULL, SINK_BYTES, MSG_TRUNC);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		total += (uint64_t)n;
	}
	total = htobe64(total);
	if (!n)
		peer_send_all(fd, &total, sizeof(total));
}

static void serve_echo(int fd, uint32_t message_bytes)
{
	char *message = malloc(message_bytes);

	while (message && !peer_receive_all(fd, message, message_bytes) &&
	       !peer_send_all(fd, message, message_bytes))
		;
	free(message);
}

static void serve(int fd)
{
	struct hello hello;
	int one = 1;

	if (peer_receive_all(fd, &hello, sizeof(hello)) || ntohl(hello.magic) != HELLO_MAGIC ||
	    ntohl(hello.message_bytes) > MESSAGE_MAX_BYTES)
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (ntohl(hello.service) == PEER_SINK)
		serve_sink(fd);
	else if (ntohl(hello.service) == PEER_ECHO && hello.message_bytes)
		serve_echo(fd, ntohl(hello.message_bytes));
	else if (ntohl(hello.service) == PEER_ROLE) {
		/* It waits for the commands that it runs. */
		signal(SIGCHLD, SIG_DFL);
		role_serve(fd);
	}
}

/* Dies with its parent, of whom PARENT is the id: it may be gone already. */
static void die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

static void accept_all(int listener)
{
	pid_t self = getpid();

	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0 && errno != EINTR && errno != ECONNABORTED)
			_exit(1);
		if (fd >= 0 && !fork()) {
			die_with(self);
			close(listener);
			serve(fd);
			_exit(0);
		}
		if (fd >= 0)
			close(fd);
	}
}

int peer_service_start(const char *address, unsigned int port, pid_t *pid, struct failure *why)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, r = 0;
	pid_t self = getpid();

	*pid = 0;
	if (fd < 0 || inet_pton(AF_INET, address, &at.sin_addr) != 1 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, BACKLOG))
		r = errno ? -errno : -EINVAL;
	if (!r) {
		*pid = fork();
		if (!*pid) {
			die_with(self);
			accept_all(fd);
		}
		if (*pid < 0) {
			r = -errno;
			*pid = 0;
		}
	}
	if (fd >= 0)
		close(fd);
	if (r)
		return fail(why, r, FAILURE_SAMPLE, "prove", address, "See the node's kernel log.",
		            "The peer's end of the workload cannot listen on %s:%u", address, port);
	return 0;
}

void peer_service_stop(pid_t *pid)
{
	if (*pid > 0) {
		kill(*pid, SIGKILL);
		waitpid(*pid, NULL, 0);
	}
	*pid = 0;
}

int peer_connect(const char *address, unsigned int port, enum peer_service service, uint32_t message_bytes)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	struct hello hello = {htonl(HELLO_MAGIC), htonl((uint32_t)service), htonl(message_bytes)};
	struct timeval timeout = {.tv_sec = CONNECT_S};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, r = 0;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		r = -EINVAL;
	else if (connect(fd, (struct sockaddr *)&to, sizeof(to)) ||
	         setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		r = -errno;
	if (!r)
		r = peer_send_all(fd, &hello, sizeof(hello));
	if (!r)
		return fd;
	close(fd);
	return r;
}
