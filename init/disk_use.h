/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ASSAY_DISK_USE_H
#define ASSAY_DISK_USE_H

#include "disk.h"

/* What uses the disk NAME or a partition of it (holder, mount, swap, exclusive opener), to BUF; "" where
 * nothing does. What cannot be found out counts as use. */
void disk_in_use(const struct disk_roots *roots, const char *name, char *buf, size_t size);

#endif
