/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ASSAY_STORE_PATH_H
#define ASSAY_STORE_PATH_H

#include <jansson.h>

/* Where the database of the lab file LAB, read from LAB_PATH, is: server.database (from the lab file's
 * folder), or assay.db in the working folder. LAB may be NULL. The caller frees it; NULL: out of memory. */
char *database_path(const json_t *lab, const char *lab_path);

#endif
