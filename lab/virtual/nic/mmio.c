/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The register file: plain storage, but for the ranges in the table below. */
#include "ixgbe.h"

struct range {
	uint32_t first, last;
	uint32_t (*read)(IxgbeState *s, uint32_t at);              /* NULL: what was written */
	void (*write)(IxgbeState *s, uint32_t at, uint32_t value); /* NULL: keep it */
};

static void write_nothing(IxgbeState *s, uint32_t at, uint32_t value)
{
}

static void write_ctrl(IxgbeState *s, uint32_t at, uint32_t value)
{
	if (value & CTRL_RESET)
		registers_reset(s);
	REG(s, CTRL) = value & ~CTRL_RESET;
}

static uint32_t read_status(IxgbeState *s, uint32_t at)
{
	return REG(s, CTRL) & CTRL_GIO_DISABLE ? 0 : STATUS_GIO_ON;
}

static void write_esdp(IxgbeState *s, uint32_t at, uint32_t value)
{
	REG(s, ESDP) = value | ESDP_SDP2;
}

/* Bit 0 clock in, 1 clock out, 2 data in, 3 data out. */
static void write_i2cctl(IxgbeState *s, uint32_t at, uint32_t value)
{
	bool clock = value & 2;
	bool level = i2c_lines(&s->i2c, &s->sfp, clock, value & 8);

	REG(s, I2CCTL) = (value & 0xa) | clock | level << 2;
}

static uint32_t read_eicr(IxgbeState *s, uint32_t at)
{
	return irq_read_eicr(s);
}

static void write_eicr(IxgbeState *s, uint32_t at, uint32_t value)
{
	s->other_cause &= ~(value & ~EICR_QUEUES);
	s->queue_cause &= ~(uint64_t)(value & EICR_QUEUES);
	irq_update(s);
}

static uint32_t read_eics(IxgbeState *s, uint32_t at)
{
	return irq_peek_eicr(s);
}

static void write_eics(IxgbeState *s, uint32_t at, uint32_t value)
{
	s->queue_cause |= value & EICR_QUEUES;
	irq_other(s, value & EICR_OTHER);
}

static uint32_t read_mask(IxgbeState *s, uint32_t at)
{
	return s->other_mask | (s->queue_mask & EICR_QUEUES);
}

static void write_eims(IxgbeState *s, uint32_t at, uint32_t value)
{
	irq_unmask(s, value & EICR_QUEUES, value & ~EICR_QUEUES);
}

static void write_eimc(IxgbeState *s, uint32_t at, uint32_t value)
{
	irq_mask(s, value & EICR_QUEUES, value & ~EICR_QUEUES);
}

/* The _EX registers come in pairs of 32 queues each. */
static uint64_t ex_bits(uint32_t at, uint32_t value)
{
	return at & 4 ? (uint64_t)value << 32 : value;
}

static void write_eics_ex(IxgbeState *s, uint32_t at, uint32_t value)
{
	s->queue_cause |= ex_bits(at, value);
	irq_update(s);
}

static uint32_t read_eims_ex(IxgbeState *s, uint32_t at)
{
	return at & 4 ? s->queue_mask >> 32 : s->queue_mask;
}

static void write_eims_ex(IxgbeState *s, uint32_t at, uint32_t value)
{
	irq_unmask(s, ex_bits(at, value), 0);
}

static void write_eimc_ex(IxgbeState *s, uint32_t at, uint32_t value)
{
	irq_mask(s, ex_bits(at, value), 0);
}

static uint32_t read_rdrxctl(IxgbeState *s, uint32_t at)
{
	return REG(s, at) | RDRXCTL_DMAIDONE;
}

static uint32_t read_security(IxgbeState *s, uint32_t at)
{
	return SEC_READY_FUSED;
}

static uint32_t read_fwsm(IxgbeState *s, uint32_t at)
{
	return FWSM_VALID;
}

static uint32_t read_links(IxgbeState *s, uint32_t at)
{
	return wire_up(s) ? LINKS_UP_10G : 0;
}

static uint32_t read_anlp1(IxgbeState *s, uint32_t at)
{
	return ANLP1_AN_STATE;
}

static uint32_t read_msca(IxgbeState *s, uint32_t at)
{
	return REG(s, at) & ~MSCA_COMMAND;
}

static uint32_t read_msrwd(IxgbeState *s, uint32_t at)
{
	return MSRWD_NO_PHY;
}

static uint32_t read_fdirctrl(IxgbeState *s, uint32_t at)
{
	return REG(s, at) | FDIRCTRL_DONE;
}

static uint32_t read_fdircmd(IxgbeState *s, uint32_t at)
{
	return REG(s, at) & ~FDIRCMD_BUSY;
}

static uint32_t read_eec(IxgbeState *s, uint32_t at)
{
	return EEC_PRESENT;
}

static uint32_t read_eerd(IxgbeState *s, uint32_t at)
{
	uint32_t word = REG(s, EERD) >> 2 & (EEPROM_WORDS - 1);

	return EERD_DONE | (REG(s, EERD) & 0xfffc) | (uint32_t)s->eeprom[word] << 16;
}

/* Whoever reads the semaphore as free has taken it. */
static uint32_t read_swsm(IxgbeState *s, uint32_t at)
{
	uint32_t value = REG(s, SWSM);

	REG(s, SWSM) |= SWSM_SMBI;
	return value;
}

static uint32_t read_statistic(IxgbeState *s, uint32_t at)
{
	uint32_t value = REG(s, at);

	REG(s, at) = 0;
	return value;
}

/* A receive ring's last registers are the queue's packets and bytes; a transmit ring has only packets. */
static uint32_t read_rx_ring(IxgbeState *s, uint32_t at)
{
	return at % RING_STRIDE >= RING_PACKETS ? read_statistic(s, at) : REG(s, at);
}

static uint32_t read_tx_ring(IxgbeState *s, uint32_t at)
{
	return at % RING_STRIDE == RING_PACKETS ? read_statistic(s, at) : REG(s, at);
}

static void write_tx_ring(IxgbeState *s, uint32_t at, uint32_t value)
{
	REG(s, at) = value & ring_register_mask(at % RING_STRIDE);
	if (at % RING_STRIDE == RING_TAIL)
		tx_run(s, (at - TX_RINGS) / RING_STRIDE);
}

static void write_rx_ring(IxgbeState *s, uint32_t at, uint32_t value)
{
	REG(s, at) = value & ring_register_mask(at % RING_STRIDE);
	if (at % RING_STRIDE == RING_TAIL)
		rx_drain(s);
}

static void write_threshold(IxgbeState *s, uint32_t at, uint32_t value)
{
	REG(s, at) = value & FCRT_MASK;
	pause_update(s);
}

static void write_fccfg(IxgbeState *s, uint32_t at, uint32_t value)
{
	REG(s, at) = value;
	pause_update(s);
}

static void write_eitr(IxgbeState *s, uint32_t at, uint32_t value)
{
	REG(s, at) = value & ~EITR_CNT_WDIS;
	if (!(value & EITR_CNT_WDIS))
		irq_interval_cleared(s, at < EITR24 ? (at - EITR0) / 4 : 24 + (at - EITR24) / 4);
}

static void write_address(IxgbeState *s, uint32_t at, uint32_t value)
{
	REG(s, at) = at & 4 ? value & RAH_MASK : value;
}

static void write_autoc(IxgbeState *s, uint32_t at, uint32_t value)
{
	REG(s, AUTOC) = value & ~AUTOC_AN_RESTART;
}

static const struct range ranges[] = {
    {CTRL, CTRL, NULL, write_ctrl},
    {STATUS, STATUS, read_status, write_nothing},
    {ESDP, ESDP, NULL, write_esdp},
    {I2CCTL, I2CCTL, NULL, write_i2cctl},
    {EICR, EICR, read_eicr, write_eicr},
    {EICS, EICS, read_eics, write_eics},
    {EITR0, EITR0 + 0x5f, NULL, write_eitr},
    {EIMS, EIMS, read_mask, write_eims},
    {EIMC, EIMC, read_mask, write_eimc},
    {EICS_EX, EICS_EX + 4, NULL, write_eics_ex},
    {EIMS_EX, EIMS_EX + 4, read_eims_ex, write_eims_ex},
    {EIMC_EX, EIMC_EX + 4, NULL, write_eimc_ex},
    {RX_RINGS, RX_RINGS + 0xfff, read_rx_ring, write_rx_ring},
    {RDRXCTL, RDRXCTL, read_rdrxctl, NULL},
    {FCRTL0, FCRTL0 + 0x7f, NULL, write_threshold}, /* FCRTL and FCRTH */
    {FCCFG, FCCFG, NULL, write_fccfg},
    {FLOW_STATISTICS, FLOW_STATISTICS + 0x7f, read_statistic, NULL},
    {MPC0, MPC0 + 0x1f, read_statistic, NULL},
    {STATISTICS, STATISTICS + 0x1ff, read_statistic, NULL},
    {MSCA, MSCA, read_msca, NULL},
    {MSRWD, MSRWD, read_msrwd, NULL},
    {AUTOC, AUTOC, NULL, write_autoc},
    {LINKS, LINKS, read_links, write_nothing},
    {ANLP1, ANLP1, read_anlp1, NULL},
    {RAL0, RAL0 + 0x7f, NULL, write_address},
    {TX_RINGS, TX_RINGS + 0x1fff, read_tx_ring, write_tx_ring},
    {QBTC0, QBTC0 + 0x7f, read_statistic, NULL},
    {SECTXSTAT, SECTXSTAT, read_security, NULL},
    {SECRXSTAT, SECRXSTAT, read_security, NULL},
    {RAL16 + 0x80, RAL16 + 0x3ff, NULL, write_address},
    {RX_RINGS_HIGH, RX_RINGS_HIGH + 0xfff, read_rx_ring, write_rx_ring},
    {FDIRCTRL, FDIRCTRL, read_fdirctrl, NULL},
    {FDIRCMD, FDIRCMD, read_fdircmd, NULL},
    {FDIRMATCH, FDIRMISS, read_statistic, NULL},
    {EEC, EEC, read_eec, write_nothing},
    {EERD, EERD, read_eerd, NULL},
    {SWSM, SWSM, read_swsm, NULL},
    {FWSM, FWSM, read_fwsm, write_nothing},
    {EITR24, EITR24 + 0x9f, NULL, write_eitr},
};

/* The ranges are in order of their addresses. */
static const struct range *find(uint32_t at)
{
	size_t low = 0, high = ARRAY_SIZE(ranges);

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (at > ranges[middle].last)
			low = middle + 1;
		else if (at < ranges[middle].first)
			high = middle;
		else
			return &ranges[middle];
	}
	return NULL;
}

static uint64_t registers_read(void *opaque, hwaddr address, unsigned size)
{
	IxgbeState *s = opaque;
	uint32_t at = address & ~3u;
	const struct range *range = find(at);
	uint32_t value = range && range->read ? range->read(s, at) : REG(s, at);

	if (s->trace)
		fprintf(stderr, "ixgbe82599: %05x -> %08x\n", at, value);
	return value;
}

static void registers_write(void *opaque, hwaddr address, uint64_t value, unsigned size)
{
	IxgbeState *s = opaque;
	uint32_t at = address & ~3u;
	const struct range *range = find(at);

	if (s->trace)
		fprintf(stderr, "ixgbe82599: %05x <- %08x\n", at, (uint32_t)value);
	if (range && range->write)
		range->write(s, at, value);
	else
		REG(s, at) = value;
}

const MemoryRegionOps registers_ops = {
    .read = registers_read,
    .write = registers_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .impl = {.min_access_size = 4, .max_access_size = 4},
};

/* What CTRL's reset bits do; the semaphores survive it. */
void registers_reset(IxgbeState *s)
{
	uint32_t swsm = REG(s, SWSM), gssr = REG(s, GSSR);
	const uint8_t *mac = s->conf.macaddr.a;

	memset(s->reg, 0, sizeof(s->reg));
	irq_reset(s);
	pause_reset(s);
	tx_reset(s);
	i2c_reset(&s->i2c);
	REG(s, SWSM) = swsm;
	REG(s, GSSR) = gssr;
	REG(s, ESDP) = ESDP_SDP2;
	REG(s, I2CCTL) = 0xf;
	REG(s, LEDCTL) = 0x00068f00;
	REG(s, AUTOC) = AUTOC_10G_SERIAL;
	REG(s, AUTOC2) = AUTOC2_10G_SFI;
	REG(s, HLREG0) = HLREG0_TXCRCEN | HLREG0_RXCRCSTRP | HLREG0_TXPADEN;
	REG(s, MAXFRS) = 1518 << 16;
	REG(s, RXPBSIZE0) = 512 << 10;
	REG(s, RAL0) = ldl_le_p(mac);
	REG(s, RAL0 + 4) = RAH_AV | lduw_le_p(mac + 4);
	irq_update(s);
}
