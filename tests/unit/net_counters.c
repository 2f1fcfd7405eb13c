/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which of a driver's own counters are kept, and which are told. */
#include "ethtool.h"
#include "nic_counters.h"
#include "tree.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* As ixgbe names them. */
static struct {
	const char *name;
	uint64_t value;
} driver[] = {
    {"rx_packets", 1000},       {"rx_crc_errors", 1},       {"rx_missed_errors", 2},
    {"rx_no_dma_resources", 3}, {"tx_flow_control_xon", 4}, {"rx_flow_control_xoff", 5},
    {"rx_queue_0_drops", 6},    {"fdir_miss", 8},           {"a_name_of_31_letters_with_drops_", 7},
};

enum { COUNT = sizeof(driver) / sizeof(*driver) };

int ethtool(const char *nic, void *data)
{
	struct ethtool_sset_info *info = data;
	struct ethtool_gstrings *strings = data;
	struct ethtool_stats *stats = data;

	if (strcmp(nic, "eth1") != 0)
		return -EOPNOTSUPP;
	switch (info->cmd) {
	case ETHTOOL_GSSET_INFO:
		assert_int_equal(info->sset_mask, 1 << ETH_SS_STATS);
		info->data[0] = COUNT;
		return 0;
	case ETHTOOL_GSTRINGS:
		assert_int_equal(strings->string_set, ETH_SS_STATS);
		for (unsigned int i = 0; i < COUNT; i++)
			memcpy(strings->data + (size_t)i * ETH_GSTRING_LEN, driver[i].name,
			       strnlen(driver[i].name, ETH_GSTRING_LEN));
		return 0;
	case ETHTOOL_GSTATS:
		for (unsigned int i = 0; i < COUNT; i++)
			stats->data[i] = driver[i].value;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static void test_kept(void **state)
{
	json_t *counters, *expected;
	char command[128];

	(void)state;
	strcpy(root, "/tmp/assay-counters.XXXXXX");
	assert_non_null(mkdtemp(root));
	put("class/net/eth0/carrier_changes", "2\n");
	put("class/net/eth1/statistics/rx_missed_errors", "99\n");
	put("class/net/eth1/device/aer_dev_correctable", "RxErr 1\nBadTLP 2\nTOTAL_ERR_COR 3\n");
	counters = nic_counters(root, "eth0"); /* whose driver has none */
	expected = json_pack("{s:i}", "carrier_changes", 2);
	assert_true(json_equal(counters, expected));
	json_decref(expected);
	json_decref(counters);
	counters = nic_counters(root, "eth1");
	expected =
	    json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "pcie_errors_correctable", 3, "rx_missed_errors",
	              99, "rx_crc_errors", 1, "rx_no_dma_resources", 3, "tx_flow_control_xon", 4,
	              "rx_flow_control_xoff", 5, "a_name_of_31_letters_with_drops_", 7);
	assert_true(json_equal(counters, expected));
	json_decref(expected);
	json_decref(counters);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

static void note_is(size_t size, const char *expected)
{
	json_t *nics =
	    json_pack("[{s:s, s:{s:i, s:i, s:i}, s:{s:i, s:i, s:i, s:i}}]", "name", "eth1", "counters_before",
	              "rx_dropped", 0, "rx_no_dma_resources", 3, "tx_flow_control_xon", 0, "counters_after",
	              "rx_dropped", 40, "rx_no_dma_resources", 40, "tx_flow_control_xon", 9,
	              "rx_flow_control_xoff", 5);
	char text[256];

	nic_counters_note(nics, text, size);
	assert_string_equal(text, expected);
	json_decref(nics);
}

static void test_risen(void **state)
{
	json_t *before =
	    json_pack("{s:i, s:i, s:i}", "rx_dropped", 0, "tx_flow_control_xoff", 3, "rx_crc_errors", 1);
	json_t *after = json_pack("{s:i, s:i, s:i, s:i}", "rx_dropped", 5, "tx_flow_control_xoff", 9,
	                          "rx_crc_errors", 1, "rx_packets", 7);
	json_t *risen = nic_counters_risen(before, after),
	       *expected = json_pack("{s:i}", "tx_flow_control_xoff", 6);

	(void)state;
	assert_true(json_equal(risen, expected));
	json_decref(expected);
	json_decref(risen);
	json_decref(before);
	json_decref(after);
}

static void test_note(void **state)
{
	json_t *none = json_array(), *pcie;
	char text[128];

	(void)state;
	pcie = json_pack("[{s:s, s:{s:i}, s:{s:i}}]", "name", "eth1", "counters_before",
	                 "pcie_errors_correctable", 3, "counters_after", "pcie_errors_correctable", 5);
	nic_counters_note(pcie, text, sizeof(text));
	assert_string_equal(text, "while the sample ran, pcie_errors_correctable of eth1 rose by 2");
	json_decref(pcie);
	note_is(256, "while the sample ran, rx_no_dma_resources of eth1 rose by 37");
	note_is(20, "while the sample ra");
	nic_counters_note(none, text, sizeof(text));
	assert_string_equal(text, "");
	json_decref(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept), cmocka_unit_test(test_risen),
	                                   cmocka_unit_test(test_note)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
