/* SPDX-License-Identifier: GPL-2.0-or-later
 * Smaller sizes and shorter times for a plan as it stands: so that a plan for hardware runs whole where there
 * is little of it.
 */
#include "plan_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool plan_scale_parse(const char *text, struct plan_scale *scale)
{
	const char *slash = strchr(text, '/');
	char *end;

	*scale = (struct plan_scale){0};
	if (!slash || !isdigit((unsigned char)text[0]) || !isdigit((unsigned char)slash[1]))
		return false;
	scale->numerator = (unsigned int)strtoul(text, &end, 10);
	if (end != slash)
		return false;
	scale->denominator = (unsigned int)strtoul(slash + 1, &end, 10);
	return !*end && scale->numerator && scale->numerator <= scale->denominator &&
	       scale->denominator <= 1000000000;
}

uint64_t plan_scaled(const struct plan_scale *scale, uint64_t bytes, uint64_t record_bytes)
{
	unsigned __int128 product = (unsigned __int128)bytes * scale->numerator;

	if (!scale->denominator || !record_bytes)
		return bytes;
	return (uint64_t)(product / scale->denominator / record_bytes) * record_bytes;
}

uint64_t plan_scaled_to(const struct plan_scale *scale, uint64_t value, uint64_t record, uint64_t least)
{
	uint64_t scaled = plan_scaled(scale, value, record);

	if (scaled >= least || value < least)
		return scaled >= least ? scaled : value;
	return least;
}

uint64_t plan_scaled_ms(const struct plan_scale *scale, uint64_t ms)
{
	return plan_scaled_to(scale, ms, 1000, 1000);
}
