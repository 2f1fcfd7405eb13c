/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include "regs.h"
#include "rss.h"

static enum rss_type with_ports(uint32_t mrqc, const struct headers *h)
{
	if (h->fragment || h->l4_bytes < 8)
		return RSS_NONE;
	if (h->protocol == PROTOCOL_TCP) {
		if (h->ipv4 && (mrqc & MRQC_TCP4))
			return RSS_TCP4;
		if (h->ipv6 && (mrqc & MRQC_TCP6))
			return RSS_TCP6;
	} else if (h->protocol == PROTOCOL_UDP) {
		if (h->ipv4 && (mrqc & MRQC_UDP4))
			return RSS_UDP4;
		if (h->ipv6 && (mrqc & MRQC_UDP6))
			return RSS_UDP6;
	}
	return RSS_NONE;
}

int rss_input(uint32_t mrqc, const uint8_t *frame, const struct headers *h, uint8_t input[RSS_INPUT_BYTES],
              enum rss_type *type)
{
	int bytes = h->ipv4 ? 8 : 32;

	*type = RSS_NONE;
	if (!(mrqc & MRQC_RSSEN) || !(h->ipv4 || h->ipv6))
		return 0;
	memcpy(input, frame + h->l3 + (h->ipv4 ? 12 : 8), (size_t)bytes);
	*type = with_ports(mrqc, h);
	if (*type != RSS_NONE) {
		memcpy(input + bytes, frame + h->l4, 4);
		return bytes + 4;
	}
	if (!(mrqc & (h->ipv4 ? MRQC_IP4 : MRQC_IP6)))
		return 0;
	*type = h->ipv4 ? RSS_IP4 : RSS_IP6;
	return bytes;
}
