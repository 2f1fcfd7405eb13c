/* SPDX-License-Identifier: GPL-2.0-or-later
 * What was invalid, failed, or not supported, and why; and what nodes noted of samples that count. */
#include "html.h"

#include "watch.h"

#include <inttypes.h>
#include <stdlib.h>

enum { ATTEMPTS_MAX = 500, NOTES_MAX = 200 };

static void error_text(const struct page *p, const char *error)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return;
	error_print(memory, error);
	fclose(memory);
	html_text(p->out, text);
	free(text);
}

static void failed_cells(const struct page *p)
{
	for (size_t c = 0; c < p->report->cell_count; c++) {
		const struct report_cell *cell = &p->report->cells[c];

		if (!cell->failed && !*cell->error)
			continue;
		fputs("<p class=\"warn\"><b>", p->out);
		html_printf(p->out, "Cell %" PRId64 ", %s, has no figure: ", cell->ordinal, cell->label);
		fputs("</b>", p->out);
		error_text(p, cell->error);
		fputs("</p>\n", p->out);
	}
}

static size_t attempts(const struct page *p)
{
	size_t count = 0;
	sqlite3_stmt *row;

	if (store_ask(
	        p->report->store, &row,
	        "SELECT c.ordinal, c.label, a.boot, a.sample, a.attempt, a.state, coalesce(a.reason, ''), "
	        "coalesce(a.error, '') FROM attempts a JOIN cells c USING (run, cell_id) WHERE run = ? AND "
	        "a.state IN "
	        "('invalid', 'failed', 'abandoned') ORDER BY a.opened_unix_ns",
	        "s", p->report->run))
		return 0;
	while (store_row(p->report->store, row) == 1) {
		if (count++ >= ATTEMPTS_MAX)
			continue;
		if (count == 1)
			fputs("<div "
			      "class=\"scroll\"><table><thead><tr><th>cell</th><th>boot</th><th>sample</"
			      "th><th>attempt</th>"
			      "<th>is</th><th>why</th></tr></thead><tbody>\n",
			      p->out);
		fputs("<tr><th scope=\"row\">", p->out);
		html_printf(p->out, "%s %s", store_text(row, 0), store_text(row, 1));
		for (int i = 2; i < 6; i++) {
			fputs(i == 2 ? "</th><td>" : "</td><td>", p->out);
			html_text(p->out, store_text(row, i));
		}
		fputs("</td><td>", p->out);
		if (*store_text(row, 6))
			html_text(p->out, store_text(row, 6));
		else if (*store_text(row, 7))
			error_text(p, store_text(row, 7));
		fputs("</td></tr>\n", p->out);
	}
	if (count)
		fputs("</tbody></table></div>\n", p->out);
	if (count > ATTEMPTS_MAX)
		fprintf(p->out, "<p class=\"warn\">%zu more are left out.</p>\n", count - ATTEMPTS_MAX);
	return count;
}

static void notes(const struct page *p)
{
	size_t count = 0;
	sqlite3_stmt *row;

	if (store_ask(p->report->store, &row,
	              "SELECT c.ordinal, r.node, n.value, count(*) FROM results r JOIN cells c USING (run, "
	              "cell_id), "
	              "json_each(CAST(r.body AS TEXT), '$.evidence.notes') n WHERE run = ? AND r.verdict = "
	              "'valid' GROUP BY "
	              "c.ordinal, r.node, n.value ORDER BY c.ordinal, r.node",
	              "s", p->report->run))
		return;
	while (store_row(p->report->store, row) == 1) {
		if (count++ >= NOTES_MAX)
			continue;
		fputs(count == 1 ? "<h3>Notes on samples that count</h3><ul><li>" : "<li>", p->out);
		html_printf(p->out, "cell %s, node %s: %s", store_text(row, 0), store_text(row, 1),
		            store_text(row, 2));
		if (sqlite3_column_int64(row, 3) > 1)
			html_printf(p->out, " (%s times)", store_text(row, 3));
		fputs("</li>\n", p->out);
	}
	if (count)
		fputs("</ul>\n", p->out);
	if (count > NOTES_MAX)
		fprintf(p->out, "<p>%zu more are left out.</p>\n", count - NOTES_MAX);
}

void html_bad(const struct page *p)
{
	failed_cells(p);
	if (!attempts(p))
		fputs("<p>No attempt was invalid, failed or was abandoned.</p>\n", p->out);
	notes(p);
}
