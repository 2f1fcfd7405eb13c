/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool network_ip(const char *text, uint32_t *address)
{
	struct in_addr in;

	if (inet_pton(AF_INET, text, &in) != 1)
		return false;
	*address = ntohl(in.s_addr);
	return true;
}

bool network_parse(const char *text, struct network *out)
{
	const char *slash = strchr(text, '/');
	char ip[16];

	if (!slash || (size_t)(slash - text) >= sizeof(ip))
		return false;
	memcpy(ip, text, (size_t)(slash - text));
	ip[slash - text] = '\0';
	out->prefix = (unsigned int)strtoul(slash + 1, NULL, 10);
	if (out->prefix < 8 || out->prefix > 30 || !network_ip(ip, &out->address))
		return false;
	out->mask = UINT32_MAX << (32 - out->prefix);
	return true;
}

uint32_t network_hosts(const struct network *n)
{
	return ~n->mask - 1;
}

bool network_has(const struct network *n, uint32_t address)
{
	return (address & n->mask) == (n->address & n->mask) && address & ~n->mask && ~address & ~n->mask;
}

bool network_overlap(const struct network *a, const struct network *b)
{
	uint32_t mask = a->mask & b->mask;

	return (a->address & mask) == (b->address & mask);
}

const char *network_ip_text(uint32_t address, char out[16])
{
	snprintf(out, 16, "%u.%u.%u.%u", address >> 24, address >> 16 & 255, address >> 8 & 255,
	         address & 255);
	return out;
}
