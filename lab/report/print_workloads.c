/* SPDX-License-Identifier: GPL-2.0-or-later
 * Cells with DRBD's own workloads (resync, verify), with a change of roles, and with trees of files: one line
 * a sample. */
#include "report.h"

#include <string.h>

typedef void print_row(sqlite3_stmt *row, FILE *out);

static void resync_row(sqlite3_stmt *row, FILE *out)
{
	fprintf(
	    out,
	    "%s, %.1f MB in %.2f s at %.2f MB/s, %.1f MB sent, begun after %.0f ms, most in a second %.1f MB",
	    store_text(row, 3), sqlite3_column_double(row, 4) / 1e6, sqlite3_column_double(row, 5) / 1e9,
	    sqlite3_column_double(row, 6), sqlite3_column_double(row, 7) / 1e6,
	    sqlite3_column_double(row, 8) / 1e6, sqlite3_column_double(row, 9) / 1e6);
}

static void verify_row(sqlite3_stmt *row, FILE *out)
{
	fprintf(out, "%.1f MB compared in %.2f s at %.2f MB/s, %s bytes differ",
	        sqlite3_column_double(row, 3) / 1e6, sqlite3_column_double(row, 4) / 1e9,
	        sqlite3_column_double(row, 5), store_text(row, 6));
	if (sqlite3_column_int64(row, 7))
		fprintf(out, ", %s were planted", store_text(row, 7));
}

static void role_row(sqlite3_stmt *row, FILE *out)
{
	double full_ms = sqlite3_column_double(row, 10) / 1e6;

	fprintf(out,
	        "%s to %s, writes stalled for %.1f ms (secondary %.1f, primary %.1f, open %.1f, first write "
	        "%.1f)",
	        store_text(row, 3), store_text(row, 4), sqlite3_column_double(row, 5) / 1e6,
	        sqlite3_column_double(row, 6) / 1e6, sqlite3_column_double(row, 7) / 1e6,
	        sqlite3_column_double(row, 8) / 1e6, sqlite3_column_double(row, 9) / 1e6);
	if (full_ms >= 0)
		fprintf(out, ", 90 %% of the speed after %.0f ms", full_ms);
	else
		fputs(", 90 % of the speed not reached again", out);
}

static void files_row(sqlite3_stmt *row, FILE *out)
{
	fprintf(out,
	        "make %.1f files/s, %.2f MB/s; read %.1f files/s, %.2f MB/s; remove %.1f files/s (in %.2f, "
	        "%.2f and "
	        "%.2f s)",
	        sqlite3_column_double(row, 3), sqlite3_column_double(row, 4), sqlite3_column_double(row, 5),
	        sqlite3_column_double(row, 6), sqlite3_column_double(row, 7),
	        sqlite3_column_double(row, 8) / 1e9, sqlite3_column_double(row, 9) / 1e9,
	        sqlite3_column_double(row, 10) / 1e9);
}

#define OF(name)       "m.value ->> '" name "', "
#define MEASURED(name) "CAST(r.body AS TEXT) ->> '$.measurement." name "', "
/* Whole literals, since the store knows a statement by its address. */
#define ASK(columns)                                                                                         \
	"SELECT c.ordinal, r.boot, r.sample, " columns                                                       \
	" 0 FROM results r JOIN cells c USING (run, cell_id), "                                              \
	"json_each(CAST(r.body AS TEXT), '$.measurement') m WHERE run = ? AND r.verdict = 'valid' AND "      \
	"m.key = "                                                                                           \
	"? ORDER BY c.ordinal, r.boot, r.sample"

static const struct part {
	enum report_part part;
	const char *key, *title, *sql;
	print_row *print;
} parts[] = {
    {PART_RESYNC, "resync", "Resyncs:",
     ASK(OF("what") MEASURED("bytes") MEASURED("ns") MEASURED("mb_per_s") OF("sent_bytes")
             OF("handshake_ns") "(SELECT max(value) FROM json_each(CAST(r.body AS TEXT), "
                                "'$.measurement.second_bytes')), "),
     resync_row},
    {PART_VERIFY, "verify", "Online verify:",
     ASK(MEASURED("bytes") MEASURED("ns") MEASURED("mb_per_s") OF("out_of_sync_bytes") OF("planted_bytes")),
     verify_row},
    {PART_ROLE_CHANGE, "role_change", "Changes of roles:",
     ASK(OF("from") OF("to") OF("stall_ns") OF("secondary_ns") OF("primary_ns") OF("open_ns")
             OF("first_write_ns") OF("recovered_ns")),
     role_row},
    {PART_FILES, "files", "Trees of files:",
     ASK(OF("$.create.files_per_s") OF("$.create.mb_per_s") OF("$.read.files_per_s") OF("$.read.mb_per_s")
             OF("$.unlink.files_per_s") OF("$.create.ns") OF("$.read.ns") OF("$.unlink.ns")),
     files_row},
};

static void print_part(const struct report *report, const struct part *part, FILE *out)
{
	bool first = true;
	sqlite3_stmt *row;

	if (!report->has[part->part] ||
	    store_ask(report->store, &row, part->sql, "ss", report->run, part->key))
		return;
	while (store_row(report->store, row) == 1) {
		if (first)
			fprintf(out, "\n%s\n", part->title);
		first = false;
		fprintf(out, "  cell %s, boot %s, sample %s: ", store_text(row, 0), store_text(row, 1),
		        store_text(row, 2));
		part->print(row, out);
		fputc('\n', out);
	}
}

/* What anybody can type to do the same; cells that differ in their state alone share it. Samples of a boot do
 * not differ in it. */
void by_hand_print(const struct report *report, FILE *out)
{
	bool first = true;
	sqlite3_stmt *row;

	if (store_ask(report->store, &row,
	              "SELECT group_concat(ordinal, ', '), equivalent FROM (SELECT DISTINCT c.ordinal, "
	              "CAST(r.body AS TEXT) ->> '$.measurement.equivalent' AS equivalent FROM results r JOIN "
	              "cells c USING (run, cell_id) WHERE run = ? AND r.verdict = 'valid' AND r.role = "
	              "'measure' AND r.sample = 1 ORDER BY c.ordinal) WHERE equivalent IS NOT NULL GROUP BY "
	              "equivalent ORDER "
	              "BY min(ordinal)",
	              "s", report->run))
		return;
	while (store_row(report->store, row) == 1) {
		if (first)
			fputs("\nThe same by hand, in the state of the cell:\n", out);
		first = false;
		fprintf(out, "  cell %s: %s\n", store_text(row, 0), store_text(row, 1));
	}
}

void parts_print(const struct report *report, FILE *out)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		print_part(report, &parts[i], out);
}
