/* SPDX-License-Identifier: GPL-2.0-or-later
 * The noise certificate, with a thread that plays the kernel's tracer in a made-up tracefs. */
#include "evidence.h"
#include "factor.h"
#include "noise.h"
#include "tree.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static char sys[80], proc[80], tracing[80], trace_path[100], tracer_path[100];
static const struct observe_roots roots = {.sys = sys, .proc = proc};
static int cpu;                /* the one that this process may run on */
static const char *noise_text; /* what the tracer will say behind "[CPU] .....  1.5:" */
static atomic_bool over;

static void *kernel(void *unused)
{
	(void)unused;
	while (!over) {
		char tracer[32];

		poll(NULL, 0, 1);
		if (read_file(tracer_path, tracer, sizeof(tracer)) <= 0 || strcmp(tracer, "osnoise") != 0)
			continue;
		if (*noise_text)
			write_file(trace_path, "# tracer: osnoise\n osnoise/%d-9 [%03d] .....  1.5: %s\n",
			           cpu, cpu, noise_text);
	}
	return NULL;
}

static int setup(void **state)
{
	cpu_set_t cpus;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	for (cpu = 0; !CPU_ISSET(cpu, &cpus); cpu++)
		;
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	assert_int_equal(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
	snprintf(root, sizeof(root), "/tmp/assay-noise-XXXXXX");
	assert_non_null(mkdtemp(root));
	snprintf(sys, sizeof(sys), "%s/sys", root);
	snprintf(proc, sizeof(proc), "%s/proc", root);
	snprintf(tracing, sizeof(tracing), "%s/tracing", root);
	snprintf(trace_path, sizeof(trace_path), "%s/trace", tracing);
	snprintf(tracer_path, sizeof(tracer_path), "%s/current_tracer", tracing);
	put("tracing/current_tracer", "nop");
	put("tracing/tracing_on", "0");
	put("tracing/trace", "");
	put("tracing/osnoise/cpus", "0-1");
	put("tracing/osnoise/period_us", "1000000");
	put("tracing/osnoise/runtime_us", "1000000");
	put("proc/cpuinfo", "vendor_id : AuthenticAMD\n");
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

/* Counters as they are after MS ms. */
static void counters(int ms, int throttled)
{
	char text[256];

	snprintf(text, sizeof(text), "       CPU%d\nLOC:   %d   Local timer interrupts\n", cpu, ms / 4);
	put("proc/interrupts", text);
	snprintf(text, sizeof(text), "%d 0 9\n", ms * 1000);
	put("proc/33/schedstat", text);
	put("proc/7/schedstat", "5000000 0 9\n");
	snprintf(
	    text, sizeof(text),
	    "33 (kworker/1:1-ev) I 2 0 0 0 -1 2129984 0 0 0 0 0 4 0 0 20 0 1 0 33 0 0 1 0 0 0 0 0 0 0 2 0 0 "
	    "0 0 17 %d 0 0 0\n",
	    cpu);
	put("proc/33/stat", text);
	snprintf(text, sizeof(text), "sys/devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count",
	         cpu);
	put(text, throttled ? "8\n" : "7\n");
}

/* The certificate of a sample of STATE (its reference is taken), with NOISE in both windows. */
static json_t *certify(json_t *state, const char *said, int throttled, char fault[512])
{
	json_t *evidence = json_object();
	struct noise *noise = NULL;
	pthread_t thread;

	noise_text = said;
	over = false;
	assert_int_equal(pthread_create(&thread, NULL, kernel, NULL), 0);
	counters(1000, 0);
	assert_int_equal(noise_before(&roots, tracing, state, &noise, evidence), 0);
	counters(3000, throttled);
	assert_int_equal(noise_after(&roots, tracing, noise, evidence, fault, 512), 0);
	noise_free(noise);
	over = true;
	pthread_join(thread, NULL);
	json_decref(state);
	return evidence;
}

static void is_json(const json_t *got, json_t *wanted)
{
	if (!json_equal(got, wanted)) {
		char *text = json_dumps(got, JSON_ENCODE_ANY);

		fail_msg("%s", text ? text : "nothing");
	}
	json_decref(wanted);
}

static void test_certificate(void **state)
{
	json_t *evidence, *noise, *wanted;
	char fault[512], text[64];

	(void)state;
	evidence =
	    certify(json_pack("{s:i}", "noise.window", 20), "20000 37 99.81500 21 1 0 5 2 1", 0, fault);
	assert_string_equal(fault, "");
	noise = json_object_get(evidence, "noise");
	wanted = json_pack("[{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}]", "cpu", cpu, "runtime_us", 20000,
	                   "noise_us", 37, "longest_us", 21, "hw", 1, "nmi", 0, "irq", 5, "softirq", 2,
	                   "thread", 1);
	is_json(json_object_get(noise, "before"), json_incref(wanted));
	is_json(json_object_get(noise, "after"), wanted);
	is_json(json_object_get(json_object_get(noise, "during"), "cpus"),
	        json_pack("[{s:i, s:i, s:i}]", "cpu", cpu, "timer_interrupts", 500, "throttled", 0));
	is_json(json_object_get(json_object_get(noise, "during"), "threads"),
	        json_pack("[{s:s, s:b, s:i, s:i}]", "name", "kworker/1:1-ev/33", "kernel", 1, "cpu", cpu,
	                  "run_ns", 2000000));
	assert_null(json_object_get(evidence, "notes"));
	json_decref(evidence);
	/* It asked the kernel for what it says, and left its tracer as it was. */
	read_file(tracer_path, text, sizeof(text));
	assert_string_equal(text, "nop");
	assert_true(read_file_at(text, sizeof(text), "%s/osnoise/runtime_us", tracing) > 0);
	assert_string_equal(text, "20000");
	assert_true(read_file_at(text, sizeof(text), "%s/osnoise/cpus", tracing) > 0);
	assert_int_equal(strtol(text, NULL, 10), cpu);
}

static json_t *limited(int ppm)
{
	return json_pack("{s:i, s:i}", "noise.window", 20, "noise.limit", ppm);
}

static void test_limit(void **state)
{
	char fault[512];

	(void)state;
	/* 37 of 20000 us are 1850 ppm. */
	json_decref(certify(limited(1850), "20000 37 99.81500 21 1 0 5 2 1", 0, fault));
	assert_string_equal(fault, "");
	json_decref(certify(limited(1849), "20000 37 99.81500 21 1 0 5 2 1", 0, fault));
	assert_non_null(strstr(fault, "noise: 1850 ppm of CPU"));
	assert_non_null(strstr(fault, "the limit is 1849"));
	json_decref(certify(limited(1850), "20000 37 99.81500 21 1 0 5 2 1", 1, fault));
	assert_non_null(strstr(fault, "was throttled"));
}

static void test_unknown(void **state)
{
	json_t *evidence;
	char fault[512];

	(void)state;
	/* The tracer says nothing. */
	evidence = certify(json_pack("{s:i}", "noise.window", 20), "", 0, fault);
	assert_string_equal(fault, "");
	assert_non_null(json_object_get(json_object_get(evidence, "noise"), "unknown"));
	assert_null(json_object_get(json_object_get(evidence, "noise"), "before"));
	assert_int_equal(json_array_size(json_object_get(evidence, "notes")), 1);
	json_decref(evidence);
	/* Somebody else's tracer is left alone. */
	put("tracing/current_tracer", "function");
	evidence = certify(limited(1000000), "20000 37 99.81500 21 1 0 5 2 1", 0, fault);
	assert_non_null(strstr(fault, "the tracer function runs already"));
	json_decref(evidence);
	assert_true(read_file(tracer_path, fault, sizeof(fault)) > 0);
	assert_string_equal(fault, "function");
	put("tracing/current_tracer", "nop");
}

static void test_no_window(void **state)
{
	json_t *evidence;
	char fault[512];

	(void)state;
	evidence = certify(json_pack("{s:i}", "noise.window", 0), "20000 37 99.81500 21 1 0 5 2 1", 0, fault);
	assert_null(json_object_get(json_object_get(evidence, "noise"), "before"));
	assert_null(json_object_get(json_object_get(evidence, "noise"), "unknown"));
	assert_non_null(json_object_get(json_object_get(evidence, "noise"), "during"));
	json_decref(evidence);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_certificate),
	    cmocka_unit_test(test_limit),
	    cmocka_unit_test(test_unknown),
	    cmocka_unit_test(test_no_window),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
