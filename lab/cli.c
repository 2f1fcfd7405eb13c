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
