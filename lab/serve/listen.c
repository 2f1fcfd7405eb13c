/* SPDX-License-Identifier: GPL-2.0-or-later
 * The sockets that nodes and operators come to. */
#include "server.h"

#include "../operator/operator.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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

/* Made where nobody but us may use it, then given to GROUP. */
static int make_operator_socket(int folder, gid_t group)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), r = 0;

	if (fd < 0)
		return -errno;
	/* The address of a Unix socket has 107 bytes at most; a folder may be deeper. */
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", folder, OPERATOR_SOCKET);
	if (unlinkat(folder, OPERATOR_SOCKET, 0) && errno != ENOENT)
		r = -errno;
	mode_t mask = umask(0177);
	if (!r && bind(fd, (struct sockaddr *)&address, sizeof(address)))
		r = -errno;
	umask(mask);
	if (!r && group != (gid_t)-1 &&
	    (fchownat(folder, OPERATOR_SOCKET, (uid_t)-1, group, 0) ||
	     fchmodat(folder, OPERATOR_SOCKET, 0660, 0)))
		r = -errno;
	if (!r && listen(fd, 64))
		r = -errno;
	if (!r)
		return fd;
	close(fd);
	return r;
}

int listen_operator(const struct server *server)
{
	int folder = open(server->run_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = folder < 0 ? -errno : make_operator_socket(folder, server->operators);
	if (folder >= 0)
		close(folder);
	if (r < 0)
		fprintf(stderr, "assay serve: %s/%s: %s\n", server->run_dir, OPERATOR_SOCKET, strerror(-r));
	return r;
}
