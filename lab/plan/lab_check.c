/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a lab file must fulfil beyond its schema. */
#include "lab_internal.h"
#include "factor.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

bool lab_is_mac(const char *text)
{
	for (size_t i = 0; i < 17; i++)
		if (i % 3 == 2 ? text[i] != ':' : !isxdigit((unsigned char)text[i]))
			return false;
	return !text[17];
}

/* dddd:bb:dd.f */
static bool is_pci(const char *text)
{
	static const char shape[] = "xxxx:xx:xx.x";

	for (size_t i = 0; i < sizeof(shape); i++)
		if (shape[i] == 'x' ? !isxdigit((unsigned char)text[i]) : text[i] != shape[i])
			return false;
	return true;
}

/* TEXT in lower case, with colons if it is a MAC with dashes. New reference. */
static json_t *normal(const json_t *value)
{
	const char *text = json_string_value(value);
	char dashed[40], lower[40];
	size_t i;

	if (!text || strlen(text) >= sizeof(lower))
		return json_incref((json_t *)value);
	for (i = 0; text[i]; i++) {
		lower[i] = (char)tolower((unsigned char)text[i]);
		dashed[i] = lower[i];
		if (i % 3 == 2 && i < 17 && dashed[i] == '-')
			dashed[i] = ':';
	}
	lower[i] = dashed[i] = '\0';
	return json_string(lab_is_mac(dashed) ? dashed : lower);
}

void lab_normalise(json_t *lab)
{
	static const char *const names[] = {"mac", "uuid"};
	const char *name;
	json_t *node, *nic;
	size_t i;

	json_object_foreach (json_object_get(lab, "nodes"), name, node) {
		json_t *nics = json_object_get(node, "storage_nics");

		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (json_is_string(json_object_get(node, names[i])))
				json_object_set_new(node, names[i], normal(json_object_get(node, names[i])));
		json_array_foreach (nics, i, nic) {
			if (json_is_string(nic))
				json_array_set_new(nics, i, normal(nic));
		}
	}
}

static void check_server(struct yaml_doc *doc, struct network *management)
{
	const json_t *server = json_object_get(doc->root, "server");
	const json_t *range = json_object_get(server, "dhcp_range");
	const char *address = json_string_value(json_object_get(server, "address"));
	uint32_t first = 0, last = 0;

	if (!network_parse(address, management) || !network_has(management, management->address)) {
		yaml_complain(
		    doc, "/server/address", false,
		    "address: \"%s\" is not a host's address with a prefix from 8 to 30, like 10.77.0.1/24",
		    address);
		management->mask = 0;
		return;
	}
	if (!range)
		return;
	for (size_t i = 0; i < 2; i++) {
		uint32_t *end = i ? &last : &first;
		const char *text = json_string_value(json_array_get(range, i));
		char at[40];

		snprintf(at, sizeof(at), "/server/dhcp_range/%zu", i);
		if (!network_ip(text, end) || !network_has(management, *end)) {
			yaml_complain(doc, at, false, "\"%s\" is not a host's address in the network of %s",
			              text, address);
			return;
		}
	}
	if (first > last)
		yaml_complain(doc, "/server/dhcp_range", false, "dhcp_range ends before it begins");
	else if (management->address >= first && management->address <= last)
		yaml_complain(doc, "/server/dhcp_range", false, "dhcp_range holds the server's own address");
	else if (last - first + 1 < json_object_size(json_object_get(doc->root, "nodes")))
		yaml_complain(doc, "/server/dhcp_range", false, "dhcp_range has %u addresses for %zu nodes",
		              last - first + 1, json_object_size(json_object_get(doc->root, "nodes")));
}

static const char *nearest_member(const json_t *map, const char *word)
{
	unsigned int best = UINT_MAX;
	const char *name, *nearest = "";
	json_t *ignored;

	json_object_foreach ((json_t *)map, name, ignored) {
		unsigned int d = edit_distance(word, name);

		if (d < best) {
			best = d;
			nearest = name;
		}
	}
	return nearest;
}

/* SEEN: node name -> its group, over all groups. */
static void check_group(struct yaml_doc *doc, const char *name, const json_t *group,
                        const struct network *management, json_t *seen)
{
	const json_t *nodes = json_object_get(doc->root, "nodes"), *member;
	const char *text = json_string_value(json_object_get(group, "storage_network"));
	struct network n;
	char at[128];
	size_t i;

	json_array_foreach (json_object_get(group, "nodes"), i, member) {
		const char *node = json_string_value(member);
		const char *other = json_string_value(json_object_get(seen, node));

		snprintf(at, sizeof(at), "/groups/%s/nodes/%zu", name, i);
		if (!json_object_get(nodes, node))
			yaml_complain(doc, at, false,
			              "there is no node \"%s\" under nodes; the nearest is \"%s\"", node,
			              nearest_member(nodes, node));
		else if (other)
			yaml_complain(doc, at, false, "node \"%s\" is already in group \"%s\"", node, other);
		json_object_set_new(seen, node, json_string(name));
	}
	snprintf(at, sizeof(at), "/groups/%s/storage_network", name);
	if (!network_parse(text, &n) || n.address & ~n.mask)
		yaml_complain(
		    doc, at, false,
		    "storage_network: \"%s\" is not a network with a prefix from 8 to 30, like 10.78.0.0/24",
		    text);
	else if (network_hosts(&n) < json_array_size(json_object_get(group, "nodes")))
		yaml_complain(doc, at, false, "storage_network: %s has %u addresses for %zu nodes", text,
		              network_hosts(&n), json_array_size(json_object_get(group, "nodes")));
	else if (management->mask && network_overlap(&n, management))
		yaml_complain(doc, at, false, "storage_network: %s overlaps the server's own network", text);
}

/* Complains if VALUE was seen before; SEEN: value -> where that was, for people. */
static void check_once(struct yaml_doc *doc, json_t *seen, const char *value, const char *at,
                       const char *what, const char *node)
{
	const char *other = json_string_value(json_object_get(seen, value));
	const char *key = strstr(at, "/storage_nics") ? "a storage NIC" : strrchr(at, '/') + 1;

	if (other)
		yaml_complain(doc, at, false, "%s %s is already used: %s", what, value, other);
	else
		json_object_set_new(seen, value, json_sprintf("%s of node \"%s\"", key, node));
}

static void check_nics(struct yaml_doc *doc, const char *name, const json_t *node, json_t *macs)
{
	json_t *pci = json_object(), *nic;
	char at[128];
	size_t i;

	json_array_foreach (json_object_get(node, "storage_nics"), i, nic) {
		const char *text = json_string_value(nic);

		snprintf(at, sizeof(at), "/nodes/%s/storage_nics/%zu", name, i);
		if (lab_is_mac(text))
			check_once(doc, macs, text, at, "MAC", name);
		else if (is_pci(text))
			check_once(doc, pci, text, at, "PCI address", name);
		else
			yaml_complain(
			    doc, at, false,
			    "\"%s\" is neither a MAC (aa:bb:cc:dd:ee:ff) nor a PCI address (0000:03:00.0)",
			    text);
	}
	json_decref(pci);
}

static void check_disk(struct yaml_doc *doc, const char *name, const json_t *disk, json_t *wwns)
{
	const char *wwn = json_string_value(json_object_get(disk, "wwn"));
	const char *serial = json_string_value(json_object_get(disk, "serial"));
	char at[128];

	if (json_integer_value(json_object_get(disk, "min_bytes")) >
	    json_integer_value(json_object_get(disk, "max_bytes"))) {
		snprintf(at, sizeof(at), "/nodes/%s/disk/max_bytes", name);
		yaml_complain(doc, at, false, "max_bytes is less than min_bytes");
	}
	snprintf(at, sizeof(at), "/nodes/%s/disk/wwn", name);
	if (wwn)
		check_once(doc, wwns, wwn, at, "WWN", name);
	/* The same serial in two machines is no mistake: emulated disks and RAID controllers number their
	 * own. */
	snprintf(at, sizeof(at), "/nodes/%s/disk/serial", name);
	if (serial && (*serial == ' ' || (*serial && serial[strlen(serial) - 1] == ' ')))
		yaml_complain(doc, at, false,
		              "serial \"%s\" begins or ends with a space; nodes compare it without", serial);
	snprintf(at, sizeof(at), "/nodes/%s/disk/covers", name);
	if (json_object_get(disk, "covers") &&
	    strcmp(json_string_value(json_object_get(disk, "consent")), "wipe") != 0)
		yaml_complain(doc, at, true,
		              "covers says what a consent to wipe covers, and consent is not wipe");
}

/* MACS: of every node; the management NIC's go in first, so that a storage NIC with the same one is the
 * complaint. */
static void check_nodes(struct yaml_doc *doc, const json_t *grouped)
{
	json_t *macs = json_object(), *uuids = json_object(), *wwns = json_object(), *node;
	const char *name;
	char at[128];

	json_object_foreach (json_object_get(doc->root, "nodes"), name, node) {
		const char *mac = json_string_value(json_object_get(node, "mac"));
		const char *uuid = json_string_value(json_object_get(node, "uuid"));

		snprintf(at, sizeof(at), "/nodes/%s/mac", name);
		if (mac)
			check_once(doc, macs, mac, at, "MAC", name);
		snprintf(at, sizeof(at), "/nodes/%s/uuid", name);
		if (uuid)
			check_once(doc, uuids, uuid, at, "UUID", name);
		snprintf(at, sizeof(at), "/nodes/%s", name);
		if (!json_object_get(grouped, name))
			yaml_complain(doc, at, true,
			              "node \"%s\" is in no group; add it to one or take it out", name);
	}
	json_object_foreach (json_object_get(doc->root, "nodes"), name, node) {
		check_nics(doc, name, node, macs);
		check_disk(doc, name, json_object_get(node, "disk"), wwns);
		lab_check_power(doc, name, json_object_get(node, "power"));
	}
	json_decref(macs);
	json_decref(uuids);
	json_decref(wwns);
}

void lab_check(struct yaml_doc *doc)
{
	json_t *seen = json_object(), *group;
	struct network management = {0};
	const char *name;

	check_server(doc, &management);
	json_object_foreach (json_object_get(doc->root, "groups"), name, group) {
		check_group(doc, name, group, &management, seen);
	}
	check_nodes(doc, seen);
	json_decref(seen);
}
