/* SPDX-License-Identifier: GPL-2.0-or-later
 * Observers: how each CPU's time went (/proc/stat), and its received packets (/proc/net/softnet_stat). */
#include "observe_source.h"
#include "observe_text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* user nice system idle iowait irq softirq steal: include/linux/kernel_stat.h */
enum { CPUS = 256, TIMES = 8, SOFTNET_NUMBERS = 13 };

static const struct observe_field cpu_fields[] = {
    COUNTER("user_ns"), COUNTER("system_ns"),  COUNTER("iowait_ns"),
    COUNTER("irq_ns"),  COUNTER("softirq_ns"), COUNTER("steal_ns"),
};
static const struct observe_field softnet_fields[] = {COUNTER("packets"), COUNTER("dropped"),
                                                      COUNTER("squeezed")};

static int stat_fd = -1, softnet_fd = -1;
static int cpu_column[CPUS], softnet_column[CPUS];
static int64_t tick_ns;

static void open_cpus(struct observer *o)
{
	const char *text = o->text;
	int64_t times[TIMES];
	unsigned int cpu;

	tick_ns = 1000000000 / sysconf(_SC_CLK_TCK);
	memset(cpu_column, -1, sizeof(cpu_column));
	stat_fd = observe_open("%s/stat", o->place.proc);
	observe_read(o, stat_fd);
	while (text_cpu(&text, &cpu, times, TIMES)) {
		char name[32];

		snprintf(name, sizeof(name), "cpu%u", cpu);
		if (cpu < CPUS)
			cpu_column[cpu] =
			    observe_add(o, "cpu", name, cpu_fields, sizeof(cpu_fields) / sizeof(*cpu_fields));
	}
}

static void look_cpus(struct observer *o)
{
	const char *text = o->text;
	int64_t t[TIMES];
	unsigned int cpu;

	observe_read(o, stat_fd);
	while (text_cpu(&text, &cpu, t, TIMES)) {
		const int64_t ticks[] = {t[0] + t[1], t[2], t[4], t[5], t[6], t[7]};

		for (size_t i = 0; cpu < CPUS && cpu_column[cpu] >= 0 && i < sizeof(ticks) / sizeof(*ticks);
		     i++)
			o->row[(size_t)cpu_column[cpu] + i] = ticks[i] * tick_ns;
	}
}

/* The lines' own number of the CPU: the thirteenth; a line for each that is online. */
static size_t softnet_cpu(const int64_t *numbers, size_t count, size_t line)
{
	return count == SOFTNET_NUMBERS ? (size_t)numbers[SOFTNET_NUMBERS - 1] : line;
}

static void open_softnet(struct observer *o)
{
	const char *text = o->text;
	size_t line = 0;

	memset(softnet_column, -1, sizeof(softnet_column));
	softnet_fd = observe_open("%s/net/softnet_stat", o->place.proc);
	observe_read(o, softnet_fd);
	while (*text) {
		int64_t numbers[SOFTNET_NUMBERS];
		size_t cpu = softnet_cpu(numbers, text_numbers(&text, 16, numbers, SOFTNET_NUMBERS), line++);
		char name[32];

		if (cpu >= CPUS || softnet_column[cpu] >= 0)
			continue;
		snprintf(name, sizeof(name), "cpu%zu", cpu);
		softnet_column[cpu] = observe_add(o, "softnet", name, softnet_fields,
		                                  sizeof(softnet_fields) / sizeof(*softnet_fields));
	}
}

static void look_softnet(struct observer *o)
{
	const char *text = o->text;
	size_t line = 0;

	observe_read(o, softnet_fd);
	while (*text) {
		int64_t numbers[SOFTNET_NUMBERS] = {0};
		size_t cpu = softnet_cpu(numbers, text_numbers(&text, 16, numbers, SOFTNET_NUMBERS), line++);

		for (size_t i = 0; cpu < CPUS && softnet_column[cpu] >= 0 && i < 3; i++)
			o->row[(size_t)softnet_column[cpu] + i] = numbers[i];
	}
}

const struct observe_source observe_cpu = {.open = open_cpus, .look = look_cpus};
const struct observe_source observe_softnet = {.open = open_softnet, .look = look_softnet};
