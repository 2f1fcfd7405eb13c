/* SPDX-License-Identifier: GPL-2.0-or-later
 * Memory that workloads write from and read to. */
#ifndef ASSAY_WORKLOAD_MEMORY_H
#define ASSAY_WORKLOAD_MEMORY_H

#include <stddef.h>

/* Direct I/O is split by how contiguous its memory is, which is luck for small pages: the same writes take up
 * to twice as long in one run as in the next. From this size on, memory comes in huge pages. */
enum { MEMORY_HUGE_BYTES = 2 << 20 };

/* BYTES, zero, touched (so that no page fault falls into a run), aligned to a page, and from
 * MEMORY_HUGE_BYTES on to a huge page. NULL: no memory. memory_unmap() with the same BYTES is due. */
void *memory_map(size_t bytes);
void memory_unmap(void *memory, size_t bytes);

#endif
