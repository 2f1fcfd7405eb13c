/* SPDX-License-Identifier: GPL-2.0-or-later
 * Whole runs by the real conductor with made-up nodes and time. */
#include "conductor_sim.h"

static void both_on(struct sim *sim)
{
	sim->nodes[0].place = sim->nodes[1].place = SIM_BOOT;
}

static void test_happy(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, sim_five_states);
	both_on(&sim);
	sim_go(&sim, 20000, "done");
	sim_complete(&sim);
	/* Both fresh states need a reboot of both nodes, and nothing else does. */
	assert_int_equal(sim.nodes[0].boots, 3);
	assert_int_equal(sim.nodes[1].boots, 3);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM reboots"), 4);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts WHERE state != 'valid'"), 0);
	/* Each state is built once, for the first sample of its first workload. */
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts WHERE rebuild"), 5);
	/* Workloads of one state share its build-up. */
	assert_int_equal(sim_count(&sim, "SELECT max(states) FROM boots WHERE node = 'n1'"), 3);
	sim_end(&sim);
}

static void test_blocks(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, "schema_version: 1\nquestion: q\nnodes: 2\nbase: {stack: drbd}\n"
	                "workloads:\n  - copy: {bs: 1MiB, size: 1MiB}\nrepeat: {boots: 3, samples: 2}\n");
	both_on(&sim);
	sim_go(&sim, 20000, "done");
	sim_complete(&sim);
	assert_int_equal(sim.nodes[0].boots, 3);
	assert_int_equal(sim.nodes[1].boots, 3);
	sim_end(&sim);
}

/* Nodes boot with what the cell asks of their kernel; cells of one command line follow each other. */
static void test_kernel_arguments(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, "schema_version: 1\nquestion: q\nnodes: 2\nbase: {stack: drbd}\n"
	                "cross:\n  drbd.net.tcp-cork: [\"yes\", \"no\"]\n"
	                "  boot.cmdline: [default, maxcpus=1, nosmp mitigations=off]\n"
	                "workloads:\n  - copy: {bs: 1MiB, size: 1MiB}\nrepeat: {boots: 2, samples: 1}\n");
	both_on(&sim);
	sim_go(&sim, 20000, "done");
	sim_complete(&sim);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts"), 12);
	/* The first boot came before the run; then each command line once a block. */
	assert_int_equal(sim.nodes[0].boots, 6);
	assert_int_equal(sim.nodes[1].boots, 6);
	assert_int_equal(
	    sim_count(&sim, "SELECT count(*) FROM boots WHERE node = 'n2' AND arguments = 'maxcpus=1'"), 2);
	sim_end(&sim);
}

/* Each node is isolated by its own topology, which only its first hello tells; one CPU is left as it is. A
 * server that was started again knows it from the store. */
static void test_isolated(void **state)
{
	static const char isolation[] =
	    "nohz_full=1,3 rcu_nocbs=1,3 isolcpus=managed_irq,domain,1,3 irqaffinity=0,2";
	struct sim sim;

	(void)state;
	sim_start(&sim,
	          "schema_version: 1\nquestion: q\nnodes: 2\nbase: {stack: drbd, boot.isolate: \"on\"}\n"
	          "cross:\n  boot.cmdline: [default, mitigations=off]\n"
	          "workloads:\n  - copy: {bs: 1MiB, size: 1MiB}\nrepeat: {boots: 1, samples: 1}\n"
	          "order: as-written\n");
	sim.nodes[0].cpus = "{\"cores\": [{\"cpus\": \"0,2\"}, {\"cpus\": \"1,3\"}]}";
	sim.nodes[0].isolation = isolation;
	sim.nodes[1].cpus = "{\"cores\": [{\"cpus\": \"0\"}]}";
	sim.kill_at = 9;
	both_on(&sim);
	sim_go(&sim, 20000, "done");
	assert_int_equal(sim.kills, 1);
	sim_complete(&sim);
	/* Before the run; isolated; isolated with another argument. The other: before, and with that
	 * argument. */
	assert_int_equal(sim.nodes[0].boots, 3);
	assert_int_equal(sim.nodes[1].boots, 2);
	assert_int_equal(
	    sim_count(&sim,
	              "SELECT count(*) FROM boots WHERE node = 'n1' AND arguments LIKE 'mitigations=off "
	              "nohz_full=1,3 %'"),
	    1);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM reboots"), 3);
	sim_end(&sim);
}

/* A run's boots have every layer that one of its cells needs, and no other run's boots do. */
static void test_layers(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, "schema_version: 1\nquestion: q\nnodes: 2\nbase: {drbd.link: never-connected}\n"
	                "cross:\n  stack: [raw, drbd/lvm, xfs/lvm/drbd]\n"
	                "workloads:\n  - copy: {bs: 1MiB, size: 1MiB}\nrepeat: {boots: 2, samples: 1}\n");
	sim.nodes[0].place = SIM_BOOT;
	sim.nodes[0].early = true;
	sim_go(&sim, 20000, "done");
	sim_complete(&sim);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts"), 6);
	/* The first boot's script came before the run, and so without its layers. */
	assert_int_equal(sim.nodes[0].boots, 3);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM reboots WHERE reason LIKE '%layer%'"), 1);
	assert_int_equal(sim_count(&sim,
	                           "SELECT count(*) FROM boots WHERE node = 'n1' AND json_extract(inventory, "
	                           "'$.layers') = '[\"lvm2\",\"filesystems\"]'"),
	                 2);
	sim_end(&sim);
}

/* Cells of one kernel follow each other; no boot of ours carries the other's modules. */
static void test_kernels(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, "schema_version: 1\nquestion: q\nnodes: 2\nbase: {stack: drbd}\n"
	                "cross:\n  drbd.net.tcp-cork: [\"yes\", \"no\"]\n  boot.kernel: [default, debian]\n"
	                "workloads:\n  - copy: {bs: 1MiB, size: 1MiB}\nrepeat: {boots: 2, samples: 1}\n");
	both_on(&sim);
	sim_go(&sim, 20000, "done");
	sim_complete(&sim);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts"), 8);
	assert_int_equal(sim.nodes[0].boots, 4);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM boots WHERE node = 'n2' AND inventory LIKE "
	                                 "'%kernel-debian%'"),
	                 2);
	sim_end(&sim);
}

/* A server whose image folder lacks a layer ends the run, and says what to do. */
static void test_layer_that_is_not_there(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, "schema_version: 1\nquestion: q\nnodes: 1\nbase: {stack: luks}\n"
	                "workloads:\n  - copy: {bs: 1MiB, size: 1MiB}\nrepeat: {boots: 1, samples: 1}\n");
	for (int i = 0; i < 10; i++)
		sim_one_round(&sim);
	conductor_no_layer(sim.c, sim.now, "n1", "cryptsetup");
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM runs WHERE state = 'failed' AND error LIKE "
	                                 "'%make layers%' AND error LIKE '%cryptsetup%'"),
	                 1);
	sim_end(&sim);
}

static enum sim_quirk reboots_once(struct sim *sim, struct sim_node *n)
{
	return n == &sim->nodes[1] && n->given == 3 ? SIM_REBOOTS : SIM_FINE;
}

static void test_reboot_in_mid_sample(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, sim_five_states);
	sim.quirk = reboots_once;
	both_on(&sim);
	sim_go(&sim, 20000, "done");
	sim_complete(&sim);
	assert_int_equal(
	    sim_count(&sim, "SELECT count(*) FROM attempts WHERE state = 'abandoned' AND json_extract(error, "
	                    "'$.node') = 'n2'"),
	    1);
	/* The other node was told, and has said so. */
	assert_int_equal(sim_count(&sim,
	                           "SELECT count(*) FROM results WHERE verdict = 'failed' AND node = 'n1'"),
	                 1);
	/* Whoever was not rebooted builds anew all the same. */
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts WHERE attempt = 2 AND NOT rebuild"),
	                 0);
	sim_end(&sim);
}

static enum sim_quirk reset_of_n2(struct sim *sim, struct sim_node *n)
{
	return n == &sim->nodes[1] && n->given == 3 ? SIM_REBOOTS : SIM_FINE;
}

static enum sim_quirk slow_builder(struct sim *sim, struct sim_node *n)
{
	if (n == &sim->nodes[0] && n->given == 7)
		return SIM_SLOW;
	return reset_of_n2(sim, n);
}

/* n2 is reset while n1 builds up for 140 s, within its 150 s: n1 is busy, not lost, though n2 waits for more
 * than 90 s. */
static void test_busy_is_not_late(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, sim_five_states);
	sim.quirk = slow_builder;
	both_on(&sim);
	sim_go(&sim, 20000, "done");
	sim_complete(&sim);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts WHERE state = 'abandoned'"), 1);
	sim_end(&sim);
}

static void test_peer_late(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, sim_five_states);
	sim.nodes[0].place = SIM_BOOT;
	sim.nodes[1].on_at_round = 600;
	sim_go(&sim, 20000, "done");
	sim_complete(&sim);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM errors"), 0);
	sim_end(&sim);
}

static void test_peer_never(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, sim_five_states);
	sim.nodes[0].place = SIM_BOOT;
	sim.nodes[1].on_at_round = -1;
	sim_go(&sim, 20000, "failed");
	/* What needs one node only was measured. */
	assert_true(sim_count(&sim, "SELECT count(*) FROM cells WHERE nodes = 1") > 0);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts WHERE state = 'valid'"),
	                 sim_count(&sim, "SELECT count(*) * 2 FROM cells WHERE nodes = 1"));
	assert_int_equal(
	    sim_count(&sim,
	              "SELECT count(*) FROM errors WHERE scope = 'run' AND node = 'n2' AND "
	              "json_extract(body, '$.object') LIKE '%52:54:00:00:00:02%' AND json_extract(body, "
	              "'$.remedy') LIKE '%power%'"),
	    1);
	assert_true(sim.now.mono_ns < 200 * INT64_C(1000000000));
	sim_end(&sim);
}

static void test_peer_after_deadline(void **state)
{
	struct sim sim;

	(void)state;
	/* Raw cells in many boots keep n1 busy beyond the deadline; then n2 comes after all. */
	sim_start(&sim,
	          "schema_version: 1\nquestion: q\nnodes: 2\nzip:\n  - {stack: drbd}\n  - {stack: raw}\n"
	          "workloads:\n  - copy: {bs: 1MiB, size: 1MiB}\nrepeat: {boots: 40, samples: 3}\n"
	          "deadlines: {peer: 20s}\n");
	sim.nodes[0].place = SIM_BOOT;
	sim.nodes[1].on_at_round = 300;
	sim_go(&sim, 60000, "done");
	sim_complete(&sim);
	sim_end(&sim);
}

static void test_no_node_at_all(void **state)
{
	struct sim sim;

	(void)state;
	/* Nobody was there yet: the operator may switch the nodes on whenever he likes. */
	sim_start(&sim, sim_five_states);
	sim.nodes[0].on_at_round = sim.nodes[1].on_at_round = 5000;
	sim_go(&sim, 20000, "done");
	sim_complete(&sim);
	sim_end(&sim);
}

static enum sim_quirk raw_fails(struct sim *sim, struct sim_node *n)
{
	const json_t *cell = json_object_get(json_object_get(n->work, "cell"), "state");

	(void)sim;
	return !strcmp(sim_text(cell, "stack"), "raw") ? SIM_FAILS : SIM_FINE;
}

static void test_attempts_exhausted(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, sim_five_states);
	sim.quirk = raw_fails;
	both_on(&sim);
	sim_go(&sim, 20000, "failed");
	/* Two raw cells, each given up after its first sample was tried twice; all else is there. */
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM cells WHERE failed"), 2);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts WHERE state = 'failed'"), 4);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts WHERE state = 'valid'"), 16);
	assert_int_equal(
	    sim_count(&sim, "SELECT count(*) FROM cells WHERE json_extract(error, '$.message') = 'trouble'"),
	    2);
	sim_end(&sim);
}

static enum sim_quirk invalid_once(struct sim *sim, struct sim_node *n)
{
	return n == &sim->nodes[1] && n->given <= 1 ? SIM_INVALID : SIM_FINE;
}

static void test_invalid_is_measured_again(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, sim_five_states);
	sim.quirk = invalid_once;
	both_on(&sim);
	sim_go(&sim, 20000, "done");
	sim_complete(&sim);
	assert_int_equal(
	    sim_count(
	        &sim,
	        "SELECT count(*) FROM attempts WHERE state = 'invalid' AND reason = 'n2: a link flapped'"),
	    1);
	sim_end(&sim);
}

static enum sim_quirk cell_error(struct sim *sim, struct sim_node *n)
{
	return n == &sim->nodes[0] && n->given == 1 ? SIM_FAILS_CELL : SIM_FINE;
}

static void test_scope_cell(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, sim_five_states);
	sim.quirk = cell_error;
	both_on(&sim);
	sim_go(&sim, 20000, "failed");
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts WHERE state = 'failed'"), 1);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts WHERE state = 'valid'"), 18);
	sim_end(&sim);
}

/* 50 s of measuring, and the peer hears nothing meanwhile; a node that never comes back is told of. */
static void test_silence(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, sim_five_states);
	sim.measure_rounds = 500;
	both_on(&sim);
	sim_go(&sim, 100000, "done");
	sim_complete(&sim);
	assert_int_equal(sim.nodes[1].asked_again[SIM_DONE], 0);
	sim_end(&sim);
}

static void test_silence_ends(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, sim_five_states);
	sim.measure_rounds = 1000000;
	both_on(&sim);
	for (int i = 0;
	     i < 100000 && !sim_count(&sim, "SELECT count(*) FROM attempts WHERE state = 'abandoned'"); i++)
		sim_one_round(&sim);
	assert_int_equal(sim_count(&sim,
	                           "SELECT count(*) FROM attempts WHERE state = 'abandoned' AND error LIKE "
	                           "'%did not come to done within%'"),
	                 1);
	/* It took the deadline, and the peer was told. */
	for (int i = 0; i < 100; i++)
		sim_one_round(&sim);
	assert_int_equal(sim.nodes[1].asked_again[SIM_DONE], 0);
	assert_int_equal(sim.nodes[1].place, SIM_NEXT);
	sim_end(&sim);
}

static enum sim_quirk no_such_level(struct sim *sim, struct sim_node *n)
{
	return n == &sim->nodes[1] && n->given == 1 ? SIM_UNSUPPORTED : SIM_FINE;
}

/* Not tried again, also not by a server that is started anew; the run is complete all the same. */
static void test_scope_unsupported(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, sim_five_states);
	sim.quirk = no_such_level;
	both_on(&sim);
	sim_go(&sim, 20000, "done");
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts WHERE state = 'failed'"), 1);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts WHERE state = 'valid'"), 18);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM cells WHERE failed AND json_extract(error, "
	                                 "'$.scope') = 'unsupported'"),
	                 1);
	sim_end(&sim);
}

static enum sim_quirk run_error(struct sim *sim, struct sim_node *n)
{
	return n == &sim->nodes[1] ? SIM_FAILS_RUN : SIM_FINE;
}

static void test_scope_run(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, sim_five_states);
	sim.quirk = run_error;
	both_on(&sim);
	sim_go(&sim, 20000, "failed");
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts WHERE state = 'failed'"), 1);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM errors WHERE scope = 'run' AND node = 'n2'"),
	                 1);
	assert_int_equal(
	    sim_count(&sim, "SELECT count(*) FROM runs WHERE json_extract(error, '$.object') = 'thing'"), 1);
	/* The peer is told at its barrier, and its failed result is still taken. */
	for (int i = 0; i < 20; i++)
		sim_one_round(&sim);
	assert_int_equal(sim.nodes[0].place, SIM_NEXT);
	assert_int_equal(sim_count(&sim,
	                           "SELECT count(*) FROM results WHERE node = 'n1' AND verdict = 'failed'"),
	                 1);
	sim_end(&sim);
}

static enum sim_quirk hangs_once(struct sim *sim, struct sim_node *n)
{
	return n == &sim->nodes[1] && n->given == 2 ? SIM_HANGS : SIM_FINE;
}

static void test_node_hangs(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, sim_five_states);
	sim.quirk = hangs_once;
	both_on(&sim);
	sim_go(&sim, 20000, "failed");
	assert_int_equal(
	    sim_count(&sim, "SELECT count(*) FROM attempts WHERE state = 'abandoned' AND json_extract(error, "
	                    "'$.message') LIKE 'did not come to applied within 150 s%'"),
	    1);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM errors WHERE scope = 'run' AND node = 'n2'"),
	                 1);
	sim_end(&sim);
}

static enum sim_quirk always_reboots(struct sim *sim, struct sim_node *n)
{
	return n == &sim->nodes[0] ? SIM_REBOOTS : SIM_FINE;
}

static void test_node_that_dies_in_every_sample(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, sim_five_states);
	sim.quirk = always_reboots;
	both_on(&sim);
	sim_go(&sim, 20000, "failed");
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM cells WHERE failed"), 10);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts"), 20);
	sim_end(&sim);
}

#define RUN_COLUMNS                                                                                          \
	"(run, number, group_name, state, plan_name, question, plan_text, plan_sha256, lab, nodes, boots, "  \
	"samples, "                                                                                          \
	"retries, shuffled, seed, peer_ms, apply_ms, measure_ms, created_unix_ns)"

static void test_node_that_does_not_reboot(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, sim_five_states);
	both_on(&sim);
	/* As if the boot that answers had served another run, for ever. */
	for (int i = 0; i < 2000; i++) {
		store_do(
		    sim.store,
		    "INSERT OR IGNORE INTO runs " RUN_COLUMNS
		    " SELECT 'other-run', 99, group_name, 'done', plan_name, "
		    "question, "
		    "plan_text, plan_sha256, lab, nodes, boots, samples, retries, shuffled, seed, peer_ms, "
		    "apply_ms, measure_ms, created_unix_ns FROM runs",
		    "");
		sim_one_round(&sim);
		if (sim.nodes[0].place == SIM_NEXT && !sim.nodes[0].waiting)
			assert_int_equal(store_do(sim.store, "UPDATE boots SET run = 'other-run', block = 1",
			                          ""),
			                 0);
		if (sim.nodes[0].place == SIM_NEXT && !sim.nodes[0].waiting)
			sim_kill(&sim);
		if (!sim_count(&sim, "SELECT count(*) FROM runs WHERE state IN ('queued', 'running')"))
			break;
	}
	assert_int_equal(
	    sim_count(&sim,
	              "SELECT count(*) FROM errors WHERE scope = 'run' AND body LIKE '%asked to reboot 4 "
	              "times%'"),
	    1);
	assert_int_equal(sim_count(&sim,
	                           "SELECT max(n) FROM (SELECT count(*) AS n FROM reboots GROUP BY node)"),
	                 4);
	sim_end(&sim);
}

static void test_second_run_boots_again(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, sim_five_states);
	both_on(&sim);
	sim_go(&sim, 20000, "done");
	assert_int_equal(
	    store_do(sim.store,
	             "INSERT INTO runs " RUN_COLUMNS
	             " SELECT 'second-run', 2, group_name, 'queued', plan_name, question, "
	             "plan_text, "
	             "plan_sha256, lab, nodes, boots, samples, retries, shuffled, seed, peer_ms, apply_ms, "
	             "measure_ms, created_unix_ns FROM runs",
	             ""),
	    0);
	assert_int_equal(
	    store_do(
	        sim.store,
	        "INSERT INTO cells SELECT 'second-run', ordinal, cell_id, state_id, label, fresh, nodes, "
	        "size_bytes, body, 0, NULL, NULL FROM cells",
	        ""),
	    0);
	assert_int_equal(
	    store_do(sim.store, "INSERT INTO visits SELECT 'second-run', position, boot, cell_id FROM visits",
	             ""),
	    0);
	strcpy(sim.run, "second-run");
	unsigned int boots = sim.nodes[0].boots;
	sim_kill(&sim);
	sim_go(&sim, 20000, "done");
	/* Its block asks for boots that served no other. */
	assert_int_equal(sim.nodes[0].boots, boots + 3);
	assert_int_equal(
	    sim_count(&sim, "SELECT count(*) FROM attempts WHERE run = 'second-run' AND state = 'valid'"),
	    20);
	sim_end(&sim);
}

static void test_other_lab_file(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, sim_five_states);
	assert_int_equal(store_do(sim.store,
	                          "UPDATE runs SET state = 'queued', lab = replace(lab, 'D2', 'D3')", ""),
	                 0);
	sim_kill(&sim);
	both_on(&sim);
	sim_go(&sim, 100, "failed");
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts"), 0);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM errors WHERE body LIKE '%lab file%'"), 1);
	sim_end(&sim);
}

static void cancel(struct sim *sim)
{
	struct store *other;

	for (int i = 0; i < 30; i++)
		sim_one_round(sim);
	assert_int_equal(store_open(sim->database, STORE_EXISTING, stderr, &other), 0);
	assert_int_equal(store_do(other, "UPDATE runs SET state = 'cancelled'", ""), 0);
	store_close(other);
}

static void test_cancel(void **state)
{
	struct sim sim;

	(void)state;
	for (int restart = 0; restart < 2; restart++) {
		sim_start(&sim, sim_five_states);
		both_on(&sim);
		cancel(&sim);
		if (restart)
			sim_kill(&sim);
		for (int i = 0; i < 30; i++)
			sim_one_round(&sim);
		assert_int_equal(
		    sim_count(
		        &sim,
		        "SELECT count(*) FROM runs WHERE state = 'cancelled' AND ended_unix_ns IS NOT NULL"),
		    1);
		assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts WHERE state = 'open'"), 0);
		sim_end(&sim);
	}
}

static const char precise[] =
    "schema_version: 1\nquestion: q\nnodes: 1\nbase: {stack: raw}\n"
    "workloads:\n  - copy: {bs: 1MiB, size: 8MiB}\n  - copy: {bs: 1MiB, size: 4MiB}\n"
    "repeat: {boots: 9, samples: 1}\nprecision: 1%\nretries: 1\n";

/* The cell of 4 MiB takes longer from boot to boot, 10 % and back; that of 8 MiB always the same. The server
 * is killed now and then. */
static void test_precision(void **state)
{
	struct sim sim;

	(void)state;
	sim_start(&sim, precise);
	sim.nodes[0].place = SIM_BOOT;
	sim.nodes[1].on_at_round = -1;
	assert_int_equal(
	    store_do(sim.store,
	             "CREATE TRIGGER spread AFTER INSERT ON results BEGIN UPDATE results SET measured_ns = "
	             "1000000 * (1 + "
	             "(measured_bytes = 4194304) * (new.boot % 2) / 10.0) WHERE rowid = new.rowid; END",
	             ""),
	    0);
	for (int i = 0; i < 20000 && sim_count(&sim, "SELECT count(*) FROM runs WHERE state != 'done'");
	     i++) {
		sim_one_round(&sim);
		if (i % 97 == 96)
			sim_kill(&sim);
	}
	assert_int_equal(sim_count(&sim,
	                           "SELECT count(*) FROM attempts JOIN cells USING (run, cell_id) WHERE "
	                           "size_bytes = 8388608 AND state = 'valid'"),
	                 7);
	assert_int_equal(sim_count(&sim, "SELECT enough FROM cells WHERE size_bytes = 8388608"), 7);
	assert_int_equal(sim_count(&sim,
	                           "SELECT count(*) FROM attempts JOIN cells USING (run, cell_id) WHERE "
	                           "size_bytes = 4194304 AND state = 'valid'"),
	                 9);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM cells WHERE enough IS NULL"), 1);
	struct report *report;

	assert_int_equal(report_load(sim.store, sim.run, &report), 1);
	assert_true(report_complete(report));
	assert_true(report->precision == 0.01);
	report_free(report);
	sim_end(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_happy),
	    cmocka_unit_test(test_blocks),
	    cmocka_unit_test(test_kernel_arguments),
	    cmocka_unit_test(test_isolated),
	    cmocka_unit_test(test_layers),
	    cmocka_unit_test(test_layer_that_is_not_there),
	    cmocka_unit_test(test_kernels),
	    cmocka_unit_test(test_reboot_in_mid_sample),
	    cmocka_unit_test(test_busy_is_not_late),
	    cmocka_unit_test(test_peer_late),
	    cmocka_unit_test(test_peer_never),
	    cmocka_unit_test(test_peer_after_deadline),
	    cmocka_unit_test(test_no_node_at_all),
	    cmocka_unit_test(test_attempts_exhausted),
	    cmocka_unit_test(test_invalid_is_measured_again),
	    cmocka_unit_test(test_scope_cell),
	    cmocka_unit_test(test_silence),
	    cmocka_unit_test(test_silence_ends),
	    cmocka_unit_test(test_scope_unsupported),
	    cmocka_unit_test(test_scope_run),
	    cmocka_unit_test(test_node_hangs),
	    cmocka_unit_test(test_node_that_dies_in_every_sample),
	    cmocka_unit_test(test_node_that_does_not_reboot),
	    cmocka_unit_test(test_second_run_boots_again),
	    cmocka_unit_test(test_other_lab_file),
	    cmocka_unit_test(test_cancel),
	    cmocka_unit_test(test_precision),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
