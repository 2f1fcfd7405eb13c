/* SPDX-License-Identifier: GPL-2.0-or-later
 * The command line of `assay`: subcommands and what they share. */
#ifndef ASSAY_CLI_H
#define ASSAY_CLI_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#define ASSAY_VERSION "0.1"

/* Exit codes of every subcommand. */
enum assay_exit {
	ASSAY_OK = 0,
	ASSAY_NOT_VALID = 1,   /* measured, but not every cell has its valid samples */
	ASSAY_USAGE = 2,       /* command line, plan or lab file is wrong */
	ASSAY_SYSTEM = 3,      /* server or system error */
	ASSAY_FAILED = 4,      /* measured, and an acceptance criterion fails */
	ASSAY_UNDECIDED = 5,   /* measured, no criterion fails, but one is inconclusive */
	ASSAY_UNSUPPORTED = 6, /* measured, but for cells that the nodes do not support */
	/* of assay compare, where 1 is: something is worse */
	ASSAY_WORSE = 1,
	ASSAY_NOT_COMPARABLE = 7, /* something differs that was not asked about */
};

/* Subcommands; argv[0] is the subcommand's name. They give an enum assay_exit. */
int cmd_plan(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_factors(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_observers(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_pack(int argc, char **argv);
int cmd_verify(int argc, char **argv);

/* Like getopt_long() with no short options but -h, and val of every long option its own; prints what is
 * wrong, and the nearest option for an unknown one. -1 at the end, '?' for an error that was printed, 'h' for
 * help. */
int cli_option(int argc, char **argv, const struct option *options);

/* A row of a subcommand's table of options: what --help says, and where the value goes. */
struct cli_row {
	const char *name;  /* without --; NULL ends the table */
	const char *value; /* what --help calls it; NULL: it takes none */
	const char *help;
	bool *set; /* made true; NULL: nobody asks */
	/* At most one of these, where it takes a value; PARSE complains itself with cli_usage(). */
	const char **text;
	uint64_t *number, max;
	bool (*parse)(const char *command, const char *text, void *to);
	void *to;
};

struct cli_command {
	const char *operands; /* of the usage line: "PLAN" */
	const char *about;    /* what it does, for --help */
	const char *after;    /* below the options; NULL: nothing */
	const struct cli_row *rows;
};

enum { CLI_GO = -1 };

/* Reads the options of ARGV (argv[0]: the subcommand's name) by COMMAND's table; optind is then the first
 * operand. CLI_GO, or an enum assay_exit with which to end: --help was printed, or a complaint. */
int cli_parse(int argc, char **argv, const struct cli_command *command);

/* TEXT as a whole decimal number up to MAX. False where it is none; says so on stderr, naming OPTION. */
bool cli_number(const char *option, const char *text, uint64_t max, uint64_t *out);

/* "assay COMMAND: what; see `assay COMMAND --help`" on stderr; gives ASSAY_USAGE. */
__attribute__((format(printf, 2, 3))) int cli_usage(const char *command, const char *format, ...);

#endif
