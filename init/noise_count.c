/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "noise_count.h"

#include "failure.h"
#include "file.h"
#include "module.h"
#include "observe_text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MSR_SMI_COUNT    0x34 /* Intel SDM volume 4, from Nehalem on; bits 31:0 */
#define INTERRUPTS_LIMIT (1 << 20)
#define FOREIGN_MAX      8     /* the busiest */
#define FOREIGN_LEAST_NS 10000 /* less is no noise */

/* Module msr makes the device. -1 where the CPU is not Intel's, or the hypervisor does not have the register.
 */
static int64_t smi_count(int cpu)
{
	char path[64];
	uint64_t value;
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = pread(fd, &value, sizeof(value), MSR_SMI_COUNT);
	close(fd);
	return n == sizeof(value) ? (int64_t)(value & UINT32_MAX) : -1;
}

static int64_t throttle_count(const struct observe_roots *roots, int cpu)
{
	static const char *const files[] = {"core_throttle_count", "package_throttle_count"};
	int64_t sum = -1;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char path[256];
		long long value;

		snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%d/thermal_throttle/%s", roots->sys,
		         cpu, files[i]);
		if (!read_integer(path, &value) && value >= 0)
			sum = (sum < 0 ? 0 : sum) + value;
	}
	return sum;
}

static bool is_intel(const struct observe_roots *roots)
{
	char text[256];

	return read_file_at(text, sizeof(text), "%s/cpuinfo", roots->proc) > 0 &&
	       strstr(text, "GenuineIntel");
}

static int by_pid(const void *a, const void *b)
{
	const struct noise_thread *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static void count_threads(const struct observe_roots *roots, struct noise_count *count)
{
	DIR *dir = opendir(roots->proc);
	struct dirent *entry;

	count->thread_count = 0;
	while (dir && count->thread_count < NOISE_THREADS_MAX && (entry = readdir(dir))) {
		struct noise_thread *t = &count->threads[count->thread_count];
		char text[128];

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    read_file_at(text, sizeof(text), "%s/%s/schedstat", roots->proc, entry->d_name) <= 0 ||
		    !noise_schedstat(text, &t->run_ns))
			continue;
		t->pid = (pid_t)strtol(entry->d_name, NULL, 10);
		count->thread_count++;
	}
	if (dir)
		closedir(dir);
	qsort(count->threads, count->thread_count, sizeof(*count->threads), by_pid);
}

void noise_count(const struct observe_roots *roots, const cpu_set_t *cpus, struct noise_count *count)
{
	bool intel = is_intel(roots);
	char path[256], *text;

	if (intel && access("/dev/cpu/0/msr", F_OK))
		module_load("msr", NULL);
	count->at_ns = now_ns();
	snprintf(path, sizeof(path), "%s/interrupts", roots->proc);
	memset(count->timer, 0, sizeof(count->timer));
	if (!read_file_alloc(path, INTERRUPTS_LIMIT, &text, NULL)) {
		noise_interrupts(text, "LOC:", count->timer, NOISE_CPUS_MAX);
		free(text);
	}
	for (int cpu = 0; cpu < NOISE_CPUS_MAX; cpu++) {
		bool told = CPU_ISSET(cpu, cpus);

		count->smi[cpu] = told && intel ? smi_count(cpu) : -1;
		count->throttled[cpu] = told ? throttle_count(roots, cpu) : -1;
	}
	count_threads(roots, count);
}

static int by_run(const void *a, const void *b)
{
	const struct noise_thread *x = a, *y = b;

	return (x->run_ns < y->run_ns) - (x->run_ns > y->run_ns);
}

/* "kworker/1:2/33" and where it last ran; NULL: it is none of CPUS, or gone. */
static json_t *thread_json(const struct observe_roots *roots, const cpu_set_t *cpus,
                           const struct noise_thread *t)
{
	struct text_task task;
	char text[512], name[64];
	int cpu;

	if (read_file_at(text, sizeof(text), "%s/%d/stat", roots->proc, (int)t->pid) <= 0)
		return NULL;
	cpu = noise_last_cpu(text);
	if (cpu < 0 || cpu >= NOISE_CPUS_MAX || !CPU_ISSET(cpu, cpus) || text_task(text, &task))
		return NULL;
	snprintf(name, sizeof(name), "%s/%d", task.name, (int)t->pid);
	return json_pack("{s:o, s:b, s:i, s:I}", "name", json_text(name), "kernel", task.kernel, "cpu", cpu,
	                 "run_ns", (json_int_t)t->run_ns);
}

/* A thread that moved away meanwhile is not seen; where it ran last is all that the kernel tells. */
static json_t *threads_json(const struct observe_roots *roots, const cpu_set_t *cpus,
                            const struct noise_count *before, const struct noise_count *after, pid_t ours)
{
	struct noise_thread *ran = calloc(after->thread_count + 1, sizeof(*ran));
	json_t *array = json_array();
	size_t n = 0;

	for (size_t i = 0; ran && i < after->thread_count; i++) {
		const struct noise_thread *t = &after->threads[i];
		const struct noise_thread *old =
		    bsearch(t, before->threads, before->thread_count, sizeof(*t), by_pid);

		ran[n] = *t;
		ran[n].run_ns -= old ? old->run_ns : 0;
		if (t->pid != ours && ran[n].run_ns >= FOREIGN_LEAST_NS)
			n++;
	}
	if (n)
		qsort(ran, n, sizeof(*ran), by_run);
	for (size_t i = 0; i < n && json_array_size(array) < FOREIGN_MAX; i++) {
		json_t *one = thread_json(roots, cpus, &ran[i]);

		if (one)
			json_array_append_new(array, one);
	}
	free(ran);
	return array;
}

json_t *noise_count_json(const struct observe_roots *roots, const cpu_set_t *cpus,
                         const struct noise_count *before, const struct noise_count *after, pid_t ours)
{
	json_t *array = json_array();

	for (int cpu = 0; cpu < NOISE_CPUS_MAX; cpu++) {
		json_t *one;

		if (!CPU_ISSET(cpu, cpus))
			continue;
		one = json_pack("{s:i, s:I}", "cpu", cpu, "timer_interrupts",
		                (json_int_t)(after->timer[cpu] - before->timer[cpu]));
		if (before->smi[cpu] >= 0 && after->smi[cpu] >= 0)
			json_object_set_new(one, "smi",
			                    json_integer((after->smi[cpu] - before->smi[cpu]) & UINT32_MAX));
		if (before->throttled[cpu] >= 0 && after->throttled[cpu] >= 0)
			json_object_set_new(one, "throttled",
			                    json_integer(after->throttled[cpu] - before->throttled[cpu]));
		json_array_append_new(array, one);
	}
	return json_pack("{s:I, s:o, s:o}", "ns", (json_int_t)(after->at_ns - before->at_ns), "cpus", array,
	                 "threads", threads_json(roots, cpus, before, after, ours));
}

int noise_throttled(const cpu_set_t *cpus, const struct noise_count *before, const struct noise_count *after)
{
	for (int cpu = 0; cpu < NOISE_CPUS_MAX; cpu++)
		if (CPU_ISSET(cpu, cpus) && before->throttled[cpu] >= 0 &&
		    after->throttled[cpu] > before->throttled[cpu])
			return cpu;
	return -1;
}
