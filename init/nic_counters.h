/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a NIC's driver counts beside the kernel's own statistics (ethtool -S): frames dropped for want of
 * room, bad frames, pause frames. */
#ifndef ASSAY_NIC_COUNTERS_H
#define ASSAY_NIC_COUNTERS_H

#include <jansson.h>

/* Adds to COUNTERS those of NIC, by the driver's own names; what has such a name already stays. Nothing where
 * the driver counts nothing. */
void nic_counters(const char *nic, json_t *counters);

/* What drivers counted between counters_before and counters_after of evidence's NICS that a reader should
 * know, though it makes no sample invalid: drops that TCP makes good, pause frames. To BUF; "" if nothing. */
void nic_counters_note(const json_t *nics, char *buf, size_t size);

#endif
