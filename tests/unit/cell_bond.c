/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a bond says of LACP and of the spread of its traffic; which NICs become its slaves. */
#include "cell_sys.h"
#include "net_bond_lacp.h"
#include "net_bond_option.h"
#include "net_bond_slaves.h"

#include <errno.h>

/* What sysfs has of eth1's and eth2's ports: the octets of LACP, in decimal. */
static void put_ports(const char *eth1, const char *eth1_partner, const char *eth2, const char *eth2_partner)
{
	put_of("eth1", "bonding_slave/ad_actor_oper_port_state", eth1);
	put_of("eth1", "bonding_slave/ad_partner_oper_port_state", eth1_partner);
	put_of("eth2", "bonding_slave/ad_actor_oper_port_state", eth2);
	put_of("eth2", "bonding_slave/ad_partner_oper_port_state", eth2_partner);
}

static void lacks_is(const char *expected)
{
	const struct net net = {.nics = {.name = {"eth1", "eth2"}, .count = 2}, .leg = {1, 2}, .used = 2};
	char lacks[512];

	lacp_lacks(&net, sys, lacks, sizeof(lacks));
	assert_string_equal(lacks, expected);
}

/* A bond may be used only when every slave is, at both ends. */
static void test_lacp_lacks(void **state)
{
	(void)state;
	make_bond("\n", "0\n");
	lacks_is("no partner answers LACP");
	put_of("bond0", "bonding/ad_partner_mac", "00:00:00:00:00:00\n");
	lacks_is("no partner answers LACP");
	put_of("bond0", "bonding/ad_partner_mac", "00:1b:21:77:02:01\n");
	put_of("bond0", "bonding/ad_num_ports", "1\n");
	lacks_is("1 of 2 slaves are in the active aggregator, whose partner is 00:1b:21:77:02:01");
	put_of("bond0", "bonding/ad_num_ports", "2\n");
	put_ports("61\n", "61\n", "5\n", "13\n");
	lacks_is("slave eth2 (leg 2) does not yet collect and distribute at both ends: its port is "
	         "activity+aggregation; that of partner 00:1b:21:77:02:01 is "
	         "activity+aggregation+synchronization");
	put_ports("61\n", "13\n", "61\n", "61\n"); /* only we do: the partner drops what we send there */
	lacks_is("slave eth1 (leg 1) does not yet collect and distribute at both ends: its port is "
	         "activity+aggregation+synchronization+collecting+distributing; that of partner "
	         "00:1b:21:77:02:01 is activity+aggregation+synchronization");
	put_ports("61\n", "61\n", "189\n", "61\n"); /* what the partner said is too old */
	lacks_is("slave eth2 (leg 2) does not yet collect and distribute at both ends: its port is "
	         "activity+aggregation+synchronization+collecting+distributing+expired; that of partner "
	         "00:1b:21:77:02:01 is activity+aggregation+synchronization+collecting+distributing");
	put_ports("61\n", "61\n", "63\n", "60\n");
	lacks_is("");
}

static void test_lacp(void **state)
{
	struct observation before, after;
	char fault[256];
	json_t *json;

	(void)state;
	make_bond("\n", "0\n");
	put_of("bond0", "bonding/mode", "802.3ad 4\n");
	put_of("bond0", "bonding/ad_partner_mac", "00:1b:21:77:02:01\n");
	put_of("bond0", "bonding/ad_aggregator", "1\n");
	put_of("bond0", "bonding/ad_num_ports", "2\n");
	put_of("eth1", "bonding_slave/ad_aggregator_id", "1\n");
	put_of("eth2", "bonding_slave/ad_aggregator_id", "1\n");
	put_ports("61\n", "61\n", "61\n", "61\n");
	assert_int_equal(observe(&roots, "bond0", false, &before), 0);
	json = observation_json(&before);
	assert_string_equal(
	    json_string_value(json_array_get(
	        json_object_get(json_array_get(json_object_get(json_object_get(json, "bond"), "slaves"), 1),
	                        "lacp_partner"),
	        4)),
	    "distributing");
	assert_string_equal(json_string_value(
	                        json_object_get(json_object_get(json_object_get(json, "bond"), "lacp"),
	                                        "partner_mac")),
	                    "00:1b:21:77:02:01");
	json_decref(json);
	observe_bond_fault(&before, &before, fault, sizeof(fault));
	assert_string_equal(fault, ""); /* without an active slave */
	put_ports("61\n", "61\n", "61\n", "5\n");
	assert_int_equal(observe(&roots, "bond0", false, &after), 0);
	observe_bond_fault(&before, &after, fault, sizeof(fault));
	assert_string_equal(fault, "after the sample, slave eth2 did not collect and distribute at both ends "
	                           "(LACP): its port was "
	                           "activity+aggregation+synchronization+collecting+distributing, the "
	                           "partner's activity+aggregation");
	observe_bond_fault(&after, &before, fault, sizeof(fault));
	assert_int_equal(strncmp(fault, "before the sample, slave eth2", 29), 0);
	put_of("eth2", "bonding_slave/ad_aggregator_id", "2\n");
	assert_int_equal(observe(&roots, "bond0", false, &after), 0);
	observe_bond_fault(&before, &after, fault, sizeof(fault));
	assert_string_equal(fault, "slave eth2 went from aggregator 1 to 2");
	put_of("bond0", "bonding/ad_partner_mac", "00:00:00:00:00:00\n");
	assert_int_equal(observe(&roots, "bond0", false, &after), 0);
	observe_bond_fault(&before, &after, fault, sizeof(fault));
	assert_string_equal(fault,
	                    "the bond's LACP partner changed from 00:1b:21:77:02:01 to 00:00:00:00:00:00");
}

/* What sysfs has of arp_ip_target, as the factor's level. */
static void arp_target_is(const char *text, const char *level)
{
	json_t *cell = json_pack("{s:s}", "bond.arp-ip-target", "peer"), *in_force = json_object();
	struct net net = {.state = cell, .device = "bond0", .peer = "10.99.0.2"};

	put_of("bond0", "bonding/arp_ip_target", text);
	assert_int_equal(bond_options_in_force(&net, sys, in_force), 0);
	assert_string_equal(json_string_value(json_object_get(in_force, "bond.arp-ip-target")), level);
	json_decref(in_force);
	json_decref(cell);
}

static void test_arp_target(void **state)
{
	(void)state;
	arp_target_is("10.99.0.2\n", "peer");
	arp_target_is("\n", "none");
	arp_target_is("10.99.0.77\n", "10.99.0.77");
}

static void note_is(const char *mode, const char *one, const char *two, const char *expected)
{
	struct observation before, after;
	char note[256];

	make_bond("\n", "0\n");
	put_of("bond0", "bonding/mode", mode);
	put_of("eth1", "statistics/tx_bytes", "1000\n");
	put_of("eth2", "statistics/tx_bytes", "1000\n");
	assert_int_equal(observe(&roots, "bond0", false, &before), 0);
	put_of("eth1", "statistics/tx_bytes", one);
	put_of("eth2", "statistics/tx_bytes", two);
	assert_int_equal(observe(&roots, "bond0", false, &after), 0);
	observe_bond_note(&before, &after, note, sizeof(note));
	assert_string_equal(note, expected);
}

static void test_note(void **state)
{
	(void)state;
	note_is("balance-xor 2\n", "1000\n", "80001000\n",
	        "the bond is in mode balance-xor over 2 slaves, but eth2 alone sent 100.0 % of 80.0 MB");
	note_is("balance-rr 0\n", "40001000\n", "40001000\n", "");
	note_is("balance-rr 0\n", "1801000\n", "80001000\n", "");
	note_is("active-backup 1\n", "1000\n", "80001000\n", "");
	note_is("802.3ad 4\n", "1000\n", "900000\n", ""); /* hardly anything */
}

static int choose(struct net *net, const char *slaves, const char *primary, struct failure *why)
{
	*net = (struct net){.nics = {.name = {"eth1", "eth2"}, .count = 2}};
	memset(why, 0, sizeof(*why));
	return bond_slaves_choose(net, slaves, primary, why);
}

static void test_slaves(void **state)
{
	struct failure why;
	struct net net;

	(void)state;
	assert_int_equal(choose(&net, "all", "none", &why), 0);
	assert_int_equal(net.used, 2);
	assert_string_equal(net.nics.name[0], "eth1");
	assert_int_equal(net.leg[1], 2);
	assert_int_equal(choose(&net, "2,1", "1", &why), 0);
	assert_int_equal(net.used, 2);
	assert_string_equal(net.nics.name[0], "eth2");
	assert_int_equal(net.leg[0], 2);
	assert_int_equal(choose(&net, "reversed", "none", &why), 0);
	assert_string_equal(net.nics.name[0], "eth2");
	assert_int_equal(choose(&net, "2", "none", &why), 0);
	assert_int_equal(net.used, 1);
	assert_int_equal(net.nics.count, 2); /* the other is kept, to be down */
	assert_string_equal(net.nics.name[1], "eth1");
}

static void slaves_refused(const char *slaves, const char *primary, const char *text)
{
	struct failure why;
	struct net net;

	assert_int_equal(choose(&net, slaves, primary, &why), -EINVAL);
	assert_int_equal(why.scope, FAILURE_CELL);
	if (!strstr(why.message, text))
		fail_msg("\"%s\" lacks \"%s\"", why.message, text);
}

static void test_slaves_refused(void **state)
{
	struct net net = {.nics = {.name = {"eth1", "eth2"}, .count = 2}, .used = 2};
	struct failure why;
	char path[200];

	(void)state;
	slaves_refused("1,3", "none", "there is no slave 3, the node has 2 storage NICs");
	slaves_refused("0", "none", "there is no slave 0");
	slaves_refused("2,2", "none", "slave 2 (NIC eth2) appears twice");
	slaves_refused("eth1", "none", "is no list of storage NICs");
	slaves_refused("1", "2", "bond.primary = 2 is not among the slaves (bond.slaves = 1)");
	assert_int_equal(bond_slaves_free(&net, sys, &why), 0);
	snprintf(path, sizeof(path), "%s/class/net/eth2/master", sys);
	assert_int_equal(symlink("../br0", path), 0);
	assert_int_equal(bond_slaves_free(&net, sys, &why), -EBUSY);
	assert_string_equal(why.message, "Storage NIC eth2 is already enslaved, to br0");
}

static int suits(const char *mode, const char *all_active, bool shared)
{
	json_t *asked = json_pack("{s:s, s:s}", "bond.mode", mode, "bond.all-slaves-active", all_active);
	const struct net net = {.used = 2, .bond = true, .state = asked};
	struct failure why;
	int r = net_legs_suit(&net, shared, &why);

	if (r)
		assert_non_null(strstr(why.message, "cannot work here: each node sends on any slave"));
	json_decref(asked);
	return r;
}

static void test_legs_suit(void **state)
{
	(void)state;
	assert_int_equal(suits("balance-alb", "no", true), 0);
	assert_int_equal(suits("balance-alb", "no", false), -EINVAL);
	assert_int_equal(suits("balance-alb", "yes", false), -EINVAL);
	assert_int_equal(suits("balance-tlb", "no", false), -EINVAL);
	assert_int_equal(suits("balance-tlb", "yes", false), 0);
	assert_int_equal(suits("802.3ad", "no", false), 0);
	assert_int_equal(suits("active-backup", "no", true), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {T(test_lacp),     T(test_lacp_lacks), T(test_arp_target),
	                                   T(test_note),     T(test_slaves),     T(test_slaves_refused),
	                                   T(test_legs_suit)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
