/* SPDX-License-Identifier: GPL-2.0-or-later
 * Lines of the report on workloads other than copies. */
#include "report_printed.h"

static const char plan[] = "schema_version: 1\nquestion: q\nnodes: 1\nbase: {stack: raw}\n"
                           "workloads:\n  - copy: {bs: 1MiB, size: 8MiB}\nrepeat: {boots: 1, samples: 1}\n";

/* The only sample of a run, with AT of its result set to what JSON says. */
static void set(struct sim *sim, const char *at, const char *json)
{
	assert_int_equal(
	    store_do(sim->store,
	             "UPDATE results SET body = CAST(json_set(CAST(body AS TEXT), ?, json(?)) AS "
	             "BLOB)",
	             "ss", at, json),
	    0);
}

static void start(struct sim *sim)
{
	sim_start(sim, plan);
	sim->nodes[0].place = SIM_BOOT;
	sim->nodes[1].on_at_round = -1;
	sim_go(sim, 2000, "done");
}

static void expect(struct sim *sim, const char *line)
{
	char *text = printed(sim);

	if (!strstr(text, line))
		fail_msg("no \"%s\" in:\n%s", line, text);
	free(text);
}

static void expect_figure(struct sim *sim, enum figure_id id, double wanted)
{
	struct report *report;

	assert_int_equal(report_load(sim->store, sim->run, &report), 1);
	assert_float_equal(report->cells[0].samples[0].figure[id], wanted, 1e-9);
	report_free(report);
}

static void test_steady(void **state)
{
	struct sim sim;
	char *text;

	(void)state;
	start(&sim);
	text = printed(&sim);
	assert_null(strstr(text, "Steady state"));
	free(text);
	set(&sim, "$.cell.workload.duration_ms", "2000");
	set(&sim, "$.measurement.aio",
	    "{\"rounds\": [{\"ios\": 4000}, {\"ios\": 3000}, {\"ios\": 2000}, {\"ios\": 2020}, {\"ios\": "
	    "1980}, "
	    "{\"ios\": 2000}, {\"ios\": 2000}]}");
	/* The first five range over more than 20 % of their mean, as do the next; the last are even. */
	expect(&sim, "boot 1, sample 1: steady in rounds 3 to 7 of 7: 1000.0 IOPS in the mean, range 2.0 %, "
	             "slope 0.4 % of it");
	set(&sim, "$.measurement.aio",
	    "{\"rounds\": [{\"ios\": 4000}, {\"ios\": 3000}, {\"ios\": 2000}, {\"ios\": 1000}, {\"ios\": "
	    "0}]}");
	expect(&sim,
	       "NOT steady; in rounds 1 to 5 of 5: 1000.0 IOPS in the mean, range 200.0 %, slope 200.0 %");
	set(&sim, "$.measurement.aio", "{\"rounds\": [{\"ios\": 4000}, {\"ios\": 3000}]}");
	expect(&sim, "2 rounds are too few, it takes 5");
	sim_end(&sim);
}

static void test_lines(void **state)
{
	struct sim sim;

	(void)state;
	start(&sim);
	set(&sim, "$.measurement.equivalent", "\"dd by hand\"");
	set(&sim, "$.measurement.ns", "2000000000");
	expect(&sim, "The same by hand, in the state of the cell:\n  cell 1: dd by hand\n");
	set(&sim, "$.measurement.resync",
	    "{\"what\": \"partial\", \"sent_bytes\": 9000000, \"handshake_ns\": 40000000}");
	set(&sim, "$.measurement.second_bytes", "[3000000, 5388608]");
	expect(&sim, "Resyncs:\n  cell 1, boot 1, sample 1: partial, 8.4 MB in 2.00 s at ");
	expect(&sim, ", 9.0 MB sent, begun after 40 ms, most in a second 5.4 MB\n");
	set(&sim, "$.measurement.verify", "{\"out_of_sync_bytes\": 4096, \"planted_bytes\": 8192}");
	expect(&sim, "Online verify:\n  cell 1, boot 1, sample 1: 8.4 MB compared in 2.00 s at ");
	expect(&sim, ", 4096 bytes differ, 8192 were planted\n");
	set(&sim, "$.measurement.role_change",
	    "{\"from\": \"n1\", \"to\": \"n2\", \"stall_ns\": 9000000, \"secondary_ns\": 4000000, "
	    "\"primary_ns\": "
	    "3000000, \"open_ns\": 500000, \"first_write_ns\": 1000000, \"recovered_ns\": -1}");
	expect(&sim, "Changes of roles:\n  cell 1, boot 1, sample 1: n1 to n2, writes stalled for 9.0 ms "
	             "(secondary 4.0, primary 3.0, open 0.5, first write 1.0), 90 % of the speed not reached "
	             "again\n");
	set(&sim, "$.measurement.files",
	    "{\"create\": {\"files_per_s\": 10, \"mb_per_s\": 2, \"ns\": 1000000000}, \"read\": "
	    "{\"files_per_s\": "
	    "40, \"mb_per_s\": 8, \"ns\": 250000000}, \"unlink\": {\"files_per_s\": 100, \"ns\": "
	    "100000000}}");
	expect(
	    &sim,
	    "Trees of files:\n  cell 1, boot 1, sample 1: make 10.0 files/s, 2.00 MB/s; read 40.0 files/s, "
	    "8.00 MB/s; remove 100.0 files/s (in 1.00, 0.25 and 0.10 s)\n");
	expect_figure(&sim, FIGURE_READ_S, 0.25);
	expect_figure(&sim, FIGURE_STALL_MS, 9); /* of a change of roles */
	sim_end(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_steady),
	    cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
