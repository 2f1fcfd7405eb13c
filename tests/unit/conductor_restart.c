/* SPDX-License-Identifier: GPL-2.0-or-later
 * The server dies at every step of the protocol, before or after it did what was asked; no sample is lost or
 * doubled. */
#include "conductor_sim.h"

static const char plan[] = "schema_version: 1\nquestion: q\nnodes: 2\n"
                           "zip:\n"
                           "  - {stack: raw}\n"
                           "  - {stack: drbd}\n"
                           "  - {stack: drbd, bond.mode: active-backup, boot: fresh}\n"
                           "workloads:\n"
                           "  - copy: {bs: 4MiB, size: 8MiB}\n"
                           "  - copy: {bs: 32KiB, size: 1MiB}\n"
                           "retries: 0\n"
                           "repeat: {boots: 1, samples: 1}\n";

/* How many events a run has in which the server dies at event KILL_AT. With no retries, one lost attempt
 * would fail it. */
static unsigned int run_once(unsigned int kill_at, bool lose_reply)
{
	struct sim sim;

	sim_start(&sim, plan);
	sim.kill_at = kill_at;
	sim.lose_reply = lose_reply;
	sim.nodes[0].place = sim.nodes[1].place = SIM_BOOT;
	sim_go(&sim, 20000, "done");
	sim_complete(&sim);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts"), 6);
	assert_int_equal(sim.kills, kill_at ? 1 : 0);
	assert_int_equal(sim.nodes[0].boots, 2);
	unsigned int events = sim.events;
	sim_end(&sim);
	return events;
}

static void test_dies_before_it_acts(void **state)
{
	unsigned int events = run_once(0, false);

	(void)state;
	assert_true(events > 40);
	for (unsigned int k = 1; k <= events; k++)
		run_once(k, false);
}

static void test_dies_before_it_answers(void **state)
{
	unsigned int events = run_once(0, true);

	(void)state;
	assert_true(events > 40);
	for (unsigned int k = 1; k <= events; k++)
		run_once(k, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_dies_before_it_acts),
	    cmocka_unit_test(test_dies_before_it_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
