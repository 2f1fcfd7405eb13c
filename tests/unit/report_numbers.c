/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "conductor_sim.h"

#include "cli.h"

static void test_confidence(void **state)
{
	char text[16];

	(void)state;
	assert_string_equal(confidence_text(0, text), "none");
	assert_string_equal(confidence_text(0.96875, text), "96.8 %"); /* never rounded up */
}

static char *printed(struct sim *sim, void (*print)(const struct report *, FILE *))
{
	struct report *report;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(report_load(sim->store, sim->run, &report), 1);
	print(report, out);
	report_free(report);
	fclose(out);
	return text;
}

static const char one_cell[] =
    "schema_version: 1\nquestion: q\nnodes: 1\nbase: {stack: raw}\n"
    "workloads:\n  - copy: {bs: 1MiB, size: 8MiB}\nrepeat: {boots: 1, samples: 3}\nretries: 1\n";

static void test_table(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, one_cell);
	char *text = printed(&sim, report_print);
	assert_non_null(strstr(text, "0/3"));
	assert_non_null(strstr(text, "not complete"));
	free(text);
	sim.nodes[0].place = SIM_BOOT;
	sim.nodes[1].on_at_round = -1;
	sim_go(&sim, 2000, "done");
	/* 8 MiB in 1, 2 and 4 ms: the median is 4194.304 MB/s, which is 4000 MiB/s. */
	assert_int_equal(store_do(sim.store, "UPDATE results SET measured_ns = 1000000 << (sample - 1)", ""),
	                 0);
	text = printed(&sim, report_print);
	assert_non_null(strstr(text, "3/3"));
	assert_non_null(strstr(text, "4194.30    4000.00    2097.15 - 8388.61"));
	assert_non_null(strstr(text, "75.0 %"));
	assert_non_null(strstr(text, "75.0 %  1 boot"));
	assert_non_null(strstr(text, "1 boot: no interval of the boot's effect"));
	assert_null(strstr(text, "Fewer than 6 boots"));
	assert_null(strstr(text, "that last"));
	assert_null(strstr(text, "order of measuring")); /* three samples are too few */
	free(text);
	text = printed(&sim, report_csv);
	assert_non_null(strstr(text, ",8388608,4000000,2097.152,,,,,,,\n"));
	free(text);
	sim_end(&sim);
}

/* Two samples of one proof, and one of a worse one. */
static void test_paths(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, one_cell);
	sim.nodes[0].place = SIM_BOOT;
	sim.nodes[1].on_at_round = -1;
	sim_go(&sim, 2000, "done");
	char *text = printed(&sim, paths_print);
	assert_string_equal(text, "");
	free(text);
	assert_int_equal(
	    store_do(
	        sim.store,
	        "UPDATE results SET body = CAST(json_set(CAST(body AS TEXT), '$.evidence.paths', "
	        "json('[{\"leg\": 2, \"device\": \"eth1\", \"speed_mbps\": 10000, \"mtu_out_bytes\": 9000, "
	        "\"mtu_in_bytes\": 1500, \"rtt\": {\"median_ns\": 41500, \"p99_ns\": 90000}, \"tcp\": "
	        "{\"mb_per_s\": 1180.25}, \"counters\": {\"rx_missed_errors\": 7}}, {\"leg\": 0, \"device\": "
	        "\"bond0\"}]')) AS BLOB)",
	        ""),
	    0);
	assert_int_equal(
	    store_do(sim.store,
	             "UPDATE results SET body = CAST(json_set(CAST(body AS TEXT), "
	             "'$.evidence.paths[0].tcp.mb_per_s', 640.04, '$.evidence.paths[0].rtt.p99_ns', 120000, "
	             "'$.evidence.paths[0].counters.rx_missed_errors', 3) AS BLOB) WHERE sample = 3",
	             ""),
	    0);
	text = printed(&sim, paths_print);
	assert_non_null(
	    strstr(text, "  2  eth1        10000   9000   1500    41.5 us   120.0 us  640.0 to 1180.2\n"));
	assert_non_null(strstr(text, " leg 2, most counted meanwhile: rx_missed_errors 7\n"));
	assert_null(strstr(text, "bond0"));
	free(text);
	sim_end(&sim);
}

static enum sim_quirk fails_then_works(struct sim *sim, struct sim_node *n)
{
	(void)sim;
	return n->given == 1 ? SIM_FAILS : n->given == 3 ? SIM_INVALID : SIM_FINE;
}

static void test_what_does_not_count(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, one_cell);
	sim.quirk = fails_then_works;
	sim.nodes[0].place = SIM_BOOT;
	sim.nodes[1].on_at_round = -1;
	sim_go(&sim, 2000, "done");
	char *text = printed(&sim, report_print);
	assert_non_null(
	    strstr(text, "attempt 1 failed: node n1, step sim, thing: trouble\n    what to do: none"));
	assert_non_null(strstr(text, "attempt 1 invalid: n1: a link flapped"));
	free(text);
	sim_end(&sim);
}

static enum sim_quirk unsupported(struct sim *sim, struct sim_node *n)
{
	(void)sim;
	return n->given == 3 ? SIM_UNSUPPORTED : SIM_FINE;
}

static void test_unsupported(void **state)
{
	struct report *report;
	struct sim sim;

	(void)state;
	sim_start(&sim, one_cell);
	sim.quirk = unsupported;
	sim.nodes[0].place = SIM_BOOT;
	sim.nodes[1].on_at_round = -1;
	sim_go(&sim, 2000, "done");
	char *text = printed(&sim, report_print);
	assert_non_null(strstr(text, "  unsupported\n"));
	assert_non_null(strstr(text, "is not supported by these nodes: node n1, step sim, thing: trouble"));
	assert_null(strstr(text, "FAILED"));
	free(text);
	assert_int_equal(report_load(sim.store, sim.run, &report), 1);
	assert_true(report_complete(report));
	assert_int_equal(report_exit(report), ASSAY_UNSUPPORTED);
	report_free(report);
	sim_end(&sim);
}

static const char twelve[] = "schema_version: 1\nquestion: q\nnodes: 1\nbase: {stack: raw}\nworkloads:\n"
                             "  - copy: {bs: 1MiB, size: 8MiB}\nrepeat: {boots: 6, samples: 2}\nretries: 1\n";

/* 600 MB/s for 5 s, then 240 for 15; each sample 1 % slower than the one before it. */
static void test_over_time(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, twelve);
	sim.nodes[0].place = SIM_BOOT;
	sim.nodes[1].on_at_round = -1;
	sim_go(&sim, 20000, "done");
	char *text = printed(&sim, report_print);
	assert_null(strstr(text, "that last"));
	assert_non_null(strstr(text, "96.8 %  6 boots"));
	assert_null(strstr(text, "1 boot:"));
	free(text);
	assert_int_equal(store_do(sim.store,
	                          "UPDATE results SET measured_ns = 1000000 * (100 + 2 * boot + sample), "
	                          "body = CAST(json_set(CAST(body "
	                          "AS TEXT), '$.measurement.second_bytes', "
	                          "json('[600000000,600000000,600000000,600000000,600000000,"
	                          "240000000,240000000,240000000,240000000,240000000,240000000,240000000,"
	                          "240000000,240000000,240000000,"
	                          "240000000,240000000,240000000,240000000,7]')) AS BLOB)",
	                          ""),
	                 0);
	text = printed(&sim, report_print);
	assert_non_null(
	    strstr(text, "12 of 12 samples: 600.0 MB/s for 5 s, then 240.0 MB/s that last (240.0 - 240.0"));
	assert_non_null(
	    strstr(text, "drift over the run (Kendall's tau)            -1.00, p = 0.0028: IT DOES"));
	assert_non_null(strstr(text, "12 samples, each against its cell's median"));
	free(text);
	sim_end(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_confidence),
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_what_does_not_count),
	    cmocka_unit_test(test_over_time),
	    cmocka_unit_test(test_paths),
	    cmocka_unit_test(test_unsupported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
