/* SPDX-License-Identifier: GPL-2.0-or-later
 * Observers: the looking process from start to result, on this machine's own /proc; and what was at its
 * limit. */
#include "observe_source.h"

#include "file.h"
#include "series.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

static void burn(long long ns)
{
	struct timespec t;
	long long until_ns;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	until_ns = t.tv_sec * 1000000000LL + t.tv_nsec + ns;
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while (t.tv_sec * 1000000000LL + t.tv_nsec < until_ns);
}

static struct series *seen(struct observer *o)
{
	json_t *evidence = json_object();
	struct series *s;

	observer_stop(o);
	observer_stop(o);
	assert_int_equal(observer_json(o, evidence), 0);
	assert_int_equal(series_load(json_object_get(evidence, "series"), &s), 0);
	assert_true(json_is_array(json_object_get(evidence, "hot")));
	json_decref(evidence);
	return s;
}

static void test_process(void **state)
{
	const struct observe_place place = {.sys = "/sys", .proc = "/proc", .worker = getpid()};
	const struct series_column *c = NULL;
	char why[160];
	struct observer *o = observer_start(&place, 60000, why, sizeof(why));
	struct series *s;
	size_t cpus = 0;

	(void)state;
	assert_non_null(o);
	observer_begin(o);
	burn(300000000);
	s = seen(o);
	assert_true(s->rows >= 2);
	assert_true(s->begin_ns > 0 && s->begin_ns < s->time_ns[s->rows - 1]);
	assert_true(s->cost_ns > 0);
	assert_true(s->cost_ns < 300000000);
	for (size_t row = 1; row < s->rows; row++)
		assert_true(s->time_ns[row] > s->time_ns[row - 1]);
	for (size_t i = 0; i < s->column_count; i++) {
		char self[64];

		snprintf(self, sizeof(self), "observe_process/%d", (int)getpid());
		cpus += !strcmp(s->columns[i].source, "cpu") && !strcmp(s->columns[i].field, "user_ns");
		if (!strcmp(s->columns[i].source, "thread") && !strncmp(s->columns[i].object, self, 12))
			c = &s->columns[i];
		for (size_t row = 1; !s->columns[i].gauge && row < s->rows; row++)
			assert_true(s->columns[i].values[row] >= s->columns[i].values[row - 1]);
	}
	assert_true(cpus >= 1);
	assert_non_null(c);
	/* In ticks of 10 ms. */
	assert_true(c->values[s->rows - 1] >= 250000000);
	series_free(s);
	observer_free(o);
}

/* More looks than there is room for: every other row goes, the first and the last stay. */
static void test_thinned(void **state)
{
	const struct observe_place place = {.sys = "/nowhere",
	                                    .proc = "/proc",
	                                    .worker = getpid(),
	                                    .interval_ms = 5};
	char why[160];
	struct observer *o = observer_start(&place, 0, why, sizeof(why));
	long long until_ns = now_ns() + 10000000000LL;
	struct series *s;

	(void)state;
	assert_non_null(o);
	while (o->interval_ns < 40000000 && now_ns() < until_ns)
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	s = seen(o);
	assert_true(s->interval_ns >= 40000000);
	assert_true(s->rows >= 3 && s->rows <= 8);
	assert_true(s->time_ns[0] < 5000000000);
	for (size_t row = 1; row < s->rows; row++)
		assert_true(s->time_ns[row] > s->time_ns[row - 1]);
	series_free(s);
	observer_free(o);
}

/* Nothing of what is looked at is there: still rows of time, and it is said. */
static void test_nothing_there(void **state)
{
	const struct observe_place place = {.sys = "/nowhere",
	                                    .proc = "/nowhere",
	                                    .disk = "vda",
	                                    .drbd = true,
	                                    .drbd_port = 7788,
	                                    .worker = getpid()};
	char why[160];
	struct observer *o = observer_start(&place, 1000, why, sizeof(why));
	json_t *evidence = json_object(), *notes;

	(void)state;
	assert_non_null(o);
	observer_stop(o);
	assert_int_equal(observer_json(o, evidence), 0);
	notes = json_object_get(json_object_get(evidence, "series"), "notes");
	assert_true(json_array_size(notes) >= 2);
	assert_int_equal(json_array_size(json_object_get(evidence, "hot")), 0);
	json_decref(evidence);
	observer_free(o);
}

/* A looking process that is gone is told, and what it saw until then stays. */
static void test_killed(void **state)
{
	const struct observe_place place = {.sys = "/sys", .proc = "/proc", .worker = getpid()};
	char why[160];
	struct observer *o = observer_start(&place, 1000, why, sizeof(why));
	json_t *evidence = json_object();

	(void)state;
	assert_non_null(o);
	kill(o->pid, SIGKILL);
	observer_stop(o);
	assert_int_equal(observer_json(o, evidence), 0);
	assert_string_equal(json_string_value(
	                        json_array_get(json_object_get(json_object_get(evidence, "series"), "notes"),
	                                       0)),
	                    "the observers ended before the sample did");
	json_decref(evidence);
	observer_free(o);
}

enum { ROWS = 11, FIELDS = 6, COLUMNS = 1 + FIELDS };

static struct observe_column columns[COLUMNS];
static int64_t time_ns[ROWS], values[ROWS * COLUMNS];

/* A kernel thread and a CPU, a row a second; the thread takes PER_MILLE of each second from FROM to TO, the
 * CPU as much, half of it in softirqs, and waits for I/O in all of the rest. */
static struct observer hot_observer(int from, int to, int per_mille)
{
	static const char *const names[FIELDS] = {"user_ns", "system_ns",  "iowait_ns",
	                                          "irq_ns",  "softirq_ns", "steal_ns"};
	struct observer o = {.columns = columns,
	                     .column_count = COLUMNS,
	                     .time_ns = time_ns,
	                     .values = values,
	                     .stride = COLUMNS,
	                     .rows = ROWS};

	memset(values, 0, sizeof(values));
	columns[0] = (struct observe_column){.source = "thread",
	                                     .object = "drbd_r_assay/77",
	                                     .field = "cpu_ns",
	                                     .kernel = true};
	for (size_t i = 0; i < FIELDS; i++) {
		columns[1 + i] = (struct observe_column){.source = "cpu", .object = "cpu1"};
		snprintf(columns[1 + i].field, sizeof(columns[1 + i].field), "%s", names[i]);
	}
	for (int row = 1; row < ROWS; row++) {
		int64_t *now = values + row * COLUMNS,
		        ns = row > from && row <= to ? per_mille * 1000000LL : 0;

		memcpy(now, now - COLUMNS, COLUMNS * sizeof(*now));
		time_ns[row] = row * 1000000000LL;
		now[0] += ns;
		now[2] += ns / 2;
		now[5] += ns / 2;
		now[3] += 1000000000 - ns;
	}
	return o;
}

static void test_hot(void **state)
{
	struct observer o = hot_observer(2, 8, 980);
	json_t *hot = observe_hot(&o);
	const json_t *thread = json_array_get(hot, 0), *cpu = json_array_get(hot, 1);

	(void)state;
	assert_int_equal(json_array_size(hot), 2);
	assert_string_equal(json_string_value(json_object_get(thread, "name")), "drbd_r_assay/77");
	assert_true(json_is_true(json_object_get(thread, "kernel")));
	assert_true(json_number_value(json_object_get(thread, "busy_percent")) == 98);
	assert_int_equal(json_integer_value(json_object_get(thread, "window_ns")), 3000000000);
	assert_int_equal(json_integer_value(json_object_get(thread, "at_limit_ns")), 6000000000);
	assert_string_equal(json_string_value(json_object_get(cpu, "what")), "cpu");
	assert_string_equal(json_string_value(json_object_get(cpu, "name")), "cpu1");
	assert_true(json_number_value(json_object_get(cpu, "busy_percent")) == 98);
	json_decref(hot);
}

static void test_not_hot(void **state)
{
	struct observer o = hot_observer(0, 10, 940);
	json_t *hot = observe_hot(&o);

	(void)state;
	/* Nearly, all the time */
	assert_int_equal(json_array_size(hot), 0);
	json_decref(hot);
	/* A second alone is no window. */
	o = hot_observer(4, 5, 1000);
	hot = observe_hot(&o);
	assert_int_equal(json_array_size(hot), 0);
	json_decref(hot);
	/* The whole of a short sample is. */
	o = hot_observer(0, 1, 1000);
	o.rows = 2;
	hot = observe_hot(&o);
	assert_int_equal(json_array_size(hot), 2);
	json_decref(hot);
	time_ns[1] = 400000000;
	hot = observe_hot(&o);
	assert_int_equal(json_array_size(hot), 0);
	json_decref(hot);
}

/* A result must fit the upload: rows are left out until it does, but not the last. */
static void test_large(void **state)
{
	enum { MANY = 600, LONG = 3601 };
	struct observer o = {.column_count = MANY, .stride = MANY, .rows = LONG, .interval_ns = 1000000000};
	json_t *evidence = json_object();
	uint64_t random = 1;
	struct series *s;

	(void)state;
	o.columns = calloc(MANY, sizeof(*o.columns));
	o.time_ns = calloc(LONG, sizeof(*o.time_ns));
	o.values = calloc((size_t)LONG * MANY, sizeof(*o.values));
	for (size_t c = 0; c < MANY; c++) {
		strcpy(o.columns[c].source, "irq");
		snprintf(o.columns[c].object, sizeof(o.columns[c].object), "%zu", c);
		strcpy(o.columns[c].field, "interrupts");
	}
	for (size_t row = 1; row < LONG; row++) {
		o.time_ns[row] = (int64_t)row * 1000000000;
		for (size_t c = 0; c < MANY; c++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			o.values[row * MANY + c] = o.values[(row - 1) * MANY + c] + (int64_t)(random >> 44);
		}
	}
	assert_int_equal(observer_json(&o, evidence), 0);
	assert_true(json_string_length(json_object_get(json_object_get(evidence, "series"), "data")) <
	            1400000);
	assert_int_equal(series_load(json_object_get(evidence, "series"), &s), 0);
	assert_int_equal(s->column_count, MANY);
	assert_int_equal(s->interval_ns, 16000000000);
	assert_int_equal(s->rows, 226);
	assert_int_equal(s->time_ns[s->rows - 1], 3600000000000);
	for (size_t c = 0; c < MANY; c += 99)
		assert_int_equal(
		    series_find(s, "irq", o.columns[c].object, "interrupts")->values[s->rows - 1],
		    o.values[(LONG - 1) * MANY + c]);
	series_free(s);
	json_decref(evidence);
	free(o.columns);
	free(o.time_ns);
	free(o.values);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_process), cmocka_unit_test(test_thinned),
	    cmocka_unit_test(test_large),   cmocka_unit_test(test_nothing_there),
	    cmocka_unit_test(test_killed),  cmocka_unit_test(test_hot),
	    cmocka_unit_test(test_not_hot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
