/* SPDX-License-Identifier: GPL-2.0-or-later
 * libmicrohttpd's own timeout sees only silence, not a byte every now and then. */
#include "server.h"

#include <stdlib.h>
#include <sys/socket.h>

#define HEAD_TIMEOUT_NS (30 * INT64_C(1000000000))
#define BODY_TIMEOUT_NS (60 * INT64_C(1000000000))

struct peer {
	int fd;
	enum peer_stage stage;
	int64_t since_ns;
	struct peer *next, **at;
};

struct peers {
	pthread_mutex_t lock;
	struct peer *first;
};

struct peers *peers_new(void)
{
	struct peers *peers = calloc(1, sizeof(*peers));

	if (peers)
		pthread_mutex_init(&peers->lock, NULL);
	return peers;
}

void peers_free(struct peers *peers)
{
	if (!peers)
		return;
	pthread_mutex_destroy(&peers->lock);
	free(peers);
}

struct peer *peer_add(struct peers *peers, int fd)
{
	struct peer *peer = calloc(1, sizeof(*peer));

	if (!peer)
		return NULL;
	peer->fd = fd;
	peer->since_ns = moment_now().mono_ns;
	pthread_mutex_lock(&peers->lock);
	peer->next = peers->first;
	peer->at = &peers->first;
	if (peer->next)
		peer->next->at = &peer->next;
	peers->first = peer;
	pthread_mutex_unlock(&peers->lock);
	return peer;
}

void peer_remove(struct peers *peers, struct peer *peer)
{
	if (!peer)
		return;
	pthread_mutex_lock(&peers->lock);
	*peer->at = peer->next;
	if (peer->next)
		peer->next->at = peer->at;
	pthread_mutex_unlock(&peers->lock);
	free(peer);
}

void peer_stage(struct peers *peers, struct peer *peer, enum peer_stage stage)
{
	if (!peer)
		return;
	pthread_mutex_lock(&peers->lock);
	if (peer->stage != stage)
		peer->since_ns = moment_now().mono_ns;
	peer->stage = stage;
	pthread_mutex_unlock(&peers->lock);
}

void peers_tick(struct peers *peers, struct moment now)
{
	pthread_mutex_lock(&peers->lock);
	for (struct peer *peer = peers->first; peer; peer = peer->next) {
		int64_t limit = peer->stage == PEER_HEAD ? HEAD_TIMEOUT_NS : BODY_TIMEOUT_NS;

		if (peer->stage < PEER_REPLY && now.mono_ns - peer->since_ns > limit)
			shutdown(peer->fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&peers->lock);
}
