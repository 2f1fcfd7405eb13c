/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workload_memory.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* In whole huge pages, where there are any. */
static size_t whole(size_t bytes)
{
	if (bytes < MEMORY_HUGE_BYTES)
		return bytes;
	return (bytes + MEMORY_HUGE_BYTES - 1) / MEMORY_HUGE_BYTES * MEMORY_HUGE_BYTES;
}

void *memory_map(size_t bytes)
{
	size_t size = whole(bytes), spare = bytes < MEMORY_HUGE_BYTES ? 0 : MEMORY_HUGE_BYTES, head = 0;
	unsigned char *p;

	p = mmap(NULL, size + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (spare) {
		head = (MEMORY_HUGE_BYTES - (uintptr_t)p % MEMORY_HUGE_BYTES) % MEMORY_HUGE_BYTES;
		if (head)
			munmap(p, head);
		if (spare - head)
			munmap(p + head + size, spare - head);
		/* Where the kernel has none, it goes without. */
		madvise(p + head, size, MADV_HUGEPAGE);
	}
	return memset(p + head, 0, size);
}

void memory_unmap(void *memory, size_t bytes)
{
	munmap(memory, whole(bytes));
}
