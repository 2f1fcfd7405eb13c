/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include "sfp.h"

#define ADDRESS_IDENTITY    0xa0
#define ADDRESS_DIAGNOSTICS 0xa2

/* Check byte after so many: the low byte of their sum */
static void sum(uint8_t *p, int bytes)
{
	p[bytes] = 0;
	for (int i = 0; i < bytes; i++)
		p[bytes] = (uint8_t)(p[bytes] + p[i]);
}

static void text(uint8_t *field, const char *value)
{
	memset(field, ' ', 16);
	memcpy(field, value, strlen(value));
}

static void fill_sr(uint8_t *id)
{
	id[2] = 7;    /* LC */
	id[3] = 0x10; /* 10GBASE-SR */
	id[6] = 0x01; /* 1000BASE-SX */
	id[38] = 0x1b;
	id[39] = 0x21;
	text(&id[20], "Intel Corp");
	text(&id[40], "FTLX8571D3BCV-IT");
}

static void fill_twinax(uint8_t *id)
{
	id[2] = 0x21; /* copper pigtail */
	id[8] = 0x04; /* passive */
	id[18] = 3;   /* m */
	text(&id[20], "Molex Inc.");
	text(&id[40], "74752-2301");
}

static void fill_rejected(uint8_t *id)
{
	id[2] = 7;
	id[3] = 0x10;
	text(&id[20], "NoName Optics");
	text(&id[40], "SFP-10G-SR");
}

/* SFF-8472. The driver tells modules apart by bytes 3, 6, 8 and the vendor's OUI (37 to 39). */
void sfp_fill(struct sfp *sfp, enum sfp_kind kind)
{
	static void (*const fill[])(
	    uint8_t * id) = {[SFP_SR] = fill_sr, [SFP_TWINAX] = fill_twinax, [SFP_REJECTED] = fill_rejected};
	uint8_t *id = sfp->page[0];

	memset(sfp, 0, sizeof(*sfp));
	id[0] = 3; /* SFP */
	id[1] = 4;
	id[12] = 103; /* nominal rate, units of 100 Mb/s */
	fill[kind](id);
	text(&id[68], "ASSAY0001");
	sum(id, 63);
	sum(id + 64, 31);
}

void i2c_reset(struct i2c *bus)
{
	*bus = (struct i2c){.clock = true, .data = true, .drive = true};
}

static uint8_t *page(struct i2c *bus, struct sfp *sfp)
{
	return sfp->page[bus->address == ADDRESS_DIAGNOSTICS];
}

/* The data line moved while the clock was high: a start condition if it fell, else a stop. */
static void condition(struct i2c *bus, bool stop)
{
	bus->phase = stop ? I2C_IDLE : I2C_ADDRESS;
	bus->bits = 0;
	bus->shift = 0;
	bus->drive = true;
}

static void clock_rises(struct i2c *bus, bool data)
{
	if (bus->bits < 8)
		bus->shift = (uint8_t)(bus->shift << 1 | data);
	else
		bus->acknowledged = !data;
	bus->bits++;
}

/* Eight bits came from the driver: take the byte and acknowledge it, or fall silent if it is for somebody
 * else. */
static void byte_received(struct i2c *bus, struct sfp *sfp)
{
	bus->drive = false;
	switch (bus->phase) {
	case I2C_ADDRESS:
		bus->address = bus->shift & 0xfe;
		if (bus->address != ADDRESS_IDENTITY && bus->address != ADDRESS_DIAGNOSTICS) {
			bus->drive = true;
			bus->phase = I2C_IDLE;
		}
		break;
	case I2C_POINTER:
		bus->pointer = bus->shift;
		break;
	case I2C_WRITE:
		page(bus, sfp)[bus->pointer++] = bus->shift;
		break;
	case I2C_IDLE:
	case I2C_READ:
		break;
	}
}

/* The acknowledgement is over: what comes next? */
static void byte_finished(struct i2c *bus, struct sfp *sfp)
{
	bus->bits = 0;
	bus->drive = true;
	switch (bus->phase) {
	case I2C_ADDRESS:
		bus->phase = bus->shift & 1 ? I2C_READ : I2C_POINTER;
		bus->acknowledged = true;
		break;
	case I2C_POINTER:
		bus->phase = I2C_WRITE;
		break;
	case I2C_IDLE:
	case I2C_WRITE:
	case I2C_READ:
		break;
	}
	if (bus->phase == I2C_READ && bus->acknowledged) {
		bus->shift = page(bus, sfp)[bus->pointer++];
		bus->drive = bus->shift >> 7;
	}
}

static void clock_falls(struct i2c *bus, struct sfp *sfp)
{
	if (bus->bits == 9)
		byte_finished(bus, sfp);
	else if (bus->phase == I2C_READ)
		/* The rising edges have shifted the byte, so bit 7 is the next; after the eighth, let the
		 * driver answer. */
		bus->drive = bus->bits == 8 || bus->shift >> 7;
	else if (bus->bits == 8)
		byte_received(bus, sfp);
}

bool i2c_lines(struct i2c *bus, struct sfp *sfp, bool clock, bool data)
{
	if (clock && bus->clock) {
		if (data != bus->data)
			condition(bus, data);
	} else if (bus->phase != I2C_IDLE) {
		if (clock && !bus->clock)
			clock_rises(bus, data);
		else if (!clock && bus->clock)
			clock_falls(bus, sfp);
	}
	bus->clock = clock;
	bus->data = data;
	return data && bus->drive;
}
