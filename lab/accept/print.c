/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "accept.h"

#include <string.h>

static const char *const words[] = {
    [STATS_PASS] = "pass",
    [STATS_FAIL] = "fail",
    [STATS_INCONCLUSIVE] = "inconclusive",
};

static void print_verdict(const struct accept_verdict *v, FILE *out)
{
	char text[32];

	fprintf(out, "  %-12s  %s %s %s: %s", words[v->acceptance], v->metric->name,
	        v->at_least ? "at least" : "at most", v->text, v->subject);
	if (v->known)
		fprintf(out, ": %s", metric_text(v->metric, v->value, text, sizeof(text)));
	if (v->known && v->interval.confidence > 0) {
		fprintf(out, " (%s", metric_text(v->metric, v->interval.low, text, sizeof(text)));
		fprintf(out, " to %s at %.1f %%, %zu boot%s)",
		        metric_text(v->metric, v->interval.high, text, sizeof(text)),
		        v->interval.confidence * 100, v->boots, v->boots == 1 ? "" : "s");
	}
	if (*v->note)
		fprintf(out, "; %s", v->note);
	if (*v->why)
		fprintf(out, "; %s", v->why);
	else if (v->acceptance == STATS_INCONCLUSIVE && v->more_boots && v->boots < 2)
		fprintf(out, "; an interval takes %zu more boots", v->more_boots);
	else if (v->acceptance == STATS_INCONCLUSIVE && v->more_boots)
		fprintf(out, "; %zu more boot%s would decide, if they deviate as these do", v->more_boots,
		        v->more_boots == 1 ? "" : "s");
	else if (v->acceptance == STATS_INCONCLUSIVE && v->known)
		fputs("; too near the bound for any number of boots to decide", out);
	fputc('\n', out);
}

void accept_print(const struct acceptance *a, FILE *out)
{
	size_t counts[3] = {0};

	for (size_t i = 0; i < a->count; i++)
		counts[a->verdicts[i].acceptance]++;
	fprintf(out,
	        "Acceptance: %s (%zu pass, %zu fail, %zu inconclusive; a figure passes only if its whole "
	        "interval does)\n",
	        a->all == STATS_PASS   ? "PASS"
	        : a->all == STATS_FAIL ? "FAIL"
	                               : "INCONCLUSIVE",
	        counts[STATS_PASS], counts[STATS_FAIL], counts[STATS_INCONCLUSIVE]);
	for (size_t i = 0; i < a->count; i++)
		print_verdict(&a->verdicts[i], out);
}

json_t *accept_json(const struct acceptance *a)
{
	json_t *criteria = json_array();

	for (size_t i = 0; i < a->count; i++) {
		const struct accept_verdict *v = &a->verdicts[i];
		json_t *one = json_pack("{ss ss ss ss}", "metric", v->metric->name,
		                        v->at_least ? "at_least" : "at_most", v->text, "subject", v->subject,
		                        "verdict", words[v->acceptance]);

		if (v->cell)
			json_object_set_new(one, "cell", json_integer(v->cell));
		if (v->known)
			json_object_set_new(one, "value", json_real(v->value));
		if (v->known && v->interval.confidence > 0) {
			json_object_set_new(one, "low", json_real(v->interval.low));
			json_object_set_new(one, "high", json_real(v->interval.high));
			json_object_set_new(one, "level", json_real(v->interval.confidence));
			json_object_set_new(one, "boots", json_integer((json_int_t)v->boots));
		}
		if (v->more_boots)
			json_object_set_new(one, "more_boots", json_integer((json_int_t)v->more_boots));
		if (*v->note)
			json_object_set_new(one, "note", json_string(v->note));
		if (*v->why)
			json_object_set_new(one, "why", json_string(v->why));
		json_array_append_new(criteria, one);
	}
	return json_pack("{ss so}", "verdict", words[a->all], "criteria", criteria);
}
