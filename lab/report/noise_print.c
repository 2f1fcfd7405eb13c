/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "noise_print.h"

#include <jansson.h>
#include <string.h>

/* The worst of one node's certificates. */
struct worst {
	char node[64];
	size_t samples, windows;
	double share, timer_per_s;
	long long longest_us, smi, throttled;
};

static long long integer(const json_t *object, const char *name)
{
	return (long long)json_integer_value(json_object_get(object, name));
}

static void add_window(struct worst *w, const json_t *window)
{
	const json_t *cpu;
	size_t i;

	w->windows += json_array_size(window) > 0;
	json_array_foreach (window, i, cpu) {
		double runtime_us = (double)integer(cpu, "runtime_us");
		double share = runtime_us > 0 ? (double)integer(cpu, "noise_us") / runtime_us : 0;

		if (share > w->share)
			w->share = share;
		if (integer(cpu, "longest_us") > w->longest_us)
			w->longest_us = integer(cpu, "longest_us");
	}
}

static void add_during(struct worst *w, const json_t *during)
{
	double seconds = (double)integer(during, "ns") / 1e9;
	const json_t *cpu;
	size_t i;

	json_array_foreach (json_object_get(during, "cpus"), i, cpu) {
		double rate = seconds > 0 ? (double)integer(cpu, "timer_interrupts") / seconds : 0;

		if (rate > w->timer_per_s)
			w->timer_per_s = rate;
		w->smi += integer(cpu, "smi");
		w->throttled += integer(cpu, "throttled");
	}
}

static void add(struct worst *w, const char *text)
{
	json_t *noise = json_loads(text, 0, NULL);

	if (noise) {
		w->samples++;
		add_window(w, json_object_get(noise, "before"));
		add_window(w, json_object_get(noise, "after"));
		add_during(w, json_object_get(noise, "during"));
	}
	json_decref(noise);
}

static void print(const struct worst *w, FILE *out)
{
	if (!w->samples)
		return;
	fprintf(out, "Noise on %s: ", w->node);
	if (w->windows)
		fprintf(out, "at most %.3f %% of a CPU taken, %lld us at once, before and after samples; ",
		        100 * w->share, w->longest_us);
	else
		fputs("not measured; ", out);
	fprintf(out, "during them at most %.1f timer interrupts/s on a CPU", w->timer_per_s);
	if (w->smi)
		fprintf(out, ", %lld SMIs", w->smi);
	if (w->throttled)
		fprintf(out, ", throttled %lld times for temperature", w->throttled);
	fputs(".\n", out);
}

void noise_print(const struct report *report, FILE *out)
{
	struct worst worst = {0};
	sqlite3_stmt *row;

	if (store_ask(
	        report->store, &row,
	        "SELECT node, json_extract(CAST(body AS TEXT), '$.evidence.noise') AS noise FROM results "
	        "WHERE run = ? AND verdict = 'valid' AND noise IS NOT NULL ORDER BY node",
	        "s", report->run))
		return;
	while (store_row(report->store, row) == 1) {
		if (strcmp(worst.node, store_text(row, 0)) != 0) {
			print(&worst, out);
			worst = (struct worst){0};
			snprintf(worst.node, sizeof(worst.node), "%s", store_text(row, 0));
		}
		add(&worst, store_text(row, 1));
	}
	print(&worst, out);
}
