/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cpus_from_list(const char *text, cpu_set_t *set)
{
	CPU_ZERO(set);
	while (*text) {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (end == text)
			return -EINVAL;
		if (*end == '-') {
			text = end + 1;
			last = strtoul(text, &end, 10);
			if (end == text)
				return -EINVAL;
		}
		if (first > last || last >= CPU_SETSIZE || (*end && *end != ','))
			return -EINVAL;
		for (; first <= last; first++)
			CPU_SET(first, set);
		text = end + (*end == ',');
	}
	return 0;
}

int cpus_from_mask(const char *text, cpu_set_t *set)
{
	size_t cpu = 0;

	CPU_ZERO(set);
	for (size_t i = strlen(text); i--;) {
		char digit[2] = {text[i], '\0'}, *end;
		unsigned long bits = strtoul(digit, &end, 16);

		if (text[i] == ',')
			continue;
		if (*end)
			return -EINVAL;
		for (size_t bit = 0; bit < 4; bit++, cpu++) {
			if (!(bits & 1UL << bit))
				continue;
			if (cpu >= CPU_SETSIZE)
				return -EINVAL;
			CPU_SET(cpu, set);
		}
	}
	return cpu ? 0 : -EINVAL;
}

void cpus_to_mask(const cpu_set_t *set, char *buf, size_t size)
{
	int group = CPU_SETSIZE / 32 - 1;
	size_t n = 0;

	*buf = '\0';
	for (; group >= 0 && n < size; group--) {
		unsigned int bits = 0;

		for (int bit = 0; bit < 32; bit++)
			bits |= (unsigned int)!!CPU_ISSET((size_t)(group * 32 + bit), set) << bit;
		if (bits || n || !group)
			n += (size_t)snprintf(buf + n, size - n, n ? ",%08x" : "%x", bits);
	}
}

void cpus_to_list(const cpu_set_t *set, char *buf, size_t size)
{
	size_t n = 0;

	*buf = '\0';
	for (size_t cpu = 0; cpu < CPU_SETSIZE && n < size; cpu++) {
		size_t last = cpu;

		if (!CPU_ISSET(cpu, set))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
			last++;
		n += (size_t)snprintf(buf + n, size - n, "%s%zu", n ? "," : "", cpu);
		if (last > cpu && n < size)
			n += (size_t)snprintf(buf + n, size - n, "-%zu", last);
		cpu = last;
	}
}

int cpus_nth(const cpu_set_t *set, size_t index)
{
	size_t count = (size_t)CPU_COUNT(set);

	if (!count)
		return -1;
	index %= count;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, set) && !index--)
			return cpu;
	return -1;
}
