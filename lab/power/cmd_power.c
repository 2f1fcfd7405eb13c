/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay power: a node's power, by what the lab file says of it. */
#include "power.h"

#include "../cli.h"
#include "../plan/plan.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMEOUT_S     60
#define TIMEOUT_MAX_S 3600

/* Paths in a lab file are beside it. */
static int enter_folder_of(const char *lab)
{
	char *path = realpath(lab, NULL);
	int r = !path || chdir(dirname(path)) ? -errno : 0;

	free(path);
	return r;
}

static int act(const char *lab_path, const char *node, enum power_action action, bool network,
               uint64_t timeout_s)
{
	struct power p = {.node = node,
	                  .network = network,
	                  .deadline_ns = power_now_ns() + (int64_t)timeout_s * INT64_C(1000000000)};
	json_t *lab, *entry;
	int r = lab_file_load(lab_path, stderr, &lab);

	if (r)
		return r == -EINVAL ? ASSAY_USAGE : ASSAY_SYSTEM;
	entry = json_object_get(json_object_get(lab, "nodes"), node);
	p.entry = json_object_get(entry, "power");
	if (!entry || !p.entry) {
		fprintf(stderr, "assay power: node %s %s in %s\n", node, entry ? "has no `power`" : "is not",
		        lab_path);
		json_decref(lab);
		return ASSAY_USAGE;
	}
	r = enter_folder_of(lab_path);
	if (!r)
		r = power_do(&p, action);
	if (*p.boot_note)
		fprintf(stderr, "assay power: node %s: the boot device is not set to the network: %s\n", node,
		        p.boot_note);
	if (r)
		fprintf(stderr, "assay power: node %s: %s\n", node, *p.message ? p.message : strerror(-r));
	else
		printf("%s: %s\n", node, p.message);
	json_decref(lab);
	return r ? ASSAY_SYSTEM : ASSAY_OK;
}

int cmd_power(int argc, char **argv)
{
	bool local = false;
	uint64_t timeout_s = TIMEOUT_S;
	const struct cli_row rows[] = {
	    {"timeout", "SECONDS", "give up after so long (default: 60)", .number = &timeout_s,
	     .max = TIMEOUT_MAX_S},
	    {"own-boot-order", NULL,
	     "leave the node's boot order alone: else the next boot is from the network, where "
	     "the driver can say so",
	     .set = &local},
	    {0},
	};
	const struct cli_command command = {
	    "LAB NODE ACTION",
	    "Says whether the node of the lab file LAB is on (ACTION status), or switches it: on, off, "
	    "cycle. The lab "
	    "file's `power` says by what: IPMI, Redfish, a command of yours, QEMU.",
	    "`assay serve` does the same with a node that hangs.\n", rows};
	int result = cli_parse(argc, argv, &command), action;

	if (result != CLI_GO)
		return result;
	if (optind + 3 != argc)
		return cli_usage("power", "a lab file, a node and an action, please");
	action = power_action_named(argv[optind + 2]);
	if (action < 0)
		return cli_usage("power", "\"%s\" is none of status, on, off, cycle", argv[optind + 2]);
	return act(argv[optind], argv[optind + 1], (enum power_action)action, !local, timeout_s);
}
