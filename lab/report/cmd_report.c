/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay report: the table of a run. */
#include "report.h"

#include "../cli.h"

#include <stdio.h>

static const char usage[] =
    "usage: assay report [RUN] [--db FILE] [--csv]\n"
    "\n"
    "The table of RUN (default: the latest). Exit code 0 only if every cell has its valid samples.\n"
    "\n"
    "  --db FILE  the database (default: assay.db)\n"
    "  --csv      the valid samples, one a line\n";

int cmd_report(int argc, char **argv)
{
	static const struct option options[] = {{"db", required_argument, NULL, 'd'},
	                                        {"csv", no_argument, NULL, 'c'},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {NULL, 0, NULL, 0}};
	const char *database = "assay.db";
	struct report *report = NULL;
	struct store *store = NULL;
	bool csv = false;
	int option;

	while ((option = cli_option(argc, argv, options)) != -1) {
		if (option == 'h')
			return fputs(usage, stdout) < 0 ? ASSAY_SYSTEM : ASSAY_OK;
		if (option == 'd')
			database = optarg;
		else if (option == 'c')
			csv = true;
		else
			return ASSAY_USAGE;
	}
	if (optind + 1 < argc)
		return cli_usage("report", "one run, please");
	if (store_open(database, STORE_EXISTING, stderr, &store))
		return ASSAY_SYSTEM;
	int r = report_load(store, argv[optind], &report);
	int result = ASSAY_SYSTEM;
	if (r == 1) {
		if (csv)
			report_csv(report, stdout);
		else
			report_print(report, stdout);
		result = report_exit(report);
	} else if (!r) {
		fprintf(stderr, "assay report: there is no run%s%s in %s\n", argv[optind] ? " " : "",
		        argv[optind] ? argv[optind] : "", database);
		result = ASSAY_USAGE;
	} else {
		fprintf(stderr, "assay report: %s\n", store_message(store));
	}
	report_free(report);
	store_close(store);
	return result;
}
