/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay report --csv: every valid sample, one a line. The columns are documented in assay(1). */
#include "figure.h"

#include <inttypes.h>
#include <math.h>

void csv_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

void report_csv(const struct report *report, FILE *out)
{
	fputs("run,scale,ordinal,cell_id,label,node,boot,sample,attempt,begun_unix_ns,bytes,ns", out);
	for (size_t f = 0; f < FIGURES; f++)
		fprintf(out, ",%s", figures[f].name);
	fputc('\n', out);
	for (size_t i = 0; i < report->cell_count; i++) {
		const struct report_cell *cell = &report->cells[i];

		for (size_t k = 0; k < cell->sample_count; k++) {
			const struct report_sample *s = &cell->samples[k];

			fprintf(out, "%s,%s,%" PRId64 ",%s,", report->run,
			        *report->scale ? report->scale : "1", cell->ordinal, cell->id);
			csv_text(out, cell->label);
			fprintf(out,
			        ",%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64,
			        report->nodes[s->node], s->boot, s->sample, s->attempt, s->at_unix_ns,
			        s->bytes, s->ns);
			for (size_t f = 0; f < FIGURES; f++)
				if (isnan(s->figure[f]))
					fputc(',', out);
				else
					fprintf(out, ",%.9g", s->figure[f]);
			fputc('\n', out);
		}
	}
}
