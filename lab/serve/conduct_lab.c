/* SPDX-License-Identifier: GPL-2.0-or-later
 * The conductor's groups and nodes, made from the lab file. */
#include "conduct_internal.h"
#include "log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DRBD_PORT 7788

/* "10.0.0.0/24" and index 1 give "10.0.0.2/24". */
static int storage_address(const char *network, unsigned int index, char *out, size_t size)
{
	char address[INET_ADDRSTRLEN + 3];
	struct in_addr ip;
	unsigned int bits;

	copy_text(address, sizeof(address), network);
	char *slash = strchr(address, '/');
	if (!slash)
		return -EINVAL;
	*slash = '\0';
	bits = (unsigned int)strtoul(slash + 1, NULL, 10);
	if (bits < 1 || bits > 30 || inet_pton(AF_INET, address, &ip) != 1)
		return -EINVAL;
	uint32_t mask = ~(uint32_t)0 << (32 - bits);
	if (index + 2 > ~mask)
		return -ERANGE;
	ip.s_addr = htonl((ntohl(ip.s_addr) & mask) + index + 1);
	inet_ntop(AF_INET, &ip, address, INET_ADDRSTRLEN);
	snprintf(out, size, "%s/%u", address, bits);
	return 0;
}

static int node_init(struct node *n, struct group *g, const char *name, unsigned int index,
                     const json_t *node, const char *network)
{
	char address[INET_ADDRSTRLEN + 16];
	int r = storage_address(network, index, address, sizeof(address));

	if (r)
		return r;
	copy_text(n->name, sizeof(n->name), name);
	copy_text(n->mac, sizeof(n->mac), text(node, "mac"));
	copy_text(n->uuid, sizeof(n->uuid), text(node, "uuid"));
	n->group = g;
	n->index = index;
	n->binding = json_pack("{ss si sO ss sO}", "name", name, "index", (int)index, "storage_nics",
	                       json_object_get(node, "storage_nics"), "storage_address", address, "disk",
	                       json_object_get(node, "disk"));
	return n->binding ? 0 : -EINVAL;
}

static int group_init(struct conductor *c, struct group *g, const char *name, const json_t *group)
{
	const json_t *names = json_object_get(group, "nodes");
	const json_t *port = json_object_get(group, "drbd_port");

	g->c = c;
	copy_text(g->name, sizeof(g->name), name);
	g->drbd_port = port ? json_integer_value(port) : DRBD_PORT;
	g->nodes = calloc(json_array_size(names) + 1, sizeof(*g->nodes));
	g->binding = json_pack("{s:i, s:[]}", "drbd_port", (int)g->drbd_port, "nodes");
	if (!g->nodes || !g->binding)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(names); i++) {
		const char *node = json_string_value(json_array_get(names, i));
		const json_t *entry = json_object_get(json_object_get(c->lab, "nodes"), node);
		struct node *n = &c->nodes[c->node_count];

		if (!entry)
			return -EINVAL;
		for (size_t k = 0; k < c->node_count; k++)
			if (!strcmp(c->nodes[k].name, node))
				return -EEXIST;
		int r = node_init(n, g, node, (unsigned int)i, entry, text(group, "storage_network"));
		if (r)
			return r;
		c->node_count++;
		g->nodes[g->node_count++] = n;
		json_array_append(json_object_get(g->binding, "nodes"), n->binding);
	}
	return 0;
}

static int lab_init(struct conductor *c)
{
	json_t *groups = json_object_get(c->lab, "groups"), *group;
	size_t total = 0;
	const char *name;
	int r = 0;

	json_object_foreach (groups, name, group)
		total += json_array_size(json_object_get(group, "nodes"));
	c->groups = calloc(json_object_size(groups) + 1, sizeof(*c->groups));
	c->nodes = calloc(total + 1, sizeof(*c->nodes));
	if (!c->groups || !c->nodes)
		return -ENOMEM;
	json_object_foreach (groups, name, group) {
		r = group_init(c, &c->groups[c->group_count++], name, group);
		if (r) {
			log_event(NULL, "lab", "group %s: %s", name,
			          r == -EINVAL
			              ? "a node is not listed under nodes, or storage_network is no network"
			          : r == -EEXIST ? "a node is in two groups"
			          : r == -ERANGE ? "storage_network is too small for its nodes"
			                         : strerror(-r));
			return r;
		}
	}
	return 0;
}

int conductor_open(struct store *store, json_t *lab, struct moment now, struct conductor **out)
{
	struct conductor *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->store = store;
	c->free_bytes = INT64_MAX;
	c->lab = json_incref(lab);
	r = lab_init(c);
	if (!r)
		r = run_sweep(c, now);
	for (size_t i = 0; i < c->node_count && !r; i++)
		r = boot_load(c, &c->nodes[i]);
	for (size_t i = 0; i < c->group_count && !r; i++)
		advance(&c->groups[i], now);
	if (r) {
		conductor_close(c);
		return r;
	}
	*out = c;
	return 0;
}

const char *conductor_who(const struct conductor *c, const char *mac, const char *uuid)
{
	for (size_t i = 0; i < c->node_count && mac; i++)
		if (*c->nodes[i].mac && !strcasecmp(c->nodes[i].mac, mac))
			return c->nodes[i].name;
	for (size_t i = 0; i < c->node_count && uuid; i++)
		if (!*c->nodes[i].mac && *c->nodes[i].uuid && !strcasecmp(c->nodes[i].uuid, uuid))
			return c->nodes[i].name;
	return NULL;
}

struct node *conductor_auth(struct conductor *c, const char *token)
{
	for (size_t i = 0; i < c->node_count; i++)
		if (*token && !strcmp(c->nodes[i].token, token))
			return &c->nodes[i];
	return NULL;
}

const char *conductor_node_name(const struct node *node)
{
	return node->name;
}

const char *conductor_node_mac(const struct node *node)
{
	return node->boot_mac;
}
