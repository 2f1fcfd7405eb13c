/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The receive packet buffer: frames that wait, in order, until the driver offers descriptors. */
#ifndef NIC_BUFFER_H
#define NIC_BUFFER_H

#include <stdint.h>

struct buffer_frame;

struct buffer {
	struct buffer_frame *first, *last;
	uint64_t bytes; /* of all frames */
};

/* Copies a frame to the end. Returns 0 or -ENOMEM. */
int buffer_add(struct buffer *b, const uint8_t *frame, uint32_t bytes);

/* The first frame, valid until it is removed; NULL if there is none. */
const uint8_t *buffer_first(const struct buffer *b, uint32_t *bytes);

void buffer_remove(struct buffer *b);
void buffer_clear(struct buffer *b);

#endif
