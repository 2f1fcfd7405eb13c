/* SPDX-License-Identifier: GPL-2.0-or-later
 * CrystalDiskMark 3's lines: which cells they become, and the table that the report prints of them. */
#include "crystal.h"
#include "../../lab/plan/plan.h"
#include "../../lab/report/report.h"
#include "../../lab/store/queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char lab[] = "{\"nodes\": {\"n1\": {}}}";

/* Records, depth, percent at random, percent read: what the program measures, and in which order. */
static void test_lines(void **state)
{
	static const int wanted[][4] = {
	    {1048576, 1, 0, 0},    {1048576, 1, 0, 100}, {1048576, 1, 0, 0},
	    {524288, 1, 100, 100}, {524288, 1, 100, 0},  {4096, 1, 100, 100},
	    {4096, 1, 100, 0},     {4096, 32, 100, 100}, {4096, 32, 100, 0},
	};
	static const char *const names[] = {"bs_bytes", "depth", "random_percent", "read_percent"};
	struct plan *plan;

	(void)state;
	assert_int_equal(plan_load("tests/matrix/crystal.yaml", 0, stderr, &plan), 0);
	assert_int_equal(plan->samples, 5); /* passes */
	assert_int_equal(plan->cell_count, 2 * 9);
	for (size_t i = 0; i < plan->cell_count; i++) {
		const json_t *w = plan_cell_workload(plan, &plan->cells[i]);

		for (size_t k = 0; k < 4; k++)
			assert_int_equal(json_integer_value(json_object_get(w, names[k])), wanted[i % 9][k]);
		assert_int_equal(json_integer_value(json_object_get(w, "span_bytes")), 1000 << 20);
		assert_int_equal(json_integer_value(json_object_get(w, "duration_ms")), i % 9 ? 5000 : 0);
		assert_true(json_is_true(json_object_get(w, "direct")));
		assert_int_equal(plan->visits[i].cell, i);
	}
	plan_free(plan);
}

static void put_sample(struct store *store, const char *run, const struct plan_cell *cell, int64_t sample,
                       int64_t bytes)
{
	static const char body[] = "{\"measurement\": {}}";

	assert_int_equal(
	    store_do(store,
	             "INSERT INTO attempts (run, cell_id, boot, sample, attempt, state, rebuild, "
	             "opened_unix_ns) VALUES (?, ?, 1, ?, 1, 'valid', 0, 1)",
	             "ssi", run, cell->id, sample),
	    0);
	assert_int_equal(
	    store_do(store,
	             "INSERT INTO assignments (run, cell_id, boot, sample, attempt, node, role, token) "
	             "VALUES (?, ?, 1, ?, 1, 'n1', 'measure', 't')",
	             "ssi", run, cell->id, sample),
	    0);
	assert_int_equal(
	    store_do(store,
	             "INSERT INTO results (run, cell_id, boot, sample, attempt, node, role, verdict, "
	             "measured_bytes, measured_ns, sha256, body, committed_unix_ns) VALUES (?, ?, 1, ?, 1, "
	             "'n1', 'measure', 'valid', ?, 1000000000, '', ?, 1)",
	             "ssiib", run, cell->id, sample, bytes, body, strlen(body)),
	    0);
}

/* Of each line the best of its five passes, whichever that was, as the program prints it. */
static void test_table(void **state)
{
	static const char wanted[] = "As CrystalDiskMark 3 shows it (best of 5 passes, test 1000 MB; MB/s = "
	                             "1,000,000 byte/s): raw aio seqread 1MiB "
	                             "QD1 5s span=1000MiB\n"
	                             "           Sequential Read :   105.000 MB/s\n"
	                             "          Sequential Write :   205.000 MB/s\n"
	                             "         Random Read 512KB :   305.000 MB/s\n"
	                             "        Random Write 512KB :   405.000 MB/s\n"
	                             "    Random Read 4KB (QD=1) :   505.000 MB/s [ 123291.0 IOPS]\n"
	                             "   Random Write 4KB (QD=1) :   605.000 MB/s [ 147705.1 IOPS]\n"
	                             "   Random Read 4KB (QD=32) :   705.000 MB/s [ 172119.1 IOPS]\n"
	                             "  Random Write 4KB (QD=32) : not measured\n";
	json_t *lab_json = json_loads(lab, 0, NULL);
	char run[RUN_ID_SIZE], *said = NULL;
	struct report *report;
	struct store *store;
	struct plan *plan;
	size_t size;
	FILE *out;

	(void)state;
	assert_int_equal(plan_load("tests/matrix/crystal.yaml", 0, stderr, &plan), 0);
	assert_int_equal(store_open(":memory:", STORE_CREATE, stderr, &store), 0);
	assert_int_equal(queue_run(store, plan, "", lab_json, "g", run), 0);
	assert_int_equal(
	    store_do(store, "INSERT INTO boots (token, node, mac, made_unix_ns) VALUES ('t', 'n1', '', 1)",
	             ""),
	    0);
	for (size_t i = 0; i < 8; i++)
		for (int64_t s = 1; s <= 5; s++)
			put_sample(store, run, &plan->cells[i], s,
			           ((int64_t)i * 100 + (s + 1) % 5 + 1) * 1000000);
	assert_int_equal(report_load(store, run, &report), 1);
	out = open_memstream(&said, &size);
	assert_non_null(out);
	crystal_print(report, out);
	fclose(out);
	assert_non_null(strstr(said, wanted));
	assert_non_null(
	    strstr(said + strlen(wanted), "As CrystalDiskMark 3 shows it")); /* of the other state */
	free(said);
	report_free(report);
	store_close(store);
	plan_free(plan);
	json_decref(lab_json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_lines),
	    cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
