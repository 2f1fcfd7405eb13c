/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a NIC's driver counts beside the kernel's own statistics (ethtool -S): frames dropped for want of
 * room, bad frames, pause frames. */
#ifndef ASSAY_NIC_COUNTERS_H
#define ASSAY_NIC_COUNTERS_H

#include <jansson.h>

/* How counters begin that have the errors of the card's PCIe link (advanced error reporting), by their kind.
 */
#define NIC_PCIE_ERRORS "pcie_errors_"

/* What interface NIC counts: the kernel's statistics, changes of its carrier, errors of its PCIe link, and by
 * the driver's own names what that counts beside. The caller owns it. */
json_t *nic_counters(const char *sys, const char *nic);

/* Those of drops, errors and pause frames that are higher in AFTER, each by how much; the caller owns it. */
json_t *nic_counters_risen(const json_t *before, const json_t *after);

/* What drops and PCIe errors rose between counters_before and counters_after of evidence's NICS: a reader
 * should know, though TCP makes them good and the sample may be valid. To BUF; "" if none. */
void nic_counters_note(const json_t *nics, char *buf, size_t size);

#endif
