/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h; part of what /proc/PID/stat says since 2.6 */

static void next_line(const char **text)
{
	*text += strcspn(*text, "\n");
	*text += **text == '\n';
}

size_t text_numbers(const char **text, int base, int64_t *values, size_t max)
{
	const char *p = *text;
	size_t n = 0;

	while (n < max) {
		char *end;

		p += strspn(p, " \t,");
		/* strtoull() would go on to the next line. */
		if (!isxdigit((unsigned char)*p))
			break;
		values[n] = (int64_t)strtoull(p, &end, base);
		if (end == p)
			break;
		n++;
		p = end;
	}
	next_line(text);
	return n;
}

bool text_cpu(const char **text, unsigned int *cpu, int64_t *values, size_t max)
{
	memset(values, 0, max * sizeof(*values));
	while (**text) {
		const char *p = *text;
		char *end;

		if (strncmp(p, "cpu", 3) != 0)
			return false;
		if (!isdigit((unsigned char)p[3])) {
			next_line(text);
			continue;
		}
		*cpu = (unsigned int)strtoul(p + 3, &end, 10);
		*text = end;
		return text_numbers(text, 10, values, max) > 0;
	}
	return false;
}

/* "412 (drbd_w_assay) S 2 0 0 0 -1 2129984 …": the name may hold blanks and brackets. */
int text_task(const char *text, struct text_task *task)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	unsigned long long user = 0, system = 0;
	unsigned int flags = 0;

	memset(task, 0, sizeof(*task));
	if (!open || !close || close < open ||
	    sscanf(close + 1, " %*c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %llu %llu", &task->parent, &flags,
	           &user, &system) != 4)
		return -EBADMSG;
	snprintf(task->name, sizeof(task->name), "%.*s", (int)(close - open - 1), open + 1);
	task->kernel = flags & PF_KTHREAD;
	task->cpu_ticks = (int64_t)(user + system);
	return 0;
}

int64_t text_drbd(const char *text, unsigned int minor, const char *key, int64_t missing)
{
	size_t length = strlen(key);
	bool inside = false;

	for (const char *p = text; *p; next_line(&p)) {
		const char *line = p + strspn(p, " "), *end = line + strcspn(line, "\n"), *at;
		char *after;

		/* " 0: cs:Connected ro:…" begins a minor. */
		if (isdigit((unsigned char)*line)) {
			unsigned long number = strtoul(line, &after, 10);

			inside = number == minor && !strncmp(after, ": cs:", 5);
			continue;
		}
		for (at = line; inside && at < end; at += strcspn(at, " \n"), at += *at == ' ')
			if (!strncmp(at, key, length) && isdigit((unsigned char)at[length]))
				return strtoll(at + length, NULL, 10);
	}
	return missing;
}

/* Lines "epoch sector size rw start …", apart by tabs; start is the age in ms. */
int64_t text_oldest_ms(const char *text)
{
	int64_t oldest = 0;

	for (const char *p = text; *p; next_line(&p)) {
		unsigned long long age;

		if (sscanf(p, "0x%*x\t%*u\t%*u\t%*[RW]\t%llu", &age) == 1 && (int64_t)age > oldest)
			oldest = (int64_t)age;
	}
	return oldest;
}
