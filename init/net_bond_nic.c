/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "net_bond_nic.h"

#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct nic {
	char name[IFNAMSIZ], mac[24], driver[32], pci[PATH_MAX];
};

/* The MAC that the NIC was made with: one in a bond bears the bond's. */
static void read_mac(const char *sys, const char *name, char *mac, size_t size)
{
	if (read_file_at(mac, size, "%s/class/net/%s/bonding_slave/perm_hwaddr", sys, name) <= 0)
		read_file_at(mac, size, "%s/class/net/%s/address", sys, name);
}

/* The device's folder, without a virtio device at its end: its last part is the PCI address then. */
static void read_pci(const char *sys, const char *name, char *pci)
{
	char path[320], *last;

	snprintf(path, sizeof(path), "%s/class/net/%s/device", sys, name);
	if (!realpath(path, pci)) {
		pci[0] = '\0';
		return;
	}
	last = strrchr(pci, '/');
	if (last && !strncmp(last, "/virtio", 7)) {
		*last = '\0';
		last = strrchr(pci, '/');
	}
	if (last)
		memmove(pci, last + 1, strlen(last + 1) + 1);
}

static size_t list_nics(const char *sys, struct nic *list, size_t max)
{
	char path[320];
	struct dirent *entry;
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/class/net", sys);
	dir = opendir(path);
	while (dir && n < max && (entry = readdir(dir))) {
		struct nic *nic = &list[n];

		/* Only what has a device: no loopback, bond or bridge. */
		snprintf(nic->name, sizeof(nic->name), "%.15s", entry->d_name);
		read_pci(sys, nic->name, nic->pci);
		if (entry->d_name[0] == '.' || !nic->pci[0])
			continue;
		read_mac(sys, nic->name, nic->mac, sizeof(nic->mac));
		read_link_name(nic->driver, sizeof(nic->driver), "%s/class/net/%s/device/driver", sys,
		               nic->name);
		n++;
	}
	if (dir)
		closedir(dir);
	return n;
}

static bool is_it(const char *wanted, const struct nic *nic)
{
	if (!strcasecmp(wanted, nic->mac) || !strcasecmp(wanted, nic->pci))
		return true;
	return !strncmp(nic->pci, "0000:", 5) && !strcasecmp(wanted, nic->pci + 5);
}

static void describe(const struct nic *list, size_t n, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < n && used < size; i++)
		used +=
		    (size_t)snprintf(buf + used, size - used, "%s%s mac=%s pci=%.64s driver=%s",
		                     i ? "; " : "", list[i].name, list[i].mac, list[i].pci, list[i].driver);
	if (!n)
		snprintf(buf, size, "none");
}

static int find_one(const struct nic *list, size_t n, const char *wanted, const char *management,
                    struct net_nics *nics, struct failure *why)
{
	static const char remedy[] = "Correct storage_nics of the node in the lab file.";
	char there[1024];
	size_t i = 0;

	while (i < n && !is_it(wanted, &list[i]))
		i++;
	describe(list, n, there, sizeof(there));
	if (i == n)
		return fail(
		    why, -ENODEV, FAILURE_RUN, "net", wanted,
		    "Correct storage_nics of the node in the lab file; a NIC that is not listed may lack its "
		    "driver in the image.",
		    "The node has no NIC %s. NICs there are: %s", wanted, there);
	if (!strcmp(list[i].name, management))
		return fail(
		    why, -EINVAL, FAILURE_RUN, "net", wanted, remedy,
		    "NIC %s (%s) is the management NIC, which cannot be a storage NIC. NICs there are: %s",
		    wanted, list[i].name, there);
	for (size_t j = 0; j < nics->count; j++)
		if (!strcmp(nics->name[j], list[i].name))
			return fail(why, -EINVAL, FAILURE_RUN, "net", wanted, remedy,
			            "NIC %s (%s) is named twice. NICs there are: %s", wanted, list[i].name,
			            there);
	if (nics->count == NET_MAX_NICS)
		return fail(why, -E2BIG, FAILURE_RUN, "net", wanted, remedy, "More than %d storage NICs",
		            NET_MAX_NICS);
	memcpy(nics->name[nics->count++], list[i].name, IFNAMSIZ);
	return 0;
}

int net_find_nics(const char *sys, const json_t *wanted, const char *management, struct net_nics *nics,
                  struct failure *why)
{
	enum { MAX = 128 };
	struct nic *list = calloc(MAX, sizeof(*list));
	size_t n = list ? list_nics(sys, list, MAX) : 0, i;
	const json_t *one;
	int r = 0;

	nics->count = 0;
	if (!list)
		r = fail(why, -ENOMEM, FAILURE_SAMPLE, "net", "", "", "Out of memory");
	else if (!json_array_size(wanted))
		r = fail(
		    why, -EINVAL, FAILURE_RUN, "net", "storage_nics",
		    "Name the node's storage NICs in the lab file (storage_nics: [MAC or PCI address]).",
		    "The cell needs the storage network, and the lab file names no storage NIC of this node");
	json_array_foreach ((json_t *)wanted, i, one)
		if (!r)
			r = find_one(list, n, json_string_value(one) ? json_string_value(one) : "",
			             management, nics, why);
	free(list);
	return r;
}
