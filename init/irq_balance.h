/* SPDX-License-Identifier: GPL-2.0-or-later
 * irqbalance, from its layer, as a level of irq.affinity. */
#ifndef ASSAY_IRQ_BALANCE_H
#define ASSAY_IRQ_BALANCE_H

#include "irq_apply.h"

/* Notes where every interrupt of the machine goes in CHANGES, lets irqbalance place them once, then leaves it
 * running. 0 or -errno with *WHY filled. */
int irq_balance_start(struct irq_changes *changes, const struct irq_roots *roots, struct failure *why);

/* Where STATE asks for it: the level to IN_FORCE, or what became of it. 0 or -ENOMEM. */
int irq_balance_in_force(struct irq_changes *changes, const json_t *state, json_t *in_force);

/* Ends it; nothing where it does not run. */
void irq_balance_stop(struct irq_changes *changes);

#endif
