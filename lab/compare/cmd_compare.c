/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay compare: better, worse, or the same within a margin. */
#include "compare.h"

#include "../cli.h"
#include "factor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct options {
	const char *database, *figure;
	bool text, json;
	struct compare *compare;
};

/* "2%", "2 %", "2": all are per cent. */
static bool parse_percent(const char *command, const char *text, double most, double *out)
{
	char *end;

	*out = strtod(text, &end) / 100;
	while (*end == ' ')
		end++;
	if (end != text && (!*end || !strcmp(end, "%")) && *out >= 0 && *out < most)
		return true;
	cli_usage(command, "\"%s\" is no share such as 2%%", text);
	return false;
}

static bool parse_margin(const char *command, const char *text, void *to)
{
	return parse_percent(command, text, 1, to);
}

static bool parse_confidence(const char *command, const char *text, void *to)
{
	if (parse_percent(command, text, 1, to) && *(double *)to >= 0.5)
		return true;
	cli_usage(command, "--confidence is from 50%% to 99.9...%%");
	return false;
}

/* A name that is neither of a control nor of a factor is looked for in the cells, once they are known. */
static bool parse_allow(const char *command, const char *text, void *to)
{
	struct compare *c = to;

	if (c->allowed_count < ALLOWED_MAX) {
		c->allowed[c->allowed_count++] = text;
		return true;
	}
	cli_usage(command, "at most %d of --allow", ALLOWED_MAX);
	return false;
}

static int parse(int argc, char **argv, struct options *o)
{
	struct compare *c = o->compare;
	char after[1400];
	const struct cli_row rows[] = {
	    {"db", "FILE", "the database of sides that name none (default: assay.db)", .text = &o->database},
	    {"margin", "N%", "what differs by less counts as the same (default: 2%)", .parse = parse_margin,
	     .to = &c->margin},
	    {"confidence", "N%", "of intervals and verdicts (default: 95%)", .parse = parse_confidence,
	     .to = &c->confidence},
	    {"allow", "FACTOR", "compare although FACTOR differs; the report lists it. May be given again",
	     .parse = parse_allow, .to = c},
	    {"figure", "NAME", "what is compared (default: by the workload)", .text = &o->figure},
	    {"one-boot", NULL,
	     "decide from samples of one boot; verdicts hold for that boot alone, and the report says so",
	     .set = &c->one_boot},
	    {"text", NULL, "a table, for terminals; the default", .set = &o->text},
	    {"json", NULL, "one document by results-schema/compare.json, for programs", .set = &o->json},
	    {0},
	};
	const struct cli_command command = {"A B...",
	                                    "Compares sides with the first: cells that differ in nothing but "
	                                    "what is asked about go together. A side is\n"
	                                    "[FILE:][RUN][,FACTOR=LEVEL]...: a run (default: the latest) in "
	                                    "a database, and of it the cells that have the\n"
	                                    "levels, or the samples of node=NAME. Runs, nodes, kernels, "
	                                    "vendors, or two levels of a factor in one run.",
	                                    after, rows};

	snprintf(
	    after, sizeof(after),
	    "What differs but was not asked about is refused: factors of the cells, and\n  %s.\n\n"
	    "A verdict needs boots: 4 a side at the least for one comparison at 95 %%, more for many.\n\n"
	    "Exit codes: 0 all better or the same; 1 something is worse; 2 the command line is wrong; 3 "
	    "system "
	    "error;\n5 nothing is worse, but something is undecided; 7 not comparable.",
	    control_names());
	return cli_parse(argc, argv, &command);
}

static int check_allowed(const struct compare *c)
{
	for (size_t i = 0; i < c->allowed_count; i++) {
		bool known = control_known(c->allowed[i]) || factor_find(c->allowed[i]);

		for (size_t s = 0; s < c->side_count && !known; s++)
			for (size_t a = 0; a < c->sides[s].design->axis_count && !known; a++)
				known = !strcmp(c->sides[s].design->axes[a].name, c->allowed[i]);
		if (!known)
			return cli_usage(
			    "compare",
			    "--allow: there is no \"%s\"; the nearest factor is \"%s\"; besides: %s",
			    c->allowed[i], factor_nearest(c->allowed[i]), control_names());
	}
	return ASSAY_OK;
}

static int run(const struct options *o, int argc, char **argv)
{
	struct compare *c = o->compare;
	int r = ASSAY_OK;

	for (; optind < argc && !r; optind++) {
		if (c->side_count == SIDES_MAX)
			return cli_usage("compare", "at most %d sides", SIDES_MAX);
		r = side_open(&c->sides[c->side_count], (char)('A' + c->side_count), argv[optind],
		              o->database);
		c->side_count++;
	}
	if (!r)
		r = check_allowed(c);
	if (!r)
		r = control_check(c);
	if (!r)
		r = match_cells(c);
	if (r)
		return r;
	r = judge(c);
	if (!r && o->json)
		r = compare_json(c, stdout);
	else if (!r)
		compare_print(c, stdout);
	if (!r && fflush(stdout))
		r = -errno;
	if (r) {
		fprintf(stderr, "assay compare: %s\n", strerror(-r));
		return ASSAY_SYSTEM;
	}
	return judge_exit(c);
}

int cmd_compare(int argc, char **argv)
{
	struct compare *c = calloc(1, sizeof(*c));
	struct options o = {.database = "assay.db", .compare = c};
	int result;

	if (!c)
		return ASSAY_SYSTEM;
	c->margin = 0.02;
	c->confidence = STATS_CONFIDENCE;
	result = parse(argc, argv, &o);
	if (result == CLI_GO && o.figure && !(c->figure = figure_find(o.figure))) {
		fprintf(stderr, "assay compare: there is no figure \"%s\"; there are: ", o.figure);
		figure_list(stderr);
		result = ASSAY_USAGE;
	}
	if (result == CLI_GO && argc - optind < 2)
		result = cli_usage("compare", "two sides, or more: what with what?");
	if (result == CLI_GO && o.text && o.json)
		result = cli_usage("compare", "one of --text, --json");
	if (result == CLI_GO)
		result = run(&o, argc, argv);
	for (size_t s = 0; s < c->side_count; s++)
		side_close(&c->sides[s]);
	free(c->pairs);
	free(c);
	return result;
}
