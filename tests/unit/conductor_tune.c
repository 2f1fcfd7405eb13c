/* SPDX-License-Identifier: GPL-2.0-or-later
 * A run that tunes, from queue to the lines to install, on made-up nodes whose speeds are known; the server
 * is killed on the way. */
#include "conductor_sim.h"

#include "../../lab/tune/tune.h"

#include <errno.h>

static const char plan_text[] = "schema_version: 1\n"
                                "question: q\n"
                                "nodes: 2\n"
                                "base: {stack: drbd, nic.mtu: 9000, drbd.net.max-epoch-size: 1000}\n"
                                "tune:\n"
                                "  margin: 2%\n"
                                "  steps:\n"
                                "    - drbd.net.max-buffers: [512, 8000, 16384]\n"
                                "    - drbd.net.max-epoch-size: [1000, 2000]\n"
                                "    - [{drbd.net.sndbuf-size: 1MiB, drbd.net.rcvbuf-size: 2MiB}]\n"
                                "    - sysctl.net.ipv4.tcp_sack: [0]\n"
                                "workloads:\n"
                                "  - copy: {bs: 4MiB, size: 8MiB}\n"
                                "repeat: {boots: 5, samples: 2}\n"
                                "order: shuffled\n"
                                "deadlines: {peer: 90s, apply: 60s, measure: 60s}\n";

static bool has(const struct sim_node *n, const char *name, json_int_t level)
{
	const json_t *state = json_object_get(json_object_get(n->work, "cell"), "state");

	return json_integer_value(json_object_get(state, name)) == level && json_object_get(state, name);
}

/* 8 MiB in 10 ms, better by what is known, and up to 0.5 % more or less by boot and sample. */
static int64_t speeds(const struct sim_node *n)
{
	double ns = 10e6;
	uint32_t noise = (n->boots * 2654435761u) ^ (n->given * 40503u);

	if (has(n, "drbd.net.max-buffers", 8000))
		ns /= 1.10;
	if (has(n, "drbd.net.max-buffers", 16384))
		ns /= 1.15;
	if (has(n, "drbd.net.max-buffers", 512))
		ns *= 2;
	/* Better, but less than the margin. */
	if (has(n, "drbd.net.max-epoch-size", 2000))
		ns /= 1.01;
	/* Only together with what step 1 found. */
	if (has(n, "drbd.net.sndbuf-size", 1 << 20) && has(n, "drbd.net.max-buffers", 16384))
		ns /= 1.20;
	return (int64_t)(ns * (1 + ((double)(noise >> 8 & 1023) / 1023 - 0.5) / 100));
}

static enum sim_quirk no_sack(struct sim *sim, struct sim_node *n)
{
	(void)sim;
	return has(n, "sysctl.net.ipv4.tcp_sack", 0) ? SIM_FAILS_CELL : SIM_FINE;
}

static struct tune_path *load(struct sim *sim)
{
	struct tune_path *path;

	assert_int_equal(tune_load(sim->store, sim->run, &path), 1);
	return path;
}

static void expect_found(const struct tune_path *path, const char *json)
{
	json_t *wanted = json_loads(json, 0, NULL);

	assert_non_null(wanted);
	if (!json_equal(wanted, path->found))
		fail_msg("found %s instead of %s", json_dumps(path->found, 0), json);
	json_decref(wanted);
}

static void start(struct sim *sim, const char *text)
{
	sim_start(sim, text);
	sim_sample_ns = speeds;
	for (int i = 0; i < 2; i++)
		sim->nodes[i].place = SIM_BOOT;
}

static int end(void **state)
{
	(void)state;
	sim_sample_ns = NULL;
	return 0;
}

/* What is printed at the end: settings of cell CELL_ID, whose id the made-up nodes have in drbd.conf's place.
 */
static void expect_installs(struct sim *sim, const struct tune_path *path, const char *cell_id,
                            const char *line)
{
	char *text = NULL, *install;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	tune_print(sim->store, sim->run, path, out);
	fclose(out);
	install = strstr(text, "\nTo install:\n");
	assert_non_null(install);
	if (!strstr(install, cell_id))
		fail_msg("not of cell %s: %s", cell_id, install);
	if (!strstr(install, line))
		fail_msg("without %s: %s", line, install);
	assert_null(strstr(install, "stack"));
	free(text);
}

static void check_stages(const struct tune_path *path)
{
	static const size_t kept[] = {3, 0, 1, 0, 1}, counts[] = {4, 2, 2, 2, 2};

	assert_true(path->complete);
	assert_int_equal(path->count, 5);
	for (size_t i = 0; i < path->count; i++) {
		assert_true(path->stages[i].complete);
		assert_int_equal(path->stages[i].count, counts[i]);
		assert_int_equal(path->stages[i].kept, kept[i]);
		assert_int_equal(path->stages[i].confirms, i == 4);
	}
	assert_int_equal(path->stages[0].candidates[1].verdict, STATS_WORSE);
	assert_int_equal(path->stages[0].candidates[2].verdict, STATS_BETTER);
	/* What was kept stands first in the next step. */
	assert_string_equal(path->stages[1].cell_ids[0], path->stages[0].cell_ids[3]);
	assert_true(path->stages[3].candidates[1].failed);
	assert_true(path->stages[4].candidates[1].ratio.median > 1.3);
	expect_found(path, "{\"drbd.net.max-buffers\": 16384, \"drbd.net.sndbuf-size\": 1048576, "
	                   "\"drbd.net.rcvbuf-size\": 2097152}");
}

static void whole_way(void **state)
{
	struct tune_path *path;
	struct report *report;
	struct sim sim;

	(void)state;
	start(&sim, plan_text);
	sim.quirk = no_sack;
	sim_go(&sim, 200000, "failed"); /* one cell failed, and the run goes on to its end */
	path = load(&sim);
	check_stages(path);
	/* Every stage has blocks, and so boots, of its own. */
	assert_int_equal(sim_count(&sim, "SELECT count(DISTINCT boot) FROM visits"), 25);
	assert_int_equal(
	    sim_count(&sim, "SELECT max(n) FROM (SELECT count(DISTINCT block) n FROM boots GROUP BY token)"),
	    1);
	assert_int_equal(report_load(sim.store, sim.run, &report), 1);
	assert_non_null(report->tune);
	report_free(report);
	expect_installs(&sim, path, path->stages[4].cell_ids[1], "ip link set eth7 mtu 9000\n");
	tune_free(path);
	sim_end(&sim);
}

/* 10 % better in the first four boots only. */
static int64_t fades(const struct sim_node *n)
{
	return has(n, "drbd.net.max-buffers", 8000) && n->boots <= 4 ? 9000000 : 10000000 + n->given;
}

static void not_confirmed(void **state)
{
	struct tune_path *path;
	struct sim sim;

	(void)state;
	start(&sim, "schema_version: 1\nquestion: q\nnodes: 2\nbase: {stack: drbd, nic.tso: \"off\"}\n"
	            "tune:\n  margin: 2%\n  steps:\n    - drbd.net.max-buffers: [8000]\n"
	            "workloads:\n  - copy: {bs: 4MiB, size: 8MiB}\nrepeat: {boots: 4, samples: 1}\n");
	sim_sample_ns = fades;
	sim_go(&sim, 200000, "done");
	path = load(&sim);
	assert_true(path->complete);
	assert_int_equal(path->stages[0].kept, 1);
	assert_int_equal(path->stages[1].kept, 0);
	expect_found(path, "{\"drbd.net.max-buffers\": 8000}");
	/* The start's. */
	expect_installs(&sim, path, path->stages[1].cell_ids[0], "ethtool -K eth7 tso off\n");
	tune_free(path);
	sim_end(&sim);
}

/* Killed once a stage or so, with and without an answer lost: the same way. */
static void killed(void **state)
{
	(void)state;
	for (int lose = 0; lose < 2; lose++) {
		struct tune_path *path;
		struct sim sim;

		start(&sim, plan_text);
		sim.quirk = no_sack;
		sim.lose_reply = lose;
		for (unsigned int at = 100; at < 2200; at += 131) {
			sim.kill_at = at;
			for (int i = 0; i < 100000 && sim.events <= at; i++) {
				sim_one_round(&sim);
				if (!sim_count(
				        &sim,
				        "SELECT count(*) FROM runs WHERE state IN ('queued', 'running')"))
					break;
			}
		}
		assert_true(sim.kills > 5);
		sim.kill_at = 0;
		sim_go(&sim, 200000, "failed");
		path = load(&sim);
		check_stages(path);
		assert_int_equal(sim_count(&sim, "SELECT count(*) FROM attempts WHERE state = 'valid'"),
		                 5 * 2 * (4 + 2 + 2 + 1 + 2));
		tune_free(path);
		sim_end(&sim);
	}
}

static void nothing_better(void **state)
{
	static const char text[] = "schema_version: 1\n"
	                           "question: q\n"
	                           "nodes: 2\n"
	                           "base: {stack: drbd}\n"
	                           "tune:\n"
	                           "  margin: 2%\n"
	                           "  steps:\n"
	                           "    - drbd.net.max-epoch-size: [2000]\n"
	                           "    - drbd.net.max-buffers: [512]\n"
	                           "workloads:\n"
	                           "  - copy: {bs: 4MiB, size: 8MiB}\n"
	                           "repeat: {boots: 4, samples: 1}\n";
	struct tune_path *path;
	struct sim sim;

	(void)state;
	start(&sim, text);
	sim_go(&sim, 200000, "done");
	path = load(&sim);
	assert_true(path->complete);
	assert_int_equal(path->count, 2); /* nothing to confirm */
	expect_found(path, "{}");
	expect_installs(&sim, path, path->stages[1].cell_ids[0], "");
	tune_free(path);
	sim_end(&sim);
}

/* The start itself cannot be measured: nothing can be compared. */
static enum sim_quirk no_start(struct sim *sim, struct sim_node *n)
{
	(void)sim;
	return has(n, "drbd.net.max-buffers", 2048) ? SIM_FAILS_CELL : SIM_FINE;
}

static void no_incumbent(void **state)
{
	struct tune_path *path;
	struct sim sim;

	(void)state;
	start(&sim, plan_text);
	sim.quirk = no_start;
	sim_go(&sim, 200000, "failed");
	path = load(&sim);
	assert_int_equal(path->count, 1);
	assert_false(path->complete);
	assert_non_null(strstr(path->error, "could not be measured"));
	assert_int_equal(sim_count(&sim,
	                           "SELECT count(*) FROM runs WHERE error LIKE '%nothing can be compared%'"),
	                 1);
	tune_free(path);
	sim_end(&sim);
}

static void choose(void **state)
{
	double start_at[] = {100, 101, 102, 103}, same[] = {100, 101, 102, 103.5},
	       more[] = {110, 111, 112, 113};
	double much[] = {120, 121, 122, 123};
	struct tune_candidate c[] = {
	    {.medians = start_at, .boots = 4},
	    {.medians = same, .boots = 4},
	    {.medians = more, .boots = 4},
	    {.medians = much, .boots = 4},
	};
	size_t kept;

	(void)state;
	/* Four boots each carry one comparison, not three. */
	assert_int_equal(tune_choose(c, 2, true, 0, &kept), 0);
	assert_int_equal(kept, 0);
	assert_int_equal(tune_choose(c, 4, true, 0, &kept), 0);
	assert_int_equal(kept, 0);
	c[1] = c[2];
	assert_int_equal(tune_choose(c, 2, true, 0, &kept), 0);
	assert_int_equal(kept, 1);
	assert_int_equal(tune_choose(c, 2, true, 0.2, &kept), 0); /* within the margin */
	assert_int_equal(kept, 0);
	assert_int_equal(tune_choose(c, 2, false, 0, &kept), 0); /* less would be better */
	assert_int_equal(kept, 0);
	assert_int_equal(c[1].verdict, STATS_WORSE);
	c[1].failed = true;
	assert_int_equal(tune_choose(c, 2, true, 0, &kept), 0);
	assert_int_equal(kept, 0);
	assert_false(c[1].compared);
	c[0].failed = true;
	assert_int_equal(tune_choose(c, 2, true, 0, &kept), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(choose),
	    cmocka_unit_test_teardown(whole_way, end),
	    cmocka_unit_test_teardown(killed, end),
	    cmocka_unit_test_teardown(nothing_better, end),
	    cmocka_unit_test_teardown(not_confirmed, end),
	    cmocka_unit_test_teardown(no_incumbent, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
