/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe_source.h"

#include <stdio.h>
#include <string.h>

/* A window is as many rows as it takes to be this long; a sample that is shorter is one window. */
#define WINDOW_NS    3000000000LL
/* Below, ticks are too coarse. */
#define LEAST_NS     500000000LL
#define LIMIT_SHARES 0.95

struct hot {
	double busiest; /* share of a CPU in the busiest window */
	long long window_ns, at_limit_ns;
};

/* How busy row ROW found it: COUNT columns from FIRST on, without SKIP (-1: none). */
static long long busy_ns(const struct observer *o, size_t row, size_t first, size_t count, int skip)
{
	long long sum = 0;

	for (size_t i = 0; i < count; i++)
		if ((int)i != skip)
			sum += o->values[row * o->stride + first + i];
	return sum;
}

static struct hot measure(const struct observer *o, size_t first, size_t count, int skip)
{
	long long whole_ns = o->time_ns[o->rows - 1] - o->time_ns[0], until_ns = 0;
	struct hot hot = {0};

	for (size_t from = 0, to = 1; to < o->rows; to++) {
		long long window_ns;
		double share;

		while (o->time_ns[to] - o->time_ns[from + 1] >= WINDOW_NS && from + 1 < to)
			from++;
		window_ns = o->time_ns[to] - o->time_ns[from];
		if (window_ns < LEAST_NS || (window_ns < WINDOW_NS && window_ns < whole_ns))
			continue;
		share = (double)(busy_ns(o, to, first, count, skip) - busy_ns(o, from, first, count, skip)) /
		        (double)window_ns;
		if (share > hot.busiest) {
			hot.busiest = share;
			hot.window_ns = window_ns;
		}
		if (share < LIMIT_SHARES)
			continue;
		/* Windows overlap. */
		hot.at_limit_ns +=
		    o->time_ns[to] - (o->time_ns[from] > until_ns ? o->time_ns[from] : until_ns);
		until_ns = o->time_ns[to];
	}
	return hot;
}

static void add(json_t *list, const struct observe_column *c, bool thread, const struct hot *hot)
{
	json_t *one;

	if (hot->busiest < LIMIT_SHARES)
		return;
	one = json_pack("{s:s, s:s, s:f, s:I, s:I}", "what", thread ? "thread" : "cpu", "name", c->object,
	                "busy_percent", (double)(long long)(hot->busiest * 1000 + 0.5) / 10, "window_ns",
	                (json_int_t)hot->window_ns, "at_limit_ns", (json_int_t)hot->at_limit_ns);
	if (thread)
		json_object_set_new(one, "kernel", json_boolean(c->kernel));
	json_array_append_new(list, one);
}

json_t *observe_hot(const struct observer *o)
{
	json_t *list = json_array();

	for (size_t i = 0; i < o->column_count;) {
		const struct observe_column *c = &o->columns[i];
		bool thread = !strcmp(c->source, "thread");
		struct hot hot;
		size_t count = 1;
		int skip = -1;

		/* All fields of a CPU but what it only waited. */
		while (!strcmp(c->source, "cpu") && i + count < o->column_count &&
		       !strcmp(c[count].source, "cpu") && !strcmp(c[count].object, c->object))
			count++;
		for (size_t k = 0; k < count; k++)
			if (!strcmp(c[k].field, "iowait_ns"))
				skip = (int)k;
		if (thread || !strcmp(c->source, "cpu")) {
			hot = measure(o, i, count, skip);
			add(list, c, thread, &hot);
		}
		i += count;
	}
	return list;
}
