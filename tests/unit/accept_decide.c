/* SPDX-License-Identifier: GPL-2.0-or-later
 * Acceptance from bounds to verdicts, on a store in memory filled by hand. */
#include "../accept/accept.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void bounds(void **state)
{
	static const struct {
		const char *metric, *text;
		double bound; /* negative: it is none */
	} cases[] = {
	    {"throughput", "800 MB/s", 800},
	    {"throughput", "1GiB/s", 1073.741824},
	    {"throughput", "0.5 GB/s", 500},
	    {"throughput", "800", -1},
	    {"throughput", "800 Mb/s", -1},
	    {"throughput", "fast", -1},
	    {"throughput", "-3 MB/s", -1},
	    {"throughput", "nan MB/s", -1},
	    {"throughput", "0x10 MB/s", -1},
	    {"latency-p99", "2 ms", 2e6},
	    {"latency-p99", "150us", 150e3},
	    {"latency-p99", "1 \302\265s", 1e3},
	    {"latency-p99", "2 MB/s", -1},
	    {"pcie-width", "x8", 8},
	    {"pcie-width", "8", 8},
	    {"pcie-width", "x8 lanes", -1},
	    {"link-speed", "10 Gb/s", 10000},
	    {"slower-than-siblings", "5%", 5},
	    {"slower-than-siblings", "5", -1},
	    {"aer-errors", "0", 0},
	    {"aer-errors", "0 errors", -1},
	    {"memory", "64 GiB", 68719476736.0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char why[256] = "";
		double bound;
		int r = metric_bound(metric_find(cases[i].metric), cases[i].text, &bound, why, sizeof(why));

		if (cases[i].bound < 0) {
			assert_int_equal(r, -EINVAL);
			assert_non_null(strstr(why, cases[i].metric));
		} else {
			assert_int_equal(r, 0);
			assert_true(bound >= cases[i].bound * 0.999999 && bound <= cases[i].bound * 1.000001);
		}
	}
	assert_string_equal(metric_nearest("througput"), "throughput");
	assert_null(metric_find("througput"));
}

static void do_sql(struct store *store, const char *sql)
{
	if (store_do(store, sql, ""))
		fail_msg("%s: %s", sql, store_message(store));
}

/* A run of one cell with BOOTS x 2 valid samples by NODE: VALUES of the boots. */
static void put_run(struct store *store, const char *run, int number, const char *node, const double *values,
                    size_t boots, const char *criteria)
{
	static const char lab[] =
	    "{\"nodes\": {\"n1\": {\"storage_nics\": [\"0000:03:00.0\", \"52:54:00:00:00:02\"]}}}";

	assert_int_equal(
	    store_do(store,
	             "INSERT INTO runs (run, number, group_name, state, plan_name, question, plan_text, "
	             "plan_sha256, "
	             "lab, nodes, boots, samples, retries, shuffled, seed, peer_ms, apply_ms, measure_ms, "
	             "created_unix_ns, acceptance) VALUES (?, ?, 'g', 'done', 'p', 'q', '', '', ?, 1, 1, 2, "
	             "1, 0, 0, "
	             "1, 1, 1, 1, ?)",
	             "siss", run, (int64_t)number, lab, criteria),
	    0);
	assert_int_equal(store_do(store,
	                          "INSERT INTO cells (run, ordinal, cell_id, state_id, label, fresh, nodes, "
	                          "size_bytes, body) VALUES (?, 1, 'c1', 's1', 'raw 4MiB', 0, 1, 1, '{}')",
	                          "s", run),
	                 0);
	assert_int_equal(
	    store_do(store,
	             "INSERT INTO boots (token, node, mac, made_unix_ns, run, inventory) VALUES (?, ?, "
	             "'', 1, ?1, ?3)",
	             "sss", run, node,
	             "{\"memory_bytes\": 8589934592, \"kernel_warnings\": [\"bad\"], \"nics\": [{\"name\": "
	             "\"eth0\", \"mac\": \"52:54:00:00:00:01\", \"pci\": \"0000:03:00.0\", \"sfp\": \"x\"}, "
	             "{\"name\": \"eth1\", \"mac\": \"52:54:00:00:00:02\"}, {\"name\": \"eth2\", \"mac\": "
	             "\"52:54:00:00:00:03\", \"pci\": \"0000:04:00.0\"}], \"pci\": [{\"address\": "
	             "\"0000:03:00.0\", \"link_width\": \"4\", \"link_speed\": \"5.0 GT/s PCIe\"}, "
	             "{\"address\": \"0000:04:00.0\", \"link_width\": \"1\"}]}"),
	    0);
	for (size_t b = 0; b < boots; b++) {
		assert_int_equal(
		    store_do(store,
		             "INSERT INTO visits (run, position, boot, cell_id) VALUES (?, ?, ?2, 'c1')",
		             "si", run, (int64_t)b + 1),
		    0);
		for (int64_t s = 1; s <= 2; s++) {
			char body[256];

			assert_int_equal(
			    store_do(store,
			             "INSERT INTO attempts (run, cell_id, boot, sample, attempt, state, "
			             "rebuild, opened_unix_ns) VALUES (?, 'c1', ?, ?, 1, 'valid', 0, 1)",
			             "sii", run, (int64_t)b + 1, s),
			    0);
			assert_int_equal(
			    store_do(store,
			             "INSERT INTO assignments (run, cell_id, boot, sample, attempt, node, "
			             "role, token) VALUES (?1, 'c1', ?2, ?3, 1, ?4, 'measure', ?1)",
			             "siis", run, (int64_t)b + 1, s, node),
			    0);
			snprintf(body, sizeof(body),
			         "{\"measurement\": {\"mb_per_s\": %.3f, \"aio\": {\"latency_ns\": {\"p99\": "
			         "1500000}}}, "
			         "\"evidence\": {\"kernel_warnings\": [], \"nics\": []}}",
			         values[b] + (s == 1 ? 0.1 : -0.1));
			assert_int_equal(
			    store_do(store,
			             "INSERT INTO results (run, cell_id, boot, sample, attempt, node, role, "
			             "verdict, sha256, body, committed_unix_ns) VALUES (?, 'c1', ?, ?, 1, "
			             "?, 'measure', 'valid', '', ?, 1)",
			             "siisb", run, (int64_t)b + 1, s, node, body, strlen(body)),
			    0);
		}
	}
}

static const double seven[] = {810, 815, 820, 825, 830, 835, 840};

/* The only verdict of CRITERION on a run with seven boots; the caller frees *A. */
static struct accept_verdict *decide(struct store *store, const char *criterion, size_t boots,
                                     struct acceptance **a)
{
	static int number;
	char run[32], criteria[512];

	snprintf(run, sizeof(run), "run-%d", ++number);
	snprintf(criteria, sizeof(criteria), "[%s]", criterion);
	put_run(store, run, number, "n1", seven, boots, criteria);
	assert_int_equal(accept_decide(store, run, a), 1);
	assert_int_equal((*a)->count, 1);
	assert_int_equal((*a)->all, (*a)->verdicts[0].acceptance);
	return &(*a)->verdicts[0];
}

static int open_store(void **state)
{
	struct store *store;

	if (store_open(":memory:", STORE_CREATE, stderr, &store))
		return -1;
	*state = store;
	return 0;
}

static int close_store(void **state)
{
	store_close(*state);
	return 0;
}

#define THROUGHPUT(word, bound)                                                                              \
	"{\"metric\": \"throughput\", \"at_least\": " word ", \"bound\": " bound ", \"text\": \"" bound      \
	" MB/s\", \"cells\": [1]}"

/* The interval of the median of seven boots goes from the smallest to the largest, so it covers 95 %. */
static void figures(void **state)
{
	struct acceptance *a;
	struct accept_verdict *v = decide(*state, THROUGHPUT("true", "800"), 7, &a);

	assert_int_equal(v->acceptance, STATS_PASS);
	assert_true(v->known && v->value > 824 && v->value < 826);
	assert_true(v->interval.low > 800 && v->interval.confidence >= 0.95);
	assert_int_equal(v->boots, 7);
	assert_string_equal(v->subject, "cell 1, raw 4MiB on n1");
	accept_free(a);

	assert_int_equal(decide(*state, THROUGHPUT("true", "850"), 7, &a)->acceptance, STATS_FAIL);
	accept_free(a);
	assert_int_equal(decide(*state, THROUGHPUT("false", "850"), 7, &a)->acceptance, STATS_PASS);
	accept_free(a);
	assert_int_equal(decide(*state, THROUGHPUT("false", "800"), 7, &a)->acceptance, STATS_FAIL);
	accept_free(a);

	v = decide(*state, THROUGHPUT("true", "820"), 7, &a); /* the median is above, the interval is not */
	assert_int_equal(v->acceptance, STATS_INCONCLUSIVE);
	assert_true(v->more_boots > 0);
	accept_free(a);

	v = decide(*state, THROUGHPUT("true", "100"), 1,
	           &a); /* far above, but one boot says nothing of others */
	assert_int_equal(v->acceptance, STATS_INCONCLUSIVE);
	assert_int_equal(v->more_boots, 5);
	accept_free(a);

	v = decide(*state, THROUGHPUT("true", "100"), 0, &a);
	assert_int_equal(v->acceptance, STATS_INCONCLUSIVE);
	assert_false(v->known);
	assert_string_equal(v->why, "it has no valid sample");
	accept_free(a);
}

static void latency(void **state)
{
	struct acceptance *a;
	struct accept_verdict *v = decide(*state,
	                                  "{\"metric\": \"latency-p99\", \"at_least\": false, \"bound\": "
	                                  "2e6, \"text\": \"2 ms\", \"cells\": [1]}",
	                                  6, &a);

	assert_int_equal(v->acceptance, STATS_PASS);
	assert_true(v->value == 1.5e6);
	accept_free(a);
}

static void facts(void **state)
{
	static const struct {
		const char *metric, *at_least, *bound, *subject;
		enum stats_acceptance wanted;
	} cases[] = {
	    {"pcie-width", "true", "8", "node n1, eth0", STATS_FAIL}, /* eth2, x1, is no storage NIC */
	    {"pcie-width", "true", "4", "node n1, eth0", STATS_PASS},
	    {"pcie-speed", "true", "8", "node n1, eth0", STATS_FAIL},
	    {"storage-nics", "true", "2", "node n1", STATS_PASS},
	    {"storage-nics", "true", "3", "node n1", STATS_FAIL},
	    {"transceivers", "true", "2", "node n1", STATS_FAIL},
	    {"link-speed", "true", "10000", "the nodes", STATS_INCONCLUSIVE},
	    {"aer-errors", "false", "0", "the nodes", STATS_INCONCLUSIVE},
	    {"kernel-warnings", "false", "0", "node n1", STATS_PASS},
	    {"boot-warnings", "false", "0", "node n1, bad", STATS_FAIL},
	    {"memory", "true", "8589934592", "node n1", STATS_PASS},
	    {"cpus", "true", "1", "node n1", STATS_INCONCLUSIVE},
	    {"invalid-samples", "false", "0", "the run", STATS_PASS},
	    {"failed-samples", "false", "0", "the run", STATS_PASS},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char criterion[256];
		struct acceptance *a;
		struct accept_verdict *v;

		snprintf(
		    criterion, sizeof(criterion),
		    "{\"metric\": \"%s\", \"at_least\": %s, \"bound\": %s, \"text\": \"%s\", \"cells\": []}",
		    cases[i].metric, cases[i].at_least, cases[i].bound, cases[i].bound);
		v = decide(*state, criterion, 1, &a);
		if (v->acceptance != cases[i].wanted || strcmp(v->subject, cases[i].subject))
			fail_msg("%s: verdict %d on %s", criterion, (int)v->acceptance, v->subject);
		accept_free(a);
	}
}

/* PCIe errors that came under load: hello, at the boot, had none to tell of. */
static void pcie_errors(void **state)
{
	static const char criteria[] = "[{\"metric\": \"aer-errors\", \"at_least\": false, \"bound\": 0, "
	                               "\"text\": \"0\", \"cells\": []}]";
	struct acceptance *a;

	put_run(*state, "sound", 1, "n1", seven, 1, criteria);
	do_sql(*state, "UPDATE results SET body = CAST('{\"evidence\": {\"nics\": [{\"name\": \"eth0\", "
	               "\"counters_after\": {\"pcie_errors_correctable\": 0, \"pcie_errors_fatal\": 0, "
	               "\"rx_errors\": 9}}]}}' AS BLOB)");
	assert_int_equal(accept_decide(*state, "sound", &a), 1);
	assert_int_equal(a->all, STATS_PASS);
	accept_free(a);
	do_sql(*state, "UPDATE results SET body = CAST('{\"evidence\": {\"nics\": [{\"name\": \"eth0\", "
	               "\"counters_after\": {\"pcie_errors_correctable\": 3, \"pcie_errors_fatal\": 1}}]}}' "
	               "AS BLOB) WHERE sample = 2");
	assert_int_equal(accept_decide(*state, "sound", &a), 1);
	assert_int_equal(a->all, STATS_FAIL);
	assert_true(a->verdicts[0].value == 4);
	assert_string_equal(a->verdicts[0].subject, "node n1, eth0");
	accept_free(a);
}

#define SIBLINGS                                                                                             \
	"[{\"metric\": \"slower-than-siblings\", \"at_least\": false, \"bound\": 5, \"text\": \"5 %\", "     \
	"\"cells\": [1]}]"

static void siblings(void **state)
{
	static const double slow[] = {650, 655, 660, 665, 670, 675, 680};
	struct store *store = *state;
	struct acceptance *a;

	put_run(store, "alone", 100, "n1", seven, 7, SIBLINGS);
	assert_int_equal(accept_decide(store, "alone", &a), 1);
	assert_int_equal(a->all, STATS_INCONCLUSIVE);
	assert_non_null(strstr(a->verdicts[0].why, "no sibling"));
	accept_free(a);

	put_run(store, "slow", 101, "n2", slow, 7, SIBLINGS);
	assert_int_equal(accept_decide(store, "slow", &a), 1);
	assert_int_equal(a->all, STATS_FAIL);
	assert_true(a->verdicts[0].value > 18 && a->verdicts[0].value < 21);
	accept_free(a);
	/* and the fast one is not slower than the slow one */
	assert_int_equal(accept_decide(store, "alone", &a), 1);
	assert_int_equal(a->all, STATS_PASS);
	accept_free(a);
}

/* Five siblings much alike, and one that is not. */
static void outlier(void **state)
{
	static const double slow[] = {650, 655, 660, 665, 670, 675, 680};
	struct store *store = *state;
	struct acceptance *a;

	for (int i = 0; i < 5; i++) {
		char run[32], node[32];
		double values[7];

		for (size_t k = 0; k < 7; k++)
			values[k] = seven[k] + i;
		snprintf(run, sizeof(run), "sibling-%d", i);
		snprintf(node, sizeof(node), "s%d", i);
		put_run(store, run, 200 + i, node, values, 7, SIBLINGS);
	}
	put_run(store, "odd", 300, "n9", slow, 7, SIBLINGS);
	assert_int_equal(accept_decide(store, "odd", &a), 1);
	assert_int_equal(a->all, STATS_FAIL);
	assert_string_equal(a->verdicts[0].note, "an outlier among 5 siblings");
	accept_free(a);
	assert_int_equal(accept_decide(store, "sibling-0", &a), 1);
	assert_string_equal(a->verdicts[0].note, "");
	accept_free(a);
}

static void none(void **state)
{
	struct acceptance *a;

	put_run(*state, "none", 1, "n1", seven, 1, NULL);
	assert_int_equal(accept_decide(*state, "none", &a), 0);
	assert_null(a);
	do_sql(*state, "UPDATE runs SET acceptance = '[{\"metric\": \"later\"}]'");
	assert_int_equal(accept_decide(*state, "none", &a), -EUCLEAN);
	assert_null(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(bounds),
	    cmocka_unit_test_setup_teardown(figures, open_store, close_store),
	    cmocka_unit_test_setup_teardown(latency, open_store, close_store),
	    cmocka_unit_test_setup_teardown(facts, open_store, close_store),
	    cmocka_unit_test_setup_teardown(pcie_errors, open_store, close_store),
	    cmocka_unit_test_setup_teardown(siblings, open_store, close_store),
	    cmocka_unit_test_setup_teardown(outlier, open_store, close_store),
	    cmocka_unit_test_setup_teardown(none, open_store, close_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
