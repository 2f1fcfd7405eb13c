/* SPDX-License-Identifier: GPL-2.0-or-later
 * Texts of /proc, /sys and debugfs may come cut, or from another kernel. */
#include "observe_text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	const char *p = text;
	struct text_task task;
	int64_t numbers[17];
	unsigned int cpu;

	memcpy(text, data, size);
	text[size] = '\0';
	while (*p) {
		const char *before = p;

		assert(text_numbers(&p, size % 2 ? 10 : 16, numbers, 17) <= 17);
		assert(p > before && p <= text + strlen(text));
	}
	p = text;
	while (text_cpu(&p, &cpu, numbers, 8))
		assert(p <= text + strlen(text));
	if (!text_task(text, &task))
		assert(strlen(task.name) < sizeof(task.name));
	text_drbd(text, 0, "ns:", -1);
	text_oldest_ms(text);
	free(text);
	return 0;
}
