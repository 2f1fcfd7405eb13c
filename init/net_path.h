/* SPDX-License-Identifier: GPL-2.0-or-later
 * Whether full-size frames pass between this node and its peer: pings that may not be fragmented. */
#ifndef ASSAY_NET_PATH_H
#define ASSAY_NET_PATH_H

#include "cell.h"

#include "failure.h"

#include <jansson.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>

/* How long small pings took, one at a time. */
struct net_rtt {
	unsigned int sent, answered;
	long long min_ns, median_ns, p99_ns, max_ns;
};

/* One device to be proven, and what came of it. */
struct net_path {
	char device[IFNAMSIZ];
	char address[48], peer[48]; /* ours on the device, the peer's */
	unsigned int mtu_bytes;
	unsigned int leg; /* 1 …; 0: the whole */

	bool small_passed, full_passed; /* our echo requests were answered */
	bool peer_done;                 /* the peer says that its full-size ones were */
	unsigned int wrong_leg;         /* the peer's probes of this leg came in here; 0: none did */
	int send_error;                 /* errno of the last full-size one that could not be sent */
	long long rtt_ns;               /* of a full-size one; -1: none */
	unsigned int mtu_out_bytes;     /* the largest packet that came to the peer, as far as it said so */
	unsigned int mtu_in_bytes;      /* the largest that came from it */
	struct net_rtt rtt;
	json_t *tcp;        /* what TCP carries out of here: result.json's measurement of a stream, or NULL */
	json_t *counters;   /* of drops, errors, pause frames of the device: by how much each rose; or NULL */
	unsigned int phase; /* what the peer says of an earlier one does not count */
};

/* Pings on all PATHS at once, again and again, until on each a full-size ping was answered and, where
 * BOTH_WAYS, the peer has said the same of its own (it must run this at the same time); or until DEADLINE_NS,
 * or sooner where it is no use to wait: legs are crossed, or only smaller packets pass, and how large ones do
 * is known, in each direction. PROGRESS (or NULL) is told every other second.
 * 0; -ETIMEDOUT; -ECANCELED: PROGRESS says so; or -errno: no socket. */
int net_path_probe(struct net_path *paths, size_t count, bool both_ways, long long deadline_ns,
                   cell_progress *progress, void *ctx);

/* Waits until the peer has come to this as well, after net_path_probe() of PATHS BOTH_WAYS: what either does
 * between the two, the other waits for. As net_path_probe(); PATHS stay as they are. */
int net_path_meet(const struct net_path *paths, size_t count, long long deadline_ns, cell_progress *progress,
                  void *ctx);

/* Sends COUNT small pings on each of PATHS, one after the other, and fills their rtt. 0 or -errno: no socket.
 */
int net_path_rtt(struct net_path *paths, size_t path_count, unsigned int count);

/* Sends by TCP to the peer on each of PATHS, one after the other, while the peer does the same: what both
 * directions carry at once. The peer's end must have begun before net_path_probe() told this end that it was
 * there (PORT: its PEER_SINK). 0 or -errno with *WHY filled. */
int net_path_tcp(struct net_path *paths, size_t path_count, unsigned int port, const char *node,
                 const char *peer, struct failure *why);

/* Around the proof of PATHS: what their devices count, then by how much that rose. */
void net_path_counters_begin(struct net_path *paths, size_t path_count, const char *sys);
void net_path_counters_end(struct net_path *paths, size_t path_count, const char *sys);

/* Drops what PATHS own. */
void net_path_clear(struct net_path *paths, size_t path_count);

/* Makes DEVICE, and every other one of this node, answer ARP for its own addresses alone: legs may share one
 * network, also with the management NIC, which would else claim the legs' addresses for its own MAC. To be
 * called before DEVICE has an address. */
void net_path_own_arp(const char *device);

/* Asks by ARP on each of PATHS whether somebody else has ADDRESS (NULL: that of the path), as RFC 5227 does.
 * 0, or -EADDRINUSE with *WHY naming it and whose MAC answered, or -errno: no socket. *SHARED (may be NULL):
 * whether what one of these devices sends comes in on another. */
int net_path_duplicates(const struct net_path *paths, size_t count, const char *address, bool *shared,
                        struct failure *why);

/* Fills *WHY with what is wrong with PATHS after -ETIMEDOUT, PEER being the other node's name. */
int net_path_failure(const struct net_path *paths, size_t count, const char *node, const char *peer,
                     struct failure *why);

/* Appends PATHS to evidence's ARRAY. 0 or -ENOMEM. */
int net_path_json(const struct net_path *paths, size_t count, json_t *array);

/* The address of node INDEX on leg LEG (1 …) while legs are proven: 169.254.LEG.(INDEX + 1). */
void net_path_leg_address(unsigned int leg, unsigned int index, char *buf, size_t size);

#endif
