/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay export: a run in other tools' formats. */
#include "export.h"

#include "../cli.h"
#include "factor.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int csv(const struct report *report, FILE *out)
{
	report_csv(report, out);
	return 0;
}

static int grafana(const struct report *report, FILE *out)
{
	(void)report;
	return export_grafana(out);
}

static const struct format {
	const char *name;
	int (*stream)(const struct report *report, FILE *out);         /* NULL: only to a folder */
	int (*folder)(const struct report *report, const char *where); /* NULL: only to a file */
	bool any;                                                      /* it is of no run */
	const char *what;
} formats[] = {
    {"csv", csv, NULL, false, "the valid samples, one a line, as `assay report --csv`"},
    {"jsonl", export_jsonl, NULL, false, "run, cells, samples and what does not count: JSON, one a line"},
    {"junit", export_junit, NULL, false, "acceptance as JUnit XML, for whatever shows test results"},
    {"ocp", export_ocp, export_ocp_folder, false,
     "OCP Test & Validation output 2.0: the campaign and each boot"},
    {"fio", export_fio, NULL, false, "the samples of aio as fio --output-format=json+ prints jobs"},
    {"fio-logs", NULL, export_fio_logs, false,
     "their seconds as fio's logs of bandwidth, IOPS and latency; needs --to FOLDER"},
    {"grafana", grafana, NULL, true, "the dashboard that goes with `assay serve --metrics`"},
};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

struct request {
	const char *database, *to, *run;
	const struct format *format;
};

static const struct format *find(const char *name)
{
	const struct format *nearest = formats;
	unsigned int best = UINT_MAX;

	for (size_t i = 0; i < FORMATS; i++) {
		unsigned int d = edit_distance(name, formats[i].name);

		if (!d)
			return &formats[i];
		if (d < best) {
			best = d;
			nearest = &formats[i];
		}
	}
	cli_usage("export", "there is no format \"%s\"; the nearest is \"%s\"", name, nearest->name);
	return NULL;
}

static int parse(int argc, char **argv, struct request *q)
{
	const struct cli_row rows[] = {
	    {"db", "FILE", "the database (default: assay.db)", .text = &q->database},
	    {"to", "PATH", "a file, complete or not at all; of ocp and fio-logs a folder (default: stdout)",
	     .text = &q->to},
	    {0},
	};
	char after[1024];
	size_t used = (size_t)snprintf(after, sizeof(after), "Formats:\n");
	struct cli_command command = {
	    "FORMAT [RUN]",
	    "RUN (default: the latest) in a format that other tools read. Exit code 0: it was written, "
	    "whatever came of the run.",
	    after, rows};
	int result;

	*q = (struct request){.database = "assay.db"};
	for (size_t i = 0; i < FORMATS && used < sizeof(after); i++)
		used += (size_t)snprintf(after + used, sizeof(after) - used, "  %-9s %s\n", formats[i].name,
		                         formats[i].what);
	result = cli_parse(argc, argv, &command);
	if (result != CLI_GO)
		return result;
	if (optind >= argc || optind + 2 < argc)
		return cli_usage("export", "%s", optind < argc ? "one run, please" : "which format?");
	q->format = find(argv[optind]);
	if (!q->format)
		return ASSAY_USAGE;
	q->run = argv[optind + 1];
	if (!q->format->stream && !q->to)
		return cli_usage("export", "%s is several files: --to FOLDER", q->format->name);
	return CLI_GO;
}

/* Complete or not at all: what was in the file before stays until the new one is whole. */
static int to_file(const struct report *report, const struct request *q)
{
	char *part;

	if (asprintf(&part, "%s.part", q->to) < 0)
		return -ENOMEM;
	FILE *out = fopen(part, "we");
	int r = out ? q->format->stream(report, out) : -errno;

	if (out)
		r = export_close(out, r);
	if (!r && rename(part, q->to))
		r = -errno;
	if (r && out)
		unlink(part);
	if (r)
		fprintf(stderr, "assay export: %s cannot be written\n", q->to);
	free(part);
	return r;
}

static int write_it(const struct report *report, const struct request *q)
{
	if (q->to && q->format->folder)
		return q->format->folder(report, q->to);
	if (q->to)
		return to_file(report, q);
	int r = q->format->stream(report, stdout);

	return !r && fflush(stdout) ? -errno : r;
}

static int from_store(const struct request *q)
{
	struct report *report = NULL;
	struct store *store = NULL;
	int result = ASSAY_SYSTEM;

	if (store_open(q->database, STORE_EXISTING, stderr, &store))
		return ASSAY_SYSTEM;
	int r = report_load(store, q->run, &report);
	if (r == 1) {
		r = write_it(report, q);
		result = r == -ENODATA ? ASSAY_USAGE : r ? ASSAY_SYSTEM : ASSAY_OK;
		if (r == -ENODATA)
			fprintf(stderr, "assay export: run %s has nothing for %s: no valid sample of aio\n",
			        report->run, q->format->name);
		else if (r)
			fprintf(stderr, "assay export: %s\n", strerror(-r));
	} else if (!r) {
		fprintf(stderr, "assay export: there is no run%s%s in %s\n", q->run ? " " : "",
		        q->run ? q->run : "", q->database);
		result = ASSAY_USAGE;
	} else {
		fprintf(stderr, "assay export: %s\n", store_message(store));
	}
	report_free(report);
	store_close(store);
	return result;
}

int cmd_export(int argc, char **argv)
{
	struct request q;
	int result = parse(argc, argv, &q);

	if (result != CLI_GO)
		return result;
	if (q.format->any)
		return write_it(NULL, &q) ? ASSAY_SYSTEM : ASSAY_OK;
	return from_store(&q);
}
