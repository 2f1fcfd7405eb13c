/* SPDX-License-Identifier: GPL-2.0-or-later
 * The interrupts of a NIC, and what they counted. */
#ifndef ASSAY_IRQ_LIST_H
#define ASSAY_IRQ_LIST_H

#include "net_bond_nic.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define IRQS_MAX 1024

struct irq {
	unsigned int number;
	bool queue; /* of a queue; else of the link and the rest */
};

/* The interrupts in use of NIC under SYS ("/sys"), in order, at most IRQS_MAX, to IRQS. How many. */
size_t irq_list(const char *sys, const char *nic, struct irq *irqs);

/* How many interrupts each CPU had of each of the first USED of NICS since they were made, as [[count of CPU
 * 0, …], …]; the caller owns it. NULL: out of memory. */
json_t *irq_counts(const char *sys, const struct net_nics *nics, size_t used);

/* What came between BEFORE and AFTER (both of irq_counts()), as [{"nic", "cpu", "count"}, …] without those
 * that are zero; the caller owns it. */
json_t *irq_spread(const struct net_nics *nics, const json_t *before, const json_t *after);

#endif
