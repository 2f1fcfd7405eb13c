/* SPDX-License-Identifier: GPL-2.0-or-later
 * The other end of workloads that go over the storage network: what the peer runs, and how the first node
 * reaches it. */
#ifndef ASSAY_WORKLOAD_PEER_H
#define ASSAY_WORKLOAD_PEER_H

#include "failure.h"

#include <stdint.h>
#include <sys/types.h>

enum peer_service {
	PEER_SINK = 1, /* drops what it gets, and at the end says how much that was (uint64_t, big endian) */
	PEER_ECHO = 2, /* sends each message of the size agreed upon back */
	PEER_ROLE = 3, /* becomes primary and writes (workload_role.h) */
};

/* Serves connections to ADDRESS:PORT, each in a process of its own, in a child of the caller, until
 * peer_service_stop(). *PID is that child. It listens already when this returns. 0 or -errno with *WHY
 * filled. */
int peer_service_start(const char *address, unsigned int port, pid_t *pid, struct failure *why);

/* Ends what peer_service_start() began (nothing where *PID is 0), and sets *PID to 0. */
void peer_service_stop(pid_t *pid);

/* A connection to the SERVICE at ADDRESS:PORT, with MESSAGE_BYTES agreed upon, TCP_NODELAY set. The
 * descriptor, or -errno. */
int peer_connect(const char *address, unsigned int port, enum peer_service service, uint32_t message_bytes);

/* All of SIZE bytes. 0 or -errno (-ECONNRESET: the other end closed before). */
int peer_send_all(int fd, const void *data, size_t size);
int peer_receive_all(int fd, void *data, size_t size);

#endif
