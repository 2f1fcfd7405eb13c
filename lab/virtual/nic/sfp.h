/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An SFP+ module and the bit-banged I2C bus (I2CCTL) through which the driver reads it. */
#ifndef NIC_SFP_H
#define NIC_SFP_H

#include <stdbool.h>
#include <stdint.h>

struct sfp {
	uint8_t page[2][256]; /* addresses A0h (identity) and A2h (diagnostics) */
};

/* Phases of a transfer: an address byte follows a start condition, then, in a write, the pointer and data. */
enum i2c_phase { I2C_IDLE, I2C_ADDRESS, I2C_POINTER, I2C_WRITE, I2C_READ };

struct i2c {
	enum i2c_phase phase;
	int bits;          /* of the current byte; the ninth is the acknowledgement */
	bool clock, data;  /* lines as the driver last set them */
	bool drive;        /* what the module puts on the data line; true lets go */
	bool acknowledged; /* the driver wants a further byte */
	uint8_t shift, pointer, address;
};

enum sfp_kind {
	SFP_SR,       /* Intel 10GBASE-SR optics, dual rate */
	SFP_TWINAX,   /* a passive cable, 3 m */
	SFP_REJECTED, /* another maker's 10GBASE-SR: the driver wants allow_unsupported_sfp */
};

void sfp_fill(struct sfp *sfp, enum sfp_kind kind);

/* Both lines high, nobody talks. */
void i2c_reset(struct i2c *bus);

/* The driver set the lines. Returns the level of the data line: low if either side pulls it. */
bool i2c_lines(struct i2c *bus, struct sfp *sfp, bool clock, bool data);

#endif
