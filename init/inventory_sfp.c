/* SPDX-License-Identifier: GPL-2.0-or-later
 * Transceivers: what is plugged into a NIC. */
#include "ethtool.h"
#include "ethtool_link.h"
#include "inventory.h"
#include "nic_module.h"

#include <dirent.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <net/if.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SFP_MAX 64

static int read_part(const char *nic, unsigned char *eeprom, size_t length, struct nic_module_part part)
{
	struct {
		struct ethtool_eeprom head;
		unsigned char data[64];
	} request = {.head = {.cmd = ETHTOOL_GMODULEEEPROM, .offset = part.offset, .len = part.length}};
	int r;

	if (part.length > sizeof(request.data) || (size_t)part.offset + part.length > length)
		return -ENODATA;
	r = ethtool(nic, &request);
	if (!r)
		memcpy(eeprom + part.offset, request.data, part.length);
	return r;
}

int inventory_sfp(const char *nic, json_t **module)
{
	struct ethtool_modinfo info = {.cmd = ETHTOOL_GMODULEINFO};
	unsigned char eeprom[NIC_MODULE_BYTES] = {0};
	struct nic_module_part diagnostics;
	struct ethtool_link link;
	size_t length;
	int r = ethtool_link(nic, &link);

	*module = NULL;
	if (r < 0)
		return r;
	/* Drivers ask an empty cage again and again, for a second, with the network's lock held. */
	if (link.port != PORT_FIBRE && link.port != PORT_DA)
		return -ENODEV;
	r = ethtool(nic, &info);
	if (r < 0)
		return r;
	length = info.eeprom_len < sizeof(eeprom) ? info.eeprom_len : sizeof(eeprom);
	for (const struct nic_module_part *part = nic_module_parts(info.type); part->length && !r; part++)
		r = read_part(nic, eeprom, length, *part);
	if (r < 0)
		return r;
	diagnostics = nic_module_diagnostics(eeprom, length, info.type);
	/* What is plugged in is known also where this fails. */
	if (diagnostics.length && read_part(nic, eeprom, length, diagnostics))
		length = diagnostics.offset;
	*module = nic_module_json(eeprom, length, info.type);
	return *module ? 0 : -ENOMEM;
}

/* The transceivers, asked beside the loading of other drivers. */
static struct {
	pthread_t thread;
	bool running;
	unsigned int count;
	struct {
		char nic[IFNAMSIZ];
		json_t *module;
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
		    !inventory_sfp(names[i]->d_name, &sfps.found[sfps.count].module)) {
			strncpy(sfps.found[sfps.count].nic, names[i]->d_name, IFNAMSIZ - 1);
			sfps.count++;
		}
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

json_t *inventory_sfp_of(const char *nic)
{
	if (sfps.running)
		pthread_join(sfps.thread, NULL);
	sfps.running = false;
	for (unsigned int i = 0; i < sfps.count; i++)
		if (!strcmp(sfps.found[i].nic, nic))
			return sfps.found[i].module;
	return NULL;
}
