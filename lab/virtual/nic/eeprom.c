/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include "eeprom.h"

enum {
	FIRST_POINTER = 0x03, /* words 3 to 0x0e point to blocks that the checksum covers */
	LAST_POINTER = 0x0e,
	FIRMWARE = 0x0f,
	PBA_FLAG = 0x15,
	PBA_POINTER = 0x16,
	SFP_LIST = 0x2b,
	CAPABILITIES = 0x2c,
	ETRACK_LOW = 0x2d,
	ETRACK_HIGH = 0x2e,
	CHECKSUM = 0x3f,
};

/* Where the blocks are put. */
enum {
	FIRMWARE_AT = 0x100,
	PATCH_AT = 0x110,
	PBA_AT = 0x120,
	SFP_LIST_AT = 0x130,
	SFP_DATA_AT = 0x150,
};

uint16_t eeprom_checksum(const uint16_t word[EEPROM_WORDS])
{
	uint16_t sum = 0;

	for (int i = 0; i < CHECKSUM; i++)
		sum += word[i];
	for (int i = FIRST_POINTER; i <= LAST_POINTER; i++) {
		unsigned at = word[i], length;

		if (at == 0xffff || at == 0 || at >= EEPROM_WORDS)
			continue;
		length = word[at];
		if (length == 0xffff || length == 0)
			continue;
		for (unsigned j = at + 1; j <= at + length && j < EEPROM_WORDS; j++)
			sum += word[j];
	}
	return 0xbaba - sum;
}

static void pba_string(uint16_t *block, const char text[10])
{
	block[0] = 6; /* words, this one too */
	for (int i = 0; i < 5; i++)
		block[1 + i] = (uint16_t)((uint8_t)text[2 * i] << 8 | (uint8_t)text[2 * i + 1]);
}

/* One entry for each kind of module on each port: direct attach and SR/LR, types 3 to 6. None needs register
 * writes. */
static void sfp_list(uint16_t word[EEPROM_WORDS])
{
	uint16_t *list = &word[SFP_LIST_AT];

	*list++ = 8;
	for (int type = 3; type <= 6; type++) {
		*list++ = (uint16_t)type;
		*list++ = SFP_DATA_AT;
	}
	*list = 0xffff;
	word[SFP_DATA_AT] = 0;
	word[SFP_DATA_AT + 1] = 0xffff;
}

void eeprom_fill(uint16_t word[EEPROM_WORDS])
{
	memset(word, 0, EEPROM_WORDS * sizeof(*word));
	word[FIRMWARE] = FIRMWARE_AT;
	word[FIRMWARE_AT + 4] = PATCH_AT;
	word[PATCH_AT + 7] = 6; /* up to 5 the driver warns of a pre-production card */
	word[PBA_FLAG] = 0xfafa;
	word[PBA_POINTER] = PBA_AT;
	pba_string(&word[PBA_AT], "E55555-000");
	word[SFP_LIST] = SFP_LIST_AT;
	sfp_list(word);
	word[CAPABILITIES] = 0x2; /* Intel's optics or passive cables only (bit 0: any); no FCoE */
	word[ETRACK_LOW] = 0x0001;
	word[ETRACK_HIGH] = 0x8000;
	word[CHECKSUM] = eeprom_checksum(word);
}
