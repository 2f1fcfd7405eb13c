/* SPDX-License-Identifier: GPL-2.0-or-later
 * Transceivers: who made what is plugged into a NIC. */
#include "ethtool.h"
#include "inventory.h"

#include <dirent.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <net/if.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SFP_MAX     64
#define SFP_BYTES   256
#define FIELD_COUNT 3
#define FIELD_BYTES 16

/* ethtool's port (PORT_FIBRE …), or -errno. */
static int port_type(const char *nic)
{
	struct {
		struct ethtool_link_settings head;
		__u32 masks[3 * 127];
	} settings = {.head.cmd = ETHTOOL_GLINKSETTINGS};
	int r = ethtool(nic, &settings);

	if (r)
		return r;
	/* The first answer says, as a negative number, how long the masks are to be. */
	if (settings.head.link_mode_masks_nwords < 0) {
		settings.head.link_mode_masks_nwords = -settings.head.link_mode_masks_nwords;
		settings.head.cmd = ETHTOOL_GLINKSETTINGS;
		r = ethtool(nic, &settings);
	}
	return r ? r : settings.head.port;
}

/* LENGTH bytes at FROM, blanks at the end gone, what is no ASCII as "?". */
static void copy_field(char *to, const unsigned char *from, size_t length)
{
	while (length && (from[length - 1] == ' ' || !from[length - 1]))
		length--;
	for (size_t i = 0; i < length; i++)
		to[i] = from[i] >= ' ' && from[i] < 0x7f ? (char)from[i] : '?';
	to[length] = '\0';
}

/* Where the vendor's name, part number and serial number are, each FIELD_BYTES long: SFF-8636 table 6-14 for
 * QSFP, SFF-8472 table 4-1. */
struct sfp_layout {
	size_t field[FIELD_COUNT];
};

static const struct sfp_layout *sfp_layout(unsigned int type)
{
	static const struct sfp_layout sfp = {{20, 40, 68}}, qsfp = {{148, 168, 196}};

	return type == ETH_MODULE_SFF_8636 || type == ETH_MODULE_SFF_8436 ? &qsfp : &sfp;
}

void inventory_sfp_text(const unsigned char *eeprom, size_t length, unsigned int type, char *buf, size_t size)
{
	const struct sfp_layout *layout = sfp_layout(type);
	char text[FIELD_COUNT][FIELD_BYTES + 1];

	*buf = '\0';
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		if (layout->field[i] + FIELD_BYTES > length)
			return;
		copy_field(text[i], eeprom + layout->field[i], FIELD_BYTES);
	}
	snprintf(buf, size, "%s %s serial %s", text[0], text[1], text[2]);
}

int inventory_sfp(const char *nic, char *buf, size_t size)
{
	struct ethtool_modinfo info = {.cmd = ETHTOOL_GMODULEINFO};
	unsigned char eeprom[SFP_BYTES] = {0};
	struct {
		struct ethtool_eeprom head;
		unsigned char data[FIELD_BYTES];
	} part;
	const struct sfp_layout *layout;
	int r = port_type(nic);

	*buf = '\0';
	if (r < 0)
		return r;
	/* Drivers ask an empty cage again and again, for a second, with the network's lock held. */
	if (r != PORT_FIBRE && r != PORT_DA)
		return -ENODEV;
	r = ethtool(nic, &info);
	if (r < 0)
		return r;
	layout = sfp_layout(info.type);
	/* Only what is needed: some drivers shift every bit of it over two wires by hand. */
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		part.head = (struct ethtool_eeprom){.cmd = ETHTOOL_GMODULEEEPROM,
		                                    .offset = layout->field[i],
		                                    .len = FIELD_BYTES};
		if (layout->field[i] + FIELD_BYTES > info.eeprom_len)
			return -ENODATA;
		r = ethtool(nic, &part);
		if (r < 0)
			return r;
		memcpy(eeprom + layout->field[i], part.data, FIELD_BYTES);
	}
	inventory_sfp_text(eeprom, sizeof(eeprom), info.type, buf, size);
	return 0;
}

/* The transceivers, asked beside the loading of other drivers. */
static struct {
	pthread_t thread;
	bool running;
	unsigned int count;
	struct {
		char nic[IFNAMSIZ], text[128];
	} found[SFP_MAX];
} sfps;

static void *ask_sfps(void *root)
{
	struct dirent **names;
	int count;

	(void)root;
	count = scandir("/sys/class/net", &names, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		if (sfps.count < SFP_MAX &&
		    !inventory_sfp(names[i]->d_name, sfps.found[sfps.count].text, sizeof(sfps.found[0].text)))
			snprintf(sfps.found[sfps.count++].nic, IFNAMSIZ, "%.15s", names[i]->d_name);
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	return NULL;
}

void inventory_sfp_start(void)
{
	if (!sfps.running)
		sfps.running = !pthread_create(&sfps.thread, NULL, ask_sfps, NULL);
}

const char *inventory_sfp_of(const char *nic)
{
	if (sfps.running)
		pthread_join(sfps.thread, NULL);
	sfps.running = false;
	for (unsigned int i = 0; i < sfps.count; i++)
		if (!strcmp(sfps.found[i].nic, nic))
			return sfps.found[i].text;
	return NULL;
}
