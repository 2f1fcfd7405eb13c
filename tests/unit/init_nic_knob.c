/* SPDX-License-Identifier: GPL-2.0-or-later
 * NIC settings on NICs that are made up: ethtool() and ethtool_set() here are a driver that has rings up to
 * 4096, no adaptive coalescing but where a test gives it some, and loses its link when the rings change. */
#include "ethtool.h"
#include "file.h"
#include "nic_apply.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char sys[64];

static struct nic {
	const char *name;
	struct ethtool_pauseparam pause;
	struct ethtool_ringparam rings;
	struct ethtool_coalesce coalesce;
	uint32_t tso, gro, flags;
	unsigned int messages;
	bool adapts; /* has adaptive coalescing, tx-usecs, and pause frames that are negotiated */
} nics[2];

static struct nic *find(const char *name)
{
	for (size_t i = 0; i < 2; i++)
		if (!strcmp(nics[i].name, name))
			return &nics[i];
	return NULL;
}

static void set_carrier(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/class/net/%s/carrier", sys, name);
	assert_int_equal(create_file(path, "%s", text), 0);
}

/* No channels, and no feature but three. */
int ethtool(const char *name, void *data)
{
	struct nic *nic = find(name);
	struct ethtool_value *value = data;

	if (!nic)
		return -ENODEV;
	switch (value->cmd) {
	case ETHTOOL_GPAUSEPARAM:
		memcpy(data, &nic->pause, sizeof(nic->pause));
		return 0;
	case ETHTOOL_GRINGPARAM:
		memcpy(data, &nic->rings, sizeof(nic->rings));
		return 0;
	case ETHTOOL_GCOALESCE:
		memcpy(data, &nic->coalesce, sizeof(nic->coalesce));
		return 0;
	case ETHTOOL_GTSO:
		value->data = nic->tso;
		return 0;
	case ETHTOOL_STSO:
		nic->tso = value->data;
		return 0;
	case ETHTOOL_GGRO:
		value->data = nic->gro;
		return 0;
	case ETHTOOL_SGRO: /* says yes and does nothing */
		return 0;
	case ETHTOOL_GFLAGS:
		value->data = nic->flags;
		return 0;
	case ETHTOOL_SFLAGS:
		nic->flags = value->data;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int set_ring(struct nic *nic, const struct ethtool_attribute *one, char *words, size_t size)
{
	if (one->value > 4096) {
		snprintf(words, size, "requested ring size exceeds maximum");
		return -EINVAL;
	}
	if (one->attribute == ETHTOOL_A_RINGS_RX)
		nic->rings.rx_pending = one->value;
	else
		nic->rings.tx_pending = one->value;
	return 0;
}

static int set_adaptive(struct nic *nic, uint8_t message, const struct ethtool_attribute *one)
{
	if (!nic->adapts)
		return message == ETHTOOL_MSG_PAUSE_SET ? 0 : -EOPNOTSUPP;
	if (message == ETHTOOL_MSG_PAUSE_SET && one->attribute == ETHTOOL_A_PAUSE_AUTONEG)
		nic->pause.autoneg = one->value;
	else if (message == ETHTOOL_MSG_COALESCE_SET && one->attribute == ETHTOOL_A_COALESCE_TX_USECS)
		nic->coalesce.tx_coalesce_usecs = one->value;
	else if (message == ETHTOOL_MSG_COALESCE_SET && one->attribute == ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX)
		nic->coalesce.use_adaptive_rx_coalesce = one->value;
	else if (message == ETHTOOL_MSG_COALESCE_SET && one->attribute == ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX)
		nic->coalesce.use_adaptive_tx_coalesce = one->value;
	else if (message == ETHTOOL_MSG_PAUSE_SET)
		nic->pause.tx_pause = one->value;
	else
		return -EOPNOTSUPP;
	return 0;
}

int ethtool_set(const char *name, uint8_t message, const struct ethtool_attribute *values, size_t count,
                char *words, size_t size)
{
	struct nic *nic = find(name);
	int r = 0;

	*words = '\0';
	nic->messages++;
	for (size_t i = 0; i < count && !r; i++) {
		assert_int_equal(values[i].flag,
		                 message == ETHTOOL_MSG_PAUSE_SET ||
		                     (message == ETHTOOL_MSG_COALESCE_SET &&
		                      (values[i].attribute == ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX ||
		                       values[i].attribute == ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX)));
		if (message == ETHTOOL_MSG_RINGS_SET)
			r = set_ring(nic, &values[i], words, size);
		else if (message == ETHTOOL_MSG_COALESCE_SET &&
		         values[i].attribute == ETHTOOL_A_COALESCE_RX_USECS)
			nic->coalesce.rx_coalesce_usecs = values[i].value;
		else if (message == ETHTOOL_MSG_PAUSE_SET && values[i].attribute == ETHTOOL_A_PAUSE_RX)
			nic->pause.rx_pause = values[i].value;
		else
			r = set_adaptive(nic, message, &values[i]);
	}
	return r;
}

static const struct net_nics both = {.count = 2, .name = {"eth1", "eth2"}};

static int set_up(void **unused)
{
	char path[128];

	(void)unused;
	strcpy(sys, "/tmp/assay-nic.XXXXXX");
	assert_non_null(mkdtemp(sys));
	snprintf(path, sizeof(path), "%s/class", sys);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/class/net", sys);
	mkdir(path, 0755);
	for (size_t i = 0; i < 2; i++) {
		nics[i] =
		    (struct nic){.name = both.name[i],
		                 .pause = {.rx_pause = 1, .tx_pause = 1},
		                 .rings = {.rx_pending = 512, .tx_pending = 512, .rx_max_pending = 4096},
		                 .coalesce = {.rx_coalesce_usecs = 1},
		                 .tso = 1,
		                 .gro = 1,
		                 .flags = ETH_FLAG_NTUPLE | ETH_FLAG_RXHASH};
		snprintf(path, sizeof(path), "%s/class/net/%s", sys, both.name[i]);
		mkdir(path, 0755);
		set_carrier(both.name[i], "1\n");
	}
	return 0;
}

static int tear_down(void **unused)
{
	char command[128];

	(void)unused;
	snprintf(command, sizeof(command), "rm -rf %s", sys);
	return system(command) ? -1 : 0;
}

static int apply(const char *text, struct nic_changes *changes, json_t **in_force, struct failure *why)
{
	json_t *state = json_loads(text, 0, NULL);
	int r;

	assert_non_null(state);
	r = nic_apply(changes, &both, 2, state, sys, now_ns() + 20000000LL, why);
	*in_force = json_object();
	assert_int_equal(nic_in_force(&both, 2, state, *in_force), 0);
	json_decref(state);
	return r;
}

static void level_is(const json_t *in_force, const char *name, const char *wanted)
{
	const json_t *level = json_object_get(in_force, name);
	char text[32] = "nothing";

	if (json_is_string(level))
		snprintf(text, sizeof(text), "%s", json_string_value(level));
	else if (level)
		snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(level));
	assert_string_equal(text, wanted);
}

static void nothing_left(const struct nic *nic)
{
	assert_int_equal(nic->rings.rx_pending, 512);
	assert_int_equal(nic->rings.tx_pending, 512);
	assert_int_equal(nic->coalesce.rx_coalesce_usecs, 1);
	assert_int_equal(nic->pause.rx_pause, 1);
	assert_int_equal(nic->tso, 1);
	assert_int_equal(nic->flags, ETH_FLAG_NTUPLE | ETH_FLAG_RXHASH);
}

static void test_applied_and_restored(void **unused)
{
	struct nic_changes changes = {0};
	struct failure why;
	json_t *in_force;

	(void)unused;
	assert_int_equal(
	    apply("{\"nic.ring-rx\": 1024, \"nic.ring-tx\": 256, \"nic.tso\": \"off\", \"nic.lro\": "
	          "\"on\", \"nic.ntuple\": \"off\", \"nic.rx-usecs\": 50, \"nic.pause-rx\": \"off\"}",
	          &changes, &in_force, &why),
	    0);
	level_is(in_force, "nic.ring-rx", "1024");
	level_is(in_force, "nic.ring-tx", "256");
	level_is(in_force, "nic.tso", "off");
	level_is(in_force, "nic.lro", "on");
	level_is(in_force, "nic.ntuple", "off");
	level_is(in_force, "nic.rx-usecs", "50");
	level_is(in_force, "nic.pause-rx", "off");
	level_is(in_force, "nic.pause-tx", "on");      /* not asked for: what there is */
	level_is(in_force, "nic.channels", "nothing"); /* this driver has none */
	json_decref(in_force);
	assert_int_equal(nics[0].messages, 3); /* one a family: the link is lost once for both rings */
	assert_int_equal(nics[1].rings.rx_pending, 1024);
	assert_int_equal(nics[1].flags, ETH_FLAG_LRO | ETH_FLAG_RXHASH);
	nic_restore(&changes);
	nothing_left(&nics[0]);
	nothing_left(&nics[1]);
}

/* What the virtual lab's NICs refuse (tests/boot/proven), on a driver that has it: two levels of each, read
 * back. */
static void test_refused_elsewhere(void **unused)
{
	static const struct {
		const char *name, *found, *asked, *json;
	} levels[] = {
	    {"nic.pause-autoneg", "off", "on", "\"on\""},
	    {"nic.tx-usecs", "0", "25", "25"},
	    {"nic.adaptive-rx", "off", "on", "\"on\""},
	    {"nic.adaptive-tx", "off", "on", "\"on\""},
	};

	(void)unused;
	nics[0].adapts = nics[1].adapts = true;
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		struct nic_changes changes = {0}, none = {0};
		struct failure why;
		json_t *in_force;
		char text[64];

		assert_int_equal(apply("{}", &none, &in_force, &why), 0);
		level_is(in_force, levels[i].name, levels[i].found);
		json_decref(in_force);
		snprintf(text, sizeof(text), "{\"%s\": %s}", levels[i].name, levels[i].json);
		assert_int_equal(apply(text, &changes, &in_force, &why), 0);
		level_is(in_force, levels[i].name, levels[i].asked);
		json_decref(in_force);
		nic_restore(&changes);
		assert_int_equal(apply("{}", &none, &in_force, &why), 0);
		level_is(in_force, levels[i].name, levels[i].found);
		json_decref(in_force);
	}
}

static void test_nothing_asked(void **unused)
{
	struct nic_changes changes = {0};
	struct failure why;
	json_t *in_force;

	(void)unused;
	nics[1].rings.tx_pending = 64;
	set_carrier("eth1", "0\n"); /* then nothing is waited for either */
	assert_int_equal(apply("{\"nic.mtu\": 9000}", &changes, &in_force, &why), 0);
	level_is(in_force, "nic.ring-rx", "512");
	level_is(in_force, "nic.ring-tx", "nothing"); /* the NICs differ, and none of them is meant */
	json_decref(in_force);
	nic_restore(&changes);
	assert_int_equal(nics[0].messages + nics[1].messages, 0);
}

static void test_same_as_found(void **unused)
{
	struct nic_changes changes = {0};
	struct failure why;
	json_t *in_force;

	(void)unused;
	assert_int_equal(apply("{\"nic.ring-rx\": 512}", &changes, &in_force, &why), 0);
	level_is(in_force, "nic.ring-rx", "512");
	json_decref(in_force);
	nic_restore(&changes);
	assert_int_equal(nics[0].messages, 0);
}

static void test_refused(void **unused)
{
	struct nic_changes changes = {0};
	struct failure why = {0};
	json_t *in_force;

	(void)unused;
	nics[0].rings.rx_pending = 1024;
	assert_int_equal(apply("{\"nic.pause-rx\": \"off\", \"nic.ring-rx\": 16384}", &changes, &in_force,
	                       &why),
	                 -EINVAL);
	assert_int_equal(why.scope, FAILURE_UNSUPPORTED);
	assert_string_equal(why.object, "eth1");
	assert_string_equal(why.message,
	                    "Storage NIC eth1 refuses nic.ring-rx=16384 (it has 1024): requested ring "
	                    "size exceeds maximum");
	json_decref(in_force);
	assert_int_equal(nics[0].pause.rx_pause, 0);
	nic_restore(&changes);
	nics[0].rings.rx_pending = 512;
	nothing_left(&nics[0]);
	nothing_left(&nics[1]);

	assert_int_equal(apply("{\"nic.adaptive-rx\": \"on\"}", &changes, &in_force, &why), -EOPNOTSUPP);
	assert_non_null(strstr(why.message, "eth1 refuses nic.adaptive-rx=on"));
	json_decref(in_force);
	nic_restore(&changes);
}

/* A driver that says yes and does no such thing; one NIC of two that has its own idea. */
static void test_not_in_force(void **unused)
{
	struct nic_changes changes = {0};
	struct failure why;
	json_t *in_force;

	(void)unused;
	assert_int_equal(apply("{\"nic.gro\": \"off\"}", &changes, &in_force, &why), 0);
	level_is(in_force, "nic.gro", "on");
	json_decref(in_force);
	nic_restore(&changes);

	nics[1].rings.rx_pending = 64;
	{
		json_t *state = json_loads("{\"nic.ring-rx\": 512}", 0, NULL);

		in_force = json_object();
		assert_int_equal(nic_in_force(&both, 2, state, in_force), 0);
		level_is(in_force, "nic.ring-rx", "64");
		json_decref(state);
		json_decref(in_force);
	}
}

static void test_link_stays_down(void **unused)
{
	struct nic_changes changes = {0};
	struct failure why = {0};
	json_t *in_force;

	(void)unused;
	set_carrier("eth2", "0\n");
	assert_int_equal(apply("{\"nic.ring-rx\": 256}", &changes, &in_force, &why), -ETIMEDOUT);
	assert_int_equal(why.scope, FAILURE_SAMPLE);
	assert_string_equal(why.object, "eth2");
	json_decref(in_force);
	nic_restore(&changes);
	nothing_left(&nics[0]);
	nothing_left(&nics[1]);
}

/* Every factor of the group that is a setting of the driver has a knob, and only one. */
static void test_knobs(void **unused)
{
	(void)unused;
	for (size_t k = 0; k < NIC_KNOBS; k++) {
		const struct factor *f = &factors[nic_knobs[k].factor];

		assert_int_equal(f->group, FACTOR_GROUP_NIC);
		for (size_t j = 0; j < k; j++)
			assert_int_not_equal(nic_knobs[j].factor, nic_knobs[k].factor);
		if (k)
			assert_true(nic_knobs[k].family >= nic_knobs[k - 1].family);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_applied_and_restored, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_refused_elsewhere, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_nothing_asked, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_same_as_found, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_not_in_force, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_link_stays_down, set_up, tear_down),
	    cmocka_unit_test(test_knobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
