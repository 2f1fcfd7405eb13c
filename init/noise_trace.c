/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "noise_trace.h"

#include "file.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACE_LIMIT (1 << 20)
#define LATE_MS     2000 /* beyond the window, until its line is there */
#define LOOK_MS     5

void noise_cpu_list(const cpu_set_t *cpus, char *buf, size_t size)
{
	size_t used = 0;

	*buf = '\0';
	for (int cpu = 0; cpu < NOISE_CPUS_MAX && used < size; cpu++)
		if (CPU_ISSET(cpu, cpus))
			used += (size_t)snprintf(buf + used, size - used, "%s%d", used ? "," : "", cpu);
}

static int set(const char *tracing, const char *file, const char *value, char *why, size_t why_size)
{
	char path[256];
	int r;

	snprintf(path, sizeof(path), "%s/%s", tracing, file);
	r = write_file(path, "%s", value);
	if (r)
		snprintf(why, why_size, "%s does not take \"%s\": %s", path, value, strerror(-r));
	return r;
}

/* The first line of each of CPUS; later ones are of a window that the end cuts. */
static void take(const char *text, const cpu_set_t *cpus, struct noise_window *window)
{
	struct noise_cpu one;
	cpu_set_t wanted = *cpus;

	window->count = 0;
	while (window->count < NOISE_CPUS_MAX && noise_osnoise(&text, &one)) {
		if (one.cpu >= NOISE_CPUS_MAX || !CPU_ISSET(one.cpu, &wanted))
			continue;
		CPU_CLR(one.cpu, &wanted);
		window->cpus[window->count++] = one;
	}
}

static int wait_for(const char *tracing, const cpu_set_t *cpus, long window_ms, struct noise_window *window,
                    char *why, size_t why_size)
{
	long long until_ns = now_ns() + (window_ms + LATE_MS) * 1000000LL;
	size_t wanted = 0;
	char path[256];
	int wait_ms = (int)window_ms, r = 0;

	for (int cpu = 0; cpu < NOISE_CPUS_MAX; cpu++)
		wanted += CPU_ISSET(cpu, cpus) ? 1 : 0;
	snprintf(path, sizeof(path), "%s/trace", tracing);
	window->count = 0;
	while (!r && window->count < wanted && now_ns() < until_ns) {
		char *text;

		poll(NULL, 0, wait_ms);
		wait_ms = LOOK_MS;
		r = read_file_alloc(path, TRACE_LIMIT, &text, NULL);
		if (r)
			break;
		take(text, cpus, window);
		free(text);
	}
	if (r) {
		snprintf(why, why_size, "%s cannot be read: %s", path, strerror(-r));
	} else if (window->count < wanted) {
		r = -ETIMEDOUT;
		snprintf(why, why_size, "the osnoise tracer said nothing of %zu of %zu CPUs",
		         wanted - window->count, wanted);
	}
	return r;
}

/* The period is never to be less than the time of it that the tracer holds the CPU; both are the window. */
static int configure(const char *tracing, const cpu_set_t *cpus, long window_ms, char *why, size_t why_size)
{
	char list[NOISE_CPUS_MAX * 4], window_us[24];
	const struct {
		const char *file, *value;
	} settings[] = {
	    {"osnoise/cpus", list},
	    {"osnoise/runtime_us", "1"},
	    {"osnoise/period_us", window_us},
	    {"osnoise/runtime_us", window_us},
	    {"trace", ""},
	    {"tracing_on", "1"},
	    {"current_tracer", "osnoise"},
	};
	int r = 0;

	noise_cpu_list(cpus, list, sizeof(list));
	snprintf(window_us, sizeof(window_us), "%ld", window_ms * 1000);
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings) && !r; i++)
		r = set(tracing, settings[i].file, settings[i].value, why, why_size);
	return r;
}

int noise_trace(const char *tracing, const cpu_set_t *cpus, long window_ms, struct noise_window *window,
                char *why, size_t why_size)
{
	char current[64], ignored[8];
	int r = read_file_at(current, sizeof(current), "%s/current_tracer", tracing);

	window->count = 0;
	if (r < 0) {
		snprintf(why, why_size, "this kernel's tracers cannot be reached in %s: %s", tracing,
		         strerror(-r));
		return r;
	}
	if (strcmp(current, "nop") != 0) {
		snprintf(why, why_size, "the tracer %s runs already", current);
		return -EBUSY;
	}
	r = configure(tracing, cpus, window_ms, why, why_size);
	if (!r)
		r = wait_for(tracing, cpus, window_ms, window, why, why_size);
	set(tracing, "current_tracer", "nop", ignored, sizeof(ignored));
	set(tracing, "trace", "", ignored, sizeof(ignored));
	return r;
}
