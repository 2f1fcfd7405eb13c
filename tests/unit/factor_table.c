/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "factor.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static json_t *state_of(const char *text)
{
	json_t *state = json_loads(text, 0, NULL);

	assert_non_null(state);
	return state;
}

static void test_table(void **unused)
{
	char why[256];

	(void)unused;
	for (size_t i = 0; i < FACTOR_COUNT; i++) {
		const struct factor *f = &factors[i];
		json_t *level =
		    f->default_level ? json_string(f->default_level) : json_integer(f->default_value);

		assert_non_null(f->name);
		assert_ptr_equal(factor_find(f->name), f);
		assert_string_equal(factor_nearest(f->name), f->name);
		assert_true(strlen(f->description) > 10);
		if (factor_check(f, level, why, sizeof(why)))
			fail_msg("the default of %s: %s", f->name, why);
		json_decref(level);
	}
	assert_null(factor_find("drbd.net"));
}

static void check_is(enum factor_id id, json_t *level, int wanted)
{
	char why[256] = "";

	assert_int_equal(factor_check(&factors[id], level, why, sizeof(why)), wanted);
	assert_int_equal(why[0] != '\0', wanted != 0);
	json_decref(level);
}

static void test_levels(void **unused)
{
	(void)unused;
	check_is(FACTOR_NIC_MTU, json_integer(576), 0);
	check_is(FACTOR_NIC_MTU, json_integer(9710), 0);
	check_is(FACTOR_NIC_MTU, json_integer(575), -EINVAL);
	check_is(FACTOR_NIC_MTU, json_integer(9711), -EINVAL);
	check_is(FACTOR_NIC_MTU, json_string("1500"), -EINVAL);
	check_is(FACTOR_NIC_MTU, json_real(1500), -EINVAL);
	check_is(FACTOR_DRBD_LINK, json_string("never-connected"), 0);
	check_is(FACTOR_DRBD_LINK, json_string("connected"), 0);
	check_is(FACTOR_DRBD_LINK, json_string("connect"), -EINVAL);
	check_is(FACTOR_DRBD_LINK, json_string("never"), -EINVAL);
	check_is(FACTOR_DRBD_LINK, json_string(""), -EINVAL);
	check_is(FACTOR_DRBD_LINK, json_string("connected|disconnected"), -EINVAL);
	check_is(FACTOR_DRBD_CORK, json_true(), -EINVAL);
	check_is(FACTOR_NIC_RING_RX, json_integer(512), 0);
	check_is(FACTOR_NIC_RING_RX, json_string("default"), 0);
	check_is(FACTOR_NIC_RING_RX, json_string("512"), -EINVAL);
	check_is(FACTOR_NIC_RING_RX, json_integer(0), -EINVAL);
	check_is(FACTOR_NIC_MTU, json_string("default"), -EINVAL);
}

static void test_nearest(void **unused)
{
	(void)unused;
	assert_string_equal(factor_nearest("drbd.net.max-bufers"), "drbd.net.max-buffers");
	assert_string_equal(factor_nearest("max-buffers"), "drbd.net.max-buffers");
	assert_string_equal(factor_nearest("mtu"), "nic.mtu");
	assert_string_equal(factor_nearest("bond.mdoe"), "bond.mode");
	assert_non_null(factor_nearest(""));
}

static void test_distance(void **unused)
{
	char a[200], b[200];

	(void)unused;
	assert_int_equal(edit_distance("", ""), 0);
	assert_int_equal(edit_distance("", "abc"), 3);
	assert_int_equal(edit_distance("abc", "abc"), 0);
	assert_int_equal(edit_distance("abc", "acb"), 1);
	assert_int_equal(edit_distance("abc", "axc"), 1);
	assert_int_equal(edit_distance("kitten", "sitting"), 3);
	assert_int_equal(edit_distance("ca", "abc"), 3);
	memset(a, 'a', sizeof(a));
	memset(b, 'b', sizeof(b));
	a[199] = b[199] = '\0';
	assert_int_equal(edit_distance(a, b), 63);
}

static void complete_is(const char *text, const char *present, const char *absent, size_t count)
{
	json_t *state = state_of(text), *complete = factor_complete_state(state), *again;

	assert_int_equal(json_object_size(complete), count);
	assert_non_null(json_object_get(complete, present));
	assert_null(json_object_get(complete, absent));
	again = factor_complete_state(complete);
	assert_true(json_equal(complete, again));
	json_decref(again);
	json_decref(complete);
	json_decref(state);
}

static size_t count_groups(bool net, bool bond, bool drbd)
{
	size_t n = 0;

	for (size_t i = 0; i < FACTOR_COUNT; i++)
		n += factors[i].group == FACTOR_GROUP_ALWAYS ||
		     (net && factors[i].group == FACTOR_GROUP_NET) ||
		     (bond && factors[i].group == FACTOR_GROUP_BOND) ||
		     (drbd && factors[i].group == FACTOR_GROUP_DRBD);
	return n;
}

/* Options of a bond that are no part of a state in this mode. */
#define ACTIVE_BACKUP_LACKS 5 /* arp-ip-target, xmit-hash-policy, lacp-rate, ad-select, tlb-dynamic-lb */

static void test_complete(void **unused)
{
	(void)unused;
	complete_is("{}", "stack", "nic.mtu", count_groups(false, false, false));
	complete_is("{\"nic.mtu\": 9000, \"bond.mode\": \"active-backup\"}", "boot", "nic.mtu",
	            count_groups(false, false, false));
	complete_is("{\"stack\": \"drbd\"}", "nic.mtu", "bond.miimon", count_groups(true, false, true));
	complete_is("{\"stack\": \"drbd\", \"bond.mode\": \"active-backup\"}", "bond.miimon",
	            "bond.lacp-rate", count_groups(true, true, true) - ACTIVE_BACKUP_LACKS);
	complete_is("{\"stack\": \"drbd\", \"nic.tso\": \"off\", \"nic.gso\": \"default\"}", "nic.tso",
	            "nic.gso", count_groups(true, false, true) + 1);
	complete_is("{\"stack\": \"drbd\", \"nic.ring-rx\": 512, \"nic.ring-tx\": \"default\"}",
	            "nic.ring-rx", "nic.ring-tx", count_groups(true, false, true) + 1);
	complete_is("{\"nic.tso\": \"off\"}", "stack", "nic.tso", count_groups(false, false, false));
	complete_is(
	    "{\"stack\": \"drbd\", \"drbd.link\": \"never-connected\", \"bond.mode\": \"active-backup\"}",
	    "drbd.disk.al-extents", "bond.mode", count_groups(false, false, true));
}

static void complete_has(const char *text, const char *present, const char *absent)
{
	json_t *state = state_of(text), *complete = factor_complete_state(state);

	if (present && !json_object_get(complete, present))
		fail_msg("%s: no %s", text, present);
	if (absent && json_object_get(complete, absent))
		fail_msg("%s: %s", text, absent);
	json_decref(complete);
	json_decref(state);
}

static void bond_has(const char *rest, const char *present, const char *absent)
{
	char text[256];

	snprintf(text, sizeof(text), "{\"stack\": \"drbd\", %s}", rest);
	complete_has(text, present, absent);
}

/* By the table of kernel 6.1's bond_options.c and its bonding.rst. */
static void test_bond_options(void **unused)
{
	(void)unused;
	bond_has("\"bond.mode\": \"802.3ad\"", "bond.lacp-rate", "bond.arp-interval");
	bond_has("\"bond.mode\": \"802.3ad\"", "bond.xmit-hash-policy", "bond.primary");
	bond_has("\"bond.mode\": \"balance-rr\"", "bond.arp-interval", "bond.xmit-hash-policy");
	bond_has("\"bond.mode\": \"balance-rr\"", "bond.resend-igmp", "bond.primary-reselect");
	bond_has("\"bond.mode\": \"balance-xor\"", "bond.xmit-hash-policy", "bond.resend-igmp");
	bond_has("\"bond.mode\": \"broadcast\"", "bond.miimon", "bond.all-slaves-active");
	bond_has("\"bond.mode\": \"balance-tlb\"", "bond.tlb-dynamic-lb", "bond.fail-over-mac");
	bond_has("\"bond.mode\": \"balance-alb\"", "bond.primary", "bond.num-grat-arp");
	/* ARP monitoring takes the place of miimon. */
	bond_has("\"bond.mode\": \"active-backup\", \"bond.arp-interval\": 100", "bond.arp-ip-target",
	         "bond.miimon");
	bond_has("\"bond.mode\": \"active-backup\", \"bond.arp-interval\": 100", NULL, "bond.updelay");
	bond_has("\"bond.mode\": \"active-backup\", \"bond.miimon\": 0", "bond.miimon", "bond.downdelay");
	/* What was named stays, for the kernel to refuse. */
	bond_has("\"bond.mode\": \"active-backup\", \"bond.lacp-rate\": \"fast\"", "bond.lacp-rate", NULL);
	bond_has("\"bond.mode\": \"balance-rr\", \"bond.primary\": \"1\"", "bond.primary", NULL);
}

static void test_level_index(void **unused)
{
	static const char *const modes[] = {"balance-rr", "active-backup", "balance-xor", "broadcast",
	                                    "802.3ad",    "balance-tlb",   "balance-alb"};

	(void)unused;
	for (int i = 0; i < 7; i++)
		assert_int_equal(factor_level_index(FACTOR_BOND_MODE, modes[i]), i + 1);
	assert_int_equal(factor_level_index(FACTOR_BOND_XMIT_HASH, "layer3+4"), 1);
	assert_int_equal(factor_level_index(FACTOR_BOND_XMIT_HASH, "layer2+3"), 2);
	assert_int_equal(factor_level_index(FACTOR_BOND_MODE, "balance"), -1);
	assert_int_equal(factor_level_index(FACTOR_BOND_MODE, "mode-7"), -1);
}

static void test_levels_of_state(void **unused)
{
	json_t *state = state_of("{\"nic.mtu\": 9000, \"stack\": \"drbd\"}");

	(void)unused;
	assert_int_equal(factor_integer(state, FACTOR_NIC_MTU), 9000);
	assert_int_equal(factor_integer(state, FACTOR_BOND_MIIMON), 100);
	assert_string_equal(factor_string(state, FACTOR_STACK), "drbd");
	assert_string_equal(factor_string(state, FACTOR_BOOT), "warm");
	json_decref(state);
}

static void stack_is(const char *text, const char *from_below)
{
	enum stack_layer layers[STACK_LAYER_COUNT];
	int count = factor_stack_layers(text, layers);
	char got[128] = "";

	assert_true(count >= 0);
	for (int i = 0; i < count; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", i ? " " : "",
		         stack_layer_names[layers[i]]);
	assert_string_equal(got, from_below);
}

static void test_stacks(void **unused)
{
	static const char *const wrong[] = {"",          "/",        "drbd/",     "/drbd",    "drbd//lvm",
	                                    "raw/drbd",  "lvm/lvm",  "drbd/ext4", "ext4/xfs", "drbd/lvm/drbd",
	                                    "Ext4/drbd", "ext4,drbd"};
	enum stack_layer layers[STACK_LAYER_COUNT];
	json_t *state = state_of("{\"stack\": \"xfs/lvm/drbd/luks\"}");

	(void)unused;
	stack_is("raw", "");
	stack_is("drbd", "drbd");
	stack_is("ext4/drbd/lvm", "lvm drbd ext4");
	stack_is("xfs/luks/drbd/lvm/dm-linear", "dm-linear lvm drbd luks xfs");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(factor_stack_layers(wrong[i], layers), -EINVAL);
	assert_true(factor_stack_has(state, STACK_LUKS));
	assert_false(factor_stack_has(state, STACK_EXT4));
	assert_true(factor_stack_is_files("xfs/lvm"));
	assert_false(factor_stack_is_files("drbd/lvm"));
	json_decref(state);
	/* A layer's factors have a meaning where it is there. */
	complete_has("{\"stack\": \"luks/drbd\"}", "luks.cipher", "ext4.mount");
	complete_has("{\"stack\": \"drbd\"}", "drbd.link", "luks.cipher");
	complete_has("{\"stack\": \"ext4\", \"ext4.mount\": \"commit=30\"}", "ext4.mount", "drbd.link");
	complete_has("{\"stack\": \"xfs\", \"ext4.mount\": \"commit=30\"}", "stack", "ext4.mount");
}

static void text_takes(enum factor_id id, const char *text, bool good)
{
	json_t *level = json_string(text);
	char why[512] = "";

	assert_int_equal(factor_check(&factors[id], level, why, sizeof(why)), good ? 0 : -EINVAL);
	assert_int_equal(*why == '\0', good);
	json_decref(level);
}

static void test_texts_of_stacks(void **unused)
{
	(void)unused;
	text_takes(FACTOR_EXT4_MOUNT, "noatime,commit=30,barrier=0", true);
	text_takes(FACTOR_EXT4_MOUNT, "default", true);
	text_takes(FACTOR_EXT4_MOUNT, "ro", false);
	text_takes(FACTOR_EXT4_MOUNT, "noatime,remount", false);
	text_takes(FACTOR_EXT4_MOUNT, "noatime,", false);
	text_takes(FACTOR_EXT4_MOUNT, "journal_path=/dev/sda", false);
	text_takes(FACTOR_EXT4_MKFS, "-b 4096 -O ^has_journal", true);
	text_takes(FACTOR_EXT4_MKFS, "-U 00000000-0000-4000-8000-000000000000", false);
	text_takes(FACTOR_EXT4_MKFS, "-J device=/dev/sda", false);
	text_takes(FACTOR_EXT4_MKFS, "/dev/sda", false);
	text_takes(FACTOR_XFS_MKFS, "-d agcount=8", true);
	text_takes(FACTOR_XFS_MKFS, "-m crc=0,uuid=0", false);
	text_takes(FACTOR_LUKS_CIPHER, "aes-cbc-essiv:sha256", true);
	text_takes(FACTOR_LUKS_CIPHER, "aes xts", false);
	text_takes(FACTOR_LUKS_CIPHER, "--help", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_table),        cmocka_unit_test(test_levels),
	    cmocka_unit_test(test_nearest),      cmocka_unit_test(test_distance),
	    cmocka_unit_test(test_complete),     cmocka_unit_test(test_levels_of_state),
	    cmocka_unit_test(test_bond_options), cmocka_unit_test(test_level_index),
	    cmocka_unit_test(test_stacks),       cmocka_unit_test(test_texts_of_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
