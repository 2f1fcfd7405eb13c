/* SPDX-License-Identifier: GPL-2.0-or-later
 * CPUs: frequency, idle states, siblings, and where the workload runs. */
#include "file.h"
#include "knob.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* What is done with PATH/NAME, of number NUMBER. A -errno ends it. */
typedef int each_entry(void *ctx, const char *path, long number);

/* Every entry of FOLDER whose name is PREFIX and a number. How many there were, or -errno. */
static int for_each(const char *folder, const char *prefix, each_entry *each, void *ctx)
{
	DIR *dir = opendir(folder);
	size_t n = strlen(prefix);
	struct dirent *entry;
	int count = 0, r = 0;

	if (!dir)
		return -errno;
	while (!r && (entry = readdir(dir))) {
		char path[512];

		if (strncmp(entry->d_name, prefix, n) != 0 || !isdigit((unsigned char)entry->d_name[n]))
			continue;
		snprintf(path, sizeof(path), "%s/%.64s", folder, entry->d_name);
		r = each(ctx, path, strtol(entry->d_name + n, NULL, 10));
		count++;
	}
	closedir(dir);
	return r < 0 ? r : count;
}

static int for_each_under(const struct knob_place *place, const char *sub, const char *prefix,
                          each_entry *each, void *ctx)
{
	char folder[256];
	int r;

	snprintf(folder, sizeof(folder), "%s/devices/system/cpu%s", place->sys, sub);
	r = for_each(folder, prefix, each, ctx);
	return r < 0 ? r : r ? 0 : -ENOENT;
}

/* Of all policies; "mixed" where they differ. */
static int see_governor(void *ctx, const char *path, long number)
{
	char governor[KNOB_TEXT], *all = ctx;
	int r = read_file_at(governor, sizeof(governor), "%s/scaling_governor", path);

	(void)number;
	if (r < 0)
		return r;
	snprintf(all, KNOB_TEXT, "%s", !*all || !strcmp(all, governor) ? governor : "mixed");
	return 0;
}

static int governor_read(const struct knob *knob, const struct knob_place *place, char *buf, size_t size)
{
	char all[KNOB_TEXT] = "";
	int r = for_each_under(place, "/cpufreq", "policy", see_governor, all);

	(void)knob;
	snprintf(buf, size, "%s", all);
	return r;
}

static int set_governor(void *ctx, const char *path, long number)
{
	char file[600];

	(void)number;
	snprintf(file, sizeof(file), "%s/scaling_governor", path);
	return write_file(file, "%s", (const char *)ctx);
}

static int governor_write(const struct knob *knob, const struct knob_place *place, const char *level)
{
	(void)knob;
	return for_each_under(place, "/cpufreq", "policy", set_governor, (void *)level);
}

struct idle {
	long limit;   /* the deepest state allowed, by its number; -1: only look */
	long deepest; /* that is not disabled, on any CPU */
	long last;    /* that there is */
};

static int one_state(void *ctx, const char *path, long number)
{
	struct idle *idle = ctx;
	char file[600];
	long long disabled = 0;
	int r;

	snprintf(file, sizeof(file), "%s/disable", path);
	if (number > idle->last)
		idle->last = number;
	if (idle->limit >= 0)
		return write_file(file, "%d", number > idle->limit);
	r = read_integer(file, &disabled);
	if (!r && !disabled && number > idle->deepest)
		idle->deepest = number;
	return r;
}

static int one_cpu(void *ctx, const char *path, long number)
{
	char folder[600];
	int r;

	(void)number;
	snprintf(folder, sizeof(folder), "%s/cpuidle", path);
	r = for_each(folder, "state", one_state, ctx);
	return r < 0 ? r : 0;
}

static int cstate_read(const struct knob *knob, const struct knob_place *place, char *buf, size_t size)
{
	struct idle idle = {.limit = -1, .last = -1};
	int r = for_each_under(place, "", "cpu", one_cpu, &idle);

	(void)knob;
	snprintf(buf, size, "%ld", idle.deepest);
	return !r && idle.last < 0 ? -ENOENT : r;
}

static int cstate_write(const struct knob *knob, const struct knob_place *place, const char *level)
{
	struct idle look = {.limit = -1, .last = -1}, idle = {.limit = strtol(level, NULL, 10)};
	int r = for_each_under(place, "", "cpu", one_cpu, &look);

	(void)knob;
	if (r || idle.limit > look.last)
		return r ? r : -EINVAL;
	return for_each_under(place, "", "cpu", one_cpu, &idle);
}

static int smt_read(const struct knob *knob, const struct knob_place *place, char *buf, size_t size)
{
	int r = read_file_at(buf, size, "%s/devices/system/cpu/%s", place->sys, knob->file);

	return r < 0 ? r : 0;
}

static int smt_write(const struct knob *knob, const struct knob_place *place, const char *level)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/devices/system/cpu/%s", place->sys, knob->file);
	return write_file(path, "%s", level);
}

/* Of this process, which runs the workload. A mask beyond its 63rd CPU cannot be said. */
static int workload_read(const struct knob *knob, const struct knob_place *place, char *buf, size_t size)
{
	unsigned long long mask = 0;
	cpu_set_t cpus;

	(void)knob;
	(void)place;
	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return -errno;
	for (int i = 0; i < 63; i++)
		if (CPU_ISSET(i, &cpus))
			mask |= 1ULL << i;
	snprintf(buf, size, "%llu", mask);
	return 0;
}

static int workload_write(const struct knob *knob, const struct knob_place *place, const char *level)
{
	unsigned long long mask = strtoull(level, NULL, 10);
	cpu_set_t cpus;

	(void)knob;
	(void)place;
	CPU_ZERO(&cpus);
	for (int i = 0; i < 63; i++)
		if (mask & 1ULL << i)
			CPU_SET(i, &cpus);
	return sched_setaffinity(0, sizeof(cpus), &cpus) ? -errno : 0;
}

const struct knob cpu_knobs[] = {
    {.factor = FACTOR_CPU_SMT, .file = "smt/control", .read = smt_read, .write = smt_write},
    {.factor = FACTOR_CPU_GOVERNOR, .read = governor_read, .write = governor_write},
    {.factor = FACTOR_CPU_MAX_CSTATE, .read = cstate_read, .write = cstate_write},
    {.factor = FACTOR_CPU_WORKLOAD, .when = KNOB_LAST, .read = workload_read, .write = workload_write},
    {0},
};
