/* SPDX-License-Identifier: GPL-2.0-or-later
 * What was measured with: from the evidence of the run's results and the inventories of its boots. */
#include "environment.h"
#include "report.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

/* The first sample of each cell and boot: no fact changes between samples without making them invalid. */
#define FIRST "FROM results WHERE run = ? AND sample = 1 "

const struct fact environment_facts[] = {
    {"kernel",
     "SELECT DISTINCT json_extract(CAST(body AS TEXT), '$.evidence.kernel_release') " FIRST "ORDER BY 1"},
    {"image", "SELECT DISTINCT json_extract(CAST(body AS TEXT), '$.evidence.image_id') " FIRST "ORDER BY 1"},
    {"DRBD", "SELECT DISTINCT json_extract(inventory, '$.drbd_version') FROM boots WHERE run = ? ORDER BY 1"},
    {"storage NICs",
     "SELECT DISTINCT json_extract(nic.value, '$.driver') || coalesce(' ' || json_extract(nic.value, "
     "'$.driver_version'), '') || "
     "CASE WHEN json_extract(nic.value, '$.speed_mbps') > 0 THEN ', ' || json_extract(nic.value, "
     "'$.speed_mbps') || ' Mb/s' ELSE "
     "'' END FROM results, json_each(CAST(body AS TEXT), '$.evidence.nics') nic WHERE run = ? AND sample = 1 "
     "ORDER BY 1"},
    {"disks",
     "SELECT DISTINCT node || ' ' || coalesce(nullif(trim(json_extract(CAST(body AS TEXT), "
     "'$.evidence.disk.model')), '') "
     "|| ' ', '') || json_extract(CAST(body AS TEXT), '$.evidence.disk.serial') " FIRST "ORDER BY 1"},
    {"CPU", "SELECT DISTINCT json_extract(inventory, '$.cpus.model') || ', ' || json_extract(inventory, "
            "'$.cpus.online') || ' "
            "online' FROM boots WHERE run = ? ORDER BY 1"},
};

const size_t environment_fact_count = sizeof(environment_facts) / sizeof(environment_facts[0]);

const char environment_virtual_sql[] =
    "SELECT DISTINCT json_extract(inventory, '$.dmi.product_name') FROM boots WHERE run = ? AND "
    "json_extract(inventory, '$.dmi.product_name') LIKE '%virtual node%'";
const char environment_warnings_sql[] =
    "SELECT DISTINCT node, warning.value FROM boots, json_each(inventory, '$.warnings') warning "
    "WHERE run = ? ORDER BY 1, 2";

static void print_fact(const struct report *report, const struct fact *fact, FILE *out)
{
	bool first = true;
	sqlite3_stmt *row;

	if (store_ask(report->store, &row, fact->sql, "s", report->run))
		return;
	while (store_row(report->store, row) == 1) {
		if (!*store_text(row, 0))
			continue;
		fprintf(out, "%s%s", first ? "" : "; ", store_text(row, 0));
		first = false;
	}
	fputs(first ? "not known" : "", out);
}

static void print_warnings(const struct report *report, FILE *out)
{
	sqlite3_stmt *row;

	if (store_ask(report->store, &row, environment_warnings_sql, "s", report->run))
		return;
	while (store_row(report->store, row) == 1)
		fprintf(out, "Warning: node %s, %s\n", store_text(row, 0), store_text(row, 1));
}

static void print_virtual(const struct report *report, FILE *out)
{
	sqlite3_stmt *row;

	if (store_ask(report->store, &row, environment_virtual_sql, "s", report->run))
		return;
	while (store_row(report->store, row) == 1)
		fprintf(out,
		        "Virtual lab: %s. The figures are of an emulation and say nothing about hardware.\n",
		        store_text(row, 0));
}

void environment_print(const struct report *report, FILE *out)
{
	json_t *lab = json_loads(report->lab, 0, NULL);
	const char *model = json_string_value(json_object_get(json_object_get(lab, "server"), "nic_model"));

	fputs("Environment: ", out);
	for (size_t i = 0; i < environment_fact_count; i++) {
		fprintf(out, "%s%s ", i ? " | " : "", environment_facts[i].name);
		print_fact(report, &environment_facts[i], out);
		if (model && !strcmp(environment_facts[i].name, "storage NICs"))
			fprintf(out, " (%s)", model);
	}
	fprintf(out, "\nPlan: %s, sha256 %s, order %s", report->plan, report->plan_sha256,
	        report->shuffled ? "shuffled" : "as written");
	if (report->shuffled)
		fprintf(out, ", seed %" PRIu64, (uint64_t)report->seed);
	fputc('\n', out);
	print_virtual(report, out);
	print_warnings(report, out);
	json_decref(lab);
}
