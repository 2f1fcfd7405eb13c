/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay observers: what the nodes' observers saw, as CSV. */
#include "observers.h"

#include "../cli.h"

#include <stdio.h>

static const char usage[] =
    "usage: assay observers [RUN] [--db FILE] [--cell N]\n"
    "\n"
    "What the nodes' observers saw once a second while the valid samples of RUN (default: the latest) ran: "
    "disks, "
    "CPUs,\n"
    "interrupts, threads, DRBD and its TCP connections; one value a line, for spreadsheets and scripts.\n"
    "\n"
    "  --db FILE  the database (default: assay.db)\n"
    "  --cell N   only of cell N, as `assay report` numbers them\n";

int cmd_observers(int argc, char **argv)
{
	static const struct option options[] = {{"db", required_argument, NULL, 'd'},
	                                        {"cell", required_argument, NULL, 'c'},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {NULL, 0, NULL, 0}};
	const char *database = "assay.db";
	struct report *report = NULL;
	struct store *store = NULL;
	uint64_t cell = 0;
	int option, result = ASSAY_OK;

	while ((option = cli_option(argc, argv, options)) != -1) {
		if (option == 'h')
			return fputs(usage, stdout) < 0 ? ASSAY_SYSTEM : ASSAY_OK;
		if (option == 'd')
			database = optarg;
		else if (option != 'c' || !cli_number("--cell", optarg, INT32_MAX, &cell))
			return ASSAY_USAGE;
	}
	if (optind + 1 < argc)
		return cli_usage("observers", "one run, please");
	if (store_open(database, STORE_EXISTING, stderr, &store))
		return ASSAY_SYSTEM;
	int r = report_load(store, argv[optind], &report);
	if (!r) {
		fprintf(stderr, "assay observers: there is no run%s%s in %s\n", argv[optind] ? " " : "",
		        argv[optind] ? argv[optind] : "", database);
		result = ASSAY_USAGE;
	} else if (r < 0 || observers_csv(report, (int64_t)cell, stdout)) {
		fprintf(stderr, "assay observers: %s\n", store_message(store));
		result = ASSAY_SYSTEM;
	}
	report_free(report);
	store_close(store);
	return result;
}
