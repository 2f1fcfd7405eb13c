/* SPDX-License-Identifier: GPL-2.0-or-later
 * JUnit XML, as CI servers read it: failure is a criterion that fails; error is what could not be decided, or
 * a cell without its samples; skipped is what the nodes do not support. */
#include "export.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

enum outcome { PASSED, FAILED, UNDECIDED, SKIPPED, OUTCOMES };

static const char *const elements[OUTCOMES] = {NULL, "failure", "error", "skipped"};

/* TEXT as an attribute's value. What XML 1.0 has no way to say becomes U+FFFD. */
static void escaped(FILE *out, const char *text)
{
	for (const unsigned char *t = (const unsigned char *)text; *t; t++) {
		if (*t == 0xef && t[1] == 0xbf && (t[2] == 0xbe || t[2] == 0xbf)) {
			fputs("\xef\xbf\xbd", out);
			t += 2;
		} else if (strchr("<>&\"'\n\r\t", *t)) {
			fprintf(out, "&#%u;", *t);
		} else if (*t < 0x20) {
			fputs("\xef\xbf\xbd", out);
		} else {
			fputc(*t, out);
		}
	}
}

static void attribute(FILE *out, const char *name, const char *value)
{
	fprintf(out, " %s=\"", name);
	escaped(out, value);
	fputc('"', out);
}

static void test_case(FILE *out, const char *suite, const char *name, double seconds, enum outcome outcome,
                      const char *message)
{
	fputs("    <testcase", out);
	attribute(out, "classname", suite);
	attribute(out, "name", name);
	fprintf(out, " time=\"%.3f\"", seconds);
	if (outcome == PASSED && !*message) {
		fputs("/>\n", out);
		return;
	}
	fputs(">\n      ", out);
	if (outcome == PASSED) {
		fputs("<system-out>", out);
		escaped(out, message);
		fputs("</system-out>", out);
	} else {
		fprintf(out, "<%s", elements[outcome]);
		attribute(out, "message", message);
		if (outcome != SKIPPED)
			attribute(out, "type", suite);
		fputs("/>", out);
	}
	fputs("\n    </testcase>\n", out);
}

static enum outcome outcome_of(const struct accept_verdict *v)
{
	return v->acceptance == STATS_PASS ? PASSED : v->acceptance == STATS_FAIL ? FAILED : UNDECIDED;
}

static enum outcome cell_outcome(const struct report_cell *cell)
{
	return cell->unsupported ? SKIPPED : cell->sample_count == (size_t)cell->wanted ? PASSED : UNDECIDED;
}

static double cell_seconds(const struct report_cell *cell)
{
	double seconds = 0;

	for (size_t i = 0; i < cell->sample_count; i++)
		seconds += (double)cell->samples[i].ns / 1e9;
	return seconds;
}

static void criterion(const struct accept_verdict *v, FILE *out)
{
	char name[512], message[512], value[32], low[32], high[32];
	int used;

	snprintf(name, sizeof(name), "%s %s %s: %s", v->metric->name, v->at_least ? "at least" : "at most",
	         v->text, v->subject);
	used = snprintf(message, sizeof(message), "%s",
	                v->known ? metric_text(v->metric, v->value, value, sizeof(value)) : "no value");
	if (v->known && v->interval.confidence > 0)
		used += snprintf(message + used, sizeof(message) - (size_t)used, " (%s to %s at %.1f %%)",
		                 metric_text(v->metric, v->interval.low, low, sizeof(low)),
		                 metric_text(v->metric, v->interval.high, high, sizeof(high)),
		                 v->interval.confidence * 100);
	snprintf(message + used, sizeof(message) - (size_t)used, "%s%s%s%s%s",
	         v->acceptance == STATS_INCONCLUSIVE ? "; inconclusive" : "", *v->why ? ": " : "", v->why,
	         *v->note ? "; " : "", v->note);
	test_case(out, "acceptance", name, 0, outcome_of(v), message);
}

/* error.json as people read it: step, object, what and what to do; as it is where it is none. */
static void error_text(const char *body, char *text, size_t size)
{
	const char *node, *step, *object, *message, *remedy;
	json_t *error = json_loads(body, 0, NULL);

	if (json_unpack(error, "{ss ss ss ss ss}", "node", &node, "step", &step, "object", &object, "message",
	                &message, "remedy", &remedy))
		snprintf(text, size, "%s", body);
	else
		snprintf(text, size, "node %s, step %s, %s: %s. %s", node, step, object, message, remedy);
	json_decref(error);
}

static void cell_case(const struct report_cell *cell, FILE *out)
{
	char name[512], message[1200] = "", error[1024] = "";

	snprintf(name, sizeof(name), "cell %" PRId64 ": %s", cell->ordinal, cell->label);
	if (*cell->error)
		error_text(cell->error, error, sizeof(error));
	if (cell_outcome(cell) != PASSED)
		snprintf(message, sizeof(message), "%zu of %" PRId64 " samples are valid%s%s",
		         cell->sample_count, cell->wanted, *error ? ": " : "", error);
	test_case(out, "measured", name, cell_seconds(cell), cell_outcome(cell), message);
}

static void property(FILE *out, const char *name, const char *value)
{
	fputs("      <property", out);
	attribute(out, "name", name);
	attribute(out, "value", value);
	fputs("/>\n", out);
}

static void suite_head(const struct report *report, const size_t counts[OUTCOMES], size_t all, FILE *out)
{
	char number[32], begun[40];

	fputs("  <testsuite", out);
	attribute(out, "name", report->plan);
	fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"", all, counts[FAILED],
	        counts[UNDECIDED], counts[SKIPPED]);
	if (report->started_unix_ns) {
		export_time(report->started_unix_ns, begun);
		begun[19] = '\0';
		attribute(out, "timestamp", begun);
	}
	if (report->ended_unix_ns > report->started_unix_ns)
		fprintf(out, " time=\"%.3f\"",
		        (double)(report->ended_unix_ns - report->started_unix_ns) / 1e9);
	attribute(out, "hostname", report->group);
	fputs(">\n    <properties>\n", out);
	property(out, "run", report->run);
	property(out, "question", report->question);
	property(out, "plan_sha256", report->plan_sha256);
	property(out, "scale", *report->scale ? report->scale : "1");
	snprintf(number, sizeof(number), "%" PRId64, report->seed);
	property(out, "seed", number);
	fputs("    </properties>\n", out);
}

int export_junit(const struct report *report, FILE *out)
{
	const struct acceptance *a = report->acceptance;
	size_t counts[OUTCOMES] = {0}, all = report->cell_count + (a ? a->count : 0);

	for (size_t i = 0; a && i < a->count; i++)
		counts[outcome_of(&a->verdicts[i])]++;
	for (size_t i = 0; i < report->cell_count; i++)
		counts[cell_outcome(&report->cells[i])]++;
	fprintf(out,
	        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"assay\" tests=\"%zu\" "
	        "failures=\"%zu\" errors=\"%zu\">\n",
	        all, counts[FAILED], counts[UNDECIDED]);
	suite_head(report, counts, all, out);
	for (size_t i = 0; a && i < a->count; i++)
		criterion(&a->verdicts[i], out);
	for (size_t i = 0; i < report->cell_count; i++)
		cell_case(&report->cells[i], out);
	fputs("  </testsuite>\n</testsuites>\n", out);
	return 0;
}
