/* SPDX-License-Identifier: GPL-2.0-or-later
 * Observer: what `top -H` shows, CPU time of the kernel's threads, of the workload's, and of other processes.
 * A thread gets a column when it first takes a hundredth of a CPU, or is one of DRBD's or of the workload;
 * what it took before is not in it.
 *
 * A kernel thread is a process of its own, whose CPU clock anybody may read (clock_getcpuclockid(3)): exact,
 * and without a text. The workload's threads share a process and have no such clock for others:
 * /proc/PID/task/TID/stat, in ticks. */
#include "observe_source.h"
#include "observe_text.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4096, COLUMNS = 64 };

static const struct observe_field field = COUNTER("cpu_ns");

static struct thread {
	int id;
	int column;  /* -1: none yet */
	bool task;   /* of the workload's process: read by its stat */
	bool always; /* gets a column in any case */
	bool kernel, seen;
	int64_t cpu_ns; /* at the last look */
} threads[THREADS];
static size_t thread_count, column_count;
static DIR *processes, *tasks;
static int64_t tick_ns, looked_ns;

/* The kernel's number for the clock of process ID: include/linux/posix-timers.h, CPUCLOCK_SCHED. */
static bool process_cpu_ns(int id, int64_t *cpu_ns)
{
	struct timespec t;

	if (clock_gettime((clockid_t)(~(unsigned int)id << 3 | 2), &t))
		return false;
	*cpu_ns = t.tv_sec * 1000000000LL + t.tv_nsec;
	return true;
}

static bool read_task(struct observer *o, int id, bool task, struct text_task *stat)
{
	int fd, n;

	if (task)
		fd = observe_open("%s/%d/task/%d/stat", o->place.proc, (int)o->place.worker, id);
	else
		fd = observe_open("%s/%d/stat", o->place.proc, id);
	n = observe_read(o, fd);
	if (fd >= 0)
		close(fd);
	return n > 0 && !text_task(o->text, stat);
}

static bool read_cpu_ns(struct observer *o, const struct thread *t, int64_t *cpu_ns)
{
	struct text_task stat;

	if (!t->task)
		return process_cpu_ns(t->id, cpu_ns);
	if (!read_task(o, t->id, true, &stat))
		return false;
	*cpu_ns = stat.cpu_ticks * tick_ns;
	return true;
}

/* The kernel lists them in order, so it most often is the one after the last that was found. */
static struct thread *find(int id, bool task)
{
	static size_t last;

	for (size_t i = 0; i < thread_count; i++) {
		last = last + 1 < thread_count ? last + 1 : 0;
		if (threads[last].id == id && threads[last].task == task)
			return &threads[last];
	}
	return NULL;
}

static void give_column(struct observer *o, struct thread *t)
{
	struct text_task stat;
	char object[48];

	if (column_count == COLUMNS || !read_task(o, t->id, t->task, &stat))
		return;
	snprintf(object, sizeof(object), "%s/%d", stat.name, t->id);
	t->column = observe_add(o, "thread", object, &field, 1);
	if (t->column < 0)
		return;
	column_count++;
	o->columns[t->column].kernel = t->kernel;
	for (size_t row = 0; row < o->rows; row++)
		o->values[row * o->stride + (size_t)t->column] = t->cpu_ns;
	if (o->row)
		o->row[t->column] = t->cpu_ns;
}

/* A thread seen for the first time: what it took before does not count, but of one that came since the last
 * look all does. */
static void meet(struct observer *o, int id, bool task)
{
	struct thread *t = &threads[thread_count];
	struct text_task stat;

	if (thread_count == THREADS || !read_task(o, id, task, &stat))
		return;
	*t = (struct thread){.id = id, .column = -1, .task = task, .kernel = stat.kernel, .seen = true};
	t->always = task || !strncmp(stat.name, "drbd_", 5);
	if (!o->row && !read_cpu_ns(o, t, &t->cpu_ns))
		return;
	thread_count++;
}

/* Entries of DIR that are numbers; the worker and this process themselves are no news in /proc. */
static void scan(struct observer *o, DIR *dir, bool task)
{
	struct dirent *entry;

	rewinddir(dir);
	while ((entry = readdir(dir))) {
		int id = (int)strtol(entry->d_name, NULL, 10);
		struct thread *known;

		if (id <= 0 || (!task && (id == o->place.worker || id == getpid())))
			continue;
		known = find(id, task);
		if (known)
			known->seen = true;
		else
			meet(o, id, task);
	}
}

static void scan_all(struct observer *o)
{
	for (size_t i = 0; i < thread_count; i++)
		threads[i].seen = false;
	if (processes)
		scan(o, processes, false);
	if (tasks)
		scan(o, tasks, true);
}

static void open_threads(struct observer *o)
{
	char path[128];

	thread_count = column_count = 0;
	looked_ns = 0;
	tick_ns = 1000000000 / sysconf(_SC_CLK_TCK);
	processes = opendir(o->place.proc);
	snprintf(path, sizeof(path), "%s/%d/task", o->place.proc, (int)o->place.worker);
	tasks = opendir(path);
	if (!processes || !tasks)
		observe_note(o, "threads cannot be seen under %s", o->place.proc);
	scan_all(o);
	for (size_t i = 0; i < thread_count; i++)
		if (threads[i].always)
			give_column(o, &threads[i]);
}

/* Dead ones make room; their columns stay as they are. */
static void look_at(struct observer *o, struct thread *t, int64_t passed_ns)
{
	int64_t cpu_ns;

	if (!t->seen || !read_cpu_ns(o, t, &cpu_ns))
		return;
	if (t->column < 0 && (t->always || (cpu_ns - t->cpu_ns) * 100 >= passed_ns))
		give_column(o, t);
	t->cpu_ns = cpu_ns;
	if (t->column >= 0)
		o->row[t->column] = cpu_ns;
}

static void look(struct observer *o)
{
	int64_t now_ns = o->time_ns[o->rows], passed_ns = now_ns - looked_ns;
	size_t kept = 0;

	scan_all(o);
	for (size_t i = 0; i < thread_count; i++)
		look_at(o, &threads[i], passed_ns ? passed_ns : 1);
	for (size_t i = 0; i < thread_count; i++)
		if (threads[i].seen)
			threads[kept++] = threads[i];
	thread_count = kept;
	looked_ns = now_ns;
}

const struct observe_source observe_thread = {.open = open_threads, .look = look};
