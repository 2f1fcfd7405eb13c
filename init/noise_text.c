/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "noise_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number at *P, after blanks; *P is moved behind it. */
static bool number(const char **p, int64_t *value)
{
	char *end;

	*p += strspn(*p, " \t");
	if (!isdigit((unsigned char)**p))
		return false;
	*value = (int64_t)strtoull(*p, &end, 10);
	*p = end;
	return *value >= 0;
}

static bool osnoise_fields(const char *p, struct noise_cpu *noise)
{
	int64_t *const after[] = {&noise->longest_us, &noise->hw,      &noise->nmi,
	                          &noise->irq,        &noise->softirq, &noise->thread};

	if (!number(&p, &noise->runtime_us) || !number(&p, &noise->noise_us))
		return false;
	/* "99.98100": the share that was left, which the two before it say better. */
	p += strspn(p, " \t");
	p += strspn(p, "0123456789.");
	for (size_t i = 0; i < sizeof(after) / sizeof(*after); i++)
		if (!number(&p, after[i]))
			return false;
	return noise->runtime_us > 0;
}

/* "       osnoise/0-87    [000] .....    12.345678: 250000        190  99.92400        9    18 …": what a
 * thread is called may hold blanks and brackets, the flags and the time stamp not. */
static bool osnoise_line(const char *line, size_t length, struct noise_cpu *noise)
{
	char copy[256];
	const char *cpu = copy, *fields;
	char *end;

	if (!length || length >= sizeof(copy) || *line == '#')
		return false;
	memcpy(copy, line, length);
	copy[length] = '\0';
	fields = strrchr(copy, ':');
	while ((cpu = strchr(cpu, '['))) {
		noise->cpu = (unsigned int)strtoul(++cpu, &end, 10);
		if (fields && fields > cpu && isdigit((unsigned char)*cpu) && *end == ']')
			return osnoise_fields(fields + 1, noise);
	}
	return false;
}

bool noise_osnoise(const char **text, struct noise_cpu *noise)
{
	while (**text) {
		const char *line = *text;
		size_t length = strcspn(line, "\n");

		*text += length + (line[length] == '\n');
		memset(noise, 0, sizeof(*noise));
		/* Without its end the last number may be cut. */
		if (line[length] == '\n' && osnoise_line(line, length, noise))
			return true;
	}
	return false;
}

bool noise_interrupts(const char *text, const char *name, int64_t *counts, size_t max)
{
	const char *head = text + strspn(text, " "), *line = text;
	size_t n = strlen(name);

	memset(counts, 0, max * sizeof(*counts));
	do {
		line += strcspn(line, "\n");
		line += *line == '\n';
		line += strspn(line, " ");
	} while (*line && strncmp(line, name, n) != 0);
	if (!*line)
		return false;
	for (line += n; !strncmp(head, "CPU", 3); head += strspn(head, " ")) {
		char *end;
		unsigned long cpu = strtoul(head + 3, &end, 10);
		int64_t count;

		if (!number(&line, &count))
			break;
		if (cpu < max)
			counts[cpu] = count;
		head = end;
	}
	return true;
}

bool noise_schedstat(const char *text, int64_t *run_ns)
{
	int64_t waited, slices;

	return number(&text, run_ns) && number(&text, &waited) && number(&text, &slices);
}

int noise_last_cpu(const char *text)
{
	const char *p = strrchr(text, ')'); /* the name may hold brackets */
	int field = 2, cpu;

	if (!p)
		return -1;
	/* proc(5): field 39, processor. */
	for (p++; *p == ' ' && field < 38; field++) {
		p += strspn(p, " ");
		p += strcspn(p, " \n");
	}
	p += strspn(p, " ");
	if (field != 38 || !isdigit((unsigned char)*p))
		return -1;
	cpu = (int)strtoul(p, NULL, 10);
	return cpu >= 0 ? cpu : -1;
}
