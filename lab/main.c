/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay: the operator's program. */
#include "cli.h"
#include "factor.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *arguments, *description;
} commands[] = {
    {"plan", cmd_plan, "FILE", "show what a plan would measure, in which order; no node is needed"},
    {"run", cmd_run, "FILE", "have a plan measured by a group of nodes"},
    {"serve", cmd_serve, "LAB", "boot the nodes of a lab, conduct them, store their results"},
    {"status", cmd_status, "", "what every node does now"},
    {"report", cmd_report, "[RUN]", "what a run measured: table, tables by factors, data"},
    {"compare", cmd_compare, "A B...", "better, worse, or the same: runs, nodes, levels of a factor"},
    {"import", cmd_import, "FILE...", "transcripts of dd, fio's JSON, or CSV into a database, as a run"},
    {"export", cmd_export, "FORMAT", "a run as OCP, JUnit, JSON lines, CSV or fio has it"},
    {"pack", cmd_pack, "[RUN]", "a run as one signed file, for evidence"},
    {"verify", cmd_verify, "FILE", "whether a pack was changed since it was signed"},
    {"observers", cmd_observers, "[RUN]", "what the nodes' observers saw, second by second, as CSV"},
    {"factors", cmd_factors, "", "everything that a plan can vary"},
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void help(FILE *to)
{
	fputs("usage: assay COMMAND [ARGUMENTS]\n\n"
	      "How fast, how steady and how safe is replicated storage on these bare nodes?\n\n",
	      to);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(to, "  %-9s %-6s %s\n", commands[i].name, commands[i].arguments,
		        commands[i].description);
	fputs("\n`assay COMMAND --help` says more. Exit codes: 0 all is well; 1 measured, but not every cell "
	      "has its\n"
	      "valid samples; 2 the command line, plan or lab file is wrong; 3 server or system error; 4 an "
	      "acceptance\n"
	      "criterion fails; 5 one is inconclusive; 6 all is measured but for cells that the nodes do not "
	      "support.\n",
	      to);
}

static int unknown(const char *name)
{
	unsigned int best = UINT_MAX;
	const char *nearest = commands[0].name;

	for (size_t i = 0; i < COMMANDS; i++) {
		unsigned int d = edit_distance(name, commands[i].name);

		if (d < best) {
			best = d;
			nearest = commands[i].name;
		}
	}
	fprintf(stderr, "assay: there is no command \"%s\"; the nearest is \"%s\"\n", name, nearest);
	return ASSAY_USAGE;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (argc < 2) {
		help(stderr);
		return ASSAY_USAGE;
	}
	if (!strcmp(name, "help") || !strcmp(name, "--help") || !strcmp(name, "-h")) {
		if (argc > 2) {
			char *again[] = {argv[2], "--help", NULL};

			for (size_t i = 0; i < COMMANDS; i++)
				if (!strcmp(argv[2], commands[i].name))
					return commands[i].run(2, again);
			return unknown(argv[2]);
		}
		help(stdout);
		return ASSAY_OK;
	}
	if (!strcmp(name, "--version")) {
		puts("assay " ASSAY_VERSION);
		return ASSAY_OK;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(name, commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	return unknown(name);
}
