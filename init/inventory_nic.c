/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inventory.h"

#include "failure.h"
#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* One ethtool request on NIC; DATA begins with its command. 0 or -errno. */
static int ethtool(const char *nic, void *data)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), r = 0;
	struct ifreq request = {0};

	if (fd < 0)
		return -errno;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%.15s", nic);
	request.ifr_data = data;
	if (ioctl(fd, SIOCETHTOOL, &request))
		r = -errno;
	close(fd);
	return r;
}

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

void inventory_sfp_text(const unsigned char *eeprom, size_t length, unsigned int type, char *buf, size_t size)
{
	/* SFF-8472 table 4-1, SFF-8636 table 6-14: vendor's name, part number, serial number, 16 bytes each.
	 */
	bool qsfp = type == ETH_MODULE_SFF_8636 || type == ETH_MODULE_SFF_8436;
	size_t vendor = qsfp ? 148 : 20, part = qsfp ? 168 : 40, serial = qsfp ? 196 : 68;
	char name[17], number[17], serial_number[17];

	*buf = '\0';
	if (length < serial + 16)
		return;
	copy_field(name, eeprom + vendor, 16);
	copy_field(number, eeprom + part, 16);
	copy_field(serial_number, eeprom + serial, 16);
	snprintf(buf, size, "%s %s serial %s", name, number, serial_number);
}

int inventory_sfp(const char *nic, char *buf, size_t size)
{
	struct ethtool_modinfo info = {.cmd = ETHTOOL_GMODULEINFO};
	struct {
		struct ethtool_eeprom head;
		unsigned char data[256];
	} eeprom = {.head.cmd = ETHTOOL_GMODULEEEPROM};
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
	eeprom.head.len = info.eeprom_len < sizeof(eeprom.data) ? info.eeprom_len : sizeof(eeprom.data);
	r = ethtool(nic, &eeprom);
	if (r < 0)
		return r;
	inventory_sfp_text(eeprom.data, eeprom.head.len, info.type, buf, size);
	return *buf ? 0 : -ENODEV;
}

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

static json_t *nic_entry(const char *root, const char *name, const char *management_nic)
{
	json_t *nic = json_object();
	char path[PATH_MAX], text[256];
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
	if (!*root && !inventory_sfp(name, text, sizeof(text)))
		json_object_set_new(nic, "sfp", json_text(text));
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
