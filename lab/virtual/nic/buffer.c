/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "buffer.h"

struct buffer_frame {
	struct buffer_frame *next;
	uint32_t bytes;
	uint8_t data[];
};

int buffer_add(struct buffer *b, const uint8_t *frame, uint32_t bytes)
{
	struct buffer_frame *f = malloc(sizeof(*f) + bytes);

	if (!f)
		return -ENOMEM;
	f->next = NULL;
	f->bytes = bytes;
	memcpy(f->data, frame, bytes);
	if (b->last)
		b->last->next = f;
	else
		b->first = f;
	b->last = f;
	b->bytes += bytes;
	return 0;
}

const uint8_t *buffer_first(const struct buffer *b, uint32_t *bytes)
{
	if (!b->first)
		return NULL;
	*bytes = b->first->bytes;
	return b->first->data;
}

void buffer_remove(struct buffer *b)
{
	struct buffer_frame *f = b->first;

	if (!f)
		return;
	b->first = f->next;
	if (!b->first)
		b->last = NULL;
	b->bytes -= f->bytes;
	free(f);
}

void buffer_clear(struct buffer *b)
{
	while (b->first)
		buffer_remove(b);
}
