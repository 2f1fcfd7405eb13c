/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include "flow.h"

#define ETHERTYPE_CONTROL 0x8808
#define OPCODE_PAUSE      1

static const uint8_t everybody[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};

int flow_parse(const uint8_t *frame, uint32_t bytes, const uint8_t station[6])
{
	if (bytes < FRAME_HEADER_BYTES + 4 || get16(frame + 12) != ETHERTYPE_CONTROL ||
	    get16(frame + 14) != OPCODE_PAUSE)
		return -1;
	if (memcmp(frame, everybody, 6) != 0 && memcmp(frame, station, 6) != 0)
		return -1;
	return get16(frame + 16);
}

void flow_build(uint8_t frame[FRAME_MIN_BYTES], const uint8_t station[6], uint16_t quanta)
{
	memset(frame, 0, FRAME_MIN_BYTES);
	memcpy(frame, everybody, 6);
	memcpy(frame + 6, station, 6);
	put16(frame + 12, ETHERTYPE_CONTROL);
	put16(frame + 14, OPCODE_PAUSE);
	put16(frame + 16, quanta);
}

enum flow_step flow_step(uint64_t bytes, uint32_t high_bytes, uint32_t low_bytes, bool stopped)
{
	if (!stopped && bytes > high_bytes)
		return FLOW_XOFF;
	if (stopped && bytes <= low_bytes)
		return FLOW_XON;
	return FLOW_NOTHING;
}
