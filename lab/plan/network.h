/* SPDX-License-Identifier: GPL-2.0-or-later
 * IPv4 networks of a lab file. */
#ifndef ASSAY_NETWORK_H
#define ASSAY_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct network {
	uint32_t address, mask; /* host byte order */
	unsigned int prefix;
};

/* "10.77.0.1" to host byte order. */
bool network_ip(const char *text, uint32_t *address);
/* "10.77.0.1/24"; prefixes from 8 to 30. */
bool network_parse(const char *text, struct network *out);
/* How many hosts fit. */
uint32_t network_hosts(const struct network *n);
/* Whether ADDRESS is one of a host in N: neither the network's own nor broadcast. */
bool network_has(const struct network *n, uint32_t address);
bool network_overlap(const struct network *a, const struct network *b);
/* Gives OUT. */
const char *network_ip_text(uint32_t address, char out[16]);

#endif
