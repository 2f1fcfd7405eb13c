/* SPDX-License-Identifier: GPL-2.0-or-later
 * What each leg of the storage network carried while it was proven, before anything was measured: a line for
 * each node and leg, the worst of all proofs. */
#include "report.h"

static void print_counters(const struct report *report, FILE *out)
{
	sqlite3_stmt *row;

	if (store_ask(report->store, &row,
	              "SELECT node, leg, group_concat(name || ' ' || most, ', ') FROM (SELECT r.node node, "
	              "p.value ->> 'leg' leg, k.key name, max(k.value) most"
	              " FROM results r, json_each(CAST(r.body AS TEXT), '$.evidence.paths') p, "
	              "json_each(p.value, '$.counters') k WHERE r.run = ? AND p.value ->> 'leg' > 0 "
	              "GROUP BY 1, 2, 3 ORDER BY 1, 2, 3) GROUP BY 1, 2 ORDER BY 1, 2",
	              "s", report->run))
		return;
	while (store_row(report->store, row) == 1)
		fprintf(out, "  %s leg %s, most counted meanwhile: %s\n", store_text(row, 0),
		        store_text(row, 1), store_text(row, 2));
}

void paths_print(const struct report *report, FILE *out)
{
	bool first = true;
	sqlite3_stmt *row;

	if (store_ask(
	        report->store, &row,
	        "SELECT r.node, p.value ->> 'leg', p.value ->> 'device', min(p.value ->> 'speed_mbps'), "
	        "min(p.value ->> 'mtu_out_bytes'), min(p.value ->> 'mtu_in_bytes'), "
	        "max(p.value ->> '$.rtt.median_ns'), max(p.value ->> '$.rtt.p99_ns'), "
	        "min(p.value ->> '$.tcp.mb_per_s'), max(p.value ->> '$.tcp.mb_per_s')"
	        " FROM results r, json_each(CAST(r.body AS TEXT), '$.evidence.paths') p WHERE r.run = ? AND "
	        "p.value ->> 'leg' > 0 AND p.value ->> 'tcp' IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
	        "s", report->run))
		return;
	while (store_row(report->store, row) == 1) {
		if (first)
			fprintf(
			    out,
			    "\nLegs, as proven before anything was measured (the worst of all proofs; TCP in "
			    "both directions at once, each\nnode's line is its own):\n  %-8s %3s  %-10s %6s "
			    "%6s %6s %10s %10s  %s\n",
			    "node", "leg", "NIC", "Mb/s", "out B", "in B", "median RTT", "p99 RTT",
			    "TCP out MB/s");
		first = false;
		fprintf(out, "  %-8s %3s  %-10s %6s %6s %6s %7.1f us %7.1f us  %.1f to %.1f\n",
		        store_text(row, 0), store_text(row, 1), store_text(row, 2), store_text(row, 3),
		        store_text(row, 4), store_text(row, 5), sqlite3_column_double(row, 6) / 1e3,
		        sqlite3_column_double(row, 7) / 1e3, sqlite3_column_double(row, 8),
		        sqlite3_column_double(row, 9));
	}
	if (!first)
		print_counters(report, out);
}
