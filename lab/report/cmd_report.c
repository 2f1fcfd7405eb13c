/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay report: a run as a table, a page, or data. */
#include "html.h"
#include "pivot.h"
#include "report.h"

#include "../cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
	const char *database, *html;
	bool text, csv, json;
	struct pivot_request pivot;
};

/* CLI_GO, or the exit code. */
static int parse(int argc, char **argv, struct request *q)
{
	const struct cli_row rows[] = {
	    {"db", "FILE", "the database (default: assay.db)", .text = &q->database},
	    {"text", NULL, "the table, for terminals; the default", .set = &q->text},
	    {"csv", NULL, "the valid samples, one a line; of --rows, the table's places", .set = &q->csv},
	    {"json", NULL, "the run, its cells and its valid samples, each on a line", .set = &q->json},
	    {"html", "FILE",
	     "a page to FILE (-: to stdout): one file, readable offline, in print and without JavaScript",
	     .text = &q->html},
	    {"rows", "NAME",
	     "medians by the levels of NAME: a factor, a parameter of the workload, boots, or node; one "
	     "table for "
	     "each combination of what else varies",
	     .text = &q->pivot.rows},
	    {"columns", "NAME", "with --rows: what goes to the right", .text = &q->pivot.columns},
	    {"value", "FIGURE",
	     "with --rows: mb_per_s (default), iops, p50_us, p99_us, p99_9_us, rtt_us, stall_ms "
	     "or read_s",
	     .text = &q->pivot.value},
	    {0},
	};
	const struct cli_command command = {
	    "[RUN]",
	    "What RUN (default: the latest) measured. Exit code 0 only if every cell has its valid samples.",
	    NULL, rows};
	int result;

	*q = (struct request){.database = "assay.db"};
	result = cli_parse(argc, argv, &command);
	if (result != CLI_GO)
		return result;
	if (optind + 1 < argc)
		return cli_usage("report", "one run, please");
	if (q->text + q->csv + q->json + !!q->html > 1)
		return cli_usage("report", "one of --text, --csv, --json, --html");
	if ((q->pivot.columns || q->pivot.value) && !q->pivot.rows)
		return cli_usage("report", "--columns and --value go with --rows");
	if (q->pivot.rows && (q->json || q->html))
		return cli_usage("report", "--rows prints text or --csv");
	q->pivot.csv = q->csv;
	return CLI_GO;
}

/* Complete or not at all: what was in FILE before stays until the page is whole. */
static int page_to(const struct report *report, const char *file)
{
	char *part;

	if (asprintf(&part, "%s.part", file) < 0)
		return -ENOMEM;
	FILE *out = fopen(part, "we");
	int r = out ? html_report(report, out) : -errno;

	if (out && fclose(out) && !r)
		r = -errno;
	if (!r && rename(part, file))
		r = -errno;
	if (r && out)
		unlink(part);
	if (r)
		fprintf(stderr, "assay report: %s cannot be written\n", file);
	free(part);
	return r;
}

/* 0, -EINVAL where the request was wrong (and that was said), or -errno. */
static int print(const struct report *report, const struct request *q)
{
	int r = 0;

	if (q->pivot.rows)
		r = pivot_print(report, &q->pivot, stdout);
	else if (q->html && strcmp(q->html, "-"))
		return page_to(report, q->html);
	else if (q->html)
		r = html_report(report, stdout);
	else if (q->csv)
		report_csv(report, stdout);
	else if (q->json)
		r = report_json(report, stdout);
	else
		report_print(report, stdout);
	return !r && fflush(stdout) ? -errno : r;
}

int cmd_report(int argc, char **argv)
{
	struct report *report = NULL;
	struct store *store = NULL;
	struct request q;
	int result = parse(argc, argv, &q);

	if (result != CLI_GO)
		return result;
	if (store_open(q.database, STORE_EXISTING, stderr, &store))
		return ASSAY_SYSTEM;
	int r = report_load(store, argv[optind], &report);
	result = ASSAY_SYSTEM;
	if (r == 1) {
		r = print(report, &q);
		result = r == -EINVAL ? ASSAY_USAGE : r ? ASSAY_SYSTEM : report_exit(report);
		if (r && r != -EINVAL)
			fprintf(stderr, "assay report: %s\n", strerror(-r));
	} else if (!r) {
		fprintf(stderr, "assay report: there is no run%s%s in %s\n", argv[optind] ? " " : "",
		        argv[optind] ? argv[optind] : "", q.database);
		result = ASSAY_USAGE;
	} else {
		fprintf(stderr, "assay report: %s\n", store_message(store));
	}
	report_free(report);
	store_close(store);
	return result;
}
