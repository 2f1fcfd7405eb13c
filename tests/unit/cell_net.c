/* SPDX-License-Identifier: GPL-2.0-or-later
 * Storage NICs by name, what a bond says, and what is said of paths that fail. Pings run over loopback where
 * raw sockets are allowed, which is what the node has. */
#include "cell_sys.h"
#include "evidence.h"
#include "net_bond.h"
#include "net_path.h"

#include <errno.h>

static int find(struct net_nics *nics, struct failure *why, const char *a, const char *b)
{
	json_t *wanted = b ? json_pack("[s, s]", a, b) : a ? json_pack("[s]", a) : json_array();
	int r = net_find_nics(sys, wanted, "eth0", nics, why);

	json_decref(wanted);
	return r;
}

static void test_find(void **state)
{
	struct net_nics nics;
	struct failure why;

	(void)state;
	assert_int_equal(find(&nics, &why, "00:1B:21:00:01:02", "0000:03:00.0"), 0);
	assert_int_equal(nics.count, 2);
	assert_string_equal(nics.name[0], "eth2");
	assert_string_equal(nics.name[1], "eth1");
	assert_int_equal(find(&nics, &why, "04:00.0", NULL), 0);
	assert_string_equal(nics.name[0], "eth2");
	/* A slave is found by the MAC it was made with, not by the bond's. */
	put_of("eth2", "bonding_slave/perm_hwaddr", "00:1b:21:00:01:02\n");
	put_of("eth2", "address", "00:1b:21:00:01:01\n");
	assert_int_equal(find(&nics, &why, "00:1b:21:00:01:02", "00:1b:21:00:01:01"), 0);
	assert_string_equal(nics.name[0], "eth2");
	assert_string_equal(nics.name[1], "eth1");
}

static void no(const char *a, const char *b, int r, const char *text)
{
	struct net_nics nics;
	struct failure why;

	assert_int_equal(find(&nics, &why, a, b), r);
	assert_int_equal(why.scope, FAILURE_RUN);
	if (!strstr(why.message, text) || !strstr(why.remedy, "storage"))
		fail_msg("\"%s\" lacks \"%s\"", why.message, text);
}

static void test_find_refused(void **state)
{
	(void)state;
	no("00:1b:21:00:09:09", NULL, -ENODEV, "no NIC 00:1b:21:00:09:09");
	no("00:1b:21:00:09:09", NULL, -ENODEV, "eth2 mac=00:1b:21:00:01:02 pci=0000:04:00.0 driver=ixgbe");
	no("00:02.0", NULL, -EINVAL, "is the management NIC");
	no("00:1b:21:00:01:01", "0000:03:00.0", -EINVAL, "is named twice");
	no(NULL, NULL, -EINVAL, "names no storage NIC");
}

static void test_observe(void **state)
{
	struct observation o;
	json_t *json, *slave;

	(void)state;
	make_bond("eth1\n", "2\n");
	assert_int_equal(observe(&roots, "bond0", false, &o), 0);
	assert_string_equal(o.bond_mode, "active-backup");
	assert_string_equal(o.active_slave, "eth1");
	assert_int_equal(o.slave_count, 2);
	assert_int_equal(o.slaves[1].link_failures, 2);
	assert_int_equal(o.slaves[0].speed_mbps, 10000);
	assert_int_equal(o.slaves[0].rx_bytes, 2000);
	assert_int_equal(o.interrupts, 123456);
	assert_int_equal(o.context_switches, 7890);
	/* 40 ticks: guest time is in user's already */
	assert_int_equal(o.cpu_busy_ns, 40 * (1000000000LL / sysconf(_SC_CLK_TCK)));
	json = observation_json(&o);
	slave = json_array_get(json_object_get(json_object_get(json, "bond"), "slaves"), 0);
	assert_string_equal(json_string_value(json_object_get(slave, "mac")), "00:1b:21:00:01:01");
	json_decref(json);
	assert_int_equal(observe(&roots, "bond7", false, &o), -ENOENT);
	assert_int_equal(observe(&roots, NULL, true, &o), -ENOENT);
	put("proc/drbd", "version: 8.4.11\n");
	assert_int_equal(observe(&roots, NULL, true, &o), 0);
	assert_string_equal(o.drbd.connection, "");
}

static void bond_fault(const char *expected)
{
	struct observation before, after;
	char fault[256];

	make_bond("eth1\n", "2\n");
	assert_int_equal(observe(&roots, "bond0", false, &before), 0);
	if (strstr(expected, "active slave changed"))
		put_of("bond0", "bonding/active_slave", "eth2\n");
	else if (strstr(expected, "link failures"))
		put_of("eth2", "bonding_slave/link_failure_count", "3\n");
	else if (strstr(expected, "slaves, then"))
		put_of("bond0", "bonding/slaves", "eth1\n");
	else if (strstr(expected, "going back"))
		put_of("eth2", "bonding_slave/mii_status", "going back\n");
	assert_int_equal(observe(&roots, "bond0", false, &after), 0);
	observe_bond_fault(&before, &after, fault, sizeof(fault));
	assert_string_equal(fault, expected);
}

static void test_bond_fault(void **state)
{
	(void)state;
	bond_fault("");
	bond_fault("the bond's active slave changed from eth1 to eth2");
	bond_fault("link failures of slave eth2 rose from 2 to 3");
	bond_fault("the bond had 2 slaves, then 1");
	bond_fault("slave eth2 was up before and going back after");
}

static void test_nic_counters(void **state)
{
	const struct net_nics nics = {.name = {"eth1", "eth2"}, .count = 2};
	json_t *json = evidence_nics(&roots, &nics, 2);
	char fault[256];

	(void)state;
	put_of("eth2", "statistics/rx_dropped", "900\n");
	put_of("eth2", "statistics/rx_bytes", "900\n");
	evidence_nics_after(&roots, json);
	evidence_nics_fault(json, fault, sizeof(fault));
	assert_string_equal(fault, "");
	put_of("eth2", "statistics/rx_crc_errors", "6\n");
	evidence_nics_after(&roots, json);
	evidence_nics_fault(json, fault, sizeof(fault));
	assert_string_equal(fault, "NIC eth2: rx_crc_errors went from 5 to 6");
	json_decref(json);
}

static void test_slow_link(void **state)
{
	json_t *nics = json_pack("[{s:s, s:i, s:i}, {s:s, s:i, s:i}, {s:s, s:i}, {s:s, s:i, s:i}]", "name",
	                         "eth1", "speed_mbps", 10000, "best_mbps", 10000, "name", "eth2",
	                         "speed_mbps", 1000, "best_mbps", 10000, "name", "eth3", "speed_mbps", -1,
	                         "name", "eth4", "speed_mbps", 100, "best_mbps", 1000);
	char note[128];

	(void)state;
	evidence_nics_note(nics, note, sizeof(note));
	assert_string_equal(
	    note,
	    "eth2: its link runs at 1000 Mb/s, it can 10000; eth4: its link runs at 100 Mb/s, it can 1000");
	evidence_nics_note(nics, note, 10);
	assert_string_equal(note, "eth2: its");
	json_decref(nics);
}

static void test_in_force(void **state)
{
	json_t *asked = json_pack("{s:s, s:i, s:s, s:s, s:s, s:s}", "bond.mode", "active-backup",
	                          "bond.miimon", 100, "bond.slaves", "all", "bond.primary", "2",
	                          "bond.primary-reselect", "better", "bond.all-slaves-active", "no");
	struct net net = {.nics = {.name = {"eth1", "eth2"}, .count = 2},
	                  .leg = {1, 2},
	                  .used = 2,
	                  .bond = true,
	                  .state = asked,
	                  .device = "bond0",
	                  .mtu_bytes = 9000,
	                  .cycles_done = 5};
	json_t *in_force = json_object(), *expected;

	(void)state;
	make_bond("eth1\n", "0\n");
	put_of("bond0", "bonding/primary", "eth2\n");
	put_of("bond0", "bonding/primary_reselect", "better 1\n");
	put_of("bond0", "bonding/all_slaves_active", "0\n");
	assert_int_equal(net_in_force(&net, sys, in_force), 0);
	expected =
	    json_pack("{s:i, s:s, s:i, s:i, s:i, s:i, s:s, s:s, s:s, s:s}", "nic.mtu", 9000, "bond.mode",
	              "active-backup", "bond.miimon", 100, "bond.down-up-cycles", 5, "bond.address-changes",
	              0, "bond.mtu-changes", 0, "bond.slaves", "all", "bond.primary", "2",
	              "bond.primary-reselect", "better", "bond.all-slaves-active", "no");
	assert_true(json_equal(in_force, expected));
	json_decref(expected);
	/* One slave with another MTU is what is in force. */
	put_of("eth2", "mtu", "1500\n");
	/* So is another order of slaves, or an option that did not hold. */
	put_of("bond0", "bonding/slaves", "eth2 eth1\n");
	put_of("bond0", "bonding/primary", "\n");
	put_of("bond0", "bonding/all_slaves_active", "1\n");
	assert_int_equal(net_in_force(&net, sys, in_force), 0);
	assert_int_equal(json_integer_value(json_object_get(in_force, "nic.mtu")), 1500);
	assert_string_equal(json_string_value(json_object_get(in_force, "bond.slaves")), "2,1");
	assert_string_equal(json_string_value(json_object_get(in_force, "bond.primary")), "none");
	assert_string_equal(json_string_value(json_object_get(in_force, "bond.all-slaves-active")), "yes");
	json_decref(in_force);
	json_decref(asked);
}

static void test_port_in_force(void **state)
{
	json_t *asked = json_pack("{s:s, s:s}", "bond.mode", "none", "nic.port", "2");
	json_t *in_force = json_object(), *expected;
	struct net net = {.nics = {.name = {"eth2", "eth1"}, .count = 2},
	                  .leg = {2, 1},
	                  .used = 1,
	                  .state = asked,
	                  .device = "eth2",
	                  .mtu_bytes = 9000};

	(void)state;
	make_bond("eth1\n", "0\n");
	assert_int_equal(net_in_force(&net, sys, in_force), 0);
	expected = json_pack("{s:i, s:s, s:s}", "nic.mtu", 9000, "bond.mode", "none", "nic.port", "2");
	assert_true(json_equal(in_force, expected));
	json_decref(expected);
	json_decref(in_force);
	json_decref(asked);
}

/* What two legs look like when the time is over. */
static void path_failure(struct net_path one, struct net_path two, const char *text, enum failure_scope scope)
{
	struct net_path paths[2] = {one, two};
	struct failure why;

	for (unsigned int i = 0; i < 2; i++) {
		snprintf(paths[i].device, sizeof(paths[i].device), "eth%u", i + 1);
		net_path_leg_address(i + 1, 1, paths[i].peer, sizeof(paths[i].peer));
		paths[i].leg = i + 1;
		paths[i].mtu_bytes = 9000;
	}
	assert_true(net_path_failure(paths, 2, "alpha", "beta", &why) < 0);
	if (!strstr(why.message, text))
		fail_msg("\"%s\" lacks \"%s\"", why.message, text);
	assert_int_equal(why.scope, scope);
	assert_true(why.remedy[0]);
}

static void test_path_failure(void **state)
{
	const struct net_path good = {.small_passed = true, .full_passed = true, .peer_done = true};
	const struct net_path none = {.leg = 0};

	(void)state;
	path_failure(
	    good, (struct net_path){.small_passed = true},
	    "Black hole on leg 2, NIC eth2 of node alpha: small pings to beta (169.254.2.2) pass, packets "
	    "of 9000 bytes do not",
	    FAILURE_SAMPLE);
	path_failure(
	    none, (struct net_path){.wrong_leg = 1},
	    "Legs are crossed: NIC eth2 of node alpha is leg 2 here, but what beta sends on its leg 1 "
	    "comes in",
	    FAILURE_RUN);
	path_failure(
	    good, none,
	    "No answer on leg 2: NIC eth2 of node alpha has link, but beta (169.254.2.2) answers no ping; "
	    "other legs work",
	    FAILURE_SAMPLE);
	path_failure(none, none, "on no leg", FAILURE_SAMPLE);
	path_failure(good, (struct net_path){.small_passed = true, .full_passed = true},
	             "node alpha reaches beta, which does not say that it reaches alpha", FAILURE_SAMPLE);
}

/* Over loopback the own requests are the peer's as well, so one exchange proves both ways. */
static void test_probe_loopback(void **state)
{
	struct net_path path = {.device = "lo", .peer = "127.0.0.1", .mtu_bytes = 9000, .leg = 1};
	json_t *array = json_array();

	(void)state;
	assert_int_equal(net_path_probe(&path, 1, true, now_ns() + 5000000000LL, NULL, NULL), 0);
	assert_true(path.small_passed && path.full_passed && path.peer_done);
	assert_true(path.rtt_ns > 0);
	assert_int_equal(net_path_json(&path, 1, array), 0);
	assert_int_equal(json_array_size(array), 1);
	json_decref(array);
}

static void test_probe_nobody(void **state)
{
	struct net_path path = {.device = "lo", .peer = "192.0.2.1", .mtu_bytes = 1500, .leg = 1};
	struct net_path none = {.device = "no-such-nic", .peer = "192.0.2.1", .mtu_bytes = 1500, .leg = 1};

	(void)state;
	assert_int_equal(net_path_probe(&path, 1, true, now_ns() + 120000000LL, NULL, NULL), -ETIMEDOUT);
	assert_false(path.small_passed);
	assert_int_equal(net_path_probe(&none, 1, true, now_ns() + 120000000LL, NULL, NULL), -ENODEV);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    T(test_find),         T(test_find_refused),   T(test_observe),       T(test_bond_fault),
	    T(test_nic_counters), T(test_in_force),       T(test_port_in_force), T(test_path_failure),
	    T(test_slow_link),    T(test_probe_loopback), T(test_probe_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
