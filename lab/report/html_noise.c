/* SPDX-License-Identifier: GPL-2.0-or-later
 * What else went on in the measuring node while samples ran. */
#include "html.h"

#include "observers.h"

#include <inttypes.h>

/* Of each cell: means of its valid samples, and what the storage NICs' counters of trouble rose by; s: what
 * is looked at of each body, which is long, taken out of it once. */
static const char noise_sql[] =
    "WITH s AS MATERIALIZED (SELECT c.ordinal AS ordinal, c.label AS label, r.measured_ns AS ns, "
    "json_extract(CAST(r.body AS TEXT), '$.evidence.before', '$.evidence.after', '$.evidence.nics') AS e "
    "FROM attempts a JOIN results r USING (run, cell_id, boot, sample, attempt) JOIN cells c USING (run, "
    "cell_id) "
    "WHERE run = ? AND a.state = 'valid' AND r.role = 'measure'), "
    "n AS (SELECT ordinal, label, ns, e ->> '$[1].context_switches' - (e ->> '$[0].context_switches') "
    "AS switches, "
    "e ->> '$[1].interrupts' - (e ->> '$[0].interrupts') AS interrupts, "
    "e ->> '$[1].cpu_busy_ns' - (e ->> '$[0].cpu_busy_ns') AS busy_ns, "
    "(SELECT sum(k.value - coalesce(e ->> ('$[2][' || nic.key || '].counters_before.' || k.key), 0)) "
    "FROM json_each(e, '$[2]') nic, json_each(nic.value, '$.counters_after') k "
    "WHERE k.key GLOB '*error*' OR k.key GLOB '*drop*' OR k.key GLOB '*missed*') AS trouble FROM s) "
    "SELECT ordinal, label, count(*), avg(ns) / 1e9, avg(switches), avg(interrupts), avg(busy_ns) / 1e9, "
    "sum(trouble) "
    "FROM n GROUP BY ordinal ORDER BY ordinal";

static void number(const struct page *p, sqlite3_stmt *row, int column)
{
	char text[32];

	fprintf(p->out, "<td>%s</td>",
	        sqlite3_column_type(row, column) == SQLITE_NULL
	            ? "–"
	            : figure_text(sqlite3_column_double(row, column), text, sizeof(text)));
}

void html_noise(const struct page *p)
{
	sqlite3_stmt *row;

	html_certificates(p);
	if (store_ask(p->report->store, &row, noise_sql, "s", p->report->run)) {
		fputs("<p class=\"warn\">The evidence cannot be read.</p>\n", p->out);
		return;
	}
	fputs(
	    "<div class=\"scroll\"><table><thead><tr><th>cell</th><th>sample, s</th><th>context switches</th>"
	    "<th>interrupts</th><th>CPU time, s</th><th>NIC errors and drops, in "
	    "all</th></tr></thead><tbody>\n",
	    p->out);
	while (store_row(p->report->store, row) == 1) {
		fputs("<tr><th scope=\"row\">", p->out);
		html_printf(p->out, "%s %s", store_text(row, 0), store_text(row, 1));
		fputs("</th>", p->out);
		for (int i = 3; i < 7; i++)
			number(p, row, i);
		fprintf(p->out, "<td>%" PRId64 "</td></tr>\n", (int64_t)sqlite3_column_int64(row, 7));
	}
	fputs("</tbody></table></div>\n<p class=\"note\">Means of the cell's valid samples on the measuring "
	      "node, from the evidence "
	      "before a sample to that after it, which is longer than the sample itself; the workload's own "
	      "are among "
	      "them. Errors and drops: what the storage NICs' counters rose by.</p>\n",
	      p->out);
	html_printed(p, NULL, observers_print);
}
