/* SPDX-License-Identifier: GPL-2.0-or-later
 * Nodes and a clock made up around the real conductor and a real store, for its tests. */
#ifndef ASSAY_CONDUCTOR_SIM_H
#define ASSAY_CONDUCTOR_SIM_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "factor.h"
#include "../../lab/plan/layers.h"
#include "../../lab/plan/plan.h"
#include "../../lab/report/report.h"
#include "../../lab/serve/conduct.h"
#include "../../lab/serve/log.h"
#include "../../lab/store/chain.h"
#include "../../lab/store/queue.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIM_ROUND_NS (100 * INT64_C(1000000))

enum sim_place { SIM_OFF, SIM_BOOT, SIM_NEXT, SIM_APPLIED, SIM_READY, SIM_DONE, SIM_PUT };
enum sim_quirk {
	SIM_FINE,
	SIM_SLOW,
	SIM_REBOOTS,
	SIM_HANGS,
	SIM_FAILS,
	SIM_FAILS_CELL,
	SIM_UNSUPPORTED,
	SIM_FAILS_RUN,
	SIM_INVALID
};

struct sim_node {
	const char *name, *mac;
	enum sim_place place;
	int64_t on_at_round; /* when SIM_OFF turns into SIM_BOOT; -1: never */
	char token[33], boot_id[37], arguments[NODE_ARGUMENTS_SIZE];
	const char *cpus;      /* its inventory's, as JSON; NULL: it does not say */
	const char *isolation; /* the arguments that isolate them; NULL: none */
	json_t *layers;        /* that its boot script named */
	bool early;            /* the first was served before the run was asked for */
	struct hold hold;
	bool waiting;
	json_t *work, *result;
	char state[65];
	unsigned int states, boots, given, busy_rounds;
	unsigned int asked_again[SIM_PUT]; /* at a barrier, by place */
};

struct sim {
	char folder[64], database[96];
	json_t *lab;
	struct store *store;
	struct conductor *c;
	struct moment now;
	struct sim_node nodes[2];
	char run[RUN_ID_SIZE];
	int64_t round;
	unsigned int measure_rounds; /* how long the first node measures */
	unsigned int events, kill_at, kills;
	bool no_chain;   /* the test broke it */
	bool lose_reply; /* the event in which the server dies is done, but not answered */
	enum sim_quirk (*quirk)(struct sim *sim, struct sim_node *n);
};

/* How long N's sample took; NULL: a millisecond. */
static int64_t (*sim_sample_ns)(const struct sim_node *n);

static const char sim_lab[] =
    "{\"schema_version\":1,\"server\":{\"interface\":\"lo\",\"address\":\"127.0.0.1/8\"},"
    "\"groups\":{\"g\":{\"nodes\":[\"n1\",\"n2\"],\"storage_network\":\"10.9.0.0/24\"}},"
    "\"nodes\":{\"n1\":{\"mac\":\"52:54:00:00:00:01\",\"storage_nics\":[\"a\",\"b\"],\"disk\":{\"serial\":"
    "\"D1\","
    "\"consent\":\"wipe\",\"min_bytes\":1,\"max_bytes\":9000000000}},"
    "\"n2\":{\"mac\":\"52:54:00:00:00:02\",\"storage_nics\":[\"a\",\"b\"],\"disk\":{\"serial\":\"D2\","
    "\"consent\":\"wipe\",\"min_bytes\":1,\"max_bytes\":9000000000}}}}";

__attribute__((unused)) static const char sim_five_states[] =
    "schema_version: 1\nquestion: q\nnodes: 2\n"
    "zip:\n"
    "  - {stack: raw}\n"
    "  - {stack: drbd, drbd.link: disconnected}\n"
    "  - {stack: drbd, drbd.link: connected}\n"
    "  - {stack: drbd, bond.mode: active-backup, boot: fresh}\n"
    "  - {stack: drbd, bond.mode: active-backup, boot: fresh, bond.down-up-cycles: 3}\n"
    "workloads:\n"
    "  - copy: {bs: 4MiB, size: 8MiB}\n"
    "  - copy: {bs: 32KiB, size: 1MiB}\n"
    "repeat: {boots: 1, samples: 2}\n"
    "deadlines: {peer: 90s, apply: 60s, measure: 60s}\n"
    "retries: 1\n";

static void sim_open(struct sim *sim)
{
	assert_int_equal(store_open(sim->database, STORE_CREATE, stderr, &sim->store), 0);
	assert_int_equal(conductor_open(sim->store, sim->lab, sim->now, &sim->c), 0);
}

static void sim_kill(struct sim *sim)
{
	for (int i = 0; i < 2; i++) {
		json_decref(sim->nodes[i].hold.reply.body);
		sim->nodes[i].hold.reply = (struct reply){0};
		sim->nodes[i].waiting = false;
	}
	conductor_close(sim->c);
	store_close(sim->store);
	sim->kills++;
	sim->now.mono_ns += 5 * INT64_C(1000000000);
	sim_open(sim);
}

static void sim_start(struct sim *sim, const char *plan_text)
{
	char path[128];
	struct plan *plan;

	memset(sim, 0, sizeof(*sim));
	log_quiet(!getenv("SIM_LOG"));
	strcpy(sim->folder, access("/dev/shm", W_OK) ? "/tmp/assay-sim-XXXXXX" : "/dev/shm/assay-sim-XXXXXX");
	assert_non_null(mkdtemp(sim->folder));
	snprintf(sim->database, sizeof(sim->database), "%s/db", sim->folder);
	snprintf(path, sizeof(path), "%s/sim.yaml", sim->folder);
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	fputs(plan_text, out);
	fclose(out);
	sim->lab = json_loads(sim_lab, 0, NULL);
	sim->now = (struct moment){.mono_ns = 1000000000, .unix_ns = INT64_C(1800000000000000000)};
	sim->nodes[0] = (struct sim_node){.name = "n1", .mac = "52:54:00:00:00:01"};
	sim->nodes[1] = (struct sim_node){.name = "n2", .mac = "52:54:00:00:00:02"};
	assert_int_equal(store_open(sim->database, STORE_CREATE, stderr, &sim->store), 0);
	assert_int_equal(plan_load(path, 1, stderr, &plan), 0);
	assert_int_equal(queue_run(sim->store, plan, plan_text, sim->lab, "g", sim->run), 0);
	plan_free(plan);
	unlink(path);
	assert_int_equal(conductor_open(sim->store, sim->lab, sim->now, &sim->c), 0);
}

/* Whatever happened: no link is missing or changed, and what must have one has it. */
static void sim_chain(struct sim *sim)
{
	char previous[SHA256_HEX_SIZE], sha256[SHA256_HEX_SIZE];
	int64_t n = 0, odd = -1;
	sqlite3_stmt *row;

	memset(previous, '0', SHA256_HEX_SIZE - 1);
	previous[SHA256_HEX_SIZE - 1] = '\0';
	assert_int_equal(
	    store_ask(sim->store, &row,
	              "SELECT n, at_unix_ns, kind, run, node, content, sha256 FROM chain ORDER BY n", ""),
	    0);
	while (store_row(sim->store, row) == 1) {
		struct chain_link link = {.n = ++n,
		                          .at_unix_ns = sqlite3_column_int64(row, 1),
		                          .kind = store_text(row, 2),
		                          .run = store_text(row, 3),
		                          .node = store_text(row, 4)};

		assert_int_equal(sqlite3_column_int64(row, 0), n);
		snprintf(link.previous, sizeof(link.previous), "%s", previous);
		assert_int_equal(sha256_hex(store_text(row, 5), strlen(store_text(row, 5)),
		                            link.content_sha256),
		                 0);
		assert_int_equal(chain_hash(&link, sha256), 0);
		assert_string_equal(sha256, store_text(row, 6));
		strcpy(previous, sha256);
	}
	assert_int_equal(store_int(sim->store, &odd,
	                           "SELECT abs((SELECT count(*) FROM chain WHERE kind = 'result') - (SELECT "
	                           "count(*) FROM results)) + "
	                           "abs((SELECT count(*) FROM chain WHERE kind = 'open') - (SELECT count(*) "
	                           "FROM attempts)) + abs((SELECT "
	                           "count(*) FROM chain WHERE kind = 'hello') - (SELECT count(*) FROM boots "
	                           "WHERE boot_id NOT NULL))",
	                           ""),
	                 0);
	assert_int_equal(odd, 0);
}

static void sim_end(struct sim *sim)
{
	char path[160];

	assert_int_equal(store_check(sim->store), 0);
	if (!sim->no_chain)
		sim_chain(sim);
	conductor_close(sim->c);
	store_close(sim->store);
	for (int i = 0; i < 2; i++) {
		json_decref(sim->nodes[i].layers);
		json_decref(sim->nodes[i].work);
		json_decref(sim->nodes[i].result);
		json_decref(sim->nodes[i].hold.reply.body);
	}
	json_decref(sim->lab);
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s%s", sim->database, i == 0 ? "" : i == 1 ? "-wal" : "-shm");
		unlink(path);
	}
	rmdir(sim->folder);
}

/* Counts an event; whether the server was killed in it, so that nobody got an answer. */
static bool sim_event(struct sim *sim, bool before)
{
	if (before)
		sim->events++;
	if (sim->events != sim->kill_at || before == sim->lose_reply)
		return false;
	sim_kill(sim);
	return true;
}

static const char *sim_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void sim_reboot(struct sim *sim, struct sim_node *n)
{
	if (n->waiting)
		conductor_drop(sim->c, &n->hold);
	n->waiting = false;
	json_decref(n->hold.reply.body);
	n->hold.reply = (struct reply){0};
	json_decref(n->work);
	json_decref(n->result);
	n->work = n->result = NULL;
	n->token[0] = '\0';
	n->state[0] = '\0';
	n->states = 0;
	n->place = SIM_BOOT;
}

static void sim_boot(struct sim *sim, struct sim_node *n)
{
	struct complaint why;

	if (!*n->token) {
		struct boot_wish wish = conductor_wish(sim->c, n->name);

		n->boots++;
		assert_int_equal(conductor_token(sim->c, sim->now, n->name, n->mac, &wish, n->token), 0);
		snprintf(n->arguments, sizeof(n->arguments), "%s", wish.arguments);
		json_decref(n->layers);
		n->layers =
		    wish.layers && !(n->early && n->boots == 1) ? json_deep_copy(wish.layers) : json_array();
		if (*wish.kernel)
			json_array_append_new(n->layers, json_string(wish.kernel));
		snprintf(n->boot_id, sizeof(n->boot_id), "00000000-0000-0000-000%c-%012u", n->name[1],
		         n->boots);
	}
	if (sim_event(sim, true))
		return;
	json_t *hello = json_pack("{ss ss ss si s{sO so*}}", "mac", n->mac, "boot_id", n->boot_id, "image_id",
	                          "i", "uptime_ns", 1000, "inventory", "layers", n->layers, "cpus",
	                          n->cpus ? json_loads(n->cpus, 0, NULL) : NULL);
	struct reply reply = conductor_hello(sim->c, sim->now, n->token, hello, "i", &why);
	json_decref(hello);
	assert_int_equal(reply.status, 200);
	json_decref(reply.body);
	if (!sim_event(sim, false))
		n->place = SIM_NEXT;
}

static json_t *sim_error(const struct sim_node *n, const char *scope)
{
	return json_pack("{ss ss ss ss ss ss}", "node", n->name, "step", "sim", "object", "thing", "message",
	                 "trouble", "remedy", "none", "scope", scope);
}

static void sim_make_result(struct sim_node *n, enum sim_quirk quirk)
{
	static const char *const copied[] = {"run", "cell_id", "boot", "sample", "attempt", "role", "cell"};
	const json_t *workload = json_object_get(json_object_get(n->work, "cell"), "workload");
	bool failed = quirk != SIM_INVALID && quirk > SIM_SLOW;

	json_decref(n->result);
	n->result = json_pack("{ss ss}", "node", n->name, "verdict",
	                      failed                 ? "failed"
	                      : quirk == SIM_INVALID ? "invalid"
	                                             : "valid");
	for (size_t i = 0; i < sizeof(copied) / sizeof(copied[0]); i++)
		json_object_set(n->result, copied[i], json_object_get(n->work, copied[i]));
	if (quirk == SIM_INVALID)
		json_object_set_new(n->result, "reason", json_string("a link flapped"));
	if (failed) {
		json_object_set_new(n->result, "error",
		                    sim_error(n, quirk == SIM_FAILS_RUN     ? "run"
		                                 : quirk == SIM_FAILS_CELL  ? "cell"
		                                 : quirk == SIM_UNSUPPORTED ? "unsupported"
		                                                            : "sample"));
		n->state[0] = '\0';
		return;
	}
	json_object_set_new(n->result, "evidence",
	                    json_pack("{ss s[] si sO}", "boot_id", n->boot_id, "differences",
	                              "states_built_before", (int)n->states - 1, "in_force",
	                              json_object_get(json_object_get(n->work, "cell"), "state")));
	if (!strcmp(sim_text(n->work, "role"), "measure")) {
		int64_t ns = sim_sample_ns ? sim_sample_ns(n) : 1000000;

		json_object_set_new(n->result, "measurement",
		                    json_pack("{sO sI sf}", "bytes", json_object_get(workload, "size_bytes"),
		                              "ns", (json_int_t)ns, "mb_per_s",
		                              json_number_value(json_object_get(workload, "size_bytes")) *
		                                  1e3 / (double)ns));
	}
}

static void sim_take_work(struct sim *sim, struct sim_node *n, json_t *work)
{
	const json_t *state = json_object_get(json_object_get(work, "cell"), "state");
	char id[SHA256_HEX_SIZE];
	enum sim_quirk quirk;

	json_decref(n->work);
	n->work = json_incref(work);
	n->given++;
	canonical_id(state, id);
	if (strcmp(id, n->state)) {
		strcpy(n->state, id);
		n->states++;
	}
	/* What its boot script had is what the cell asks for. */
	char wanted[NODE_ARGUMENTS_SIZE];
	const char *named = sim_text(state, "boot.cmdline");
	const char *isolation = json_object_get(state, "boot.isolate") ? n->isolation : NULL;
	snprintf(wanted, sizeof(wanted), "%s%s%s", named ? named : "", named && isolation ? " " : "",
	         isolation ? isolation : "");
	assert_string_equal(n->arguments, wanted);
	json_t *needed = json_array();

	assert_int_equal(layers_of_state(state, needed), 0);
	assert_null(layers_missing(needed, n->layers));
	assert_string_equal(layers_kernel(n->layers), layers_kernel_of_state(state));
	json_decref(needed);
	/* What fresh promises. */
	if (!strcmp(sim_text(state, "boot"), "fresh"))
		assert_int_equal(n->states, 1);
	quirk = sim->quirk ? sim->quirk(sim, n) : SIM_FINE;
	n->place = SIM_APPLIED;
	if (quirk == SIM_REBOOTS) {
		sim_reboot(sim, n);
	} else if (quirk == SIM_SLOW) {
		n->busy_rounds = 1400;
	} else if (quirk == SIM_HANGS) {
		n->place = SIM_OFF;
		n->on_at_round = -1;
	} else if (quirk != SIM_FINE) {
		sim_make_result(n, quirk);
		n->place = SIM_PUT;
	}
}

static void sim_next_reply(struct sim *sim, struct sim_node *n, struct reply reply)
{
	const char *action = sim_text(reply.body, "action");

	if (reply.status == 401) {
		sim_reboot(sim, n);
		return;
	}
	assert_int_equal(reply.status, 200);
	if (!strcmp(action, "measure"))
		sim_take_work(sim, n, reply.body);
	else if (!strcmp(action, "reboot"))
		sim_reboot(sim, n);
}

static void sim_barrier_reply(struct sim *sim, struct sim_node *n, struct reply reply)
{
	if (reply.status == 410) {
		sim_make_result(n, SIM_FAILS);
		n->place = SIM_PUT;
		return;
	}
	assert_int_equal(reply.status, 200);
	if (!json_is_true(json_object_get(reply.body, "go"))) {
		n->asked_again[n->place]++;
		return;
	}
	n->place++;
	if (n->place == SIM_DONE && n == &sim->nodes[0])
		n->busy_rounds = sim->measure_rounds;
	if (n->place == SIM_PUT)
		sim_make_result(n, SIM_FINE);
}

static void sim_held_reply(struct sim *sim, struct sim_node *n)
{
	struct reply reply = n->hold.reply;

	if (!reply.status)
		return;
	n->waiting = false;
	n->hold.reply = (struct reply){0};
	if (n->place == SIM_NEXT)
		sim_next_reply(sim, n, reply);
	else
		sim_barrier_reply(sim, n, reply);
	json_decref(reply.body);
}

static void sim_ask(struct sim *sim, struct sim_node *n)
{
	static const char *const names[] = {
	    [SIM_APPLIED] = "applied", [SIM_READY] = "ready", [SIM_DONE] = "done"};
	static const char *const copied[] = {"run", "cell_id", "boot", "sample", "attempt"};
	struct node *node;

	if (sim_event(sim, true))
		return;
	node = conductor_auth(sim->c, n->token);
	assert_non_null(node);
	n->waiting = true;
	n->hold = (struct hold){.wake = NULL};
	if (n->place == SIM_NEXT) {
		conductor_next(sim->c, sim->now, node, &n->hold);
	} else {
		json_t *barrier = json_pack("{ss}", "name", names[n->place]);

		for (size_t i = 0; i < sizeof(copied) / sizeof(copied[0]); i++)
			json_object_set(barrier, copied[i], json_object_get(n->work, copied[i]));
		conductor_barrier(sim->c, sim->now, node, barrier, &n->hold);
		json_decref(barrier);
	}
	sim_event(sim, false);
}

static void sim_put(struct sim *sim, struct sim_node *n)
{
	struct complaint why = {.path = ""};
	struct result_key key = {
	    .run = sim_text(n->work, "run"),
	    .cell_id = sim_text(n->work, "cell_id"),
	    .boot = json_integer_value(json_object_get(n->work, "boot")),
	    .sample = json_integer_value(json_object_get(n->work, "sample")),
	};
	if (sim_event(sim, true))
		return;
	struct node *node = conductor_auth(sim->c, n->token);
	char *body = json_dumps(n->result, JSON_SORT_KEYS);
	struct reply reply =
	    conductor_result(sim->c, sim->now, node, &key, n->result, body, strlen(body), &why);

	free(body);
	if (reply.status != 200)
		print_error("%s: %u %s %s\n", n->name, reply.status, why.path, why.message);
	assert_int_equal(reply.status, 200);
	json_decref(reply.body);
	if (!sim_event(sim, false))
		n->place = SIM_NEXT;
}

static void sim_node_round(struct sim *sim, struct sim_node *n)
{
	if (n->busy_rounds) {
		n->busy_rounds--;
		return;
	}
	if (n->waiting) {
		sim_held_reply(sim, n);
		return;
	}
	switch (n->place) {
	case SIM_OFF:
		if (n->on_at_round >= 0 && sim->round >= n->on_at_round)
			n->place = SIM_BOOT;
		break;
	case SIM_BOOT:
		sim_boot(sim, n);
		break;
	case SIM_PUT:
		sim_put(sim, n);
		break;
	default:
		sim_ask(sim, n);
	}
}

static void sim_one_round(struct sim *sim)
{
	sim->round++;
	sim->now.mono_ns += SIM_ROUND_NS;
	sim->now.unix_ns += SIM_ROUND_NS;
	sim_node_round(sim, &sim->nodes[sim->round % 2]);
	sim_node_round(sim, &sim->nodes[1 - sim->round % 2]);
	conductor_tick(sim->c, sim->now);
}

/* Lets time pass until the run has ended, at most for ROUNDS of 100 ms; then its state must be WANTED. */
static void sim_go(struct sim *sim, int64_t rounds, const char *wanted)
{
	char state[16] = "";
	sqlite3_stmt *row;

	for (int64_t i = 0; i < rounds; i++) {
		sim_one_round(sim);
		assert_int_equal(store_ask(sim->store, &row, "SELECT state FROM runs WHERE run = ?", "s",
		                           sim->run),
		                 0);
		assert_int_equal(store_row(sim->store, row), 1);
		snprintf(state, sizeof(state), "%s", store_text(row, 0));
		store_reset(row);
		if (strcmp(state, "queued") && strcmp(state, "running"))
			break;
	}
	assert_string_equal(state, wanted);
}

static int64_t sim_count(struct sim *sim, const char *sql)
{
	int64_t count = -1;

	assert_int_equal(store_int(sim->store, &count, sql, ""), 0);
	return count;
}

/* Every sample that the plan asks for is there, once. */
__attribute__((unused)) static void sim_complete(struct sim *sim)
{
	struct report *report;

	assert_int_equal(
	    sim_count(sim, "SELECT count(*) FROM (SELECT 1 FROM attempts WHERE state = 'valid' GROUP BY run, "
	                   "cell_id, boot, sample HAVING count(*) != 1)"),
	    0);
	assert_int_equal(sim_count(sim, "SELECT count(*) FROM attempts WHERE state = 'valid'"),
	                 sim_count(sim, "SELECT count(*) * (SELECT samples FROM runs) FROM visits"));
	/* A valid attempt has a valid result from as many nodes as the cell needs. */
	assert_int_equal(
	    sim_count(
	        sim,
	        "SELECT count(*) FROM attempts a JOIN cells c USING (run, cell_id) WHERE a.state = "
	        "'valid' AND c.nodes != (SELECT count(*) FROM results r WHERE r.run = a.run AND r.cell_id "
	        "= a.cell_id AND r.boot = a.boot AND r.sample = a.sample AND r.attempt = a.attempt AND "
	        "r.verdict = 'valid')"),
	    0);
	/* No boot served two blocks. */
	assert_int_equal(
	    sim_count(sim, "SELECT count(*) FROM (SELECT token FROM assignments GROUP BY token HAVING "
	                   "count(DISTINCT run || '/' || boot) > 1)"),
	    0);
	assert_int_equal(report_load(sim->store, NULL, &report), 1);
	assert_true(report_complete(report));
	report_free(report);
}

#endif
