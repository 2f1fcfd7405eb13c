/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay factors: the table of everything that a plan can vary. */
#include "cli.h"
#include "factor.h"

#include "../accept/metric.h"

#include <stdio.h>
#include <string.h>

static const struct option options[] = {{"help", no_argument, NULL, 'h'},
                                        {"json", no_argument, NULL, 'j'},
                                        {"metrics", no_argument, NULL, 'm'},
                                        {0}};

static const char *group_text(enum factor_group group)
{
	switch (group) {
	case FACTOR_GROUP_ALWAYS:
		return "every cell";
	case FACTOR_GROUP_NET:
		return "DRBD that was connected";
	case FACTOR_GROUP_NIC:
		return "DRBD that was connected, unless it is the default";
	case FACTOR_GROUP_BOND:
		return "DRBD over a bond";
	case FACTOR_GROUP_DRBD:
		return "DRBD";
	case FACTOR_GROUP_NODE:
		return "every cell, unless it is the default";
	case FACTOR_GROUP_DEVICE:
		return "DRBD, unless it is the default";
	case FACTOR_GROUP_DM_LINEAR:
		return "stacks with dm-linear, unless it is the default";
	case FACTOR_GROUP_LVM:
		return "stacks with lvm, unless it is the default";
	case FACTOR_GROUP_LUKS:
		return "stacks with luks";
	case FACTOR_GROUP_LUKS_DEVICE:
		return "stacks with luks, unless it is the default";
	case FACTOR_GROUP_EXT4:
		return "stacks with ext4, unless it is the default";
	case FACTOR_GROUP_XFS:
		return "stacks with xfs, unless it is the default";
	}
	return "";
}

/* How a level comes into force, by the beginning of the factor's name: the first that fits. Everything that a
 * cell has is built anew with it; what is not is said. */
static const struct {
	const char *prefix, *how;
} applied[] = {
    {"boot.kernel", "by the boot script: nodes that run another kernel reboot"},
    {"boot.cmdline", "by the boot script: nodes whose command line is another one reboot"},
    {"boot.isolate",
     "by the boot script: nodes that booted otherwise reboot; proven by what the kernel isolated"},
    {"boot", "a reboot, where other states were built since the last"},
    {"stack", "built anew"},
    {"nic.port", "the network is built on that NIC"},
    {"nic.driver", "the driver's module is exchanged"},
    {"nic.", "set on running NICs, read back, put back"},
    {"irq.", "set when the network stands, read back, put back"},
    {"bond.", "the bond is built anew"},
    {"drbd.net.", "DRBD connects anew"},
    {"drbd.disk.", "DRBD attaches its disk anew"},
    {"drbd.", "DRBD is built anew, from its metadata on"},
    {"cpu.drbd-mask", "DRBD is built anew"},
    {"cpu.workload", "set before the workload, read back, put back"},
    {"block.drbd.", "set when DRBD stands, read back; gone with the device"},
    {"block.disk.", "set before anything is built, read back, put back"},
    {"block.", "set when the stack stands, read back; gone with the device"},
    {"noise.", "measured around every sample"},
    {"luks.", "the stack is built anew"},
    {"ext4.", "the file system is made and mounted anew"},
    {"xfs.", "the file system is made and mounted anew"},
    {"", "set before anything is built, read back, put back"},
};

static const char *how_applied(const struct factor *f)
{
	size_t i = 0;

	while (strncmp(f->name, applied[i].prefix, strlen(applied[i].prefix)) != 0)
		i++;
	return applied[i].how;
}

static void help(void)
{
	puts("usage: assay factors [--json | --metrics] [NAME]\n\n"
	     "Lists the factors that a plan can name in base, sweep, cross, zip and where: levels, default "
	     "(*),\n"
	     "in which cells they have a meaning, and what they are. NAME shows only that one.\n\n"
	     "  --metrics  what acceptance in a plan can demand instead, each with a bound for example\n"
	     "  --json     as JSON\n"
	     "  --help     this");
}

static void print_levels(const struct factor *f)
{
	if (f->form) {
		printf("*%s, or text", f->default_level);
		return;
	}
	if (!f->levels && f->default_level) {
		printf("*%s, %lld to %lld %s", f->default_level, f->min, f->max, f->unit);
		return;
	}
	if (!f->levels) {
		printf("%lld to %lld %s, *%lld", f->min, f->max, f->unit, f->default_value);
		return;
	}
	for (const char *p = f->levels; *p; p += strcspn(p, "|"), p += *p == '|') {
		int n = (int)strcspn(p, "|");
		bool is_default =
		    (size_t)n == strlen(f->default_level) && !strncmp(p, f->default_level, (size_t)n);

		printf("%s%s%.*s", p > f->levels ? ", " : "", is_default ? "*" : "", n, p);
	}
}

static void print_factor(const struct factor *f)
{
	printf("%s\n    levels   ", f->name);
	print_levels(f);
	printf("\n    in       %s\n    applied  %s\n", group_text(f->group), how_applied(f));
	if (*f->drbdsetup_option)
		printf("    drbd     --%s\n", f->drbdsetup_option);
	printf("    %s\n", f->description);
}

static json_t *factor_json(const struct factor *f)
{
	json_t *out = json_pack("{s:s, s:s, s:s, s:s}", "name", f->name, "in", group_text(f->group),
	                        "applied", how_applied(f), "description", f->description);
	json_t *levels = json_array();

	if (f->form) {
		json_object_set_new(out, "text", json_true());
		json_object_set_new(out, "default", json_string(f->default_level));
	} else if (f->levels) {
		for (const char *p = f->levels; *p; p += strcspn(p, "|"), p += *p == '|')
			json_array_append_new(levels, json_stringn(p, strcspn(p, "|")));
		json_object_set(out, "levels", levels);
		json_object_set_new(out, "default", json_string(f->default_level));
	} else {
		json_object_set_new(out, "min", json_integer(f->min));
		json_object_set_new(out, "max", json_integer(f->max));
		json_object_set_new(out, "unit", json_string(f->unit));
		json_object_set_new(out, "default",
		                    f->default_level ? json_string(f->default_level)
		                                     : json_integer(f->default_value));
	}
	json_decref(levels);
	if (*f->drbdsetup_option)
		json_object_set_new(out, "drbdsetup_option", json_string(f->drbdsetup_option));
	return out;
}

static void print_json(const struct factor *only)
{
	json_t *all = json_array();

	for (size_t i = 0; i < FACTOR_COUNT; i++)
		if (!only || only == &factors[i])
			json_array_append_new(all, factor_json(&factors[i]));
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

int cmd_factors(int argc, char **argv)
{
	const struct factor *only = NULL;
	bool json = false;
	int option;

	while ((option = cli_option(argc, argv, options)) != -1) {
		if (option == 'h') {
			help();
			return ASSAY_OK;
		}
		if (option == 'm') {
			metric_print(stdout);
			return ASSAY_OK;
		}
		if (option != 'j')
			return ASSAY_USAGE;
		json = true;
	}
	if (argc - optind > 1)
		return cli_usage(argv[0], "at most one name");
	if (optind < argc) {
		only = factor_find(argv[optind]);
		if (!only)
			return cli_usage(argv[0], "unknown factor \"%s\"; the nearest is \"%s\"",
			                 argv[optind], factor_nearest(argv[optind]));
	}
	if (json)
		print_json(only);
	else
		for (size_t i = 0; i < FACTOR_COUNT; i++)
			if (!only || only == &factors[i])
				print_factor(&factors[i]);
	return ASSAY_OK;
}
