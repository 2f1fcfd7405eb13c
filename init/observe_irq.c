/* SPDX-License-Identifier: GPL-2.0-or-later
 * Observer: the interrupts of the storage NICs and of the disk under test, each vector's, and each CPU's of
 * all of them (what /proc/interrupts shows, read vector by vector from /sys/kernel/irq, for the whole is long
 * on large machines). */
#include "observe_source.h"
#include "observe_text.h"

#include "file.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VECTORS = 256, CPUS = 256 };

static const struct observe_field field = COUNTER("interrupts");

static struct {
	int fd, column;
} vectors[VECTORS];
static size_t vector_count;
static int cpu_column[CPUS];
static int64_t cpu_sum[CPUS];

static void add(struct observer *o, unsigned int number)
{
	char action[32], object[48];
	int fd;

	/* Vectors that nothing asked for have no name. */
	if (vector_count == VECTORS ||
	    read_file_at(action, sizeof(action), "%s/kernel/irq/%u/actions", o->place.sys, number) <= 0)
		return;
	fd = observe_open("%s/kernel/irq/%u/per_cpu_count", o->place.sys, number);
	if (fd < 0)
		return;
	snprintf(object, sizeof(object), "%s/%u", action, number);
	vectors[vector_count].fd = fd;
	vectors[vector_count].column = observe_add(o, "irq", object, &field, 1);
	if (vectors[vector_count].column >= 0)
		vector_count++;
}

/* Those of the device at PATH, or of the nearest above it that has any: a disk's are its controller's. */
static void add_device(struct observer *o, char *path)
{
	for (char *end = path + strlen(path); end > path && strstr(path, "/devices/");
	     end = strrchr(path, '/')) {
		struct dirent *entry;
		char list[PATH_MAX + 16];
		DIR *dir;

		*end = '\0';
		snprintf(list, sizeof(list), "%s/msi_irqs", path);
		dir = opendir(list);
		while (dir && (entry = readdir(dir)))
			if (entry->d_name[0] != '.')
				add(o, (unsigned int)strtoul(entry->d_name, NULL, 10));
		if (dir) {
			closedir(dir);
			return;
		}
	}
}

static void open_irqs(struct observer *o)
{
	char path[256], real[PATH_MAX];

	vector_count = 0;
	for (size_t i = 0; i < o->place.nic_count; i++) {
		snprintf(path, sizeof(path), "%s/class/net/%s/device", o->place.sys, o->place.nics->name[i]);
		if (realpath(path, real))
			add_device(o, real);
	}
	snprintf(path, sizeof(path), "%s/block/%s/device", o->place.sys, o->place.disk);
	if (o->place.disk[0] && realpath(path, real))
		add_device(o, real);
	memset(cpu_column, -1, sizeof(cpu_column));
	for (size_t i = 0; i < vector_count; i++) {
		int64_t counts[CPUS];
		const char *text = o->text;
		size_t n;

		observe_read(o, vectors[i].fd);
		n = text_numbers(&text, 10, counts, CPUS);
		for (size_t cpu = 0; cpu < n; cpu++) {
			char name[32];

			snprintf(name, sizeof(name), "cpu%zu", cpu);
			if (cpu_column[cpu] < 0)
				cpu_column[cpu] = observe_add(o, "irqs", name, &field, 1);
		}
	}
}

static void look(struct observer *o)
{
	memset(cpu_sum, 0, sizeof(cpu_sum));
	for (size_t i = 0; i < vector_count; i++) {
		int64_t counts[CPUS], sum = 0;
		const char *text = o->text;
		size_t n;

		if (observe_read(o, vectors[i].fd) <= 0)
			continue;
		n = text_numbers(&text, 10, counts, CPUS);
		for (size_t cpu = 0; cpu < n; cpu++) {
			cpu_sum[cpu] += counts[cpu];
			sum += counts[cpu];
		}
		o->row[vectors[i].column] = sum;
	}
	for (size_t cpu = 0; cpu < CPUS; cpu++)
		if (cpu_column[cpu] >= 0 && cpu_sum[cpu] > o->row[cpu_column[cpu]])
			o->row[cpu_column[cpu]] = cpu_sum[cpu];
}

const struct observe_source observe_irq = {.open = open_irqs, .look = look};
