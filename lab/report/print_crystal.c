/* SPDX-License-Identifier: GPL-2.0-or-later
 * What CrystalDiskMark 3 would show of cells that are its lines: of each the best of all passes. */
#include "report.h"

#include "../plan/crystal.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static long long number(const json_t *workload, const char *name)
{
	return json_integer_value(json_object_get(workload, name));
}

static bool is_line(const json_t *workload, const struct crystal_line *line)
{
	const char *type = json_string_value(json_object_get(workload, "type"));

	return type && !strcmp(type, "aio") && number(workload, "bs_bytes") == line->bs_bytes &&
	       number(workload, "depth") == line->depth &&
	       number(workload, "random_percent") == line->random_percent &&
	       number(workload, "read_percent") == line->read_percent && number(workload, "jobs") == 1 &&
	       number(workload, "duration_ms") && json_is_true(json_object_get(workload, "direct"));
}

/* Whether the cells from FIRST on are all lines, in their order, on one state. */
static bool is_table(const json_t *bodies, size_t first)
{
	const json_t *state = json_object_get(json_array_get(bodies, first), "state");
	bool table = first + CRYSTAL_LINES <= json_array_size(bodies);

	for (size_t i = 0; table && i < CRYSTAL_LINES; i++) {
		const json_t *body = json_array_get(bodies, first + i);

		table = is_line(json_object_get(body, "workload"), &crystal_lines[i]) &&
		        json_equal(json_object_get(body, "state"), state);
	}
	return table;
}

static void print_table(const struct report_cell *cells, const json_t *workload, FILE *out)
{
	fprintf(out,
	        "\nAs CrystalDiskMark 3 shows it (best of %zu passes, test %lld MB; MB/s = 1,000,000 "
	        "byte/s): %s\n",
	        cells->sample_count, number(workload, "span_bytes") >> 20, cells->label);
	for (size_t i = 0; i < CRYSTAL_LINES; i++) {
		const struct report_cell *cell = &cells[i];
		double best = cell->sample_count ? cell->samples[cell->sample_count - 1].mb_per_s : 0;

		fprintf(out, "%26s : ", crystal_lines[i].name);
		if (!cell->sample_count)
			fputs("not measured\n", out);
		else if (crystal_lines[i].bs_bytes == 4096)
			fprintf(out, "%9.3f MB/s [ %8.1f IOPS]\n", best, best * 1e6 / 4096);
		else
			fprintf(out, "%9.3f MB/s\n", best);
	}
}

void crystal_print(const struct report *report, FILE *out)
{
	json_t *bodies = json_array();
	sqlite3_stmt *row;

	if (!store_ask(report->store, &row, "SELECT body FROM cells WHERE run = ? ORDER BY ordinal", "s",
	               report->run))
		while (store_row(report->store, row) == 1) {
			json_t *body = json_loads(store_text(row, 0), 0, NULL);

			json_array_append_new(bodies, body ? body : json_null());
		}
	for (size_t i = 0; json_array_size(bodies) == report->cell_count && i < report->cell_count; i++)
		if (is_table(bodies, i)) {
			print_table(&report->cells[i], json_object_get(json_array_get(bodies, i), "workload"),
			            out);
			i += CRYSTAL_LINES - 1;
		}
	json_decref(bodies);
}
