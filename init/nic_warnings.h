/* SPDX-License-Identifier: GPL-2.0-or-later
 * What is not as it could be with the node's NICs. */
#ifndef ASSAY_NIC_WARNINGS_H
#define ASSAY_NIC_WARNINGS_H

#include <jansson.h>

/* Sentences about what INVENTORY's `pci` and `nics` say, and about what the kernel log under ROOT ("" on a
 * node) says of transceivers; the caller owns the array. */
json_t *nic_warnings(const json_t *inventory, const char *root);

#endif
