/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mounts.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int mounts_find(const char *mounts, const char *point, struct mount_entry *entry)
{
	int r = -ENOENT;

	for (const char *line = mounts; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		struct mount_entry one;
		char on[256];

		if (sscanf(line, "%255[^ \n] %255[^ \n] %31[^ \n] %1023[^ \n]", one.device, on, one.type,
		           one.options) != 4 ||
		    strcmp(on, point) != 0)
			continue;
		*entry = one;
		r = 0;
	}
	return r;
}

/* "64k" as bytes; -1 where it is no size. */
static long long size_of(const char *text, size_t length)
{
	static const char units[] = "kmg";
	char copy[32];
	char *end;
	long long value;
	const char *unit;

	if (!length || length >= sizeof(copy))
		return -1;
	snprintf(copy, sizeof(copy), "%.*s", (int)length, text);
	value = strtoll(copy, &end, 10);
	if (end == copy || value < 0 || value > 1LL << 40)
		return -1;
	if (!*end)
		return value;
	unit = strchr(units, *end | 32);
	return unit && !end[1] ? value << 10 * (unit - units + 1) : -1;
}

static bool same(const char *a, size_t a_length, const char *b, size_t b_length)
{
	const char *a_value = memchr(a, '=', a_length), *b_value = memchr(b, '=', b_length);
	long long size;

	if (a_length == b_length && !memcmp(a, b, a_length))
		return true;
	if (!a_value || !b_value || a_value - a != b_value - b || memcmp(a, b, (size_t)(a_value - a)) != 0)
		return false;
	size = size_of(a_value + 1, a_length - (size_t)(a_value + 1 - a));
	return size >= 0 && size == size_of(b_value + 1, b_length - (size_t)(b_value + 1 - b));
}

static bool among(const char *options, const char *asked, size_t length)
{
	for (const char *p = options; *p; p += strcspn(p, ",\n"), p += *p != '\0')
		if (same(p, strcspn(p, ",\n"), asked, length))
			return true;
	return false;
}

/* Old spellings of what the kernel shows as a switch. */
static const char *modern(const char *asked, size_t length)
{
	if (length == 9 && !memcmp(asked, "barrier=0", 9))
		return "nobarrier";
	if (length == 9 && !memcmp(asked, "barrier=1", 9))
		return "barrier";
	return NULL;
}

bool mounts_have(const char *options, const char *all, const char *asked)
{
	while (*asked) {
		size_t length = strcspn(asked, ",");
		const char *other = modern(asked, length);

		if (!among(options, asked, length) && !among(all, asked, length) &&
		    !(other && (among(options, other, strlen(other)) || among(all, other, strlen(other)))))
			return false;
		asked += length + (asked[length] == ',');
	}
	return true;
}
