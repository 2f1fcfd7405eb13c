/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ethtool_link.h"

#include "ethtool.h"

#include <linux/ethtool.h>

/* Bits FIRST to LAST of the link modes, which came in groups as speeds came up. */
static const struct {
	unsigned char first, last;
	long mbps;
} modes[] = {
    {0, 1, 10},       {2, 3, 100},      {4, 5, 1000},     {12, 12, 10000}, {15, 15, 2500},   {17, 17, 1000},
    {18, 20, 10000},  {21, 22, 20000},  {23, 26, 40000},  {27, 30, 56000}, {31, 33, 25000},  {34, 35, 50000},
    {36, 39, 100000}, {40, 40, 50000},  {41, 41, 1000},   {42, 46, 10000}, {47, 47, 2500},   {48, 48, 5000},
    {52, 56, 50000},  {57, 61, 100000}, {62, 66, 200000}, {67, 68, 100},   {69, 73, 400000}, {75, 79, 100000},
    {80, 84, 200000}, {85, 89, 400000}, {90, 91, 100},    {92, 92, 10},
};

long ethtool_best_mbps(const uint32_t *mask, size_t count)
{
	long best = 0;

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		for (size_t bit = modes[i].first; bit <= modes[i].last && bit < count * 32; bit++)
			if (mask[bit / 32] & 1u << bit % 32 && modes[i].mbps > best)
				best = modes[i].mbps;
	return best;
}

int ethtool_link(const char *nic, struct ethtool_link *link)
{
	struct {
		struct ethtool_link_settings head;
		__u32 masks[3 * 127]; /* supported, advertised, the partner's */
	} settings = {.head.cmd = ETHTOOL_GLINKSETTINGS};
	int r = ethtool(nic, &settings);

	*link = (struct ethtool_link){.port = PORT_OTHER};
	/* The first answer says, as a negative number, how long the masks are to be. */
	if (!r && settings.head.link_mode_masks_nwords < 0) {
		settings.head.link_mode_masks_nwords = -settings.head.link_mode_masks_nwords;
		settings.head.cmd = ETHTOOL_GLINKSETTINGS;
		r = ethtool(nic, &settings);
	}
	if (r)
		return r;
	link->port = settings.head.port;
	if (settings.head.link_mode_masks_nwords > 0)
		link->best_mbps =
		    ethtool_best_mbps(settings.masks, (size_t)settings.head.link_mode_masks_nwords);
	return 0;
}
