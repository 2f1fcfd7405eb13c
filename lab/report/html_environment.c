/* SPDX-License-Identifier: GPL-2.0-or-later
 * What was measured with: kernel, image, nodes, plan. */
#include "html.h"

#include "environment.h"

#include <inttypes.h>

static void fact(const struct page *p, const struct fact *f)
{
	bool first = true;
	sqlite3_stmt *row;

	fprintf(p->out, "<tr><th scope=\"row\">%s</th><td>", f->name);
	if (!store_ask(p->report->store, &row, f->sql, "s", p->report->run)) {
		while (store_row(p->report->store, row) == 1) {
			if (!*store_text(row, 0))
				continue;
			fputs(first ? "" : "<br>", p->out);
			html_text(p->out, store_text(row, 0));
			first = false;
		}
	}
	fputs(first ? "not known</td></tr>\n" : "</td></tr>\n", p->out);
}

static void pre(const struct page *p, const char *summary, const char *sql)
{
	sqlite3_stmt *row;

	if (store_ask(p->report->store, &row, sql, "s", p->report->run))
		return;
	while (store_row(p->report->store, row) == 1) {
		fprintf(p->out, "<details><summary>%s</summary><pre>", summary);
		html_text(p->out, store_text(row, 0));
		fputs("</pre></details>\n", p->out);
	}
}

void html_environment(const struct page *p)
{
	const struct report *r = p->report;
	sqlite3_stmt *row;

	fputs("<table class=\"facts\"><tbody>\n", p->out);
	for (size_t i = 0; i < environment_fact_count; i++)
		fact(p, &environment_facts[i]);
	fputs("<tr><th scope=\"row\">order</th><td>", p->out);
	html_printf(p->out, "%s", r->shuffled ? "shuffled" : "as written");
	if (r->shuffled)
		html_printf(p->out, ", seed %" PRId64, r->seed);
	html_printf(p->out, ", %" PRId64 " block%s of boots", r->boots, r->boots == 1 ? "" : "s");
	fputs("</td></tr>\n<tr><th scope=\"row\">plan</th><td>", p->out);
	html_printf(p->out, "%s, sha256 %s", r->plan, r->plan_sha256);
	fputs("</td></tr></tbody></table>\n", p->out);
	if (!store_ask(r->store, &row, environment_warnings_sql, "s", r->run)) {
		while (store_row(r->store, row) == 1) {
			fputs("<p class=\"warn\">", p->out);
			html_printf(p->out, "Node %s: %s", store_text(row, 0), store_text(row, 1));
			fputs("</p>\n", p->out);
		}
	}
	html_printed(p, "Legs of the storage network, as proven", paths_print);
	pre(p, "The plan", "SELECT plan_text FROM runs WHERE run = ?");
	pre(p, "Nodes and disks, as the lab file had them", "SELECT lab FROM runs WHERE run = ?");
}
