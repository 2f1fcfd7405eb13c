/* SPDX-License-Identifier: GPL-2.0-or-later
 * The lab as OpenMetrics text (OpenMetrics 1.0): nodes, the latest run of each group, and what of it was
 * measured. A query's last column is the value, those before it are labels. */
#include "export.h"

#include <errno.h>
#include <string.h>

#define LATEST "SELECT max(number) FROM runs GROUP BY group_name"
#define RUNS   "FROM runs r WHERE r.number IN (" LATEST ")"
#define OF_RUN "r.run, r.group_name, r.plan_name"
#define ATTEMPTS(state)                                                                                      \
	"SELECT " OF_RUN ", '" state                                                                         \
	"', (SELECT count(*) FROM attempts a WHERE a.run = r.run AND a.state = '" state "') " RUNS

static const struct family {
	const char *name, *type, *unit, *help;
	const char *labels[6];
	const char *sql; /* ?1: now, Unix ns */
} families[] = {
    {"assay_node_step",
     "gauge",
     NULL,
     "1 for the step that a node is in.",
     {"group", "node", "step"},
     "SELECT group_name, node, step, 1 FROM nodes ORDER BY 1, 2"},
    {"assay_node_step_seconds",
     "gauge",
     "seconds",
     "How long a node has been in its step.",
     {"group", "node"},
     "SELECT group_name, node, (?1 - since_unix_ns) / 1e9 FROM nodes ORDER BY 1, 2"},
    {"assay_node_silence_seconds",
     "gauge",
     "seconds",
     "Since a node was last heard; while it measures it is silent on purpose.",
     {"group", "node"},
     "SELECT group_name, node, (?1 - seen_unix_ns) / 1e9 FROM nodes ORDER BY 1, 2"},
    {"assay_strangers",
     "gauge",
     NULL,
     "Machines that asked for a boot script and are not in the lab file.",
     {NULL},
     "SELECT count(*) FROM strangers"},
    {"assay_errors",
     "counter",
     NULL,
     "Errors that nodes or lab reported.",
     {NULL},
     "SELECT coalesce(max(id), 0) FROM errors"},
    {"assay_refused",
     "counter",
     NULL,
     "Requests that were not accepted.",
     {NULL},
     "SELECT coalesce(max(id), 0) FROM refused"},
    {"assay_run_state",
     "gauge",
     NULL,
     "1 for the state of each group's latest run.",
     {"run", "group", "plan", "state"},
     "SELECT " OF_RUN ", r.state, 1 " RUNS " ORDER BY 2"},
    {"assay_run_samples_wanted",
     "gauge",
     NULL,
     "Valid samples that the latest run shall have.",
     {"run", "group", "plan"},
     "SELECT " OF_RUN ", r.samples * (SELECT count(*) FROM visits v JOIN cells c USING (run, cell_id) WHERE "
     "v.run = r.run AND NOT c.failed AND (c.enough IS NULL OR v.boot <= c.enough)) " RUNS " ORDER BY 2"},
    {"assay_run_attempts",
     "counter",
     NULL,
     "Samples of the latest run that were tried, by what came of them.",
     {"run", "group", "plan", "state"},
     ATTEMPTS("valid") " UNION ALL " ATTEMPTS("invalid") " UNION ALL " ATTEMPTS(
         "failed") " UNION ALL " ATTEMPTS("abandoned") " ORDER BY 2, 4"},
    {"assay_cell_samples_valid",
     "gauge",
     NULL,
     "Valid samples of a cell of the latest run.",
     {"run", "group", "cell", "label"},
     "SELECT r.run, r.group_name, c.ordinal, c.label, (SELECT count(*) FROM attempts a WHERE a.run = c.run "
     "AND "
     "a.cell_id = c.cell_id AND a.state = 'valid') FROM cells c JOIN runs r USING (run) WHERE r.number IN "
     "(" LATEST ") ORDER BY 2, c.ordinal"},
    {"assay_cell_throughput_bytes_per_second",
     "gauge",
     "bytes_per_second",
     "Throughput of the last valid sample of a cell of the latest run.",
     {"run", "group", "cell", "label", "node"},
     "SELECT run, group_name, ordinal, label, node, rate FROM (SELECT r.run, r.group_name, c.ordinal, "
     "c.label, "
     "s.node, 1e9 * s.measured_bytes / s.measured_ns AS rate, max(s.committed_unix_ns) FROM results s JOIN "
     "attempts a USING (run, cell_id, boot, sample, attempt) JOIN cells c USING (run, cell_id) JOIN runs r "
     "USING "
     "(run) WHERE r.number IN (" LATEST
     ") AND a.state = 'valid' AND s.role = 'measure' AND s.measured_ns > 0 "
     "GROUP BY r.run, c.ordinal) ORDER BY 2, 3"},
    {"assay_database_bytes",
     "gauge",
     "bytes",
     "The size of the database.",
     {NULL},
     "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"},
};

/* TEXT as a label's value. */
static void label(FILE *out, const char *name, const char *text, bool first)
{
	fprintf(out, "%s%s=\"", first ? "{" : ",", name);
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

static int print_family(struct store *store, const struct family *f, int64_t now_unix_ns, FILE *out)
{
	sqlite3_stmt *row;
	int r = strchr(f->sql, '?') ? store_ask(store, &row, f->sql, "i", now_unix_ns)
	                            : store_ask(store, &row, f->sql, "");

	fprintf(out, "# TYPE %s %s\n", f->name, f->type);
	if (f->unit)
		fprintf(out, "# UNIT %s %s\n", f->name, f->unit);
	fprintf(out, "# HELP %s %s\n", f->name, f->help);
	while (!r && (r = store_row(store, row)) == 1) {
		int labels = 0;

		fprintf(out, "%s%s", f->name, strcmp(f->type, "counter") ? "" : "_total");
		for (; f->labels[labels]; labels++)
			label(out, f->labels[labels], store_text(row, labels), labels == 0);
		fprintf(out, "%s %.17g\n", labels ? "}" : "", sqlite3_column_double(row, labels));
		r = 0;
	}
	return r;
}

int metrics_print(struct store *store, int64_t now_unix_ns, FILE *out)
{
	int r = 0;

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]) && !r; i++)
		r = print_family(store, &families[i], now_unix_ns, out);
	fputs("# EOF\n", out);
	return !r && ferror(out) ? -EIO : r;
}
