/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "toeplitz.h"

uint32_t toeplitz(const uint8_t key[TOEPLITZ_KEY_BYTES], const uint8_t *input, size_t bytes)
{
	uint32_t window = (uint32_t)key[0] << 24 | (uint32_t)key[1] << 16 | (uint32_t)key[2] << 8 | key[3];
	uint32_t hash = 0;

	for (size_t i = 0; i < bytes; i++) {
		uint8_t next = i + 4 < TOEPLITZ_KEY_BYTES ? key[i + 4] : 0;

		for (int bit = 7; bit >= 0; bit--) {
			if (input[i] >> bit & 1)
				hash ^= window;
			window = window << 1 | (next >> bit & 1);
		}
	}
	return hash;
}
