/* SPDX-License-Identifier: GPL-2.0-or-later
 * Kernel threads and interrupts. */
#include "quiet.h"

#include "affinity.h"
#include "file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h */
#define IRQS       8192       /* those beyond stay where they are */

/* Whether every CPU of A is in B. */
static bool within(const cpu_set_t *a, const cpu_set_t *b)
{
	cpu_set_t both;

	CPU_AND(&both, a, b);
	return CPU_EQUAL(&both, a);
}

/* By the flags in /proc/PID/stat, which follow the name, its state and six numbers (proc(5)). */
static bool is_kernel_thread(const char *root, const char *pid)
{
	char text[1024], *end;
	unsigned long flags = 0;

	if (read_file_at(text, sizeof(text), "%s/proc/%.16s/stat", root, pid) <= 0)
		return false;
	end = strrchr(text, ')');
	return end && sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %lu", &flags) == 1 && flags & PF_KTHREAD;
}

/* A thread that the kernel binds to its CPU refuses, and stays. */
static int move_thread(struct quiet *quiet, pid_t pid)
{
	struct quiet_thread thread = {.pid = pid}, *more;

	if (affinity_get(pid, &thread.before) || within(&thread.before, &quiet->split.housekeeping))
		return 0;
	more = realloc(quiet->threads, (quiet->thread_count + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	quiet->threads = more;
	if (!affinity_set(pid, &quiet->split.housekeeping))
		quiet->threads[quiet->thread_count++] = thread;
	return 0;
}

int quiet_threads(struct quiet *quiet, const char *root)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;
	int r = 0;

	snprintf(path, sizeof(path), "%s/proc", root);
	dir = opendir(path);
	while (dir && !r && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]) && is_kernel_thread(root, entry->d_name))
			r = move_thread(quiet, (pid_t)strtol(entry->d_name, NULL, 10));
	if (dir)
		closedir(dir);
	return r;
}

/* Whether PATH is FOLDER or under it, as the links in both lead. */
static bool is_under(const char *path, const char *folder)
{
	char a[PATH_MAX], b[PATH_MAX];
	size_t n;

	if (!realpath(path, a) || !realpath(folder, b))
		return false;
	n = strlen(b);
	return !strncmp(a, b, n) && (a[n] == '\0' || a[n] == '/');
}

/* The interrupts of the PCI device in FOLDER, to OF_STORAGE. */
static void mark(const char *folder, bool of_storage[IRQS])
{
	char path[PATH_MAX + 16];
	struct dirent *entry;
	long long line = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/irq", folder);
	if (!read_integer(path, &line) && line > 0 && line < IRQS)
		of_storage[line] = true;
	snprintf(path, sizeof(path), "%s/msi_irqs", folder);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		unsigned long irq = strtoul(entry->d_name, NULL, 10);

		if (isdigit((unsigned char)entry->d_name[0]) && irq < IRQS)
			of_storage[irq] = true;
	}
	if (dir)
		closedir(dir);
}

/* Of every disk's controller and every NIC (PCI classes 01 and 02) but the management NIC. */
static void find_storage(const char *root, const char *management_nic, bool of_storage[IRQS])
{
	char folder[PATH_MAX], management[PATH_MAX], class[32];
	struct dirent *entry;
	DIR *dir;

	snprintf(management, sizeof(management), "%s/sys/class/net/%s/device", root, management_nic);
	snprintf(folder, sizeof(folder), "%s/sys/bus/pci/devices", root);
	dir = opendir(folder);
	while (dir && (entry = readdir(dir))) {
		snprintf(folder, sizeof(folder), "%s/sys/bus/pci/devices/%.64s", root, entry->d_name);
		if (entry->d_name[0] == '.' || read_file_at(class, sizeof(class), "%s/class", folder) <= 0 ||
		    (strncmp(class, "0x01", 4) != 0 && strncmp(class, "0x02", 4) != 0))
			continue;
		if (!*management_nic || !is_under(management, folder))
			mark(folder, of_storage);
	}
	if (dir)
		closedir(dir);
}

/* Some cannot be moved (the timer's, managed ones): they stay. */
static void move_interrupt(struct quiet *quiet, const char *root, const char *number)
{
	char path[PATH_MAX], text[CPU_SETSIZE / 4 + CPU_SETSIZE / 32];
	cpu_set_t before;

	snprintf(path, sizeof(path), "%s/proc/irq/%.16s/smp_affinity", root, number);
	if (read_file(path, text, sizeof(text)) <= 0 || cpus_from_mask(text, &before) ||
	    within(&before, &quiet->split.housekeeping))
		return;
	cpus_to_mask(&quiet->split.housekeeping, text, sizeof(text));
	if (!quiet_write(quiet, path, text))
		quiet->interrupt_count++;
}

int quiet_interrupts(struct quiet *quiet, const char *root, const char *management_nic)
{
	bool *of_storage = calloc(IRQS, sizeof(*of_storage));
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (!of_storage)
		return -ENOMEM;
	find_storage(root, management_nic, of_storage);
	snprintf(path, sizeof(path), "%s/proc/irq", root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		unsigned long irq = strtoul(entry->d_name, NULL, 10);

		if (isdigit((unsigned char)entry->d_name[0]) && irq < IRQS && !of_storage[irq])
			move_interrupt(quiet, root, entry->d_name);
	}
	if (dir)
		closedir(dir);
	free(of_storage);
	return 0;
}
