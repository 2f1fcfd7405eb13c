/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "modprobe.h"

#include "module.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <stdbool.h>
#include <unistd.h>

static const char usage[] =
    "usage: modprobe [-q] [--] NAME [PARAMETER=VALUE]...   load a module and what it needs\n"
    "       modprobe [-q] -r [--] NAME...                 unload modules\n";

/* The rest of the command line as the kernel takes parameters: separated by blanks. */
static int join(char **words, char *buf, size_t size)
{
	size_t at = 0;

	*buf = '\0';
	for (; *words; words++) {
		int n = snprintf(buf + at, size - at, "%s%s", at ? " " : "", *words);

		if (n < 0 || (size_t)n >= size - at)
			return -E2BIG;
		at += (size_t)n;
	}
	return 0;
}

static int report(const char *name, int r, bool quiet)
{
	if (r < 0 && !quiet)
		fprintf(stderr, "modprobe: %s: %s\n", name,
		        r == -ENOENT ? "this image has no such module" : strerror(-r));
	return r < 0;
}

int modprobe_main(int argc, char **argv)
{
	bool quiet = false, unload = false;
	char params[4096];
	int option, r, failed = 0;

	while ((option = getopt(argc, argv, "+qr")) != -1) {
		quiet |= option == 'q';
		unload |= option == 'r';
		if (option == '?')
			break;
	}
	if (option != -1 || optind >= argc) {
		fputs(usage, stderr);
		return 2;
	}
	if (unload) {
		for (; optind < argc; optind++)
			failed |= report(argv[optind], module_unload(argv[optind]), quiet);
		return failed;
	}
	r = join(argv + optind + 1, params, sizeof(params));
	if (!r)
		r = module_load(argv[optind], params);
	return report(argv[optind], r, quiet);
}
