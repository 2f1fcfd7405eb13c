/* SPDX-License-Identifier: GPL-2.0-or-later
 * Tables by factors, CSV and JSON, of runs that the conductor's simulation measured. */
#include "conductor_sim.h"

#include "../../lab/report/design.h"
#include "../../lab/report/figure.h"
#include "../../lab/report/pivot.h"
#include "schema.h"

#include <errno.h>

static const char read_ahead[] = "schema_version: 1\nquestion: q\nnodes: 2\n"
                                 "zip:\n"
                                 "  - {stack: raw, block.disk.read-ahead: 512}\n"
                                 "  - {stack: raw, block.disk.read-ahead: 1024}\n"
                                 "  - {stack: drbd, drbd.link: connected, block.drbd.read-ahead: 512}\n"
                                 "  - {stack: drbd, drbd.link: connected, block.drbd.read-ahead: 1024}\n"
                                 "  - {stack: drbd, drbd.link: disconnected, block.drbd.read-ahead: 512}\n"
                                 "workloads:\n"
                                 "  - copy: {bs: 1MiB, size: 8MiB}\n"
                                 "  - copy: {bs: 64KiB, size: 8MiB}\n"
                                 "repeat: {boots: 1, samples: 3}\n";

/* 8 MiB in (100 * cell + sample) ms. */
static void measured(struct sim *sim, const char *plan)
{
	sim_start(sim, plan);
	sim->nodes[0].place = sim->nodes[1].place = SIM_BOOT;
	sim_go(sim, 8000, "done");
	assert_int_equal(
	    store_do(
	        sim->store,
	        "UPDATE results SET measured_ns = 1000000 * (100 * (SELECT ordinal FROM cells c WHERE "
	        "c.run = results.run AND c.cell_id = results.cell_id) + sample), measured_bytes = 8388608 "
	        "WHERE role = 'measure'",
	        ""),
	    0);
}

static char *pivoted(struct sim *sim, struct pivot_request request, int wanted)
{
	struct report *report;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(report_load(sim->store, sim->run, &report), 1);
	assert_int_equal(pivot_print(report, &request, out), wanted);
	report_free(report);
	fclose(out);
	return text;
}

/* Two block sizes and two states of the link are neither named nor averaged; raw has no link, and is in both.
 */
static void test_one_table_for_each_combination(void **state)
{
	struct sim sim;

	(void)state;
	measured(&sim, read_ahead);
	char *text = pivoted(&sim, (struct pivot_request){.rows = "block.read-ahead", .columns = "stack"}, 0);
	const char *connected = strstr(text, "bs=1MiB, drbd.link=connected\n"
	                                     "  block.read-ahead  raw                   drbd\n"
	                                     "  512               82.24 [81.44, 83.06]  ");

	assert_non_null(connected);
	assert_non_null(
	    strstr(connected, "  1024              27.78 [27.69, 27.87]  11.95 [11.93, 11.97]\n"));
	assert_non_null(strstr(text, "bs=64KiB, drbd.link=connected\n"));
	assert_non_null(strstr(text, "bs=1MiB, drbd.link=disconnected\n"));
	assert_non_null(strstr(text, "at least 75.0 %"));
	free(text);
	text =
	    pivoted(&sim, (struct pivot_request){.rows = "block.read-ahead", .columns = "stack", .csv = true},
	            0);
	assert_non_null(strstr(text,
	                       ",\"bs=1MiB, drbd.link=connected\",block.read-ahead,\"1024\",stack,\"raw\","
	                       "mb_per_s,3,27.7768477,27.6851749,27.8691296,0.7500\n"));
	free(text);
	sim_end(&sim);
}

/* What goes along with the named factors needs no table of its own, but is said. */
static void test_what_goes_along(void **state)
{
	struct sim sim;

	(void)state;
	measured(&sim, "schema_version: 1\nquestion: q\nnodes: 1\nbase: {stack: raw}\n"
	               "workloads:\n  - copy: {bs: 1MiB, size: 8MiB}\n  - copy: {bs: 64KiB, size: 4MiB}\n"
	               "repeat: {boots: 2, samples: 1}\nretries: 1\n");
	char *text = pivoted(&sim, (struct pivot_request){.rows = "bs", .columns = "boots"}, 0);

	assert_non_null(strstr(text, "varies along with them: size\n\n  bs "));
	assert_non_null(strstr(text, "  bs     boot 1        boot 2\n  64KiB  41.73 [none]  41.73 [none]\n"));
	free(text);
	text = pivoted(&sim, (struct pivot_request){.rows = "node"}, 0);
	assert_non_null(strstr(text, "bs=1MiB, size=8MiB\n  node  median\n  n1    "));
	assert_non_null(strstr(text, "at least 50.0 %"));
	free(text);
	sim_end(&sim);
}

static void test_wrong_requests(void **state)
{
	struct sim sim;

	(void)state;
	measured(&sim, read_ahead);
	free(pivoted(&sim, (struct pivot_request){.rows = "block.reed-ahead"}, -EINVAL));
	free(pivoted(&sim, (struct pivot_request){.rows = "bs", .columns = "bs"}, -EINVAL));
	free(pivoted(&sim, (struct pivot_request){.rows = "bs", .value = "speed"}, -EINVAL));
	char *text = pivoted(&sim, (struct pivot_request){.rows = "bs", .value = "iops"}, 0);
	assert_non_null(strstr(text, "no valid sample has a figure in IOPS"));
	free(text);
	sim_end(&sim);
}

static void test_json(void **state)
{
	struct schema_error error;
	struct report *report;
	struct sim sim;
	char *text = NULL;
	size_t size;

	(void)state;
	measured(&sim, read_ahead);
	assert_int_equal(report_load(sim.store, sim.run, &report), 1);
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(report_json(report, out), 0);
	fclose(out);
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	if (schema_check("report.json", json, &error))
		fail_msg("%s: %s", error.path, error.message);
	assert_int_equal(json_array_size(json_object_get(json, "samples")), 30);
	assert_int_equal(json_array_size(json_object_get(json, "cells")), 10);
	json_decref(json);
	free(text);
	report_free(report);
	sim_end(&sim);
}

static void test_digits(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {{0, "0.000"},       {0.012344, "0.01234"}, {0.99994, "0.9999"},
	             {0.99996, "1.000"}, {9.9996, "10.00"},     {91.743, "91.74"},
	             {999.96, "1000"},   {45120.4, "45120"},    {-3.14159, "-3.142"}};
	char text[32];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(figure_text(cases[i].value, text, sizeof(text)), cases[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_one_table_for_each_combination),
	    cmocka_unit_test(test_what_goes_along),
	    cmocka_unit_test(test_wrong_requests),
	    cmocka_unit_test(test_json),
	    cmocka_unit_test(test_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
