/* SPDX-License-Identifier: GPL-2.0-or-later
 * Errors that a PCIe device reported of its link since the kernel started: advanced error reporting. */
#ifndef ASSAY_PCI_AER_H
#define ASSAY_PCI_AER_H

enum { PCI_AER_KINDS = 3 };

/* "correctable", "nonfatal", "fatal" */
extern const char *const pci_aer_kinds[PCI_AER_KINDS];

/* How many errors of that KIND the device in sysfs folder DEVICE had; -1: it does not tell. */
long long pci_aer_errors(const char *device, unsigned int kind);

#endif
