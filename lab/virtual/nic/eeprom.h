/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The card's EEPROM as the ixgbe driver reads it through EERD. */
#ifndef NIC_EEPROM_H
#define NIC_EEPROM_H

#include <stdint.h>

#define EEPROM_WORDS 1024

/* Fills a card's EEPROM: firmware blocks, PBA string, SFP initialisation list, capabilities, checksum. */
void eeprom_fill(uint16_t word[EEPROM_WORDS]);

/* What word 0x3f has to be. Every word from 0 to 0x3f, and the blocks that words 3 to 0x0e point to, add up
 * to 0xbaba. */
uint16_t eeprom_checksum(const uint16_t word[EEPROM_WORDS]);

#endif
