/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ring.h"
#include "regs.h"

uint32_t ring_register_mask(uint32_t offset)
{
	switch (offset) {
	case RING_BAL:
		return 0xffffff80;
	case RING_LEN:
		return 0x000fff80;
	case RING_HEAD:
	case RING_TAIL:
		return 0x0000ffff;
	case RING_CTL:
		return ~RING_FLUSH; /* clears itself */
	}
	return 0xffffffff;
}
