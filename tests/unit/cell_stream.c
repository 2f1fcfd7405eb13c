/* SPDX-License-Identifier: GPL-2.0-or-later
 * The workloads stream and rtt against the peer's end, over loopback. */
#include "workload.h"

#include "workload_peer.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct cell_build *build;

static int set_up(void **state)
{
	struct failure why;

	(void)state;
	build = calloc(1, sizeof(*build));
	strcpy(build->peer_address, "127.0.0.1");
	/* Some port must be free. */
	for (build->service_port = 20000; build->service_port < 20100; build->service_port++)
		if (!peer_service_start(build->peer_address, build->service_port, &build->service, &why))
			return 0;
	return -1;
}

static int tear_down(void **state)
{
	(void)state;
	peer_service_stop(&build->service);
	free(build);
	return 0;
}

static int run(json_t *workload, json_t **measurement, struct failure *why)
{
	json_t *cell = json_pack("{s:o}", "workload", workload);
	const struct workload *kind = workload_of(cell);
	const struct workload_run one = {.workload = workload, .build = build, .timeout_ms = 20000};
	int r;

	*measurement = NULL;
	assert_non_null(kind);
	assert_true(kind->needs_peer);
	r = kind->run(&one, measurement, why);
	json_decref(cell);
	return r;
}

static long long number(const json_t *json, const char *name)
{
	const json_t *value = json_object_get(json, name);

	if (!json_is_integer(value))
		fail_msg("no number %s", name);
	return json_integer_value(value);
}

static void test_stream(void **state)
{
	json_t *m, *connections, *one;
	long long sum = 0, received = 0;
	struct failure why;
	size_t i;

	(void)state;
	assert_int_equal(run(json_pack("{s:s, s:i, s:i}", "type", "stream", "connections", 3, "duration_ms",
	                               1200),
	                     &m, &why),
	                 0);
	assert_true(number(m, "bytes") > 1000000);
	assert_true(number(m, "ns") >= 1200000000LL);
	assert_true(json_array_size(json_object_get(m, "second_bytes")) >= 2);
	json_array_foreach (json_object_get(m, "second_bytes"), i, one) {
		sum += json_integer_value(one);
	}
	assert_int_equal(sum, number(m, "bytes"));
	connections = json_object_get(json_object_get(m, "stream"), "connections");
	assert_int_equal(json_array_size(connections), 3);
	json_array_foreach (connections, i, one) {
		received += number(one, "bytes");
		assert_true(number(one, "bytes") > 0 && number(one, "mss_bytes") > 0 &&
		            number(one, "rtt_ns") > 0);
	}
	assert_int_equal(received, number(m, "bytes"));
	assert_string_equal(json_string_value(json_object_get(m, "equivalent")),
	                    "iperf3 -c 127.0.0.1 -Z -P 3 -t 1.2");
	json_decref(m);
}

static void test_rtt(void **state)
{
	struct failure why;
	json_t *m, *rtt;

	(void)state;
	assert_int_equal(run(json_pack("{s:s, s:i, s:i}", "type", "rtt", "message_bytes", 64, "count", 500),
	                     &m, &why),
	                 0);
	assert_int_equal(number(m, "bytes"), 64 * 500);
	rtt = json_object_get(m, "rtt");
	assert_int_equal(number(rtt, "count"), 500);
	assert_true(number(rtt, "min_ns") > 0 && number(rtt, "min_ns") <= number(rtt, "median_ns"));
	assert_true(number(rtt, "median_ns") <= number(rtt, "p90_ns") &&
	            number(rtt, "p90_ns") <= number(rtt, "p99_ns"));
	assert_true(number(rtt, "p99_ns") <= number(rtt, "p999_ns") &&
	            number(rtt, "p999_ns") <= number(rtt, "max_ns"));
	/* One after the other: together they take the whole time. */
	assert_true(number(rtt, "min_ns") * 500 <= number(m, "ns"));
	json_decref(m);
}

static void test_nobody(void **state)
{
	struct failure why;
	json_t *m;

	(void)state;
	peer_service_stop(&build->service);
	assert_int_equal(run(json_pack("{s:s, s:i, s:i}", "type", "rtt", "message_bytes", 64, "count", 5), &m,
	                     &why),
	                 -ECONNREFUSED);
	assert_non_null(strstr(why.message, "After 0 of 5 messages of 64 bytes to 127.0.0.1 and back"));
	assert_int_equal(run(json_pack("{s:s, s:i, s:i}", "type", "stream", "connections", 2, "duration_ms",
	                               100),
	                     &m, &why),
	                 -ECONNREFUSED);
	assert_null(m);
}

/* A peer that dies in the middle is an error, no slow connection. */
static void test_dies(void **state)
{
	char message[64] = "";
	int fd;

	(void)state;
	fd = peer_connect(build->peer_address, build->service_port, PEER_ECHO, sizeof(message));
	assert_true(fd >= 0);
	assert_int_equal(peer_send_all(fd, message, sizeof(message)), 0);
	assert_int_equal(peer_receive_all(fd, message, sizeof(message)), 0);
	peer_service_stop(&build->service);
	assert_true(peer_receive_all(fd, message, sizeof(message)) < 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {T(test_stream), T(test_rtt), T(test_nobody), T(test_dies)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
