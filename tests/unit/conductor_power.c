/* SPDX-License-Identifier: GPL-2.0-or-later
 * Nodes that hang, and the power driver that brings them back, or does not. */
#include "conductor_sim.h"

/* When the power-cycle that was asked for shows: the round in which the node boots again; -1: never. */
static struct {
	bool asked, done;
	unsigned int asked_times;
	int comes_after_rounds;  /* -1: the node stays dead all the same */
	unsigned int kill_after; /* the server dies once so many were asked for; 0: never */
} power;

static int cycle(void *ctx, const char *node)
{
	(void)ctx;
	assert_string_equal(node, "n2");
	assert_false(power.asked);
	power.asked = true;
	power.asked_times++;
	return 0;
}

/* The driver's answer comes some time after it was asked. */
static void switch_power(struct sim *sim)
{
	struct sim_node *n = &sim->nodes[1];

	if (!power.asked)
		return;
	power.asked = false;
	if (power.comes_after_rounds >= 0) {
		sim_reboot(sim, n);
		n->place = SIM_OFF;
		n->on_at_round = sim->round + power.comes_after_rounds;
	}
	if (power.kill_after && power.asked_times == power.kill_after) {
		power.kill_after = 0;
		sim_kill(sim);
		return;
	}
	conductor_powered(sim->c, sim->now, n->name, power.done, power.done ? "done" : "no route to the BMC");
}

static void start(struct sim *sim, const char *plan, enum sim_quirk (*quirk)(struct sim *, struct sim_node *))
{
	memset(&power, 0, sizeof(power));
	power.done = true;
	power.comes_after_rounds = 300;
	sim_start(sim, plan);
	/* The run was asked for before the lab file said so: it makes no other experiment of it. */
	json_object_set_new(json_object_get(json_object_get(sim->lab, "nodes"), "n2"), "power",
	                    json_pack("{ss ss}", "driver", "qemu", "socket", "x"));
	sim->cycle = cycle;
	sim->each_round = switch_power;
	sim->quirk = quirk;
	sim_kill(sim);
	sim->nodes[0].place = sim->nodes[1].place = SIM_BOOT;
}

static enum sim_quirk hangs_once(struct sim *sim, struct sim_node *n)
{
	return n == &sim->nodes[1] && n->given == 2 ? SIM_HANGS : SIM_FINE;
}

static void test_hangs_once(void **state)
{
	struct sim sim;

	(void)state;
	start(&sim, sim_five_states, hangs_once);
	sim_go(&sim, 20000, "done");
	sim_complete(&sim);
	assert_int_equal(power.asked_times, 1);
	assert_int_equal(
	    sim_count(&sim, "SELECT count(*) FROM power WHERE node = 'n2' AND cell_id IS NOT NULL AND done "
	                    "= 1 AND text = 'done' AND ended_unix_ns > at_unix_ns"),
	    1);
	assert_int_equal(
	    sim_count(&sim, "SELECT count(*) FROM errors WHERE json_extract(body, '$.step') = 'hung' AND "
	                    "scope = 'sample'"),
	    1);
	/* Asked (off), waited for, and only then: apply's deadline, then peer's. */
	assert_true(
	    sim_count(&sim,
	              "SELECT min(p.at_unix_ns - a.closed_unix_ns) / 1000000000 FROM power p, attempts a "
	              "WHERE a.state = 'abandoned'") >= 90);
	sim_end(&sim);
}

static enum sim_quirk hangs_in_one_cell(struct sim *sim, struct sim_node *n)
{
	const json_t *state = json_object_get(json_object_get(n->work, "cell"), "state");

	return n == &sim->nodes[1] && !strcmp(sim_text(state, "drbd.link"), "disconnected") ? SIM_HANGS
	                                                                                    : SIM_FINE;
}

static const char one_of_three[] =
    "schema_version: 1\nquestion: q\nnodes: 2\nbase: {stack: drbd}\n"
    "zip:\n  - {drbd.link: connected}\n  - {drbd.link: disconnected}\n  - {drbd.net.protocol: A}\n"
    "workloads:\n  - copy: {bs: 1MiB, size: 1MiB}\nrepeat: {boots: 1, samples: 2}\n"
    "deadlines: {peer: 90s, apply: 60s, measure: 60s}\nretries: 5\n";

/* Twice in the same cell: the cell is hung, and the others are measured. */
static void test_hangs_in_one_cell(void **state)
{
	struct sim sim;

	(void)state;
	start(&sim, one_of_three, hangs_in_one_cell);
	sim_go(&sim, 40000, "failed");
	assert_int_equal(power.asked_times, 2);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM cells WHERE failed"), 1);
	assert_int_equal(
	    sim_count(
	        &sim,
	        "SELECT count(*) FROM cells WHERE json_extract(error, '$.scope') = 'hung' AND "
	        "json_extract(error, '$.node') = 'n2' AND json_extract(body, '$.state.\"drbd.link\"') = "
	        "'disconnected'"),
	    1);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts WHERE state = 'valid'"), 4);
	struct report *report;
	assert_int_equal(report_load(sim.store, NULL, &report), 1);
	assert_int_equal(report->cells[0].hung + 2 * report->cells[1].hung + 4 * report->cells[2].hung, 2);
	assert_false(report_complete(report));
	report_free(report);
	sim_end(&sim);
}

/* A cell that has no try left is hung after one. */
static void test_hangs_in_the_last_try(void **state)
{
	char plan[sizeof(one_of_three)];
	struct sim sim;

	(void)state;
	strcpy(plan, one_of_three);
	*strstr(plan, "retries: 5") = '\0';
	strcat(plan, "retries: 0\n");
	start(&sim, plan, hangs_in_one_cell);
	sim_go(&sim, 40000, "failed");
	assert_int_equal(power.asked_times, 1);
	assert_int_equal(
	    sim_count(&sim, "SELECT count(*) FROM cells WHERE json_extract(error, '$.scope') = 'hung'"), 1);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts WHERE state = 'valid'"), 4);
	sim_end(&sim);
}

/* Three times in a row and no more, though the server dies after the second. */
static void test_never_comes_back(void **state)
{
	struct sim sim;

	(void)state;
	start(&sim, sim_five_states, hangs_once);
	power.comes_after_rounds = -1;
	power.kill_after = 2;
	sim_go(&sim, 40000, "failed");
	assert_int_equal(power.asked_times, 3);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM power"), 3);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM power WHERE done IS NULL"), 1);
	assert_int_equal(sim_count(&sim,
	                           "SELECT count(*) FROM errors WHERE json_extract(body, '$.message') LIKE "
	                           "'was power-cycled 3 times in a row%'"),
	                 1);
	assert_int_equal(sim_count(&sim,
	                           "SELECT count(*) FROM runs WHERE json_extract(error, '$.step') = 'peer'"),
	                 1);
	/* What needs one node was measured. */
	assert_int_equal(
	    sim_count(
	        &sim,
	        "SELECT count(*) FROM attempts a JOIN cells c USING (run, cell_id) WHERE c.nodes = 1 AND "
	        "a.state = 'valid'"),
	    4);
	sim_end(&sim);
}

static void test_driver_fails(void **state)
{
	struct sim sim;

	(void)state;
	start(&sim, sim_five_states, hangs_once);
	power.done = false;
	power.comes_after_rounds = -1;
	sim_go(&sim, 40000, "failed");
	assert_int_equal(
	    sim_count(&sim, "SELECT count(*) FROM power WHERE done = 0 AND text = 'no route to the BMC'"), 3);
	assert_int_equal(
	    sim_count(&sim, "SELECT count(*) FROM errors WHERE json_extract(body, '$.message') = 'cannot "
	                    "be power-cycled: no route to the BMC'"),
	    3);
	sim_end(&sim);
}

/* A machine that this run never heard of may be in use by somebody. */
static void test_who_never_came_is_left_alone(void **state)
{
	struct sim sim;

	(void)state;
	start(&sim, sim_five_states, NULL);
	sim.nodes[1].place = SIM_OFF;
	sim.nodes[1].on_at_round = -1;
	sim_go(&sim, 40000, "failed");
	assert_int_equal(power.asked_times, 0);
	assert_int_equal(sim_count(&sim,
	                           "SELECT count(*) FROM runs WHERE json_extract(error, '$.step') = 'peer'"),
	                 1);
	sim_end(&sim);
}

static enum sim_quirk dies_often(struct sim *sim, struct sim_node *n)
{
	return n == &sim->nodes[1] && n->given % 3 ? SIM_REBOOTS : SIM_FINE;
}

/* Boots that nobody asked for, but with a valid result every now and then, are no storm. */
static void test_boots_with_results_in_between(void **state)
{
	struct sim sim;

	(void)state;
	start(&sim,
	      "schema_version: 1\nquestion: q\nnodes: 2\nbase: {stack: drbd}\n"
	      "workloads:\n  - copy: {bs: 1MiB, size: 1MiB}\nrepeat: {boots: 1, samples: 6}\nretries: 5\n",
	      dies_often);
	sim_go(&sim, 40000, "done");
	sim_complete(&sim);
	assert_true(sim.nodes[1].boots > 7);
	assert_int_equal(power.asked_times, 0);
	assert_int_equal(
	    sim_count(&sim, "SELECT count(*) FROM errors WHERE json_extract(body, '$.step') = 'reboot'"), 0);
	sim_end(&sim);
}

static enum sim_quirk always_dies(struct sim *sim, struct sim_node *n)
{
	return n == &sim->nodes[1] ? SIM_REBOOTS : SIM_FINE;
}

/* One node in a storm: what needs only the other goes on; in the next run it gets work again. */
static void test_storm_of_the_peer(void **state)
{
	struct sim sim;

	(void)state;
	start(&sim,
	      "schema_version: 1\nquestion: q\nnodes: 2\nzip:\n  - {stack: drbd}\n  - {stack: raw}\n"
	      "workloads:\n  - copy: {bs: 4MiB, size: 8MiB}\n  - copy: {bs: 32KiB, size: 1MiB}\n"
	      "repeat: {boots: 1, samples: 2}\nretries: 20\n",
	      always_dies);
	while (sim_count(&sim, "SELECT count(*) FROM errors WHERE json_extract(body, '$.step') = 'reboot'") ==
	       0) {
		assert_true(sim.round < 20000);
		sim_one_round(&sim);
	}
	assert_true(conductor_storms(sim.c, "n2"));
	assert_false(conductor_storms(sim.c, "n1"));
	sim_go(&sim, 20000, "failed");
	assert_int_equal(
	    sim_count(&sim, "SELECT count(*) FROM runs WHERE json_extract(error, '$.message') LIKE 'boots "
	                    "over and over%' AND json_extract(error, '$.object') LIKE 'n2%'"),
	    1);
	assert_int_equal(
	    sim_count(
	        &sim,
	        "SELECT count(*) FROM attempts a JOIN cells c USING (run, cell_id) WHERE c.nodes = 1 AND "
	        "a.state = 'valid'"),
	    4);
	assert_false(conductor_storms(sim.c, "n2"));
	sim_end(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_hangs_once),
	    cmocka_unit_test(test_hangs_in_one_cell),
	    cmocka_unit_test(test_hangs_in_the_last_try),
	    cmocka_unit_test(test_never_comes_back),
	    cmocka_unit_test(test_driver_fails),
	    cmocka_unit_test(test_who_never_came_is_left_alone),
	    cmocka_unit_test(test_boots_with_results_in_between),
	    cmocka_unit_test(test_storm_of_the_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
