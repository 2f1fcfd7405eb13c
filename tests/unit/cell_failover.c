/* SPDX-License-Identifier: GPL-2.0-or-later
 * What is made of a failover: stall, time to full speed, counters. Times in ms by hand. */
#include "workload_failover_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000LL

static uint64_t bins[400];

/* A write of 1000 bytes every 2 ms for 1 s; then the pull at 1001 ms, nothing until 1400; then every 4 ms
 * until 2000, then every 2 ms again until 3000. */
static void flow_by_hand(struct failover_flow *flow)
{
	memset(bins, 0, sizeof(bins));
	*flow = (struct failover_flow){.bin_bytes = bins, .bins = 400, .pulled_ns = -1};
	for (int ms = 2; ms <= 1000; ms += 2)
		failover_flow_add(flow, ms * MS, 1000);
	flow->pulled_ns = 1001 * MS;
	for (int ms = 1400; ms < 2000; ms += 4)
		failover_flow_add(flow, ms * MS, 1000);
	for (int ms = 2000; ms < 3000; ms += 2)
		failover_flow_add(flow, ms * MS, 1000);
}

static void test_flow(void **state)
{
	struct failover_flow flow;
	int64_t recovered_ns;

	(void)state;
	flow_by_hand(&flow);
	assert_int_equal(flow.longest_before_ns, 2 * MS);
	assert_int_equal(flow.stall_ns, 400 * MS); /* from the last before, at 1000, to 1400 */
	/* 499 writes are done before 1000 ms: bins 0 to 99 */
	assert_true(failover_flow_baseline(&flow) > 498000 && failover_flow_baseline(&flow) < 500000);
	recovered_ns = failover_flow_recovered_ns(&flow, 3000 * MS);
	/* A window of 250 ms with 90 % of 125 writes may begin some 50 ms before full speed does. */
	assert_true(recovered_ns >= (1940 - 1001) * MS && recovered_ns <= (2000 - 1001) * MS);
	assert_int_equal(failover_flow_recovered_ns(&flow, 1990 * MS), -1);
	assert_int_equal(flow.bytes, (500 + 150 + 500) * 1000);
}

/* Few large writes: at 0, 100, 200 … ms, pulled at 1001, on from 3000 on with several at once, which a
 * quarter of a second that begins at 2760 has as well. */
static void test_large_writes(void **state)
{
	struct failover_flow flow = {.bin_bytes = bins, .bins = 400, .pulled_ns = -1};

	(void)state;
	memset(bins, 0, sizeof(bins));
	for (int ms = 0; ms <= 1000; ms += 100)
		failover_flow_add(&flow, ms * MS, 1000000);
	flow.pulled_ns = 1001 * MS;
	for (int ms = 3000; ms < 4000; ms += 100)
		failover_flow_add(&flow, ms * MS, 4000000);
	assert_int_equal(flow.stall_ns, 2000 * MS);
	assert_int_equal(failover_flow_recovered_ns(&flow, 4000 * MS), (3000 - 1001) * MS);
}

static void test_not_pulled(void **state)
{
	struct failover_flow flow = {.bin_bytes = bins, .bins = 400, .pulled_ns = -1};

	(void)state;
	memset(bins, 0, sizeof(bins));
	failover_flow_add(&flow, 7 * MS, 1000);
	assert_int_equal(flow.stall_ns, 0);
	assert_int_equal(flow.longest_before_ns, 7 * MS);
	assert_int_equal(failover_flow_recovered_ns(&flow, 100 * MS), -1);
	failover_flow_add(&flow, 5000 * MS, 1); /* beyond the last bin */
	assert_int_equal(flow.bytes, 1001);
}

static void test_states(void **state)
{
	struct failover_states states = {.count = 0};
	char text[32];

	(void)state;
	failover_states_add(&states, "Connected UpToDate/UpToDate");
	failover_states_add(&states, "Connected UpToDate/UpToDate");
	failover_states_add(&states, "NetworkFailure UpToDate/DUnknown");
	failover_states_add(&states, "Connected UpToDate/UpToDate");
	assert_int_equal(states.count, 2);
	assert_string_equal(states.text[1], "NetworkFailure UpToDate/DUnknown");
	for (int i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "state %d", i);
		failover_states_add(&states, text);
	}
	assert_int_equal(states.count, FAILOVER_STATES);
}

static void test_counter(void **state)
{
	static const char snmp[] = "Ip: Forwarding DefaultTTL\nIp: 2 64\n"
	                           "Tcp: RtoAlgorithm MaxConn InSegs RetransSegs InErrs\nTcp: 1 -1 500 42 0\n"
	                           "TcpExt: SyncookiesSent TCPTimeouts\nTcpExt: 0 7\n";

	(void)state;
	assert_int_equal(failover_counter(snmp, "Tcp", "RetransSegs"), 42);
	assert_int_equal(failover_counter(snmp, "Tcp", "MaxConn"), -1);
	assert_int_equal(failover_counter(snmp, "Tcp", "InErrs"), 0);
	assert_int_equal(failover_counter(snmp, "TcpExt", "TCPTimeouts"), 7);
	assert_int_equal(failover_counter(snmp, "Tcp", "Retrans"), -1);
	assert_int_equal(failover_counter(snmp, "Udp", "InErrs"), -1);
	assert_int_equal(failover_counter("Tcp: A B", "Tcp", "A"), -1);
	assert_int_equal(failover_counter("", "Tcp", "A"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_flow),       cmocka_unit_test(test_large_writes),
	    cmocka_unit_test(test_not_pulled), cmocka_unit_test(test_states),
	    cmocka_unit_test(test_counter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
