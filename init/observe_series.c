/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe_source.h"

#include "file.h"
#include "irq_cpus.h"
#include "series.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL_NS       1000000000LL
/* On one CPU all looking is at the cost of what is measured. */
#define ALONE_INTERVAL_NS 5000000000LL
#define START_MS          10000
#define STOP_NS           5000000000LL

/* COLUMNS: address space; only what is used is touched. ROWS: an hour and some; a longer sample is looked at
 * less often. RESERVE: columns for what shows only while looking. */
enum { COLUMNS = SERIES_COLUMNS_MAX, ROWS = 4000, RESERVE = 144 };

static const struct observe_source *const sources[] = {
    &observe_disk, &observe_cpu, &observe_softnet, &observe_irq, &observe_thread, &observe_tcp, &observe_drbd,
};

#define FOR_EACH_SOURCE(s) for (size_t s = 0; s < sizeof(sources) / sizeof(*sources); s++)

int observe_add(struct observer *o, const char *source, const char *object,
                const struct observe_field *fields, size_t count)
{
	size_t first = o->column_count;

	if (count > o->column_max - first) {
		observe_note(o, "%s %s: too many columns", source, object);
		return -1;
	}
	for (size_t i = 0; i < count; i++) {
		struct observe_column *c = &o->columns[first + i];

		*c = (struct observe_column){.gauge = fields[i].gauge};
		snprintf(c->source, sizeof(c->source), "%s", source);
		snprintf(c->object, sizeof(c->object), "%s", object);
		snprintf(c->field, sizeof(c->field), "%s", fields[i].name);
	}
	o->column_count += count;
	return (int)first;
}

void observe_note(struct observer *o, const char *format, ...)
{
	char *note = o->notes[o->note_count];
	va_list args;

	if (o->note_count == OBSERVE_NOTES)
		return;
	va_start(args, format);
	vsnprintf(note, OBSERVE_NOTE_SIZE, format, args);
	va_end(args);
	for (size_t i = 0; i < o->note_count; i++)
		if (!strcmp(o->notes[i], note))
			return;
	o->note_count++;
}

int observe_read(struct observer *o, int fd)
{
	size_t done = 0;

	o->text[0] = '\0';
	if (fd < 0)
		return -EBADF;
	while (done < OBSERVE_TEXT_SIZE - 1) {
		ssize_t n = pread(fd, o->text + done, OBSERVE_TEXT_SIZE - 1 - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			o->text[0] = '\0';
			return -errno;
		}
		if (!n)
			break;
		done += (size_t)n;
	}
	o->text[done] = '\0';
	return (int)done;
}

int observe_open(const char *format, ...)
{
	char path[512];
	va_list args;
	int n, fd;

	va_start(args, format);
	n = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The set that FILE under devices/system/cpu lists; empty where it is not there. */
static void read_cpus(const struct observe_place *place, const char *file, cpu_set_t *set)
{
	char text[1024];

	CPU_ZERO(set);
	if (read_file_at(text, sizeof(text), "%s/devices/system/cpu/%s", place->sys, file) > 0 &&
	    cpus_from_list(text, set))
		CPU_ZERO(set);
}

/* The first CPU that neither is isolated nor may run the workload; else one that at least is not isolated. */
static void choose_cpu(struct observer *o)
{
	cpu_set_t online, isolated, workload;
	int second_best = -1;

	read_cpus(&o->place, "online", &online);
	read_cpus(&o->place, "isolated", &isolated);
	if (sched_getaffinity(0, sizeof(workload), &workload))
		workload = online;
	o->cpu = -1;
	for (int cpu = 0; cpu < CPU_SETSIZE && o->cpu < 0; cpu++) {
		if (!CPU_ISSET(cpu, &online) || CPU_ISSET(cpu, &isolated))
			continue;
		if (!CPU_ISSET(cpu, &workload))
			o->cpu = cpu;
		else if (second_best < 0)
			second_best = cpu;
	}
	o->shared = o->cpu < 0;
	if (o->shared)
		o->cpu = second_best < 0 ? 0 : second_best;
	if (CPU_COUNT(&online) > 1)
		return;
	if (!o->place.interval_ms)
		o->interval_ns = ALONE_INTERVAL_NS;
	observe_note(o, "this node has one CPU: observers look every %lld s, at the cost of what is measured",
	             ALONE_INTERVAL_NS / INTERVAL_NS);
}

static void look(struct observer *o)
{
	size_t n = o->rows;

	o->row = o->values + n * o->stride;
	if (n)
		memcpy(o->row, o->row - o->stride, o->stride * sizeof(*o->row));
	o->time_ns[n] = now_ns() - o->go_ns;
	FOR_EACH_SOURCE(i)
	sources[i]->look(o);
	o->rows = n + 1;
}

/* Every other row is enough from now on. */
static void thin(struct observer *o)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->rows; i += 2, kept++) {
		o->time_ns[kept] = o->time_ns[i];
		memmove(o->values + kept * o->stride, o->values + i * o->stride,
		        o->stride * sizeof(*o->values));
	}
	o->rows = kept;
	o->interval_ns *= 2;
}

/* Until the worker closes its end, or is gone. */
static void look_on(struct observer *o, int stop)
{
	for (bool last = false; !last;) {
		long long due = o->go_ns + ((now_ns() - o->go_ns) / o->interval_ns + 1) * o->interval_ns;
		struct pollfd end = {.fd = stop};
		struct timespec left;
		long long ns = due - now_ns();
		int r;

		left = (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
		r = ppoll(&end, 1, ns > 0 ? &left : &(struct timespec){0}, NULL);
		if (r < 0)
			continue;
		last = r > 0;
		if (!last && o->rows == o->row_max - 1)
			thin(o);
		look(o);
	}
}

static long long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* The looking process. READY: told when the first row is there; STOP: closed when the last one is wanted. */
static void run(struct observer *o, int ready, int stop)
{
	long long started_ns;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(o->cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one)) {
		observe_note(o, "the observers cannot be kept on CPU %d: %s", o->cpu, strerror(errno));
		o->shared = true;
	}
	o->text = malloc(OBSERVE_TEXT_SIZE);
	if (!o->text)
		_exit(1);
	memset(o->text, 0, OBSERVE_TEXT_SIZE);
	FOR_EACH_SOURCE(i)
	sources[i]->open(o);
	o->stride = o->column_count + RESERVE;
	if (o->stride > COLUMNS)
		o->stride = COLUMNS;
	o->column_max = o->stride;
	memset(o->values, 0, o->row_max * o->stride * sizeof(*o->values));
	memset(o->time_ns, 0, o->row_max * sizeof(*o->time_ns));
	started_ns = cpu_ns();
	look(o);
	if (write(ready, "", 1) != 1)
		_exit(1);
	close(ready);
	look_on(o, stop);
	o->cost_ns = cpu_ns() - started_ns;
	o->done = true;
	_exit(0);
}

static struct observer *make(const struct observe_place *place, long duration_ms)
{
	size_t head = (sizeof(struct observer) + 63) & ~(size_t)63, columns, size, rows;
	struct observer *o;

	rows = (size_t)(duration_ms > 0 ? duration_ms : 0) / 1000 + 8;
	if (rows > ROWS)
		rows = ROWS;
	columns = COLUMNS * sizeof(*o->columns);
	size = head + columns + rows * (COLUMNS + 1) * sizeof(int64_t);
	o = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (o == MAP_FAILED)
		return NULL;
	o->place = *place;
	o->size = size;
	o->stop = -1;
	o->columns = (void *)((char *)o + head);
	o->column_max = COLUMNS - RESERVE;
	o->time_ns = (void *)((char *)o->columns + columns);
	o->values = o->time_ns + rows;
	o->row_max = rows;
	o->interval_ns = place->interval_ms ? place->interval_ms * 1000000LL : INTERVAL_NS;
	o->go_ns = now_ns();
	return o;
}

/* Waits until the first row is there. 0 or -errno. */
static int wait_ready(int ready)
{
	struct pollfd p = {.fd = ready, .events = POLLIN};
	char byte;
	int r;

	do
		r = poll(&p, 1, START_MS);
	while (r < 0 && errno == EINTR);
	if (r <= 0)
		return r ? -errno : -ETIMEDOUT;
	return read(ready, &byte, 1) == 1 ? 0 : -ECHILD;
}

static int start(struct observer *o)
{
	int ready[2] = {-1, -1}, stop[2] = {-1, -1}, r = 0;
	pid_t parent = getpid(), pid;

	if (pipe2(ready, O_CLOEXEC) || pipe2(stop, O_CLOEXEC))
		r = -errno;
	if (!r) {
		pid = fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			prctl(PR_SET_NAME, "observer");
			close(ready[0]);
			close(stop[1]);
			if (getppid() == parent)
				run(o, ready[1], stop[0]);
			_exit(1);
		}
		r = pid < 0 ? -errno : 0;
		/* In memory that both share. */
		o->pid = pid;
	}
	o->stop = stop[1];
	if (ready[1] >= 0)
		close(ready[1]);
	if (stop[0] >= 0)
		close(stop[0]);
	if (!r)
		r = wait_ready(ready[0]);
	if (ready[0] >= 0)
		close(ready[0]);
	return r;
}

struct observer *observer_start(const struct observe_place *place, long duration_ms, char *why, size_t size)
{
	struct observer *o = make(place, duration_ms);
	int r = o ? 0 : -ENOMEM;

	if (!r) {
		choose_cpu(o);
		r = start(o);
	}
	if (!r)
		return o;
	snprintf(why, size, "the observers could not be started: %s", strerror(-r));
	observer_free(o);
	return NULL;
}

void observer_begin(struct observer *o)
{
	if (o)
		o->begin_ns = now_ns() - o->go_ns;
}

void observer_stop(struct observer *o)
{
	long long deadline_ns = now_ns() + STOP_NS;

	if (!o || o->pid <= 0)
		return;
	if (o->stop >= 0)
		close(o->stop);
	o->stop = -1;
	while (!waitpid(o->pid, NULL, WNOHANG)) {
		if (now_ns() > deadline_ns) {
			kill(o->pid, SIGKILL);
			waitpid(o->pid, NULL, 0);
			break;
		}
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	if (!o->done)
		observe_note(o, "the observers ended before the sample did");
	o->pid = 0;
}

void observer_free(struct observer *o)
{
	if (!o)
		return;
	if (o->pid > 0) {
		kill(o->pid, SIGKILL);
		waitpid(o->pid, NULL, 0);
	}
	if (o->stop >= 0)
		close(o->stop);
	munmap(o, o->size);
}
