/* SPDX-License-Identifier: GPL-2.0-or-later
 * What becomes of a bond while a sample runs, from messages as the kernel makes them. */
#include "net_bond_watch.h"
#include "netlink.h"

#include <errno.h>
#include <linux/if_bonding.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BOND = 7, ONE = 2, TWO = 3, FOREIGN = 4 };

static void take(struct bond_watch *watch, struct netlink_request *message)
{
	assert_false(message->overflow);
	bond_watch_take(watch, &message->header, message->header.nlmsg_len);
}

/* The bond says who is active; 0: the attribute is not there. */
static void tell_bond(struct bond_watch *watch, uint32_t active)
{
	struct ifinfomsg link = {.ifi_index = BOND};
	struct netlink_request m;
	size_t info, data;

	netlink_begin(&m, RTM_NEWLINK, 0, &link, sizeof(link));
	netlink_put_string(&m, IFLA_IFNAME, "bond0");
	info = netlink_nest_begin(&m, IFLA_LINKINFO);
	netlink_put_string(&m, IFLA_INFO_KIND, "bond");
	data = netlink_nest_begin(&m, IFLA_INFO_DATA);
	netlink_put_u8(&m, IFLA_BOND_MODE, 1);
	if (active)
		netlink_put_u32(&m, IFLA_BOND_ACTIVE_SLAVE, active);
	netlink_nest_end(&m, data);
	netlink_nest_end(&m, info);
	take(watch, &m);
}

static void tell_slave(struct bond_watch *watch, int index, uint32_t bond, uint8_t state, uint8_t mii)
{
	struct ifinfomsg link = {.ifi_index = index};
	struct netlink_request m;
	size_t info, data;
	char name[8];

	snprintf(name, sizeof(name), "eth%d", index);
	netlink_begin(&m, RTM_NEWLINK, 0, &link, sizeof(link));
	netlink_put_string(&m, IFLA_IFNAME, name);
	netlink_put_u32(&m, IFLA_MASTER, bond);
	info = netlink_nest_begin(&m, IFLA_LINKINFO);
	netlink_put_string(&m, IFLA_INFO_SLAVE_KIND, "bond");
	data = netlink_nest_begin(&m, IFLA_INFO_SLAVE_DATA);
	netlink_put_u8(&m, IFLA_BOND_SLAVE_STATE, state);
	netlink_put_u8(&m, IFLA_BOND_SLAVE_MII_STATUS, mii);
	netlink_nest_end(&m, data);
	netlink_nest_end(&m, info);
	take(watch, &m);
}

/* As after bond_watch_start() */
static void begin(struct bond_watch *watch)
{
	*watch = (struct bond_watch){.fd = -1, .bond = BOND};
	tell_bond(watch, ONE);
	tell_slave(watch, ONE, BOND, BOND_STATE_ACTIVE, BOND_LINK_UP);
	tell_slave(watch, TWO, BOND, BOND_STATE_BACKUP, BOND_LINK_UP);
	watch->begun = true;
}

static void during_is(const struct bond_watch *watch, const char *wanted, const char *fault)
{
	json_t *json = bond_watch_json(watch), *expected = json_loads(wanted, 0, NULL);
	char text[256], *got = json_dumps(json, 0);

	assert_non_null(expected);
	if (!json_equal(json, expected))
		fail_msg("it is %s, not %s", got, wanted);
	bond_watch_fault(watch, text, sizeof(text));
	assert_string_equal(text, fault);
	free(got);
	json_decref(json);
	json_decref(expected);
}

static void test_nothing(void **state)
{
	struct bond_watch watch;

	(void)state;
	begin(&watch);
	/* The same again, and what is not of this bond. */
	tell_bond(&watch, ONE);
	tell_slave(&watch, TWO, BOND, BOND_STATE_BACKUP, BOND_LINK_UP);
	tell_slave(&watch, FOREIGN, BOND + 1, BOND_STATE_BACKUP, BOND_LINK_DOWN);
	during_is(&watch, "{\"bond\": {\"active_slaves\": [\"eth2\"], \"changes\": [], \"complete\": true}}",
	          "");
}

static void test_there_and_back(void **state)
{
	struct bond_watch watch;

	(void)state;
	begin(&watch);
	tell_slave(&watch, ONE, BOND, BOND_STATE_BACKUP, BOND_LINK_UP);
	tell_slave(&watch, TWO, BOND, BOND_STATE_ACTIVE, BOND_LINK_UP);
	tell_bond(&watch, TWO);
	tell_bond(&watch, ONE);
	during_is(&watch,
	          "{\"bond\": {\"active_slaves\": [\"eth2\", \"eth3\", \"eth2\"], \"changes\": "
	          "[\"eth2 is a backup\", \"eth3 is active\"], \"complete\": true}}",
	          "while the sample ran, the bond's active slave was eth2, then eth3, then eth2");
}

static void test_none_meanwhile(void **state)
{
	struct bond_watch watch;

	(void)state;
	begin(&watch);
	tell_bond(&watch, 0);
	tell_bond(&watch, ONE);
	during_is(&watch,
	          "{\"bond\": {\"active_slaves\": [\"eth2\", \"none\", \"eth2\"], \"changes\": [], "
	          "\"complete\": true}}",
	          "while the sample ran, the bond's active slave was eth2, then none, then eth2");
}

static void test_backup_flaps(void **state)
{
	struct bond_watch watch;

	(void)state;
	begin(&watch);
	tell_slave(&watch, TWO, BOND, BOND_STATE_BACKUP, BOND_LINK_DOWN);
	tell_slave(&watch, TWO, BOND, BOND_STATE_BACKUP, BOND_LINK_UP);
	during_is(
	    &watch,
	    "{\"bond\": {\"active_slaves\": [\"eth2\"], \"changes\": [\"eth3 is down\", \"eth3 is up\"], "
	    "\"complete\": true}}",
	    "while the sample ran: slave eth3 is down");
	watch.arp_monitored = true; /* may be down, rightly or not */
	during_is(
	    &watch,
	    "{\"bond\": {\"active_slaves\": [\"eth2\"], \"changes\": [\"eth3 is down\", \"eth3 is up\"], "
	    "\"complete\": true}}",
	    "");
}

static void test_too_much(void **state)
{
	struct bond_watch watch;
	char text[4096];

	(void)state;
	begin(&watch);
	for (int i = 0; i < 100; i++)
		tell_slave(&watch, TWO, BOND, BOND_STATE_BACKUP, i % 2 ? BOND_LINK_UP : BOND_LINK_DOWN);
	assert_int_equal(watch.change_count, BOND_WATCH_STEPS);
	bond_watch_fault(&watch, text, sizeof(text));
	assert_string_equal(text, "while the sample ran, more happened to the bond than could be kept");
	for (int i = 0; i < 100; i++)
		tell_bond(&watch, i % 2 ? ONE : TWO);
	bond_watch_fault(&watch, text, 100);
	assert_int_equal(strlen(text), 99);
}

/* The kernel's own words, as far as it has them where this runs: no bond, but links. */
static void test_kernel(void **state)
{
	struct bond_watch watch = {.fd = -1};

	(void)state;
	assert_int_equal(bond_watch_start(&watch, "no-such-bond", false), -ENODEV);
	bond_watch_stop(&watch);
	assert_int_equal(bond_watch_start(&watch, "lo", false), 0);
	assert_true(watch.fd >= 0);
	bond_watch_stop(&watch);
	assert_int_equal(watch.fd, -1);
	during_is(&watch, "{\"bond\": {\"active_slaves\": [], \"changes\": [], \"complete\": true}}", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_nothing),        cmocka_unit_test(test_there_and_back),
	    cmocka_unit_test(test_none_meanwhile), cmocka_unit_test(test_backup_flaps),
	    cmocka_unit_test(test_too_much),       cmocka_unit_test(test_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
