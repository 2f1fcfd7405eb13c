/* SPDX-License-Identifier: GPL-2.0-or-later
 * Whether a lab has what a plan needs. */
#include "plan.h"
#include "factor.h"
#include "units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct needs {
	unsigned int nodes, nics;
	uint64_t bytes;
};

/* What each layer takes of the device below it: one part in PART of what it offers, and FIXED bytes; no less
 * than LEAST in all. DRBD: internal metadata, a bit for every 4 KiB and superblock and activity log. LVM: its
 * metadata, and whole extents of 4 MiB. LUKS: its header. ext4: inode tables (1/64) and the journal (at most
 * 1/32 and 16 MiB). XFS: its log, and mkfs.xfs makes none below 300 MB. */
static const struct {
	enum stack_layer layer;
	uint64_t part, fixed, least;
} takes[] = {
    {STACK_DRBD, 32768, 1 << 20, 0},       {STACK_LVM, UINT64_MAX, 8 << 20, 0},
    {STACK_LUKS, UINT64_MAX, 16 << 20, 0}, {STACK_EXT4, 16, 32 << 20, 0},
    {STACK_XFS, 32, 96 << 20, 300 << 20},
};

/* How large the disk must be for BYTES on top of STACK. */
static uint64_t below(const char *stack, uint64_t bytes)
{
	enum stack_layer layers[STACK_LAYER_COUNT];
	int count = factor_stack_layers(stack, layers);

	for (int i = count; i-- > 0;)
		for (size_t k = 0; k < sizeof(takes) / sizeof(*takes); k++) {
			if (takes[k].layer != layers[i])
				continue;
			bytes += bytes / takes[k].part + takes[k].fixed;
			bytes = bytes < takes[k].least ? takes[k].least : bytes;
		}
	return bytes;
}

static uint64_t bytes_of(const json_t *workload, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(workload, key));
}

/* Where WORKLOAD ends on the disk. What aio moves may be more than the area that it moves it in. */
static uint64_t end_byte(const struct plan_cell *c, const json_t *workload)
{
	uint64_t least = bytes_of(workload, "bs_bytes") * bytes_of(workload, "jobs");

	if (strcmp(json_string_value(json_object_get(workload, "type")), "aio"))
		return bytes_of(workload, "span_bytes") > c->size_bytes
		           ? bytes_of(workload, "span_bytes")
		           : c->size_bytes + bytes_of(workload, "seek_bytes");
	return bytes_of(workload, "offset_bytes") +
	       (bytes_of(workload, "span_bytes") ? bytes_of(workload, "span_bytes") : least);
}

static struct needs plan_needs(const struct plan *plan)
{
	struct needs n = {0};

	for (size_t i = 0; i < plan->cell_count; i++) {
		const struct plan_cell *c = &plan->cells[i];
		uint64_t end =
		    below(plan_cell_string(plan, c, FACTOR_STACK), end_byte(c, plan_cell_workload(plan, c)));
		bool net = plan_cell_has(plan, c, FACTOR_NIC_MTU);
		bool bond = net && strcmp(plan_cell_string(plan, c, FACTOR_BOND_MODE), "none");
		unsigned long port =
		    net && !bond ? strtoul(plan_cell_string(plan, c, FACTOR_NIC_PORT), NULL, 10) : 0;
		unsigned int nics = bond ? 2 : port ? (unsigned int)port : net;

		n.nodes = c->nodes > n.nodes ? c->nodes : n.nodes;
		n.bytes = end > n.bytes ? end : n.bytes;
		n.nics = nics > n.nics ? nics : n.nics;
	}
	return n;
}

static const char *choose_group(const json_t *lab, const char *group, FILE *err)
{
	json_t *groups = json_object_get(lab, "groups"), *ignored;
	const char *name;

	if (group && json_object_get(groups, group))
		return json_object_iter_key(json_object_iter_at(groups, group));
	if (!group && json_object_size(groups) == 1)
		return json_object_iter_key(json_object_iter(groups));
	if (group)
		fprintf(err, "the lab has no group \"%s\"; it has:", group);
	else
		fprintf(err, "the lab has several groups; say which with --group:");
	json_object_foreach (groups, name, ignored) {
		fprintf(err, " %s", name);
	}
	fputc('\n', err);
	return NULL;
}

int plan_fits_lab(const struct plan *plan, const json_t *lab, const char *group, FILE *err, const char **name)
{
	struct needs needs = plan_needs(plan);
	const json_t *nodes;
	char text[32];
	int r = 0;

	*name = choose_group(lab, group, err);
	if (!*name)
		return -EINVAL;
	nodes = json_object_get(json_object_get(json_object_get(lab, "groups"), *name), "nodes");
	if (json_array_size(nodes) < needs.nodes) {
		fprintf(err, "group %s has %zu nodes, the plan needs %u\n", *name, json_array_size(nodes),
		        needs.nodes);
		r = -EINVAL;
	}
	for (size_t i = 0; i < json_array_size(nodes) && i < needs.nodes; i++) {
		const char *node_name = json_string_value(json_array_get(nodes, i));
		const json_t *node = json_object_get(json_object_get(lab, "nodes"), node_name);
		const json_t *disk = json_object_get(node, "disk");
		size_t nics = json_array_size(json_object_get(node, "storage_nics"));

		if (nics < needs.nics) {
			fprintf(err, "node %s has %zu storage NICs, the plan needs %u\n", node_name, nics,
			        needs.nics);
			r = -EINVAL;
		}
		if ((uint64_t)json_integer_value(json_object_get(disk, "min_bytes")) < needs.bytes) {
			fprintf(err,
			        "node %s: its disk may be as small as min_bytes, and the plan writes up to "
			        "%s of it\n",
			        node_name, units_size_text(needs.bytes, text, sizeof(text)));
			r = -EINVAL;
		}
		if (strcmp(json_string_value(json_object_get(disk, "consent")), "wipe") != 0) {
			fprintf(err, "node %s: its disk has no consent to be wiped (consent: wipe)\n",
			        node_name);
			r = -EINVAL;
		}
	}
	return r;
}
