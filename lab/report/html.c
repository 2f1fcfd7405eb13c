/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html.h"

#include "../web/web.h"
#include "watch.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool tunes(const struct page *p)
{
	return p->report->tune != NULL;
}

static const struct section {
	const char *id, *title;
	void (*print)(const struct page *p);
	bool (*wanted)(const struct page *p); /* NULL: always */
} sections[] = {
    {"verdict", "Verdict", html_verdict, NULL},
    {"tune", "The best levels", html_tune, tunes},
    {"results", "Results, every sample", html_results, NULL},
    {"effects", "Effects", html_effects, NULL},
    {"order", "In the order of measuring", html_order, NULL},
    {"rate", "Rate over time", html_rate, NULL},
    {"latency", "Latency", html_latency, NULL},
    {"variance", "Where the variance comes from", html_variance, NULL},
    {"noise", "Noise", html_noise, NULL},
    {"environment", "Environment", html_environment, NULL},
    {"reproduce", "By hand", html_reproduce, NULL},
    {"bad", "What does not count, and notes", html_bad, NULL},
};
enum { SECTIONS = sizeof(sections) / sizeof(sections[0]) };

void html_printf(FILE *out, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) >= 0) {
		html_text(out, text);
		free(text);
	}
	va_end(args);
}

void html_printed(const struct page *p, const char *summary, void (*print)(const struct report *, FILE *))
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return;
	print(p->report, memory);
	fclose(memory);
	if (size) {
		if (summary)
			fprintf(p->out, "<details><summary>%s</summary>", summary);
		fputs("<pre>", p->out);
		html_text(p->out, text + strspn(text, "\n"));
		fprintf(p->out, "</pre>%s\n", summary ? "</details>" : "");
	}
	free(text);
}

void html_error(const struct page *p, const char *error)
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

const char *html_unit(const struct figure *figure)
{
	return strcmp(figure->unit, "us") ? figure->unit : "µs";
}

void html_estimate(FILE *out, const struct stats_figure *e)
{
	char middle[32], low[32], high[32];

	if (!e->samples)
		fputs("–", out);
	else if (e->interval.confidence > 0)
		fprintf(out, "<b>%s</b> [%s, %s]", figure_text(e->median, middle, sizeof(middle)),
		        figure_text(e->interval.low, low, sizeof(low)),
		        figure_text(e->interval.high, high, sizeof(high)));
	else
		fprintf(out, "<b>%s</b>", figure_text(e->median, middle, sizeof(middle)));
}

static const char *member_text(const struct page *p, size_t cell, const char *name)
{
	int axis = design_axis(p->design, name);

	return axis < 0 ? "?" : design_text(p->design, cell, (size_t)axis);
}

/* Whether cells with a workload of CELL's type differ in axis A. */
static bool differs(const struct page *p, size_t cell, size_t a)
{
	const char *type = member_text(p, cell, "workload");

	for (size_t c = 0; c < p->design->cell_count; c++)
		if (design_level(p->design, c, a) != design_level(p->design, cell, a) &&
		    !strcmp(member_text(p, c, "workload"), type))
			return true;
	return false;
}

/* "copy bs=4MiB": the type, and what tells workloads of this type apart. */
static void name_group(const struct page *p, struct group *group)
{
	const struct design *d = p->design;
	FILE *name = fmemopen(group->name, sizeof(group->name), "w");

	if (!name)
		return;
	fputs(member_text(p, group->first, "workload"), name);
	for (size_t a = 0; a < d->axis_count; a++)
		if (d->axes[a].workload && d->axes[a].varies && design_level(d, group->first, a) &&
		    differs(p, group->first, a))
			fprintf(name, " %s=%s", d->axes[a].name, design_text(d, group->first, a));
	fclose(name);
	group->name[sizeof(group->name) - 1] = '\0';
}

static int find_groups(struct page *p)
{
	size_t cells = p->design->cell_count;

	p->groups = calloc(cells + 1, sizeof(*p->groups));
	p->group = calloc(cells + 1, sizeof(*p->group));
	if (!p->groups || !p->group)
		return -ENOMEM;
	for (size_t c = 0; c < cells; c++) {
		const json_t *workload = json_object_get(json_array_get(p->design->bodies, c), "workload");
		size_t g;

		for (g = 0; g < p->group_count; g++)
			if (json_equal(workload,
			               json_object_get(json_array_get(p->design->bodies, p->groups[g].first),
			                               "workload")))
				break;
		if (g == p->group_count) {
			p->groups[g].first = c;
			p->groups[g].figure =
			    figure_of_workload(json_string_value(json_object_get(workload, "type")));
			name_group(p, &p->groups[g]);
			p->group_count++;
		}
		p->group[c] = g;
	}
	return 0;
}

static void print_head(const struct page *p)
{
	const struct report *r = p->report;
	char date[32] = "not begun";
	time_t started = r->started_unix_ns / INT64_C(1000000000);
	struct tm tm;

	if (started && gmtime_r(&started, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", &tm);
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"generator\" content=\"assay report\">\n<title>",
	      p->out);
	html_printf(p->out, "%s: %s", r->run, r->question);
	fprintf(p->out, "</title>\n<style>%s\n%s</style></head><body>\n", web_uplot_css, web_report_css);
	svg_symbols(p->out);
	fputs("<header><p class=\"run\">", p->out);
	html_printf(p->out, "Assay · run %s · plan %s · group %s · %s", r->run, r->plan, r->group, date);
	if (r->ended_unix_ns && r->started_unix_ns)
		html_printf(p->out, ", took %.0f s", (double)(r->ended_unix_ns - r->started_unix_ns) / 1e9);
	fputs("</p><h1>", p->out);
	html_text(p->out, r->question);
	fputs("</h1><nav aria-label=\"sections\">", p->out);
	for (size_t i = 0; i < SECTIONS; i++)
		if (!sections[i].wanted || sections[i].wanted(p))
			fprintf(p->out, "<a href=\"#%s\">%s</a> ", sections[i].id, sections[i].title);
	fputs("</nav></header><main>\n", p->out);
}

int html_report(const struct report *report, FILE *out)
{
	struct page p = {.out = out, .report = report};
	int r = design_load(report, &p.design);

	if (!r)
		r = find_groups(&p);
	if (!r) {
		print_head(&p);
		for (size_t i = 0; i < SECTIONS; i++) {
			if (sections[i].wanted && !sections[i].wanted(&p))
				continue;
			fprintf(out, "<section id=\"%s\"><h2>%s</h2>\n", sections[i].id, sections[i].title);
			sections[i].print(&p);
			fputs("</section>\n", out);
		}
		fprintf(out, "</main>\n<script>%s\n%s</script></body></html>\n", web_uplot_js, web_report_js);
	}
	design_free(p.design);
	free(p.groups);
	free(p.group);
	return r ? r : ferror(out) ? -EIO : 0;
}
