/* SPDX-License-Identifier: GPL-2.0-or-later
 * What is taken from a program that only spins on one CPU: gaps between readings of the time stamp counter
 * that are over 20 times the shortest; the interrupts of that CPU as /proc/interrupts counts them; and how
 * often another thread took it (involuntary context switches). Under QEMU's instruction-count clock, with one
 * CPU, the gaps repeat to three digits. usage: detour SECONDS [CPU]; prints one line: "detour share=PPM
 * events_per_s=N longest_us=N timer=N interrupts=N threads=N", the last three counted over all the seconds.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { WARM_UP = 100000, TIMES = 20, LINE_BYTES = 16384 };

struct gaps {
	uint64_t lost, longest, events, spun; /* in ticks of the counter, and how many */
};

struct counts {
	long long timer, interrupts, threads;
};

static uint64_t tsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Ticks of the counter in a second, by a fifth of one. */
static double rate(void)
{
	double begin = seconds_now(), end;
	uint64_t first = tsc();

	do
		end = seconds_now();
	while (end - begin < 0.2);
	return (double)(tsc() - first) / (end - begin);
}

static uint64_t shortest_gap(void)
{
	uint64_t least = UINT64_MAX, last = tsc();

	for (int i = 0; i < WARM_UP; i++) {
		uint64_t now = tsc();

		least = now - last < least ? now - last : least;
		last = now;
	}
	return least ? least : 1;
}

static struct gaps spin(uint64_t ticks)
{
	uint64_t least = shortest_gap(), begin = tsc(), last = begin;
	struct gaps g = {0};

	while (last - begin < ticks) {
		uint64_t now = tsc(), gap = now - last;

		if (gap > TIMES * least) {
			g.lost += gap - least;
			g.longest = gap > g.longest ? gap : g.longest;
			g.events++;
		}
		last = now;
	}
	g.spun = last - begin;
	return g;
}

/* The count of CPU in a line of /proc/interrupts, behind its "NAME:"; 0 where it has fewer columns (ERR,
 * MIS). */
static long long column(char *line, int cpu)
{
	char *at = strchr(line, ':'), *end;
	long long value = 0;

	if (!at)
		return 0;
	at++;
	for (int i = 0; i <= cpu; i++, at = end) {
		value = strtoll(at, &end, 10);
		if (end == at)
			return 0;
	}
	return value;
}

static int count(int cpu, struct counts *c)
{
	static char line[LINE_BYTES];
	FILE *in = fopen("/proc/interrupts", "r");
	struct rusage usage;

	*c = (struct counts){0};
	if (!in)
		return -1;
	while (fgets(line, sizeof(line), in)) {
		const char *name = line + strspn(line, " ");

		c->interrupts += column(line, cpu);
		if (!strncmp(name, "LOC:", 4))
			c->timer = column(line, cpu);
	}
	fclose(in);
	if (getrusage(RUSAGE_SELF, &usage))
		return -1;
	c->threads = usage.ru_nivcsw;
	return 0;
}

int main(int argc, char **argv)
{
	double seconds = argc >= 2 ? strtod(argv[1], NULL) : 0, hz;
	int cpu = argc >= 3 ? atoi(argv[2]) : 0;
	struct counts before, after;
	struct gaps g;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	if (seconds <= 0 || cpu < 0 || argc > 3) {
		fprintf(stderr, "usage: detour SECONDS [CPU]\n");
		return 1;
	}
	if (sched_setaffinity(0, sizeof(one), &one)) {
		perror("detour: sched_setaffinity");
		return 1;
	}
	hz = rate();
	if (count(cpu, &before))
		return 1;
	g = spin((uint64_t)(seconds * hz));
	if (count(cpu, &after))
		return 1;
	printf(
	    "detour share=%.0f events_per_s=%.1f longest_us=%.0f timer=%lld interrupts=%lld threads=%lld\n",
	    1e6 * (double)g.lost / (double)g.spun, (double)g.events / seconds, (double)g.longest / hz * 1e6,
	    after.timer - before.timer, after.interrupts - before.interrupts, after.threads - before.threads);
	return 0;
}
