/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a transceiver's memory says (SFF-8472 for SFP, SFF-8636 for QSFP), as `ethtool -m` shows it. */
#ifndef ASSAY_NIC_MODULE_H
#define ASSAY_NIC_MODULE_H

#include <jansson.h>
#include <stddef.h>

#define NIC_MODULE_BYTES 512

/* A part of the memory that is worth reading. */
struct nic_module_part {
	unsigned short offset, length;
};

/* The parts to be read of a module of TYPE (ETH_MODULE_SFF_8472 …), up to one of length 0. Some drivers shift
 * every bit of it over two wires by hand: only what is needed. */
const struct nic_module_part *nic_module_parts(unsigned int type);

/* The diagnostics of a module whose first parts are in EEPROM; length 0: it has none, or LENGTH is too short.
 */
struct nic_module_part nic_module_diagnostics(const unsigned char *eeprom, size_t length, unsigned int type);

/* EEPROM of LENGTH bytes as inventory's `transceiver`; the caller owns it. What it does not say is left out.
 */
json_t *nic_module_json(const unsigned char *eeprom, size_t length, unsigned int type);

#endif
