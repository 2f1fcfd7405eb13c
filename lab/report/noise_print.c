/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "noise_print.h"

#include "certificate.h"

#include <string.h>

static void print(const char *node, const struct certificate *w, FILE *out)
{
	if (!w->samples)
		return;
	fprintf(out, "Noise on %s: ", node);
	if (w->windows)
		fprintf(out, "at most %.3f %% of a CPU taken, %lld us at once, before and after samples; ",
		        w->share_ppm / 1e4, w->longest_us);
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
	struct certificate worst = {0};
	char node[64] = "";
	sqlite3_stmt *row;

	if (store_ask(
	        report->store, &row,
	        "SELECT node, json_extract(CAST(body AS TEXT), '$.evidence.noise') AS noise FROM results "
	        "WHERE run = ? AND verdict = 'valid' AND noise IS NOT NULL ORDER BY node",
	        "s", report->run))
		return;
	while (store_row(report->store, row) == 1) {
		json_t *noise = json_loads(store_text(row, 1), 0, NULL);

		if (strcmp(node, store_text(row, 0)) != 0) {
			print(node, &worst, out);
			worst = (struct certificate){0};
			snprintf(node, sizeof(node), "%s", store_text(row, 0));
		}
		if (noise)
			certificate_add(&worst, noise);
		json_decref(noise);
	}
	print(node, &worst, out);
}
