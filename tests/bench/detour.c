/* SPDX-License-Identifier: GPL-2.0-or-later
 * What is taken from a program that only spins: gaps between readings of the time stamp counter that are over
 * 20 times the shortest. Under QEMU's instruction-count clock, with one CPU, it repeats to three digits.
 * usage: detour SECONDS; prints one line, "detour share=PPM events_per_s=N longest_us=N". */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WARM_UP = 100000, TIMES = 20 };

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

int main(int argc, char **argv)
{
	double seconds = argc == 2 ? strtod(argv[1], NULL) : 0, hz;
	uint64_t least, begin, end, last, lost = 0, longest = 0, events = 0;

	if (seconds <= 0) {
		fprintf(stderr, "usage: detour SECONDS\n");
		return 1;
	}
	hz = rate();
	least = shortest_gap();
	begin = last = tsc();
	end = begin + (uint64_t)(seconds * hz);
	while (last < end) {
		uint64_t now = tsc(), gap = now - last;

		if (gap > TIMES * least) {
			lost += gap - least;
			longest = gap > longest ? gap : longest;
			events++;
		}
		last = now;
	}
	printf("detour share=%.0f events_per_s=%.1f longest_us=%.0f\n",
	       1e6 * (double)lost / (double)(last - begin), (double)events / seconds,
	       (double)longest / hz * 1e6);
	return 0;
}
