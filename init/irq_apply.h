/* SPDX-License-Identifier: GPL-2.0-or-later
 * Where the storage NICs' interrupts and packets go: irq.affinity, irq.mask, nic.xps, nic.rps. */
#ifndef ASSAY_IRQ_APPLY_H
#define ASSAY_IRQ_APPLY_H

#include "failure.h"
#include "net_bond_nic.h"

#include <jansson.h>
#include <sys/types.h>

/* The kernel's files, and what was changed in them. Zero CHANGED before the first use. */
struct irq_changes {
	json_t *changed; /* [[path, what it said], …] */
	pid_t balancer;  /* irqbalance; 0: it does not run */
};

struct irq_roots {
	const char *sys, *proc;
};

extern const struct irq_roots irq_roots_real;

/* Sets what STATE asks for on the first USED of NICS, which are up. The kernel moves an interrupt
 * when it comes next, so the first of each may still be counted where it was. Remembers in CHANGES what was
 * there, also where it fails. 0 or -errno with *WHY filled: what the kernel refuses is the cell's fault. */
int irq_apply(struct irq_changes *changes, const struct irq_roots *roots, const struct net_nics *nics,
              size_t used, const json_t *state, struct failure *why);

/* The levels in force of what STATE asks for, to IN_FORCE: the level, or what is there instead, as text. 0 or
 * -ENOMEM. */
int irq_in_force(const struct irq_roots *roots, const struct net_nics *nics, size_t used, const json_t *state,
                 json_t *in_force);

/* Puts back what CHANGES says, and empties it. Cannot fail: says on the console what it could not undo. */
void irq_restore(struct irq_changes *changes);

#endif
