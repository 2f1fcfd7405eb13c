/* SPDX-License-Identifier: GPL-2.0-or-later
 * What was measured with: from the evidence of the run's results and the inventories of its boots. */
#include "report.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

static const struct fact {
	const char *name, *sql;
} facts[] = {
    {"kernel", "SELECT DISTINCT json_extract(CAST(body AS TEXT), '$.evidence.kernel_release') FROM results "
               "WHERE run = ? ORDER "
               "BY 1"},
    {"image", "SELECT DISTINCT json_extract(CAST(body AS TEXT), '$.evidence.image_id') FROM results WHERE "
              "run = ? ORDER BY 1"},
    {"DRBD", "SELECT DISTINCT json_extract(inventory, '$.drbd_version') FROM boots WHERE run = ? ORDER BY 1"},
    {"storage NICs",
     "SELECT DISTINCT json_extract(nic.value, '$.driver') || coalesce(' ' || json_extract(nic.value, "
     "'$.driver_version'), '') || "
     "CASE WHEN json_extract(nic.value, '$.speed_mbps') > 0 THEN ', ' || json_extract(nic.value, "
     "'$.speed_mbps') || ' Mb/s' ELSE "
     "'' END FROM results, json_each(CAST(body AS TEXT), '$.evidence.nics') nic WHERE run = ? ORDER BY 1"},
    {"disks", "SELECT DISTINCT node || ' ' || coalesce(nullif(trim(json_extract(CAST(body AS TEXT), "
              "'$.evidence.disk.model')), '') "
              "|| ' ', '') || json_extract(CAST(body AS TEXT), '$.evidence.disk.serial') FROM results WHERE "
              "run = ? ORDER BY 1"},
    {"CPU", "SELECT DISTINCT json_extract(inventory, '$.cpus.model') || ', ' || json_extract(inventory, "
            "'$.cpus.online') || ' "
            "online' FROM boots WHERE run = ? ORDER BY 1"},
};

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

/* What the nodes said of their hardware when the run's boots began. */
static void print_warnings(const struct report *report, FILE *out)
{
	sqlite3_stmt *row;

	if (store_ask(
	        report->store, &row,
	        "SELECT DISTINCT node, warning.value FROM boots, json_each(inventory, '$.warnings') warning "
	        "WHERE run = ? ORDER BY 1, 2",
	        "s", report->run))
		return;
	while (store_row(report->store, row) == 1)
		fprintf(out, "Warning: node %s, %s\n", store_text(row, 0), store_text(row, 1));
}

/* Nodes of QEMU name themselves so in their DMI; what they measure is the emulation. */
static void print_virtual(const struct report *report, FILE *out)
{
	sqlite3_stmt *row;

	if (store_ask(
	        report->store, &row,
	        "SELECT DISTINCT json_extract(inventory, '$.dmi.product_name') FROM boots WHERE run = ? AND "
	        "json_extract(inventory, '$.dmi.product_name') LIKE '%virtual node%'",
	        "s", report->run))
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
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		fprintf(out, "%s%s ", i ? " | " : "", facts[i].name);
		print_fact(report, &facts[i], out);
		if (model && !strcmp(facts[i].name, "storage NICs"))
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
