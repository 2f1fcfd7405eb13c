/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The EEPROM as the ixgbe driver reads it: checksum, PBA string, list of SFP initialisations, firmware
 * version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "eeprom.h"

/* The driver's own sum, written from its description: words 0 to 0x3f and the blocks of pointers 3 to 0x0e.
 */
static uint16_t driver_sum(const uint16_t *word)
{
	uint16_t sum = 0;

	for (int i = 0; i <= 0x3f; i++)
		sum += word[i];
	for (int i = 3; i < 0x0f; i++) {
		if (word[i] == 0 || word[i] == 0xffff)
			continue;
		for (int j = 1; j <= word[word[i]]; j++)
			sum += word[word[i] + j];
	}
	return sum;
}

static void adds_up(void **state)
{
	uint16_t word[EEPROM_WORDS];

	(void)state;
	eeprom_fill(word);
	assert_int_equal(driver_sum(word), 0xbaba);
	word[0x2c] ^= 1;
	assert_int_not_equal(driver_sum(word), 0xbaba);
}

static void covers_the_blocks(void **state)
{
	uint16_t word[EEPROM_WORDS];

	(void)state;
	eeprom_fill(word);
	word[3] = 0x200;
	word[0x200] = 3;
	word[0x201] = 0x1111;
	word[0x202] = 0x2222;
	word[0x203] = 0xfff0;
	word[5] = 0xffff; /* not there */
	word[0x3f] = eeprom_checksum(word);
	assert_int_equal(driver_sum(word), 0xbaba);
}

/* Pointers and lengths beyond the end must not be followed. */
static void broken_pointers(void **state)
{
	uint16_t word[EEPROM_WORDS];

	(void)state;
	eeprom_fill(word);
	word[4] = EEPROM_WORDS;
	word[6] = EEPROM_WORDS - 1;
	word[EEPROM_WORDS - 1] = 0x8000;
	(void)eeprom_checksum(word);
}

static void what_the_driver_looks_up(void **state)
{
	uint16_t word[EEPROM_WORDS];
	const uint16_t *entry;
	char pba[11] = "";

	(void)state;
	eeprom_fill(word);
	assert_int_equal(word[word[0x0f] + 2], 0);
	assert_true(word[word[word[0x0f] + 4] + 7] > 5);
	assert_int_equal(word[0x15], 0xfafa);
	for (int i = 0; i < 5; i++) {
		pba[2 * i] = (char)(word[word[0x16] + 1 + i] >> 8);
		pba[2 * i + 1] = (char)word[word[0x16] + 1 + i];
	}
	assert_string_equal(pba, "E55555-000");
	entry = &word[word[0x2b] + 1];
	for (int type = 3; type <= 6; type++, entry += 2) {
		assert_int_equal(entry[0], type);
		assert_in_range(entry[1], 1, EEPROM_WORDS - 2);
		assert_int_equal(word[entry[1] + 1], 0xffff);
	}
	assert_int_equal(entry[0], 0xffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(adds_up),
	    cmocka_unit_test(covers_the_blocks),
	    cmocka_unit_test(broken_pointers),
	    cmocka_unit_test(what_the_driver_looks_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
