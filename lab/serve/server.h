/* SPDX-License-Identifier: GPL-2.0-or-later
 * The parts of `assay serve` and what they share. */
#ifndef ASSAY_SERVER_H
#define ASSAY_SERVER_H

#include "conduct.h"

#include <jansson.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct http;
struct dnsmasq;

struct server {
	json_t *lab;
	struct store *store;
	struct conductor *conductor;
	pthread_mutex_t lock; /* of store and conductor */
	char *run_dir;        /* beside the database: lock, dnsmasq's files */
	char *image_dir;
	const char *interface; /* server.interface */
	bool loopback;         /* it is: a lab of made-up nodes, which have no MACs */
	char address[16];      /* server.address without its prefix */
	char *database;
	bool metrics; /* GET /metrics is answered */
	unsigned int prefix;
	uint16_t port;
	char url[64];    /* http://ADDRESS:PORT */
	gid_t operators; /* whose members may give orders and read the store; -1: nobody but this user */
	int operator_socket;
	struct orders *orders;
	struct http *http;
	struct limit *limit;
	bool stopping; /* nothing is held any more */
};

/* Now, on both clocks. */
struct moment moment_now(void);

/* --- peer.c: TCP connections, for those that are too slow --- */
enum peer_stage { PEER_HEAD, PEER_BODY, PEER_REPLY, PEER_QUIET };
struct peers;
struct peer;

struct peers *peers_new(void);
void peers_free(struct peers *peers);
struct peer *peer_add(struct peers *peers, int fd);
void peer_remove(struct peers *peers, struct peer *peer);
void peer_stage(struct peers *peers, struct peer *peer, enum peer_stage stage);
/* Shuts down those that take too long to say what they want. */
void peers_tick(struct peers *peers, struct moment now);

/* --- limit.c: tries of those who are no node that is up --- */
struct limit;

struct limit *limit_new(void);
void limit_free(struct limit *limit);
/* Whether ADDRESS (network byte order; 0: all that have none) may try once more. */
bool limit_take(struct limit *limit, uint32_t address, struct moment now);

/* --- neighbour.c --- */
/* Whether server->interface is there; says on stderr what to do. 0 or -errno. */
int neighbour_open(struct server *server);
/* 0: the machine at ADDRESS has MAC (colons); -EPERM: it has another one; -ENXIO: it is not in the network of
 * server->interface, or not known there now. */
int neighbour_check(const struct server *server, struct in_addr address, const char *mac);

/* --- orders.c: the operator's commands --- */
struct orders;

/* Serves server->operator_socket. 0 or -errno, said on stderr. */
int orders_start(struct server *server);
void orders_stop(struct server *server);

/* How many bytes the disk that has the store has left. */
int64_t server_room(const struct server *server);

/* --- listen.c --- */
/* Listens on server->address and port (0: any; then it is filled in). The socket, or -errno, said on stderr
 * with what to do. */
int listen_open(struct server *server);
/* The operator's socket in server->run_dir. The socket, or -errno, said on stderr. */
int listen_operator(const struct server *server);
/* How many connections may be open at once: fewer than files may be, for at that limit accept() fails, and
 * the server would spin. */
unsigned int listen_connections(void);

/* --- http.c: requests, bodies, held requests --- */
struct request;

/* Starts listening; server->port 0 takes any, and is then filled in. 0 or -errno; says what to do on stderr.
 */
int http_start(struct server *server);
void http_tick(struct server *server, struct moment now);
void http_stop(struct server *server);

/* --- api.c: what each address does --- */
enum { ROUTE_TOKEN = 1, ROUTE_NODE = 2 }; /* any token; the token of a node's present boot */

struct route {
	const char *method, *path; /* a path that ends in / is a prefix */
	size_t limit_bytes;        /* of the body */
	unsigned int flags;
	void (*handle)(struct server *server, struct request *request);
};
/* The route, or NULL with *STATUS 404 or 405. */
const struct route *api_route(const char *method, const char *path, unsigned int *status);
/* Whether the request may be handled; else it has its reply. */
bool api_authorise(struct server *server, struct request *request);

struct request {
	struct server *server;
	const struct route *route;
	const char *method;
	char path[512];
	struct in_addr address; /* of the client */
	char token[64];
	struct node *node;
	char *body;
	size_t length, size;
	bool settled, too_long, finished, held; /* settled: the reply was clear from the head */
	bool quiet; /* after it the client may be silent as long as a measurement takes */
	struct hold hold;
	/* the reply: JSON, or text, or a file */
	unsigned int status;
	json_t *json;
	char *text;
	const char *type; /* of the text; NULL: plain */
	int file;
	void *connection; /* http.c's */
};

/* Argument ?NAME= of the request, or NULL. */
const char *request_argument(const struct request *request, const char *name);
void request_reply(struct request *request, unsigned int status, json_t *json);
/* An error with a message, formatted. */
__attribute__((format(printf, 3, 4))) void request_error(struct request *request, unsigned int status,
                                                         const char *format, ...);
/* To be called with the lock held: the reply comes when request->hold has it. */
void request_suspend(struct request *request);

/* --- ipxe.c --- */
void ipxe_boot(struct server *server, struct request *request);

/* Whether the image folder has a kernel and an initramfs. */
bool image_complete(const struct server *s);
/* Whether the image folder has that file of a layer: ".cpio.zst", ".vmlinuz". */
bool image_has_layer(const struct server *s, const char *layer, const char *ending);

/* --- image.c --- */
void image_get(struct server *server, struct request *request);
/* The name of the initramfs in the image folder, or NULL. */
const char *image_initramfs(const struct server *server);
/* The image's id as its manifest says, "" where there is none. */
void image_id(const struct server *server, char *id, size_t size);

/* --- dnsmasq_config.c --- */
/* Writes PATH. 0 or -errno, said on stderr. */
int dnsmasq_config(const struct server *server, const char *path, bool proxy);

/* --- dnsmasq.c --- */
/* Starts dnsmasq as server.dhcp asks for it; ends one that an earlier server left behind. 0 with *OUT NULL
 * for `none`. -errno, said on stderr with what to do. */
int dnsmasq_start(struct server *server, struct dnsmasq **out);
/* Restarts it where it has died; reads its log. -errno once it cannot be kept alive. */
int dnsmasq_tick(struct server *server, struct dnsmasq *d, struct moment now);
void dnsmasq_stop(struct dnsmasq *d);

#endif
