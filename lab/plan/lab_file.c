/* SPDX-License-Identifier: GPL-2.0-or-later
 * A lab file: normalised, checked, completed with defaults. */
#include "lab_internal.h"

#include <errno.h>
#include <string.h>

static int set_default(json_t *map, const char *name, json_t *value)
{
	if (json_object_get(map, name)) {
		json_decref(value);
		return 0;
	}
	return json_object_set_new(map, name, value);
}

/* The upper half of the management network, or the lower if the server sits in the upper. */
static json_t *default_range(const json_t *server)
{
	char first[16], last[16];
	uint32_t base, half;
	struct network n;

	network_parse(json_string_value(json_object_get(server, "address")), &n);
	base = n.address & n.mask;
	half = (~n.mask + 1) / 2;
	if ((n.address & ~n.mask) >= half)
		return json_pack("[s, s]", network_ip_text(base + 1, first),
		                 network_ip_text(base + half - 1, last));
	return json_pack("[s, s]", network_ip_text(base + half, first),
	                 network_ip_text(base + 2 * half - 2, last));
}

static int fill_in(json_t *lab)
{
	json_t *server = json_object_get(lab, "server"), *member;
	const char *name;
	int r;

	r = set_default(server, "http_port", json_integer(8080));
	r |= set_default(server, "dhcp", json_string("own"));
	if (!strcmp(json_string_value(json_object_get(server, "dhcp")), "own"))
		r |= set_default(server, "dhcp_range", default_range(server));
	json_object_foreach (json_object_get(lab, "groups"), name, member) {
		r |= set_default(member, "drbd_port", json_integer(7788));
	}
	json_object_foreach (json_object_get(lab, "nodes"), name, member) {
		r |= set_default(member, "console", json_pack("[s, s]", "tty0", "ttyS0"));
	}
	return r ? -ENOMEM : 0;
}

int lab_file_load(const char *path, FILE *err, json_t **lab)
{
	struct complaints complaints = {0};
	struct yaml_doc doc = {0};
	int r;

	*lab = NULL;
	r = yaml_load(path, &complaints, &doc);
	if (!r) {
		lab_normalise(doc.root);
		if (yaml_check_schema(&doc, "lab.json"))
			lab_check(&doc);
		r = complaints.count ? -EINVAL : fill_in(doc.root);
	}
	if (!r)
		*lab = json_incref(doc.root);
	else if (!complaints.count)
		complain_at(&complaints, 0, 0, "%s", strerror(-r));
	complaints_print(&complaints, path, err);
	yaml_free(&doc);
	return r;
}
