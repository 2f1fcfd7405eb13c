/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device's state and what its parts offer each other. For files that see QEMU's headers. */
#ifndef NIC_IXGBE_H
#define NIC_IXGBE_H

#include "qemu/osdep.h"
#include "hw/pci/pci.h"
#include "net/net.h"
#include "qemu/timer.h"

#include "buffer.h"
#include "counters.h"
#include "eeprom.h"
#include "offload.h"
#include "regs.h"
#include "ring.h"
#include "sfp.h"

#define TYPE_IXGBE "ixgbe82599"
OBJECT_DECLARE_SIMPLE_TYPE(IxgbeState, IXGBE)

#define TX_PACKET_BYTES (320 * 1024)

/* When the other side has been told to pause, so much may still be under way: a tap holds 1,000 frames of
 * 9,728 bytes, and an emulated sender on a busy machine may send for long before it hears. */
#define WIRE_BYTES (32 << 20)

/* What the card offers: the driver takes the best. */
enum interrupts { INTERRUPTS_MSIX, INTERRUPTS_MSI, INTERRUPTS_INTX };

/* Properties (fault.c says what they mean) and their state. */
struct faults {
	uint32_t drop_every, drop_seen;
	uint32_t corrupt_every, corrupt_seen;
	uint32_t black_hole_over;
	uint32_t flap_every_ms;
	uint32_t tx_hang;
	uint32_t rx_stall;
	uint32_t sfp;
	uint32_t link_width, link_speed;
	uint32_t interrupts; /* enum interrupts */
	bool flapped;        /* the light is out */
	bool hung;           /* the transmitter */
};

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
	int64_t quiet_until[VECTORS];     /* EITR: no interrupt before */
	QEMUTimer *irq_timer;
	struct tx_queue tx[QUEUES];
	struct buffer buffer; /* received, and not yet in a ring */
	bool xoff;            /* the other side was told to pause */
	bool paused;          /* it has told us */
	QEMUTimer *xoff_timer, *resume_timer, *flap_timer;
	struct faults fault;
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

/* irq.c: causes come in, interrupts go out */
void irq_update(IxgbeState *s);
void irq_queue(IxgbeState *s, unsigned queue, bool tx);
void irq_other(IxgbeState *s, uint32_t causes);
uint32_t irq_read_eicr(IxgbeState *s);
uint32_t irq_peek_eicr(IxgbeState *s);
void irq_unmask(IxgbeState *s, uint64_t queues, uint32_t others);
void irq_mask(IxgbeState *s, uint64_t queues, uint32_t others);
void irq_interval_cleared(IxgbeState *s, unsigned vector);
void irq_init(IxgbeState *s);
void irq_reset(IxgbeState *s);
void irq_free(IxgbeState *s);

/* tx.c: takes what the driver has put into a ring */
void tx_run(IxgbeState *s, unsigned queue);
void tx_reset(IxgbeState *s);
void tx_free(IxgbeState *s);

/* rx.c: a frame from the wire (or, in loopback, from tx.c); and on with those that wait for descriptors */
void rx_frame(IxgbeState *s, const uint8_t *frame, uint32_t bytes);
void rx_drain(IxgbeState *s);

/* pause.c: flow control. pause_update after the buffer's level or the marks changed; pause_received is true
 * if the frame was one and is not for the driver. */
void pause_update(IxgbeState *s);
bool pause_received(IxgbeState *s, const uint8_t *frame, uint32_t bytes);
void pause_init(IxgbeState *s);
void pause_reset(IxgbeState *s);
void pause_free(IxgbeState *s);

/* wire.c: the cable */
bool wire_up(IxgbeState *s);
void wire_send(IxgbeState *s, const uint8_t *frame, size_t bytes);
void wire_flap(IxgbeState *s);
void wire_init(IxgbeState *s);
void wire_free(IxgbeState *s);

/* fault.c: properties */
void faults_class_init(ObjectClass *oc);
uint16_t faults_pcie_link(IxgbeState *s);

/* mmio.c: the register file */
void registers_reset(IxgbeState *s);
extern const MemoryRegionOps registers_ops;

#endif
