/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ocp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put(struct ocp *o, int64_t unix_ns, const char *kind, json_t *value)
{
	char when[40];
	json_t *line = value ? json_pack("{so sI ss}", kind, value, "sequenceNumber", (json_int_t)o->sequence,
	                                 "timestamp", export_time(unix_ns, when))
	                     : NULL;

	if (!o->r && !line)
		o->r = -ENOMEM;
	if (!o->r &&
	    (json_dumpf(line, o->out, JSON_COMPACT | JSON_REAL_PRECISION(9)) || fputc('\n', o->out) == EOF))
		o->r = -EIO;
	o->sequence++;
	json_decref(line);
}

void ocp_begin(struct ocp *o, int64_t unix_ns)
{
	put(o, unix_ns, "schemaVersion", json_pack("{si si}", "major", 2, "minor", 0));
}

void ocp_run(struct ocp *o, int64_t unix_ns, const char *kind, json_t *value)
{
	put(o, unix_ns, "testRunArtifact", json_pack("{so}", kind, value));
}

void ocp_step(struct ocp *o, int64_t unix_ns, const char *step, const char *kind, json_t *value)
{
	put(o, unix_ns, "testStepArtifact", json_pack("{ss so}", "testStepId", step, kind, value));
}

void ocp_diagnosis(struct ocp *o, int64_t unix_ns, const char *step, const char *verdict, enum ocp_type type,
                   const char *message)
{
	static const char *const names[] = {"PASS", "FAIL", "UNKNOWN"};

	o->failed = o->failed || type == OCP_FAIL;
	ocp_step(o, unix_ns, step, "diagnosis",
	         json_pack("{ss ss ss*}", "verdict", verdict, "type", names[type], "message",
	                   *message ? message : NULL));
}

static const char *member(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

void ocp_error(struct ocp *o, int64_t unix_ns, const char *step, const json_t *error, const char *symptom)
{
	char *message = NULL;

	if (json_is_object(error) &&
	    asprintf(&message, "node %s, %s: %s; what to do: %s", member(error, "node"),
	             member(error, "object"), member(error, "message"), member(error, "remedy")) < 0)
		message = NULL;
	json_t *value =
	    json_pack("{ss ss*}", "symptom", *member(error, "step") ? member(error, "step") : symptom,
	              "message", message);

	if (step)
		ocp_step(o, unix_ns, step, "error", value);
	else
		ocp_run(o, unix_ns, "error", value);
	free(message);
}

/* SOURCE's member FROM as TO, where it is a text that says something. */
static void copy_text(json_t *to, const char *name, const json_t *source, const char *from)
{
	if (*member(source, from))
		json_object_set(to, name, json_object_get(source, from));
}

static json_t *software(const char *node, const char *what, const char *name, const char *version,
                        const char *type)
{
	char id[160];

	snprintf(id, sizeof(id), "%s/%s", node, what);
	return json_pack("{ss ss* ss ss ss}", "name", name, "version", *version ? version : NULL,
	                 "softwareType", type, "softwareInfoId", id, "computerSystem", node);
}

static json_t *hardware(const char *node, const char *what, const char *name)
{
	char id[160];

	snprintf(id, sizeof(id), "%s/%s", node, what);
	return json_pack("{ss ss ss}", "name", name, "hardwareInfoId", id, "computerSystem", node);
}

static void add_nics(json_t *hw, json_t *sw, const char *node, const json_t *inventory)
{
	const json_t *nic;
	size_t i;

	json_array_foreach (json_object_get(inventory, "nics"), i, nic) {
		json_t *h = hardware(node, member(nic, "name"), member(nic, "name"));
		char what[80];

		json_object_set_new(h, "partType", json_string("NIC"));
		copy_text(h, "serialNumber", nic, "mac");
		copy_text(h, "location", nic, "pci");
		json_array_append_new(hw, h);
		snprintf(what, sizeof(what), "%.40s/driver", member(nic, "name"));
		if (*member(nic, "driver"))
			json_array_append_new(sw, software(node, what, member(nic, "driver"),
			                                   member(nic, "driver_version"), "SYSTEM"));
		snprintf(what, sizeof(what), "%.40s/firmware", member(nic, "name"));
		if (*member(nic, "firmware_version"))
			json_array_append_new(sw, software(node, what, member(nic, "name"),
			                                   member(nic, "firmware_version"), "FIRMWARE"));
	}
}

static void add_disks(json_t *hw, const char *node, const json_t *inventory)
{
	const json_t *disk;
	size_t i;

	json_array_foreach (json_object_get(inventory, "disks"), i, disk) {
		const char *device = member(disk, "device"), *model = member(disk, "model");
		json_t *h = hardware(node, device, *model ? model : device);

		json_object_set_new(h, "partType", json_string("disk"));
		copy_text(h, "serialNumber", disk, "serial");
		copy_text(h, "location", disk, "device");
		json_array_append_new(hw, h);
	}
}

static void add_node(json_t *hw, json_t *sw, const char *node, const json_t *inventory, const char *image)
{
	const json_t *dmi = json_object_get(inventory, "dmi"), *cpus = json_object_get(inventory, "cpus");
	json_t *h =
	    hardware(node, "system", *member(dmi, "product_name") ? member(dmi, "product_name") : node);

	json_object_set_new(h, "partType", json_string("system"));
	copy_text(h, "manufacturer", dmi, "sys_vendor");
	copy_text(h, "serialNumber", dmi, "product_serial");
	json_array_append_new(hw, h);
	h = hardware(node, "cpus", *member(cpus, "model") ? member(cpus, "model") : "CPU");
	json_object_set_new(h, "partType", json_string("CPU"));
	json_array_append_new(hw, h);
	add_nics(hw, sw, node, inventory);
	add_disks(hw, node, inventory);
	json_array_append_new(sw, software(node, "kernel", "Linux", member(inventory, "kernel_release"),
	                                   "SYSTEM"));
	if (*member(inventory, "drbd_version"))
		json_array_append_new(sw, software(node, "drbd", "DRBD", member(inventory, "drbd_version"),
		                                   "SYSTEM"));
	if (*image)
		json_array_append_new(sw, software(node, "image", "assay image", image, "SYSTEM"));
	if (*member(dmi, "bios_version"))
		json_array_append_new(sw, software(node, "bios", "BIOS", member(dmi, "bios_version"),
		                                   "FIRMWARE"));
}

json_t *ocp_dut(struct ocp *o, int64_t boot)
{
	json_t *hw = json_array(), *sw = json_array(), *nodes = json_array();
	sqlite3_stmt *row;
	int r = store_ask(
	    o->report->store, &row,
	    "SELECT node, inventory, coalesce(image_id, ''), max(hello_order) FROM boots WHERE run = "
	    "?1 AND (?2 = 0 OR block = ?2) AND inventory NOT NULL GROUP BY node ORDER BY node",
	    "si", o->report->run, boot);

	while (!r && (r = store_row(o->report->store, row)) == 1) {
		json_t *inventory = json_loads(store_text(row, 1), 0, NULL);

		add_node(hw, sw, store_text(row, 0), inventory, store_text(row, 2));
		json_array_append_new(nodes, json_string(store_text(row, 0)));
		json_decref(inventory);
		r = 0;
	}
	if (r && !o->r)
		o->r = r;
	return json_pack("{ss ss so so s{so}}", "dutInfoId", o->report->group, "name", o->report->group,
	                 "hardwareInfos", hw, "softwareInfos", sw, "metadata", "nodes", nodes);
}
