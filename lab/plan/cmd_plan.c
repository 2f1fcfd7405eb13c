/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay plan: what a plan would measure, in which order, without any node. */
#include "cli.h"
#include "plan_print.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},          {"json", no_argument, NULL, 'j'},
    {"seed", required_argument, NULL, 's'},    {"lab", required_argument, NULL, 'l'},
    {"group", required_argument, NULL, 'g'},   {"mb-per-s", required_argument, NULL, 'm'},
    {"boot-s", required_argument, NULL, 'b'},  {"scale", required_argument, NULL, 'x'},
    {"as-published", no_argument, NULL, 'p'},  {"boots", required_argument, NULL, 'B'},
    {"samples", required_argument, NULL, 'S'}, {0},
};

struct request {
	bool json, help;
	const char *plan, *lab, *group;
	struct plan_options plan_options;
	struct assumptions assumptions;
};

static void help(void)
{
	puts("usage: assay plan FILE [OPTION...]\n\n"
	     "Shows what a plan would measure, and in which order: cells, boots, samples, bytes, and an "
	     "estimate of the\n"
	     "time. Needs no node and no server. Everything wrong with the plan is said with its line and "
	     "column.\n\n"
	     "  --seed N       the shuffle's seed, where the plan shuffles without naming one (default 0; "
	     "`assay run`\n"
	     "                 draws one and records it)\n"
	     "  --lab LAB      check also that this lab file is right and its group can measure the plan\n"
	     "  --group NAME   the group, if the lab has several\n"
	     "  --mb-per-s N   assumed speed of the workloads, for the estimate (default 500)\n"
	     "  --boot-s N     assumed seconds from reboot to hello, for the estimate (default 90)\n"
	     "  --scale 1/N    with N-th part of the sizes that copies have, in whole records\n"
	     "  --boots N, --samples N  instead of what the plan repeats\n"
	     "  --as-published as the experiment was made that the plan repeats, mistakes included (its "
	     "section "
	     "published)\n"
	     "  --json         as JSON, with every cell's whole state\n"
	     "  --help         this\n\n"
	     "Exit codes: 0 the plan is right, 2 the plan, the lab file or the command line is wrong, 3 "
	     "system error.");
}

static int read_options(int argc, char **argv, struct request *q)
{
	int option;
	bool good = true;

	while (good && (option = cli_option(argc, argv, options)) != -1) {
		switch (option) {
		case 'h':
			q->help = true;
			return 0;
		case 'j':
			q->json = true;
			break;
		case 's':
			good = cli_number("--seed", optarg, INT64_MAX, &q->plan_options.seed);
			break;
		case 'l':
			q->lab = optarg;
			break;
		case 'g':
			q->group = optarg;
			break;
		case 'm':
			good = cli_number("--mb-per-s", optarg, 1000000, &q->assumptions.mb_per_s);
			if (good && !q->assumptions.mb_per_s)
				return cli_usage(argv[0], "--mb-per-s must be at least 1");
			break;
		case 'b':
			good = cli_number("--boot-s", optarg, 86400, &q->assumptions.boot_s);
			break;
		case 'x':
			if (!plan_scale_parse(optarg, &q->plan_options.scale))
				return cli_usage(argv[0],
				                 "--scale takes a fraction such as 1/1000, not \"%s\"",
				                 optarg);
			break;
		case 'B':
			good = cli_number("--boots", optarg, 1000, &q->plan_options.boots);
			break;
		case 'S':
			good = cli_number("--samples", optarg, 10000, &q->plan_options.samples);
			break;
		case 'p':
			q->plan_options.as_published = true;
			break;
		default:
			good = false;
		}
	}
	if (!good)
		return ASSAY_USAGE;
	if (argc - optind != 1)
		return cli_usage(argv[0], argc == optind ? "which plan?" : "one plan at a time");
	if (q->group && !q->lab)
		return cli_usage(argv[0], "--group needs --lab");
	q->plan = argv[optind];
	return 0;
}

static int check_lab(struct request *q, const struct plan *plan)
{
	const char *group;
	json_t *lab;
	int r = lab_file_load(q->lab, stderr, &lab);

	if (r)
		return r;
	r = plan_fits_lab(plan, lab, q->group, stderr, &group);
	if (!r && !q->json)
		printf("Group %s of %s can measure it.\n", group, q->lab);
	json_decref(lab);
	return r;
}

int cmd_plan(int argc, char **argv)
{
	struct request q = {.assumptions = assumptions_default};
	struct plan *plan;
	int r = read_options(argc, argv, &q);

	if (q.help)
		help();
	if (r || q.help)
		return r;
	r = plan_load_options(q.plan, &q.plan_options, stderr, &plan);
	if (!r && q.lab)
		r = check_lab(&q, plan);
	if (!r && q.json)
		plan_print_json(plan, &q.assumptions, stdout);
	else if (!r)
		plan_print(plan, &q.assumptions, stdout);
	plan_free(plan);
	if (fflush(stdout))
		r = -EIO;
	if (!r)
		return ASSAY_OK;
	return r == -EINVAL || r == -ENOENT || r == -EACCES || r == -EISDIR ? ASSAY_USAGE : ASSAY_SYSTEM;
}
