/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device's state and what its parts offer each other. For files that see QEMU's headers. */
#ifndef NIC_IXGBE_H
#define NIC_IXGBE_H

#include "qemu/osdep.h"
#include "hw/pci/pci.h"
#include "net/net.h"

#include "eeprom.h"
#include "offload.h"
#include "regs.h"
#include "ring.h"
#include "sfp.h"

#define TYPE_IXGBE "ixgbe82599"
OBJECT_DECLARE_SIMPLE_TYPE(IxgbeState, IXGBE)

#define TX_PACKET_BYTES (320 * 1024)

struct tx_queue {
	struct offload context[2];
	uint8_t *packet; /* being gathered; allocated at first use */
	uint32_t bytes;
	uint32_t olinfo; /* of the packet's first descriptor, the only one whose options count */
	bool gathering;
};

struct IxgbeState {
	PCIDevice parent_obj;
	NICState *nic;
	NICConf conf;
	MemoryRegion bar0, io_bar, msix_bar;
	uint32_t reg[REG_BYTES / 4];
	uint16_t eeprom[EEPROM_WORDS];
	struct sfp sfp;
	struct i2c i2c;
	uint64_t queue_cause, queue_mask; /* EICR_EX, EIMS_EX */
	uint32_t other_cause, other_mask; /* bits 16 to 30 of EICR, EIMS */
	struct tx_queue tx[QUEUES];
	bool trace; /* property: every register access on stderr */
};

#define REG(s, offset) ((s)->reg[(offset) >> 2])

static inline uint64_t ring_base(IxgbeState *s, unsigned ring)
{
	return REG(s, ring + RING_BAL) | (uint64_t)REG(s, ring + RING_BAH) << 32;
}

static inline uint32_t ring_count(IxgbeState *s, unsigned ring)
{
	return REG(s, ring + RING_LEN) / RING_DESCRIPTOR_BYTES;
}

/* Statistics registers of 36 bits: low word at offset, high word after it. */
static inline void statistic_add(IxgbeState *s, unsigned offset, uint64_t n)
{
	n += REG(s, offset) | (uint64_t)REG(s, offset + 4) << 32;
	REG(s, offset) = n;
	REG(s, offset + 4) = n >> 32 & 0xf;
}

/* irq.c: causes come in, interrupts go out */
void irq_update(IxgbeState *s);
void irq_queue(IxgbeState *s, unsigned queue, bool tx);
void irq_other(IxgbeState *s, uint32_t causes);
uint32_t irq_read_eicr(IxgbeState *s);
uint32_t irq_peek_eicr(IxgbeState *s);
void irq_unmask(IxgbeState *s, uint64_t queues, uint32_t others);
void irq_mask(IxgbeState *s, uint64_t queues, uint32_t others);

/* tx.c: takes what the driver has put into a ring */
void tx_run(IxgbeState *s, unsigned queue);
void tx_reset(IxgbeState *s);
void tx_free(IxgbeState *s);

/* rx.c: a frame from the wire (or, in loopback, from tx.c). Returns what QEMU's net layer wants: 0 means try
 * later. */
ssize_t rx_frame(IxgbeState *s, const uint8_t *frame, size_t bytes);

/* mmio.c: the register file */
void registers_reset(IxgbeState *s);
extern const MemoryRegionOps registers_ops;

#endif
