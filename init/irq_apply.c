/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "irq_apply.h"

#include "console.h"
#include "factor.h"
#include "file.h"
#include "irq_balance.h"
#include "cpus.h"
#include "irq_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct irq_roots irq_roots_real = {.sys = "/sys", .proc = "/proc"};

/* One file that a cell wants to say something. */
struct wish {
	enum factor_id factor;
	const char *nic;
	char path[320];
	cpu_set_t cpus;
};

/* What is done with each: irq_apply() writes, irq_in_force() compares. A -errno ends it. */
typedef int each_wish(void *ctx, const struct wish *wish);

struct walk {
	const struct irq_roots *roots;
	const json_t *state;
	cpu_set_t online;
	each_wish *each;
	void *ctx;
};

static const char *level_of(const struct walk *w, enum factor_id id)
{
	return json_object_get(w->state, factors[id].name) ? factor_string(w->state, id) : NULL;
}

static void read_online(struct walk *w)
{
	char text[4096];

	read_file_at(text, sizeof(text), "%s/devices/system/cpu/online", w->roots->sys);
	if (cpus_from_list(text, &w->online))
		CPU_ZERO(&w->online);
}

/* The CPUs near NIC that are online; all where the machine does not say. */
static void local_cpus(const struct walk *w, const char *nic, cpu_set_t *set)
{
	char text[4096];

	if (read_file_at(text, sizeof(text), "%s/class/net/%s/device/local_cpulist", w->roots->sys, nic) <=
	        0 ||
	    cpus_from_list(text, set))
		*set = w->online;
	CPU_AND(set, set, &w->online);
	if (!CPU_COUNT(set))
		*set = w->online;
}

static void only(cpu_set_t *set, int cpu)
{
	CPU_ZERO(set);
	if (cpu >= 0)
		CPU_SET((size_t)cpu, set);
}

static void given_mask(const struct walk *w, cpu_set_t *set)
{
	long long mask = factor_integer(w->state, FACTOR_IRQ_MASK);

	CPU_ZERO(set);
	for (size_t cpu = 0; cpu < 63; cpu++)
		if (mask & 1LL << cpu)
			CPU_SET(cpu, set);
}

static bool all_online(const struct walk *w)
{
	cpu_set_t given, common;

	given_mask(w, &given);
	CPU_AND(&common, &given, &w->online);
	return CPU_EQUAL(&common, &given);
}

/* Where INDEX, the count of the queue interrupts before this one, leads to. False: it is left alone. */
static bool place(const struct walk *w, const struct irq *irq, size_t index, const cpu_set_t *local,
                  cpu_set_t *to)
{
	const char *level = level_of(w, FACTOR_IRQ_AFFINITY);

	if (!level) {
		given_mask(w, to);
		return true;
	}
	if (!strcmp(level, "one-cpu")) {
		only(to, cpus_nth(&w->online, 0));
		return true;
	}
	only(to, cpus_nth(!strcmp(level, "spread") ? &w->online : local, index));
	return irq->queue;
}

static int walk_irqs(struct walk *w, const char *nic)
{
	struct wish wish = {.nic = nic,
	                    .factor =
	                        level_of(w, FACTOR_IRQ_AFFINITY) ? FACTOR_IRQ_AFFINITY : FACTOR_IRQ_MASK};
	struct irq irqs[IRQS_MAX];
	size_t n = irq_list(w->roots->sys, nic, irqs), queue = 0;
	cpu_set_t local;
	int r = n ? 0 : -ENOENT;

	local_cpus(w, nic, &local);
	snprintf(wish.path, sizeof(wish.path), "%s/class/net/%s/device/msi_irqs", w->roots->sys, nic);
	if (r)
		return w->each(w->ctx, &wish);
	for (size_t i = 0; i < n && !r; i++) {
		bool wanted = place(w, &irqs[i], queue, &local, &wish.cpus);

		queue += irqs[i].queue;
		snprintf(wish.path, sizeof(wish.path), "%s/irq/%u/smp_affinity", w->roots->proc,
		         irqs[i].number);
		if (wanted)
			r = w->each(w->ctx, &wish);
	}
	return r;
}

/* xps_cpus of every transmit queue, rps_cpus of every receive queue. */
static int walk_queues(struct walk *w, const char *nic, enum factor_id factor, const char *direction)
{
	const char *level = level_of(w, factor);
	struct wish wish = {.nic = nic, .factor = factor};
	int r = 0;

	for (size_t queue = 0; level && !r; queue++) {
		char text[1024];

		snprintf(wish.path, sizeof(wish.path), "%s/class/net/%s/queues/%s-%zu/%s_cpus", w->roots->sys,
		         nic, direction, queue, factor == FACTOR_NIC_XPS ? "xps" : "rps");
		r = read_file(wish.path, text, sizeof(text));
		/* The first queue is there, or the kernel cannot do it. */
		if (r < 0 && queue)
			return 0;
		if (!strcmp(level, "all"))
			wish.cpus = w->online;
		else
			only(&wish.cpus, strcmp(level, "off") != 0 ? cpus_nth(&w->online, queue) : -1);
		r = w->each(w->ctx, &wish);
	}
	return r;
}

static bool balanced(const json_t *state)
{
	return !strcmp(factor_string(state, FACTOR_IRQ_AFFINITY), "irqbalance");
}

static int walk(struct walk *w, const struct net_nics *nics, size_t used)
{
	bool irqs = (json_object_get(w->state, factors[FACTOR_IRQ_AFFINITY].name) && !balanced(w->state)) ||
	            json_object_get(w->state, factors[FACTOR_IRQ_MASK].name);
	int r = 0;

	read_online(w);
	for (size_t i = 0; i < used && !r; i++) {
		if (irqs)
			r = walk_irqs(w, nics->name[i]);
		if (!r)
			r = walk_queues(w, nics->name[i], FACTOR_NIC_XPS, "tx");
		if (!r)
			r = walk_queues(w, nics->name[i], FACTOR_NIC_RPS, "rx");
	}
	return r;
}

struct setting {
	struct irq_changes *changes;
	struct failure *why;
};

static int write_wish(void *ctx, const struct wish *wish)
{
	struct setting *s = ctx;
	char old[1024], text[1024], list[256];
	int r = read_file(wish->path, old, sizeof(old));

	cpus_to_mask(&wish->cpus, text, sizeof(text));
	cpus_to_list(&wish->cpus, list, sizeof(list));
	if (r >= 0) {
		json_array_append_new(s->changes->changed, json_pack("[s, s]", wish->path, old));
		r = write_file(wish->path, "%s\n", text);
	}
	if (r >= 0)
		return 0;
	return fail(s->why, r, failure_refusal(r), "irq", wish->nic,
	            "Plan CPUs that the node has, and a NIC whose driver lets its interrupts be moved.",
	            "Storage NIC %s refuses %s: CPUs \"%s\" to %s", wish->nic, factors[wish->factor].name,
	            list, wish->path);
}

int irq_apply(struct irq_changes *changes, const struct irq_roots *roots, const struct net_nics *nics,
              size_t used, const json_t *state, struct failure *why)
{
	struct setting s = {.changes = changes, .why = why};
	struct walk w = {.roots = roots, .state = state, .each = write_wish, .ctx = &s};
	int r;

	if (level_of(&w, FACTOR_IRQ_AFFINITY) && json_object_get(state, factors[FACTOR_IRQ_MASK].name))
		return fail(why, -EINVAL, FAILURE_CELL, "irq", "irq.mask", "Plan one of them.",
		            "irq.affinity and irq.mask exclude each other");
	if (!changes->changed)
		changes->changed = json_array();
	read_online(&w);
	if (json_object_get(state, factors[FACTOR_IRQ_MASK].name) && !all_online(&w))
		return fail(why, -EINVAL, FAILURE_UNSUPPORTED, "irq", "irq.mask",
		            "Plan CPUs that every node has.", "irq.mask=%lld names CPUs that are not online",
		            factor_integer(state, FACTOR_IRQ_MASK));
	if (!changes->changed)
		return fail(why, -ENOMEM, FAILURE_SAMPLE, "irq", "", "", "Out of memory");
	r = walk(&w, nics, used);
	return r || !balanced(state) ? r : irq_balance_start(changes, roots, why);
}

/* The first difference of each factor, "" for none. */
struct reading {
	char difference[FACTOR_COUNT][512];
};

static int read_wish(void *ctx, const struct wish *wish)
{
	char *difference = ((struct reading *)ctx)->difference[wish->factor], text[1024], list[96];
	cpu_set_t real;

	if (*difference)
		return 0;
	if (read_file(wish->path, text, sizeof(text)) <= 0 || cpus_from_mask(text, &real)) {
		snprintf(difference, 512, "%s: %.300s cannot be read", wish->nic, wish->path);
		return 0;
	}
	if (CPU_EQUAL(&real, &wish->cpus))
		return 0;
	cpus_to_list(&real, list, sizeof(list));
	snprintf(difference, 512, "%s: %.300s says CPUs \"%s\"", wish->nic, wish->path, list);
	return 0;
}

int irq_in_force(const struct irq_roots *roots, const struct net_nics *nics, size_t used, const json_t *state,
                 json_t *in_force)
{
	static const enum factor_id all[] = {FACTOR_IRQ_AFFINITY, FACTOR_IRQ_MASK, FACTOR_NIC_XPS,
	                                     FACTOR_NIC_RPS};
	struct reading *reading = calloc(1, sizeof(*reading));
	struct walk w = {.roots = roots, .state = state, .each = read_wish, .ctx = reading};
	int r = reading ? walk(&w, nics, used) : -ENOMEM;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all) && !r; i++) {
		json_t *level = json_object_get(state, factors[all[i]].name);

		if (!level)
			continue;
		if (*reading->difference[all[i]])
			r = json_object_set_new(in_force, factors[all[i]].name,
			                        json_string(reading->difference[all[i]]));
		else
			r = json_object_set(in_force, factors[all[i]].name, level);
	}
	free(reading);
	return r ? -ENOMEM : 0;
}

void irq_restore(struct irq_changes *changes)
{
	irq_balance_stop(changes);
	/* The first note of a file is what it said before any change. */
	for (size_t i = json_array_size(changes->changed); i--;) {
		const char *path = json_string_value(json_array_get(json_array_get(changes->changed, i), 0));
		const char *old = json_string_value(json_array_get(json_array_get(changes->changed, i), 1));
		char now[1024];
		int r = 0;

		/* Some cannot be written at all, and nobody did. */
		if (read_file(path, now, sizeof(now)) < 0 || strcmp(now, old) != 0)
			r = write_file(path, "%s\n", old);
		if (r)
			say("%s cannot be put back to %s: %s", path, old, strerror(-r));
	}
	json_decref(changes->changed);
	changes->changed = NULL;
}
