/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts: causes, masks, vectors, and the time between two interrupts of a vector (EITR, MSI-X only). */
#include "ixgbe.h"
#include "hw/pci/msi.h"
#include "hw/pci/msix.h"

static void notify_other(IxgbeState *s)
{
	PCIDevice *d = PCI_DEVICE(s);
	uint32_t vector =
	    REG(s, IVAR_MISC) >> 8; /* bits 8 to 15 are for all causes but queues and the timer */

	if ((s->other_cause & s->other_mask & EICR_OTHER) && msix_enabled(d) && (vector & IVAR_VALID))
		msix_notify(d, vector & 0x3f);
}

static int64_t interval_ns(IxgbeState *s, int vector)
{
	uint32_t eitr = REG(s, vector < 24 ? EITR0 + vector * 4 : EITR24 + (vector - 24) * 4);

	return (int64_t)(eitr & EITR_INTERVAL) / 8 * 2 * SCALE_US;
}

static void notify_queues(IxgbeState *s)
{
	uint64_t pending = s->queue_cause & s->queue_mask;
	uint64_t auto_mask = REG(s, EIAM_EX) | (uint64_t)REG(s, EIAM_EX + 4) << 32;
	int64_t now = pending ? qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) : 0;
	int64_t next = INT64_MAX;

	for (; pending; pending &= pending - 1) {
		int vector = ctz64(pending);
		uint64_t bit = 1ull << vector;

		if (now < s->quiet_until[vector]) {
			next = MIN(next, s->quiet_until[vector]);
			continue;
		}
		s->quiet_until[vector] = now + interval_ns(s, vector);
		if (vector >= 16 || (REG(s, EIAC) & bit))
			s->queue_cause &= ~bit;
		if (REG(s, GPIE) & GPIE_EIAME)
			s->queue_mask &= ~(auto_mask & bit);
		msix_notify(PCI_DEVICE(s), vector);
	}
	if (next != INT64_MAX)
		timer_mod(s->irq_timer, next);
}

static void quiet_is_over(void *opaque)
{
	irq_update(opaque);
}

void irq_init(IxgbeState *s)
{
	s->irq_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, quiet_is_over, s);
}

void irq_reset(IxgbeState *s)
{
	s->queue_cause = s->queue_mask = 0;
	s->other_cause = s->other_mask = 0;
	memset(s->quiet_until, 0, sizeof(s->quiet_until));
	timer_del(s->irq_timer);
}

void irq_free(IxgbeState *s)
{
	timer_free(s->irq_timer);
}

void irq_interval_cleared(IxgbeState *s, unsigned vector)
{
	s->quiet_until[vector] = 0;
	irq_update(s);
}

void irq_update(IxgbeState *s)
{
	PCIDevice *d = PCI_DEVICE(s);
	bool pending;

	if (msix_enabled(d)) {
		notify_queues(s);
		return;
	}
	pending =
	    (s->queue_cause & s->queue_mask & EICR_QUEUES) || (s->other_cause & s->other_mask & EICR_OTHER);
	if (!msi_enabled(d))
		pci_set_irq(d, pending);
	else if (pending)
		msi_notify(d, 0);
}

void irq_queue(IxgbeState *s, unsigned queue, bool tx)
{
	uint32_t vector = REG(s, IVAR0 + queue / 2 * 4) >> (16 * (queue & 1) + 8 * tx);

	if (vector & IVAR_VALID) {
		s->queue_cause |= 1ull << (vector & (msix_enabled(PCI_DEVICE(s)) ? 0x3f : 0xf));
		irq_update(s);
	}
}

void irq_other(IxgbeState *s, uint32_t causes)
{
	s->other_cause |= causes;
	notify_other(s);
	irq_update(s);
}

uint32_t irq_peek_eicr(IxgbeState *s)
{
	return s->other_cause | (s->queue_cause & EICR_QUEUES) | (s->other_cause ? EICR_ANY_OTHER : 0);
}

uint32_t irq_read_eicr(IxgbeState *s)
{
	uint32_t value = irq_peek_eicr(s);

	s->other_cause = 0;
	if (!(REG(s, GPIE) & GPIE_OCD))
		s->queue_cause &= ~(uint64_t)EICR_QUEUES;
	irq_mask(s, REG(s, EIAM) & EICR_QUEUES, REG(s, EIAM) & ~EICR_QUEUES);
	irq_update(s);
	return value;
}

/* What was pending while masked fires now. */
void irq_unmask(IxgbeState *s, uint64_t queues, uint32_t others)
{
	s->queue_mask |= queues;
	s->other_mask |= others;
	if (others)
		notify_other(s);
	irq_update(s);
}

void irq_mask(IxgbeState *s, uint64_t queues, uint32_t others)
{
	s->queue_mask &= ~queues;
	s->other_mask &= ~others;
	/* A level goes away with its cause. */
	if (!msix_enabled(PCI_DEVICE(s)))
		irq_update(s);
}
