/* SPDX-License-Identifier: GPL-2.0-or-later
 * What transceivers say of themselves, and what is said of NICs that could be better. */
#include "ethtool_link.h"
#include "file.h"
#include "nic_module.h"
#include "nic_warnings.h"

#include <linux/ethtool.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static void module_is(const unsigned char *eeprom, size_t length, unsigned int type, const char *wanted)
{
	json_t *module = nic_module_json(eeprom, length, type), *expected = json_loads(wanted, 0, NULL);
	char *text = json_dumps(module, JSON_COMPACT | JSON_REAL_PRECISION(6));

	assert_non_null(expected);
	if (!json_equal(module, expected))
		fail_msg("the module is %s, not %s", text, wanted);
	free(text);
	json_decref(module);
	json_decref(expected);
}

static void fill_sfp(unsigned char *eeprom)
{
	memcpy(eeprom + 20, "FINISAR CORP.   ", 16);
	memcpy(eeprom + 40, "FTLX8571D3BCL   ", 16);
	memcpy(eeprom + 68, "AB\xff", 3);
	memcpy(eeprom + 71, "12           ", 13);
}

static void optical_sfp(void **state)
{
	unsigned char eeprom[NIC_MODULE_BYTES] = {0};

	(void)state;
	fill_sfp(eeprom);
	eeprom[3] = 0x10;
	eeprom[6] = 0x01;
	eeprom[16] = 8;
	eeprom[19] = 30;
	module_is(
	    eeprom, 256, ETH_MODULE_SFF_8079,
	    "{\"vendor\": \"FINISAR CORP.\", \"part\": \"FTLX8571D3BCL\", \"serial\": \"AB?12\", \"type\": "
	    "\"10GBASE-SR\", \"length_m\": 300}");
	eeprom[92] = 0x68; /* diagnostics, calibrated by itself */
	memcpy(eeprom + 352, "\x2a\x80", 2);
	memcpy(eeprom + 358, "\x16\x2e\x00\x0a", 4);
	module_is(
	    eeprom, 512, ETH_MODULE_SFF_8472,
	    "{\"vendor\": \"FINISAR CORP.\", \"part\": \"FTLX8571D3BCL\", \"serial\": \"AB?12\", \"type\": "
	    "\"10GBASE-SR\", \"length_m\": 300, \"temperature_c\": 42.5, \"tx_power_uw\": 567.8, "
	    "\"rx_power_uw\": 1.0}");
	assert_int_equal(nic_module_diagnostics(eeprom, 512, ETH_MODULE_SFF_8472).offset, 352);
	assert_int_equal(nic_module_diagnostics(eeprom, 256, ETH_MODULE_SFF_8472).length, 0);
	memcpy(eeprom + 352, "\xfb\x00", 2); /* below zero */
	eeprom[92] = 0x58;                   /* calibrated by whoever reads it */
	assert_int_equal(nic_module_diagnostics(eeprom, 512, ETH_MODULE_SFF_8472).length, 0);
}

static void cable(void **state)
{
	unsigned char eeprom[256] = {0};

	(void)state;
	memcpy(eeprom + 20, "Molex Inc.      ", 16);
	eeprom[8] = 0x04;
	eeprom[18] = 3;
	module_is(eeprom, 256, ETH_MODULE_SFF_8079,
	          "{\"vendor\": \"Molex Inc.\", \"type\": \"passive copper\", \"length_m\": 3}");
	/* Shorter than its layout: nothing is made up. */
	module_is(eeprom, 30, ETH_MODULE_SFF_8079, "{}");
}

static void quad(void **state)
{
	unsigned char eeprom[256] = {0};

	(void)state;
	memcpy(eeprom + 148, "Mellanox        ", 16);
	memcpy(eeprom + 168, "MCP1600-C003    ", 16);
	memcpy(eeprom + 196, "MT1", 3);
	eeprom[131] = 0x08;
	eeprom[146] = 3;
	eeprom[22] = 31;
	eeprom[50] = 0x10;
	module_is(eeprom, 256, ETH_MODULE_SFF_8636,
	          "{\"vendor\": \"Mellanox\", \"part\": \"MCP1600-C003\", \"serial\": \"MT1\", \"type\": "
	          "\"40GBASE-CR4\", \"length_m\": 3, \"temperature_c\": 31.0, \"tx_power_uw\": 409.6, "
	          "\"rx_power_uw\": 0.0}");
}

/* Every part that is asked for is within the memory, and short enough for one request. */
static void parts(void **state)
{
	static const unsigned int types[] = {ETH_MODULE_SFF_8472, ETH_MODULE_SFF_8636};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct nic_module_part *part = nic_module_parts(types[i]);

		for (; part->length; part++) {
			assert_true(part->length <= 64);
			assert_true(part->offset + part->length <= 256);
		}
	}
}

static void best_speed(void **state)
{
	const uint32_t twisted_pair[3] = {0x3f}, dual_rate[3] = {0, 1u << (43 - 32) | 1u << (41 - 32)},
	               fast[3] = {1u << 12, 1u << (61 - 32), 1u << (66 - 64)};

	(void)state;
	assert_int_equal(ethtool_best_mbps(twisted_pair, 3), 1000);
	assert_int_equal(ethtool_best_mbps(dual_rate, 3), 10000);
	assert_int_equal(ethtool_best_mbps(fast, 3), 200000);
	assert_int_equal(ethtool_best_mbps(fast, 1), 10000);
	assert_int_equal(ethtool_best_mbps(fast, 0), 0);
}

static void warnings_are(const char *inventory, const char *root, const char *wanted)
{
	json_t *all = json_loads(inventory, 0, NULL), *expected = json_loads(wanted, 0, NULL), *warnings;
	char *text;

	assert_non_null(all);
	assert_non_null(expected);
	warnings = nic_warnings(all, root);
	text = json_dumps(warnings, 0);
	if (!json_equal(warnings, expected))
		fail_msg("warnings are %s, not %s", text, wanted);
	free(text);
	json_decref(warnings);
	json_decref(expected);
	json_decref(all);
}

static void warnings(void **state)
{
	(void)state;
	warnings_are(
	    "{\"pci\": [{\"address\": \"0000:03:00.0\", \"class\": \"0x020000\", \"driver\": \"ixgbe\", "
	    "\"link_width\": \"4\", \"max_link_width\": \"8\", \"link_speed\": \"2.5 GT/s PCIe\", "
	    "\"max_link_speed\": \"5.0 GT/s PCIe\", \"aer\": {\"correctable\": 7, \"fatal\": 0}}], "
	    "\"nics\": [{\"name\": \"eth1\", \"pci\": \"0000:03:00.0\", \"speed_mbps\": 1000, "
	    "\"best_mbps\": 10000}]}",
	    "/nonexistent",
	    "[\"eth1 (0000:03:00.0): PCIe link width 4, where the card can 8: is the slot narrower?\", "
	    "\"eth1 (0000:03:00.0): PCIe link speed 2.5 GT/s PCIe, where the card can 5.0 GT/s PCIe: is the "
	    "slot slower?\", "
	    "\"eth1 (0000:03:00.0): 7 correctable PCIe errors since power-on (AER): check the card's "
	    "seat\", "
	    "\"eth1: its link runs at 1000 Mb/s, it can 10000\"]");
	/* As it should be; virtual cards without a link; a link that is down; a disk controller. */
	warnings_are(
	    "{\"pci\": [{\"address\": \"0000:03:00.0\", \"class\": \"0x020000\", \"driver\": \"ixgbe\", "
	    "\"link_width\": \"8\", \"max_link_width\": \"8\"}, "
	    "{\"address\": \"0000:00:02.0\", \"class\": \"0x020000\", \"driver\": \"virtio-pci\", "
	    "\"link_width\": \"0\", \"max_link_width\": \"255\", \"link_speed\": \"Unknown\", "
	    "\"max_link_speed\": \"Unknown\"}, "
	    "{\"address\": \"0000:04:00.0\", \"class\": \"0x010700\", \"link_width\": \"4\", "
	    "\"max_link_width\": \"8\"}], "
	    "\"nics\": [{\"name\": \"eth1\", \"pci\": \"0000:03:00.0\", \"speed_mbps\": -1, \"best_mbps\": "
	    "10000}]}",
	    "/nonexistent", "[]");
}

static void refused_transceiver(void **state)
{
	char root[] = "/tmp/assay-health.XXXXXX", path[64], command[64];

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/dev", root);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/dev/kmsg", root);
	assert_int_equal(
	    create_file(path, "%s",
	                "6,600,1000,-;ixgbe: Intel(R) 10 Gigabit PCI Express Network Driver\n"
	                "3,601,1001,-;ixgbe 0000:03:00.0: failed to load because an unsupported SFP+ or QSFP "
	                "module type was detected.\n"
	                " SUBSYSTEM=pci\n DEVICE=+pci:0000:03:00.0\n"
	                "3,602,1002,-;ixgbe 0000:03:00.0: Reload the driver after installing a supported "
	                "module.\n"),
	    0);
	warnings_are(
	    "{\"pci\": [{\"address\": \"0000:03:00.0\", \"class\": \"0x020000\", \"vendor\": \"0x8086\", "
	    "\"device\": \"0x10fb\"}], \"nics\": []}",
	    root,
	    "[\"NIC 0000:03:00.0 (0x8086:0x10fb) has no driver: it is not in the image, or it refused the "
	    "card\", "
	    "\"the driver refuses a transceiver: ixgbe 0000:03:00.0: failed to load because an unsupported "
	    "SFP+ or QSFP module type was detected.\"]");
	snprintf(command, sizeof(command), "rm -rf %s", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(optical_sfp),
	    cmocka_unit_test(cable),
	    cmocka_unit_test(quad),
	    cmocka_unit_test(parts),
	    cmocka_unit_test(best_speed),
	    cmocka_unit_test(warnings),
	    cmocka_unit_test(refused_transceiver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
