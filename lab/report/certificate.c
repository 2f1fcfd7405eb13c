/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "certificate.h"

static long long integer(const json_t *object, const char *name)
{
	return (long long)json_integer_value(json_object_get(object, name));
}

static void raise_to(double *worst, double value)
{
	if (value > *worst)
		*worst = value;
}

static void add_window(struct certificate *w, const json_t *window)
{
	const json_t *cpu;
	size_t i;

	w->windows += json_array_size(window) > 0;
	json_array_foreach (window, i, cpu) {
		double us = (double)integer(cpu, "runtime_us");

		if (us <= 0)
			continue;
		raise_to(&w->share_ppm, 1e6 * (double)integer(cpu, "noise_us") / us);
		raise_to(&w->irq_per_s, 1e6 * (double)integer(cpu, "irq") / us);
		raise_to(&w->softirq_per_s, 1e6 * (double)integer(cpu, "softirq") / us);
		raise_to(&w->thread_per_s, 1e6 * (double)integer(cpu, "thread") / us);
		if (integer(cpu, "longest_us") > w->longest_us)
			w->longest_us = integer(cpu, "longest_us");
	}
}

static void add_during(struct certificate *w, const json_t *during)
{
	double seconds = (double)integer(during, "ns") / 1e9;
	const json_t *cpu;
	size_t i;

	json_array_foreach (json_object_get(during, "cpus"), i, cpu) {
		if (seconds > 0)
			raise_to(&w->timer_per_s, (double)integer(cpu, "timer_interrupts") / seconds);
		w->smi += integer(cpu, "smi");
		w->throttled += integer(cpu, "throttled");
	}
}

void certificate_add(struct certificate *worst, const json_t *noise)
{
	worst->samples++;
	add_window(worst, json_object_get(noise, "before"));
	add_window(worst, json_object_get(noise, "after"));
	add_during(worst, json_object_get(noise, "during"));
}

void certificate_merge(struct certificate *worst, const struct certificate *other)
{
	worst->samples += other->samples;
	worst->windows += other->windows;
	raise_to(&worst->share_ppm, other->share_ppm);
	raise_to(&worst->timer_per_s, other->timer_per_s);
	raise_to(&worst->irq_per_s, other->irq_per_s);
	raise_to(&worst->softirq_per_s, other->softirq_per_s);
	raise_to(&worst->thread_per_s, other->thread_per_s);
	if (other->longest_us > worst->longest_us)
		worst->longest_us = other->longest_us;
	worst->smi += other->smi;
	worst->throttled += other->throttled;
}
