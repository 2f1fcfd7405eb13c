/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The SFP module behind two wires: a master that bangs bits as the ixgbe driver does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "sfp.h"

struct master {
	struct i2c bus;
	struct sfp sfp;
	bool clock, data;
};

static bool lines(struct master *m, bool clock, bool data)
{
	m->clock = clock;
	m->data = data;
	return i2c_lines(&m->bus, &m->sfp, clock, data);
}

static void start(struct master *m)
{
	lines(m, m->clock, true);
	lines(m, true, true);
	lines(m, true, false);
	lines(m, false, false);
}

static void stop(struct master *m)
{
	lines(m, false, false);
	lines(m, true, false);
	lines(m, true, true);
}

static bool clock_in(struct master *m)
{
	bool level;

	lines(m, false, true);
	level = lines(m, true, true);
	lines(m, false, true);
	return level;
}

static void clock_out(struct master *m, bool data)
{
	lines(m, false, data);
	lines(m, true, data);
	lines(m, false, data);
}

/* Returns true if the module acknowledged. */
static bool send(struct master *m, uint8_t byte)
{
	for (int bit = 7; bit >= 0; bit--)
		clock_out(m, byte >> bit & 1);
	return !clock_in(m);
}

static uint8_t receive(struct master *m, bool more)
{
	uint8_t byte = 0;

	for (int bit = 0; bit < 8; bit++)
		byte = (uint8_t)(byte << 1 | clock_in(m));
	clock_out(m, !more);
	return byte;
}

static struct master powered(void)
{
	struct master m = {.clock = true, .data = true};

	i2c_reset(&m.bus);
	sfp_fill(&m.sfp, SFP_SR);
	return m;
}

static void select_byte(struct master *m, uint8_t address, uint8_t pointer)
{
	start(m);
	assert_true(send(m, address));
	assert_true(send(m, pointer));
	start(m);
	assert_true(send(m, address | 1));
}

static void reads_every_byte(void **state)
{
	struct master m = powered();

	(void)state;
	for (int i = 0; i < 256; i++) {
		m.sfp.page[1][i] = (uint8_t)(i * 7 + 3);
		select_byte(&m, 0xa0, (uint8_t)i);
		assert_int_equal(receive(&m, false), m.sfp.page[0][i]);
		stop(&m);
		select_byte(&m, 0xa2, (uint8_t)i);
		assert_int_equal(receive(&m, false), m.sfp.page[1][i]);
		stop(&m);
	}
}

static void reads_in_sequence(void **state)
{
	struct master m = powered();

	(void)state;
	select_byte(&m, 0xa0, 250);
	for (int i = 0; i < 12; i++) /* over the end, to the beginning */
		assert_int_equal(receive(&m, i < 11), m.sfp.page[0][(250 + i) & 255]);
	stop(&m);
}

static void writes(void **state)
{
	struct master m = powered();

	(void)state;
	start(&m);
	assert_true(send(&m, 0xa2));
	assert_true(send(&m, 110));
	assert_true(send(&m, 0x48));
	assert_true(send(&m, 0x81));
	stop(&m);
	assert_int_equal(m.sfp.page[1][110], 0x48);
	assert_int_equal(m.sfp.page[1][111], 0x81);
}

static void silent_for_others(void **state)
{
	struct master m = powered();

	(void)state;
	start(&m);
	assert_false(send(&m, 0xa4));
	assert_false(send(&m, 0));
	stop(&m);
	select_byte(&m, 0xa0, 3);
	assert_int_equal(receive(&m, false), 0x10);
}

/* A master that gives up in the middle of a byte and starts again is understood. */
static void starts_again(void **state)
{
	struct master m = powered();

	(void)state;
	for (int bits = 0; bits < 20; bits++) {
		start(&m);
		for (int i = 0; i < bits; i++)
			clock_out(&m, i & 1);
		stop(&m);
		select_byte(&m, 0xa0, 37);
		assert_int_equal(receive(&m, true), 0x00);
		assert_int_equal(receive(&m, true), 0x1b);
		assert_int_equal(receive(&m, false), 0x21);
		stop(&m);
	}
}

static unsigned sum(const uint8_t *p, int bytes)
{
	unsigned all = 0;

	while (bytes-- > 0)
		all += *p++;
	return all & 0xff;
}

/* What ixgbe_identify_sfp_module_generic() goes by, and SFF-8472's check bytes. */
static void kinds(void **state)
{
	static const struct {
		enum sfp_kind kind;
		uint8_t ten_gigabit, cable, oui[3];
	} cases[] = {
	    {SFP_SR, 0x10, 0, {0x00, 0x1b, 0x21}},
	    {SFP_TWINAX, 0, 0x04, {0}},
	    {SFP_REJECTED, 0x10, 0, {0}},
	};
	struct sfp sfp;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		sfp_fill(&sfp, cases[i].kind);
		assert_int_equal(sfp.page[0][0], 3);
		assert_int_equal(sfp.page[0][3], cases[i].ten_gigabit);
		assert_int_equal(sfp.page[0][8], cases[i].cable);
		assert_memory_equal(&sfp.page[0][37], cases[i].oui, 3);
		assert_int_equal(sfp.page[0][63], sum(sfp.page[0], 63));
		assert_int_equal(sfp.page[0][95], sum(sfp.page[0] + 64, 31));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads_every_byte), cmocka_unit_test(reads_in_sequence),
	    cmocka_unit_test(writes),           cmocka_unit_test(silent_for_others),
	    cmocka_unit_test(starts_again),     cmocka_unit_test(kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
