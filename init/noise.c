/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "noise.h"

#include "evidence.h"
#include "factor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WINDOW_MS 250 /* where the plan says nothing */

struct noise {
	cpu_set_t cpus;
	long window_ms;
	long long limit_ppm; /* -1: none */
	bool has_before;
	char why[256]; /* no window could be taken */
	struct noise_window window_before, window_after;
	struct noise_count before, after;
};

static long long asked(const json_t *state, enum factor_id id, long long otherwise)
{
	const json_t *level = json_object_get(state, factors[id].name);

	return json_is_integer(level) ? (long long)json_integer_value(level) : otherwise;
}

int noise_in_force(const json_t *state, json_t *in_force)
{
	static const enum factor_id ids[] = {FACTOR_NOISE_WINDOW, FACTOR_NOISE_LIMIT};
	int r = 0;

	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		json_t *level = json_object_get(state, factors[ids[i]].name);

		if (level)
			r |= json_object_set(in_force, factors[ids[i]].name, level);
	}
	return r ? -ENOMEM : 0;
}

void noise_free(struct noise *noise)
{
	free(noise);
}

int noise_before(const struct observe_roots *roots, const char *tracing, const json_t *state,
                 struct noise **noise, json_t *evidence)
{
	struct noise *n = calloc(1, sizeof(*n));
	int r = 0;

	noise_free(*noise);
	*noise = n;
	if (!n)
		return -ENOMEM;
	n->window_ms = (long)asked(state, FACTOR_NOISE_WINDOW, WINDOW_MS);
	n->limit_ppm = asked(state, FACTOR_NOISE_LIMIT, -1);
	if (sched_getaffinity(0, sizeof(n->cpus), &n->cpus))
		return -errno;
	if (n->window_ms) {
		r = noise_trace(tracing, &n->cpus, n->window_ms, &n->window_before, n->why, sizeof(n->why));
		n->has_before = !r;
	}
	if (r) {
		char note[320];

		snprintf(note, sizeof(note), "Noise is not known: %s", n->why);
		r = evidence_note(evidence, note);
	}
	noise_count(roots, &n->cpus, &n->before);
	return r;
}

static json_t *window_json(const struct noise_window *window)
{
	json_t *array = json_array();

	for (size_t i = 0; i < window->count; i++) {
		const struct noise_cpu *c = &window->cpus[i];

		json_array_append_new(array,
		                      json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "cpu",
		                                (int)c->cpu, "runtime_us", (json_int_t)c->runtime_us,
		                                "noise_us", (json_int_t)c->noise_us, "longest_us",
		                                (json_int_t)c->longest_us, "hw", (json_int_t)c->hw, "nmi",
		                                (json_int_t)c->nmi, "irq", (json_int_t)c->irq, "softirq",
		                                (json_int_t)c->softirq, "thread", (json_int_t)c->thread));
	}
	return array;
}

/* The first CPU from which more than the limit was taken. */
static void window_fault(const struct noise_window *window, const char *when, long long limit_ppm, char *buf,
                         size_t size)
{
	for (size_t i = 0; i < window->count && !buf[0]; i++) {
		const struct noise_cpu *c = &window->cpus[i];
		double ppm = 1e6 * (double)c->noise_us / (double)c->runtime_us;

		if (ppm > (double)limit_ppm)
			snprintf(buf, size,
			         "noise: %.0f ppm of CPU %u were taken %s the sample, the limit is %lld "
			         "(longest %lld us; irq %lld, softirq %lld, thread %lld, nmi %lld, hw %lld)",
			         ppm, c->cpu, when, limit_ppm, (long long)c->longest_us, (long long)c->irq,
			         (long long)c->softirq, (long long)c->thread, (long long)c->nmi,
			         (long long)c->hw);
	}
}

static void find_fault(const struct noise *n, char *fault, size_t size)
{
	int cpu = noise_throttled(&n->cpus, &n->before, &n->after);

	fault[0] = '\0';
	if (n->limit_ppm < 0)
		return;
	/* Who set a limit wants to know that it was kept. */
	if (n->why[0])
		snprintf(fault, size, "noise: it is not known, and there is a limit: %s", n->why);
	window_fault(&n->window_before, "before", n->limit_ppm, fault, size);
	window_fault(&n->window_after, "after", n->limit_ppm, fault, size);
	if (!fault[0] && cpu >= 0)
		snprintf(fault, size, "noise: CPU %d was throttled for its temperature", cpu);
}

int noise_after(const struct observe_roots *roots, const char *tracing, struct noise *n, json_t *evidence,
                char *fault, size_t fault_size)
{
	json_t *json;
	int r = 0;

	fault[0] = '\0';
	if (!n)
		return 0;
	noise_count(roots, &n->cpus, &n->after);
	json = json_pack("{s:I, s:o}", "window_ms", (json_int_t)n->window_ms, "during",
	                 noise_count_json(roots, &n->cpus, &n->before, &n->after, getpid()));
	if (!json)
		return -ENOMEM;
	if (n->has_before)
		r = noise_trace(tracing, &n->cpus, n->window_ms, &n->window_after, n->why, sizeof(n->why));
	if (n->limit_ppm >= 0)
		json_object_set_new(json, "limit_ppm", json_integer(n->limit_ppm));
	if (n->why[0])
		json_object_set_new(json, "unknown", json_text(n->why));
	if (n->has_before)
		json_object_set_new(json, "before", window_json(&n->window_before));
	if (n->has_before && !r)
		json_object_set_new(json, "after", window_json(&n->window_after));
	find_fault(n, fault, fault_size);
	return json_object_set_new(evidence, "noise", json) ? -ENOMEM : 0;
}
