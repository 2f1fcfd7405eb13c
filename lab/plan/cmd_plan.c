/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay plan: what a plan would measure, in which order, without any node. */
#include "cli.h"
#include "plan_print.h"
#include "wipe.h"

#include "../report/precision.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    {"json", no_argument, NULL, 'j'},
    {"seed", required_argument, NULL, 's'},
    {"lab", required_argument, NULL, 'l'},
    {"group", required_argument, NULL, 'g'},
    {"mb-per-s", required_argument, NULL, 'm'},
    {"boot-s", required_argument, NULL, 'b'},
    {"scale", required_argument, NULL, 'x'},
    {"as-published", no_argument, NULL, 'p'},
    {"precision", required_argument, NULL, 'r'},
    {"pilot", required_argument, NULL, 'i'},
    {"db", required_argument, NULL, 'd'},
    {"boots", required_argument, NULL, 'B'},
    {"samples", required_argument, NULL, 'S'},
    {0},
};

struct request {
	bool json, help;
	const char *plan, *lab, *group;
	struct plan_options plan_options;
	struct assumptions assumptions;
	double precision; /* 0: not asked for */
	const char *pilot, *database;
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
	     "  --lab LAB      check also that this lab file is right and its group can measure the plan; "
	     "print which disks\n"
	     "                 it overwrites, and the token with which `assay run` may\n"
	     "  --group NAME   the group, if the lab has several\n"
	     "  --mb-per-s N   assumed speed of the workloads, for the estimate (default 500)\n"
	     "  --boot-s N     assumed seconds from reboot to hello, for the estimate (default 90)\n"
	     "  --scale 1/N    with the N-th part of the sizes and times that workloads have, in whole "
	     "records\n"
	     "                 and seconds\n"
	     "  --boots N, --samples N  instead of what the plan repeats\n"
	     "  --as-published as the experiment was made that the plan repeats, mistakes included (its "
	     "section "
	     "published)\n"
	     "  --precision N% from a pilot run: how many boots and samples each cell needs until half its "
	     "95 % "
	     "interval is\n"
	     "                 within N % of the median, and how long that takes\n"
	     "  --pilot RUN    that run (default: the latest of this plan)\n"
	     "  --db FILE      where the pilot run is (default: assay.db)\n"
	     "  --json         as JSON, with every cell's whole state\n"
	     "  --help         this\n\n"
	     "Exit codes: 0 the plan is right, 2 the plan, the lab file or the command line is wrong, 3 "
	     "system error.");
}

static bool parse_precision(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end) / 100;
	return end != text && (!*end || !strcmp(end, "%")) && *out > 0 && *out <= 0.5;
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
		case 'r':
			if (!parse_precision(optarg, &q->precision))
				return cli_usage(argv[0], "--precision takes a share such as 1%%, not \"%s\"",
				                 optarg);
			break;
		case 'i':
			q->pilot = optarg;
			break;
		case 'd':
			q->database = optarg;
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
	if ((q->pilot || q->database) && !(q->precision > 0))
		return cli_usage(argv[0], "--pilot and --db are for --precision");
	if (q->json && q->precision > 0)
		return cli_usage(argv[0], "--precision has no --json");
	q->plan = argv[optind];
	return 0;
}

static int check_lab(struct request *q, const struct plan *plan)
{
	char token[WIPE_TOKEN_SIZE];
	const char *group;
	json_t *lab;
	int r = lab_file_load(q->lab, stderr, &lab);

	if (r)
		return r;
	r = plan_fits_lab(plan, lab, q->group, stderr, &group);
	if (!r && !q->json)
		r = wipe_token(plan, lab, group, token);
	if (!r && !q->json) {
		printf("Group %s of %s can measure it. It overwrites:\n", group, q->lab);
		wipe_print(plan, lab, group, stdout);
		printf("If all that may be lost, measure it with: assay run %s --wipe %s\n", q->plan, token);
	}
	json_decref(lab);
	return r;
}

/* The repetitions that the precision takes, from the pilot run. 0 or -errno; complains itself. */
static int show_precision(const struct request *q, const struct plan *plan)
{
	struct store *store = NULL;
	struct report *pilot = NULL;
	sqlite3_stmt *row;
	char run[64] = "";
	int r = store_open(q->database ? q->database : "assay.db", STORE_EXISTING, stderr, &store);

	if (r)
		return -EIO;
	if (q->pilot)
		snprintf(run, sizeof(run), "%s", q->pilot);
	else if (!store_ask(store, &row,
	                    "SELECT run FROM runs WHERE plan_name = ? ORDER BY number DESC LIMIT 1", "s",
	                    plan->name) &&
	         store_row(store, row) == 1) {
		snprintf(run, sizeof(run), "%s", store_text(row, 0));
		store_reset(row);
	}
	r = report_load(store, run, &pilot);
	if (r == 1) {
		r = precision_print(pilot, q->precision, stdout);
		r = r == -ENODATA ? -EINVAL : r;
	} else {
		fprintf(stderr,
		        "assay plan: --precision needs a pilot run: there is no run%s%s of it in the "
		        "database (--db)\n",
		        q->pilot ? " " : "", q->pilot ? q->pilot : "");
		r = r ? r : -EINVAL;
	}
	report_free(pilot);
	store_close(store);
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
	if (!r && q.precision > 0)
		r = show_precision(&q, plan);
	plan_free(plan);
	if (fflush(stdout))
		r = -EIO;
	if (!r)
		return ASSAY_OK;
	return r == -EINVAL || r == -ENOENT || r == -EACCES || r == -EISDIR ? ASSAY_USAGE : ASSAY_SYSTEM;
}
