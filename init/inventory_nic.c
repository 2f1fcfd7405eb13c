/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inventory.h"

#include "ethtool.h"
#include "ethtool_link.h"
#include "failure.h"
#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/ethtool.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void set_driver(json_t *nic, const char *root, const char *name)
{
	struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
	char text[256];

	/* A test's tree has no interfaces to ask. */
	if (!*root && !ethtool(name, &info)) {
		json_object_set_new(nic, "driver", json_text(info.driver));
		if (*info.version)
			json_object_set_new(nic, "driver_version", json_text(info.version));
		if (*info.fw_version && strcmp(info.fw_version, "N/A"))
			json_object_set_new(nic, "firmware_version", json_text(info.fw_version));
	} else {
		read_link_name(text, sizeof(text), "%s/sys/class/net/%s/device/driver", root, name);
		json_object_set_new(nic, "driver", json_text(text));
	}
}

/* The PCI device that NIC is on, perhaps with a virtio device between. 0 or -errno. */
static int pci_address(const char *root, const char *nic, char *buf, size_t size)
{
	char path[PATH_MAX], real[PATH_MAX], *name;
	unsigned int domain, bus, slot, function;
	int end;

	snprintf(path, sizeof(path), "%s/sys/class/net/%s/device", root, nic);
	if (!realpath(path, real))
		return -errno;
	while ((name = strrchr(real, '/'))) {
		end = 0;
		if (sscanf(name, "/%x:%x:%x.%x%n", &domain, &bus, &slot, &function, &end) == 4 &&
		    !name[end]) {
			snprintf(buf, size, "%s", name + 1);
			return 0;
		}
		*name = '\0';
	}
	return -ENODEV;
}

/* Also as one line. */
static void set_transceiver(json_t *nic, json_t *module)
{
	const char *vendor = json_string_value(json_object_get(module, "vendor"));
	const char *part = json_string_value(json_object_get(module, "part"));
	const char *serial = json_string_value(json_object_get(module, "serial"));
	char text[128];

	if (!module)
		return;
	snprintf(text, sizeof(text), "%s %s serial %s", vendor ? vendor : "?", part ? part : "?",
	         serial ? serial : "?");
	json_object_set_new(nic, "sfp", json_text(text));
	json_object_set(nic, "transceiver", module);
}

static json_t *nic_entry(const char *root, const char *name, const char *management_nic)
{
	json_t *nic = json_object();
	char path[PATH_MAX], text[256];
	struct ethtool_link link;
	long long number;

	json_object_set_new(nic, "name", json_text(name));
	json_object_set_new(nic, "management", json_boolean(!strcmp(name, management_nic)));
	read_file_at(text, sizeof(text), "%s/sys/class/net/%s/address", root, name);
	json_object_set_new(nic, "mac", json_text(text));
	set_driver(nic, root, name);
	if (!pci_address(root, name, text, sizeof(text)))
		json_object_set_new(nic, "pci", json_text(text));
	/* These two cannot be read while the NIC is down. */
	snprintf(path, sizeof(path), "%s/sys/class/net/%s/carrier", root, name);
	if (!read_integer(path, &number))
		json_object_set_new(nic, "carrier", json_boolean(number == 1));
	snprintf(path, sizeof(path), "%s/sys/class/net/%s/speed", root, name);
	if (!read_integer(path, &number) && number >= -1)
		json_object_set_new(nic, "speed_mbps", json_integer(number));
	snprintf(path, sizeof(path), "%s/sys/class/net/%s/mtu", root, name);
	if (!read_integer(path, &number))
		json_object_set_new(nic, "mtu_bytes", json_integer(number));
	if (!*root && !ethtool_link(name, &link) && link.best_mbps)
		json_object_set_new(nic, "best_mbps", json_integer(link.best_mbps));
	set_transceiver(nic, inventory_sfp_of(name));
	return nic;
}

json_t *inventory_nics(const char *root, const char *management_nic)
{
	json_t *array = json_array();
	struct dirent **names;
	char path[PATH_MAX];
	int count;

	snprintf(path, sizeof(path), "%s/sys/class/net", root);
	count = scandir(path, &names, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/sys/class/net/%s/device", root, names[i]->d_name);
		if (*names[i]->d_name != '.' && !access(path, F_OK))
			json_array_append_new(array, nic_entry(root, names[i]->d_name, management_nic));
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	return array;
}
