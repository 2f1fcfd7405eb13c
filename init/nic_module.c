/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic_module.h"

#include "failure.h"

#include <linux/ethtool.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define FIELD_BYTES 16

/* Where things are. SFP: SFF-8472 tables 4-1 and 9-16, whose second address begins at 256; QSFP: SFF-8636
 * tables 6-7 and 6-14, the first lane. */
struct layout {
	unsigned short vendor, part, serial;
	unsigned short temperature, tx_power, rx_power;
	struct nic_module_part parts[6];
};

static const struct layout sfp = {.vendor = 20,
                                  .part = 40,
                                  .serial = 68,
                                  .temperature = 352,
                                  .tx_power = 358,
                                  .rx_power = 360,
                                  .parts = {{0, 37}, {40, 16}, {68, 16}, {92, 1}}};
static const struct layout qsfp = {.vendor = 148,
                                   .part = 168,
                                   .serial = 196,
                                   .temperature = 22,
                                   .tx_power = 50,
                                   .rx_power = 34,
                                   .parts = {{128, 36}, {168, 16}, {192, 20}, {22, 2}}};

static bool is_qsfp(unsigned int type)
{
	return type == ETH_MODULE_SFF_8636 || type == ETH_MODULE_SFF_8436;
}

static const struct layout *layout_of(unsigned int type)
{
	return is_qsfp(type) ? &qsfp : &sfp;
}

const struct nic_module_part *nic_module_parts(unsigned int type)
{
	return layout_of(type)->parts;
}

struct nic_module_part nic_module_diagnostics(const unsigned char *eeprom, size_t length, unsigned int type)
{
	if (is_qsfp(type))
		return (struct nic_module_part){34, length >= 52 ? 18 : 0};
	/* Byte 92: implemented, and calibrated by the module itself. */
	return (struct nic_module_part){352, length >= 362 && (eeprom[92] & 0x60) == 0x60 ? 10 : 0};
}

/* FIELD_BYTES at FROM, blanks at the end gone, what is no ASCII as "?". */
static void set_text(json_t *module, const char *name, const unsigned char *eeprom, size_t length, size_t at)
{
	char text[FIELD_BYTES + 1];
	size_t n = FIELD_BYTES;

	if (at + FIELD_BYTES > length)
		return;
	while (n && (eeprom[at + n - 1] == ' ' || !eeprom[at + n - 1]))
		n--;
	for (size_t i = 0; i < n; i++)
		text[i] = eeprom[at + i] >= ' ' && eeprom[at + i] < 0x7f ? (char)eeprom[at + i] : '?';
	text[n] = '\0';
	if (n)
		json_object_set_new(module, name, json_text(text));
}

/* The first that matches: faster kinds first. */
static const struct kind {
	bool qsfp;
	unsigned char at, mask;
	const char *name;
} kinds[] = {
    {false, 3, 0x80, "10GBASE-ER"},   {false, 3, 0x40, "10GBASE-LRM"},   {false, 3, 0x20, "10GBASE-LR"},
    {false, 3, 0x10, "10GBASE-SR"},   {false, 8, 0x08, "active copper"}, {false, 8, 0x04, "passive copper"},
    {false, 6, 0x08, "1000BASE-T"},   {false, 6, 0x04, "1000BASE-CX"},   {false, 6, 0x02, "1000BASE-LX"},
    {false, 6, 0x01, "1000BASE-SX"},  {true, 131, 0x08, "40GBASE-CR4"},  {true, 131, 0x04, "40GBASE-SR4"},
    {true, 131, 0x02, "40GBASE-LR4"},
};

/* Codes of SFF-8024 table 4-4, which newer modules have in a byte of their own. */
static const struct {
	unsigned char code;
	const char *name;
} extended[] = {
    {0x02, "100GBASE-SR4 or 25GBASE-SR"}, {0x03, "100GBASE-LR4 or 25GBASE-LR"},
    {0x0b, "100GBASE-CR4 or 25GBASE-CR"}, {0x0c, "25GBASE-CR CA-25G-S"},
    {0x0d, "25GBASE-CR CA-25G-N"},        {0x16, "10GBASE-T"},
    {0x1c, "10GBASE-T short reach"},
};

static void set_type(json_t *module, const unsigned char *eeprom, bool is_quad)
{
	unsigned char code = eeprom[is_quad ? 192 : 36];

	for (size_t i = 0; i < sizeof(extended) / sizeof(*extended); i++)
		if (code == extended[i].code) {
			json_object_set_new(module, "type", json_string(extended[i].name));
			return;
		}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].qsfp == is_quad && eeprom[kinds[i].at] & kinds[i].mask) {
			json_object_set_new(module, "type", json_string(kinds[i].name));
			return;
		}
}

/* The longest of what it is made for, or, of a cable, its length. */
static void set_length(json_t *module, const unsigned char *eeprom, bool is_quad)
{
	static const struct {
		bool qsfp;
		unsigned char at;
		unsigned short unit_m;
	} lengths[] = {
	    {false, 14, 1000}, {false, 16, 10}, {false, 17, 10}, {false, 18, 1}, {false, 19, 10},
	    {true, 142, 1000}, {true, 143, 2},  {true, 144, 1},  {true, 145, 1}, {true, 146, 1},
	};
	bool optical = !is_quad && !(eeprom[8] & 0x0c);
	long best_m = 0;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		/* Byte 18 of an optical SFP: OM4, in tens of metres. */
		long unit = lengths[i].at == 18 && optical ? 10 : lengths[i].unit_m;

		if (lengths[i].qsfp == is_quad && eeprom[lengths[i].at] * unit > best_m)
			best_m = eeprom[lengths[i].at] * unit;
	}
	if (best_m)
		json_object_set_new(module, "length_m", json_integer(best_m));
}

static unsigned int word(const unsigned char *eeprom, size_t at)
{
	return (unsigned int)eeprom[at] << 8 | eeprom[at + 1];
}

json_t *nic_module_json(const unsigned char *eeprom, size_t length, unsigned int type)
{
	const struct layout *at = layout_of(type);
	json_t *module = json_object();

	set_text(module, "vendor", eeprom, length, at->vendor);
	set_text(module, "part", eeprom, length, at->part);
	set_text(module, "serial", eeprom, length, at->serial);
	if (length >= 212 || (!is_qsfp(type) && length >= 96)) {
		set_type(module, eeprom, is_qsfp(type));
		set_length(module, eeprom, is_qsfp(type));
	}
	if (!nic_module_diagnostics(eeprom, length, type).length)
		return module;
	json_object_set_new(module, "temperature_c",
	                    json_real((int16_t)word(eeprom, at->temperature) / 256.0));
	/* Units of 0.1 uW. */
	json_object_set_new(module, "tx_power_uw", json_real(word(eeprom, at->tx_power) / 10.0));
	json_object_set_new(module, "rx_power_uw", json_real(word(eeprom, at->rx_power) / 10.0));
	return module;
}
