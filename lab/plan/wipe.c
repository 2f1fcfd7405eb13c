/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wipe.h"

#include <errno.h>
#include <string.h>

/* Node by node, as the lab file has them; the caller owns it. */
static json_t *disks_of(const struct plan *plan, const json_t *lab, const char *group)
{
	const json_t *names =
	    json_object_get(json_object_get(json_object_get(lab, "groups"), group), "nodes");
	json_t *disks = json_object();

	for (size_t i = 0; i < json_array_size(names) && i < plan->nodes; i++) {
		const char *name = json_string_value(json_array_get(names, i));
		const json_t *node = json_object_get(json_object_get(lab, "nodes"), name);

		json_object_set(disks, name, json_object_get(node, "disk"));
	}
	return disks;
}

int wipe_token(const struct plan *plan, const json_t *lab, const char *group, char token[WIPE_TOKEN_SIZE])
{
	char hex[SHA256_HEX_SIZE];
	json_t *all = json_pack("{s:s, s:s, s:o}", "plan", plan->text_sha256, "group", group, "disks",
	                        disks_of(plan, lab, group));
	int r = all ? canonical_id(all, hex) : -ENOMEM;

	if (!r)
		snprintf(token, WIPE_TOKEN_SIZE, "%.8s", hex);
	json_decref(all);
	return r;
}

void wipe_print(const struct plan *plan, const json_t *lab, const char *group, FILE *out)
{
	json_t *disks = disks_of(plan, lab, group), *disk, *word;
	const char *name;

	json_object_foreach (disks, name, disk) {
		const char *serial = json_string_value(json_object_get(disk, "serial"));
		const json_t *covers = json_object_get(disk, "covers");
		size_t i;

		fprintf(out,
		        "  node %s: the disk with %s %s, of %lld to %lld bytes, though it carries: ", name,
		        serial ? "serial" : "WWN",
		        serial ? serial : json_string_value(json_object_get(disk, "wwn")),
		        (long long)json_integer_value(json_object_get(disk, "min_bytes")),
		        (long long)json_integer_value(json_object_get(disk, "max_bytes")));
		json_array_foreach (covers, i, word) {
			fprintf(out, "%s%s", i ? " " : "", json_string_value(word));
		}
		fputs(json_array_size(covers) ? "\n" : "nothing but Assay's own\n", out);
	}
	json_decref(disks);
}

bool wipe_allowed(const struct plan *plan, const json_t *lab, const char *group, const char *wipe, FILE *err)
{
	char token[WIPE_TOKEN_SIZE];
	int r = wipe_token(plan, lab, group, token);

	if (r) {
		fprintf(err, "the token of this run's disks cannot be made: %s\n", strerror(-r));
		return false;
	}
	if (wipe && !strcmp(wipe, token))
		return true;
	if (wipe)
		fprintf(err, "--wipe %s is not the token of this plan and these disks.\n", wipe);
	fputs("Nothing was queued. This run overwrites:\n", err);
	wipe_print(plan, lab, group, err);
	fprintf(err, "If all that may be lost, run it again with: --wipe %s\n", token);
	return false;
}
