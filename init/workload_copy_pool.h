/* SPDX-License-Identifier: GPL-2.0-or-later
 * What `copy` writes: zeros, or bytes that neither compress nor repeat. */
#ifndef ASSAY_WORKLOAD_COPY_POOL_H
#define ASSAY_WORKLOAD_COPY_POOL_H

#include "workload_copy.h"

/* Allocates and fills COPY's pool, page-aligned. The same seed gives the same bytes. 0 or -errno. */
int copy_pool_make(struct copy *copy);

/* Record number RECORD, of bs bytes, good until the next call. To be asked for in order. Of incompressible
 * data every sector of 512 bytes is unlike all others of the run. NULL, with errno set: /dev/zero cannot be
 * read. */
const unsigned char *copy_pool_record(struct copy *copy, uint64_t record);

void copy_pool_free(struct copy *copy);

#endif
