/* SPDX-License-Identifier: GPL-2.0-or-later
 * Canonical JSON and SHA-256: the same bytes on node and lab, so that ids agree. */
#ifndef ASSAY_CANONICAL_H
#define ASSAY_CANONICAL_H

#include <jansson.h>
#include <stddef.h>

#define SHA256_HEX_SIZE 65 /* with the closing NUL */

/* VALUE as canonical JSON (RFC 8785 without its rule for fractions: members sorted by code point, no white
 * space, shortest escapes). -EINVAL where VALUE holds a real number: cells have none. The caller frees *OUT.
 */
int canonical_json(const json_t *value, char **out);

/* SHA-256 of LENGTH bytes, as 64 lower-case hex digits. 0 or -EIO. */
int sha256_hex(const void *data, size_t length, char hex[SHA256_HEX_SIZE]);

/* The id of a cell, or of a state: SHA-256 of its canonical JSON. 0 or -errno. */
int canonical_id(const json_t *value, char hex[SHA256_HEX_SIZE]);

#endif
