/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hash of receive side scaling. */
#ifndef NIC_TOEPLITZ_H
#define NIC_TOEPLITZ_H

#include <stddef.h>
#include <stdint.h>

#define TOEPLITZ_KEY_BYTES 40

/* input: addresses and ports in network order, at most 36 bytes. */
uint32_t toeplitz(const uint8_t key[TOEPLITZ_KEY_BYTES], const uint8_t *input, size_t bytes);

#endif
