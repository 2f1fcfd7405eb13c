/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit sizes[] = {
    {"B", 1},
    {"kB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", 1000000000000},
    {"KiB", UINT64_C(1) << 10},
    {"MiB", UINT64_C(1) << 20},
    {"GiB", UINT64_C(1) << 30},
    {"TiB", UINT64_C(1) << 40},
    {NULL, 0},
};

static const struct unit durations[] = {{"ms", 1}, {"s", 1000}, {"min", 60000}, {"h", 3600000}, {NULL, 0}};

/* The number and its unit; *UNIT is NULL where none is written. */
static int parse(const char *text, const struct unit *units, const char *example, uint64_t max, uint64_t *out,
                 const struct unit **unit, char *why, size_t why_size)
{
	const char *end = text;
	char names[64] = "", *stop;
	const char *hint = NULL;
	uint64_t number;
	size_t n = 0;

	while (*end >= '0' && *end <= '9')
		end++;
	errno = 0;
	number = strtoull(text, &stop, 10);
	if (end == text || errno) {
		snprintf(why, why_size, "\"%.40s\" is not a whole number with a unit, like %s", text,
		         example);
		return -EINVAL;
	}
	while (*end == ' ')
		end++;
	*unit = NULL;
	for (const struct unit *u = units; *end && u->name; u++) {
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "", u->name);
		if (!strcmp(end, u->name))
			*unit = u;
		else if (!strcasecmp(end, u->name))
			hint = u->name;
	}
	if (*end && !*unit) {
		snprintf(why, why_size, "unit \"%.20s\" of \"%.40s\" is none of %s%s%s%s", end, text, names,
		         hint ? "; did you mean " : "", hint ? hint : "", hint ? "?" : "");
		return -EINVAL;
	}
	if (*unit && number > max / (*unit)->factor)
		number = max + 1;
	else if (*unit)
		number *= (*unit)->factor;
	if (number > max) {
		snprintf(why, why_size, "\"%.40s\" is too much", text);
		return -EINVAL;
	}
	*out = number;
	return 0;
}

int units_size(const char *text, uint64_t *bytes, char *why, size_t why_size)
{
	const struct unit *unit;

	return parse(text, sizes, "4MiB", UINT64_C(1) << 53, bytes, &unit, why, why_size);
}

int units_duration(const char *text, uint64_t *ms, char *why, size_t why_size)
{
	const struct unit *unit;
	int r = parse(text, durations, "60s", UINT64_C(7) * 24 * 3600 * 1000, ms, &unit, why, why_size);

	if (!r && !unit) {
		snprintf(why, why_size, "\"%.40s\" has no unit; say %.20ss or use ms, min, h", text, text);
		return -EINVAL;
	}
	if (!r && !*ms) {
		snprintf(why, why_size, "a deadline of nothing can't be met");
		return -EINVAL;
	}
	return r;
}

const char *units_size_text(uint64_t bytes, char *out, size_t size)
{
	const struct unit *best = &sizes[0];

	for (const struct unit *u = sizes; u->name; u++)
		if (strchr(u->name, 'i') && bytes && bytes % u->factor == 0)
			best = u;
	snprintf(out, size, "%" PRIu64 "%s", bytes / best->factor, best->name);
	return out;
}

const char *units_duration_text(uint64_t ms, char *out, size_t size)
{
	uint64_t s = (ms + 999) / 1000;

	if (s < 60)
		snprintf(out, size, "%" PRIu64 " s", s);
	else if (s < 3600)
		snprintf(out, size, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
	else
		snprintf(out, size, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s % 3600 / 60);
	return out;
}
