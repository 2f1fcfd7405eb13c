/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli.h"
#include "factor.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *nearest_option(const char *name, const struct option *options)
{
	unsigned int best = UINT_MAX;
	const char *nearest = "help";

	for (; options->name; options++) {
		unsigned int d = edit_distance(name, options->name);

		if (d < best) {
			best = d;
			nearest = options->name;
		}
	}
	return nearest;
}

int cli_option(int argc, char **argv, const struct option *options)
{
	int at = optind, option, index = -1;
	char name[64];

	opterr = 0;
	option = getopt_long(argc, argv, ":h", options, &index);
	if (option == ':') {
		cli_usage(argv[0], "%s needs a value", argv[optind - 1]);
		return '?';
	}
	if (option != '?')
		return option;
	/* getopt permutes: what it complains of is the word before optind, or at it for a short option. */
	const char *word = optind > at || optind > 1 ? argv[optind - 1] : argv[optind];

	if (strncmp(word, "--", 2)) {
		cli_usage(argv[0], "unknown option -%c", optopt ? optopt : '?');
		return '?';
	}
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	if (optopt)
		cli_usage(argv[0], "--%s takes no value", name);
	else
		cli_usage(argv[0], "unknown or ambiguous option --%s; the nearest is --%s", name,
		          nearest_option(name, options));
	return '?';
}

enum { ROWS_MAX = 24, HELP_COLUMNS = 100 };

/* WHAT, words wrapped, every line but the first indented by INDENT. */
static void print_wrapped(const char *what, int indent)
{
	int column = indent;

	while (*what) {
		int word = (int)strcspn(what, " ");

		if (column > indent && column + 1 + word > HELP_COLUMNS) {
			printf("\n%*s", indent, "");
			column = indent;
		}
		column += printf("%s%.*s", column > indent ? " " : "", word, what);
		what += word;
		what += *what == ' ';
	}
	putchar('\n');
}

static int print_help(const char *name, const struct cli_command *command)
{
	int width = 0;

	printf("usage: assay %s%s%s [OPTION...]\n\n", name, *command->operands ? " " : "", command->operands);
	print_wrapped(command->about, 0);
	putchar('\n');
	for (const struct cli_row *row = command->rows; row->name; row++) {
		int own = (int)(strlen(row->name) + (row->value ? 1 + strlen(row->value) : 0));

		width = own > width ? own : width;
	}
	for (const struct cli_row *row = command->rows; row->name; row++) {
		int used =
		    printf("  --%s%s%s", row->name, row->value ? " " : "", row->value ? row->value : "");

		printf("%*s", width + 6 - used, "");
		print_wrapped(row->help, width + 6);
	}
	printf("  --help%*sthis\n", width - 2, "");
	if (command->after)
		printf("\n%s", command->after);
	return fflush(stdout) ? ASSAY_SYSTEM : ASSAY_OK;
}

static bool take(const char *command, const struct cli_row *row)
{
	char name[64];

	if (row->set)
		*row->set = true;
	if (row->text)
		*row->text = optarg;
	if (row->number) {
		snprintf(name, sizeof(name), "--%s", row->name);
		return cli_number(name, optarg, row->max, row->number);
	}
	return !row->parse || row->parse(command, optarg, row->to);
}

int cli_parse(int argc, char **argv, const struct cli_command *command)
{
	struct option options[ROWS_MAX + 2] = {{"help", no_argument, NULL, 'h'}};
	int option;

	/* Above every letter, so that they are told from those of getopt. */
	for (int i = 0; i < ROWS_MAX && command->rows[i].name; i++)
		options[i + 1] =
		    (struct option){command->rows[i].name,
		                    command->rows[i].value ? required_argument : no_argument, NULL, 256 + i};
	while ((option = cli_option(argc, argv, options)) != -1) {
		if (option == 'h')
			return print_help(argv[0], command);
		if (option < 256 || !take(argv[0], &command->rows[option - 256]))
			return ASSAY_USAGE;
	}
	return CLI_GO;
}

bool cli_number(const char *option, const char *text, uint64_t max, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *out <= max)
		return true;
	fprintf(stderr, "assay: %s takes a whole number from 0 to %llu, not \"%s\"\n", option,
	        (unsigned long long)max, text);
	return false;
}

int cli_usage(const char *command, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "assay %s: ", command);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "; see `assay %s --help`\n", command);
	return ASSAY_USAGE;
}
