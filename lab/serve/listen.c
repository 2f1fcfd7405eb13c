/* SPDX-License-Identifier: GPL-2.0-or-later
 * The listening socket. */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS 4096
#define OTHER_FILES 64 /* that the server holds open beside connections */

static void raise_file_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void explain(const struct server *server, int error)
{
	const char *what = error == EADDRINUSE ? "another program listens there: another assay serve? "
	                                         "(`ss -ltnp` names it), or give another server.http_port"
	                   : error == EADDRNOTAVAIL
	                       ? "no interface of this machine has that address: give server.interface the "
	                         "address that server.address says, or correct the lab file"
	                   : error == EACCES ? "ports below 1024 need root"
	                                     : "";

	fprintf(stderr, "assay serve: cannot listen on %s:%u: %s%s%s\n", server->address, server->port,
	        strerror(error), *what ? "; " : "", what);
}

/* libmicrohttpd says only that it failed, so the socket is made here. */
static int try_listen(const struct server *server, uint16_t *port)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = htons(server->port)};
	socklen_t size = sizeof(sin);

	if (fd < 0)
		return -errno;
	inet_pton(AF_INET, server->address, &sin.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)) || listen(fd, 1024) ||
	    getsockname(fd, (struct sockaddr *)&sin, &size)) {
		int error = errno;

		close(fd);
		return -error;
	}
	*port = ntohs(sin.sin_port);
	return fd;
}

int listen_open(struct server *server)
{
	int fd = try_listen(server, &server->port);

	raise_file_limit();
	if (fd < 0)
		explain(server, -fd);
	return fd;
}

unsigned int listen_connections(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= CONNECTIONS + OTHER_FILES)
		return CONNECTIONS;
	return limit.rlim_cur > 2 * OTHER_FILES ? (unsigned int)limit.rlim_cur - OTHER_FILES : OTHER_FILES;
}
