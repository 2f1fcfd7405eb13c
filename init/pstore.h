/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the kernel saved of the boot before, if it crashed. */
#ifndef ASSAY_PSTORE_H
#define ASSAY_PSTORE_H

#include <jansson.h>

/* The records under FOLDER ("/sys/fs/pstore") as hello.json's "pstore": at most 32, each cut to its last
 * 65,535 bytes. An empty array where there are none. The caller owns it. */
json_t *pstore_read(const char *folder);

/* Deletes the records of ARRAY, as pstore_read() gave it, and no others. */
void pstore_delete(const char *folder, const json_t *array);

#endif
