/* SPDX-License-Identifier: GPL-2.0-or-later
 * Sizes and durations with their units, both ways. */
#ifndef ASSAY_UNITS_H
#define ASSAY_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* "4MiB", "1GB", "512" into bytes, at most 2^53. 0, or -EINVAL with the reason in WHY, which names the units.
 */
int units_size(const char *text, uint64_t *bytes, char *why, size_t why_size);

/* "200ms", "60s", "5min", "1h" into milliseconds, 1 up to a week; a unit is needed. Same errors. */
int units_duration(const char *text, uint64_t *ms, char *why, size_t why_size);

/* Bytes as the largest binary unit that divides them: "4MiB", "1536KiB", "513B". Gives OUT. */
const char *units_size_text(uint64_t bytes, char *out, size_t size);

/* Milliseconds for people: "42 s", "3 min 20 s", "2 h 5 min". Gives OUT. */
const char *units_duration_text(uint64_t ms, char *out, size_t size);

#endif
