/* SPDX-License-Identifier: GPL-2.0-or-later
 * A run in the formats of other tools, and the lab as a page that Prometheus reads.
 *
 * All give 0 or -errno; what is wrong with a folder is said on stderr. */
#ifndef ASSAY_EXPORT_H
#define ASSAY_EXPORT_H

#include "../report/report.h"

#include <jansson.h>

/* JUnit XML: a test case for each criterion and each cell. */
int export_junit(const struct report *report, FILE *out);

/* JSON lines: the run, its cells with their states, its valid samples, and the attempts that do not count. */
int export_jsonl(const struct report *report, FILE *out);

/* The aio samples as fio --output-format=json+ has its jobs. */
int export_fio(const struct report *report, FILE *out);
/* Their seconds as fio's logs of bandwidth, IOPS and latency, three files a sample in FOLDER. */
int export_fio_logs(const struct report *report, const char *folder);

/* OCP Test & Validation output 2.0: the campaign, then each boot, one stream after the other, to OUT; or each
 * to a file of FOLDER, with the results as files that the streams refer to. */
int export_ocp(const struct report *report, FILE *out);
int export_ocp_folder(const struct report *report, const char *folder);

/* The dashboard for Grafana that goes with the metrics below. */
int export_grafana(FILE *out);

#define METRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"
/* The lab as OpenMetrics text; NOW_UNIX_NS: what ages are counted from. */
int metrics_print(struct store *store, int64_t now_unix_ns, FILE *out);

/* --- shared by the formats --- */

/* A file of FOLDER, which is made where it is missing; complains itself. NULL: errno says why. */
FILE *export_open(const char *folder, const char *name);
/* Closes it; R, or why it is not whole. */
int export_close(FILE *file, int r);

/* The body of a result: ROW's column; the caller owns it; NULL where it is none. */
json_t *export_body(sqlite3_stmt *row, int column);

/* TIME as RFC 3339 in UTC, with all nine digits. Gives TEXT. */
const char *export_time(int64_t unix_ns, char text[40]);

#endif
