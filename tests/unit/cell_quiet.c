/* SPDX-License-Identifier: GPL-2.0-or-later
 * What is kept off the measuring CPUs, on a made-up /proc and /sys and with made-up threads: moved, read
 * back, put back; and what a boot that was not isolated says of itself. */
#include "affinity.h"
#include "cell_sys.h"
#include "evidence.h"
#include "quiet.h"

#include <errno.h>

enum { WORKLOAD, KTHREADD, KSOFTIRQD, RCU, SHELL, THREADS };

/* The kernel's threads and the caller. */
static struct {
	pid_t pid;
	cpu_set_t cpus;
	bool bound;
} threads[THREADS];

static struct quiet quiet;
static struct knob_place place;

static cpu_set_t list(const char *text)
{
	cpu_set_t set;

	assert_int_equal(cpus_from_list(text, &set), 0);
	return set;
}

static int find(pid_t pid)
{
	for (int i = 0; i < THREADS; i++)
		if (threads[i].pid == pid)
			return i;
	return -1;
}

int affinity_get(pid_t pid, cpu_set_t *cpus)
{
	int i = find(pid);

	if (i < 0)
		return -ESRCH;
	*cpus = threads[i].cpus;
	return 0;
}

int affinity_set(pid_t pid, const cpu_set_t *cpus)
{
	int i = find(pid);

	if (i < 0)
		return -ESRCH;
	if (threads[i].bound)
		return -EINVAL;
	threads[i].cpus = *cpus;
	return 0;
}

static void runs_on(int i, const char *wanted)
{
	char real[64];

	cpus_to_list(&threads[i].cpus, real, sizeof(real));
	assert_string_equal(real, wanted);
}

static void has(const char *name, const char *text)
{
	char real[256];

	assert_true(read_file_at(real, sizeof(real), "%s/%s", root, name) >= 0);
	assert_string_equal(real, text);
}

static void thread(int i, pid_t pid, const char *cpus, bool bound, const char *stat)
{
	char name[64];

	threads[i].pid = pid;
	threads[i].cpus = list(cpus);
	threads[i].bound = bound;
	snprintf(name, sizeof(name), "proc/%d/stat", (int)pid);
	if (pid)
		put(name, stat);
}

/* Four CPUs, CPU 0 and 2 of one core. */
static void make_cpus(void)
{
	static const char *const siblings[] = {"0,2\n", "1,3\n", "0,2\n", "1,3\n"};
	char name[96];

	put("sys/devices/system/cpu/online", "0-3\n");
	for (int cpu = 0; cpu < 4; cpu++) {
		snprintf(name, sizeof(name), "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
		         cpu);
		put(name, siblings[cpu]);
	}
}

static int prepare(void **state)
{
	int r = set_up(state);

	make_cpus();
	put("sys/devices/system/cpu/isolated", "\n");
	put("sys/devices/system/cpu/nohz_full", "(null)\n");
	put("sys/devices/virtual/workqueue/cpumask", "f\n");
	put("proc/sys/kernel/watchdog_cpumask", "0-3\n");
	put("proc/sys/vm/stat_interval", "1\n");
	/* A disk's controller, the management NIC, a storage NIC, something else; one that cannot be moved.
	 */
	put("sys/bus/pci/devices/0000:00:05.0/class", "0x010802\n");
	put("sys/bus/pci/devices/0000:00:05.0/msi_irqs/30", "msix\n");
	put("sys/bus/pci/devices/0000:00:06.0/class", "0x020000\n");
	put("sys/bus/pci/devices/0000:00:06.0/msi_irqs/31", "msix\n");
	put("sys/class/net/eth9/uevent", "");
	assert_int_equal(symlink("../../../bus/pci/devices/0000:00:06.0",
	                         strcat(strcpy((char[160]){0}, root), "/sys/class/net/eth9/device")),
	                 0);
	put("sys/bus/pci/devices/0000:00:07.0/class", "0x020000\n");
	put("sys/bus/pci/devices/0000:00:07.0/irq", "32\n");
	for (int irq = 30; irq < 34; irq++) {
		char name[64];

		snprintf(name, sizeof(name), "proc/irq/%d/smp_affinity", irq);
		put(name, "f\n");
	}
	thread(WORKLOAD, 0, "0-3", false, NULL);
	thread(KTHREADD, 2, "0-3", false, "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0\n");
	thread(KSOFTIRQD, 12, "1", true, "12 (ksoftirqd/1) S 2 0 0 0 -1 69238848 0 0\n");
	thread(RCU, 14, "0-3", false, "14 (a) b (rcu) I 2 0 0 0 -1 2129984 0 0\n");
	thread(SHELL, 99, "0-3", false, "99 (sh) S 1 99 99 0 -1 4194304 0 0\n");
	place = (struct knob_place){.sys = sys, .proc = proc};
	return r;
}

static json_t *in_force(const json_t *state)
{
	json_t *levels = json_object();

	assert_int_equal(quiet_in_force(&quiet, root, &place, state, levels), 0);
	return levels;
}

static void test_default(void **unused)
{
	json_t *state = json_object(), *evidence = json_object(), *said;

	(void)unused;
	assert_int_equal(quiet_apply(&quiet, root, "eth9", state), 0);
	assert_int_equal(quiet_place_workload(&quiet, state), 0);
	runs_on(KTHREADD, "0,2");
	runs_on(RCU, "0,2");
	runs_on(KSOFTIRQD, "1");
	runs_on(SHELL, "0-3");
	runs_on(WORKLOAD, "0-3");
	has("proc/sys/kernel/watchdog_cpumask", "0,2");
	has("sys/devices/virtual/workqueue/cpumask", "f");
	has("proc/irq/30/smp_affinity", "f");
	has("proc/irq/31/smp_affinity", "5");
	has("proc/irq/32/smp_affinity", "f");
	has("proc/irq/33/smp_affinity", "5");
	assert_int_equal(quiet_evidence(&quiet, root, evidence), 0);
	said = json_object_get(evidence, "quiet");
	assert_string_equal(json_string_value(json_object_get(said, "level")), "default");
	assert_string_equal(json_string_value(json_object_get(said, "housekeeping")), "0,2");
	assert_string_equal(json_string_value(json_object_get(said, "measuring")), "1,3");
	assert_string_equal(json_string_value(json_object_get(said, "nohz_full")), "");
	assert_string_equal(json_string_value(json_object_get(said, "watchdogs")), "0,2");
	assert_int_equal(json_integer_value(json_object_get(said, "threads_moved")), 2);
	assert_int_equal(json_integer_value(json_object_get(said, "interrupts_moved")), 2);
	assert_null(json_object_get(evidence, "notes"));
	quiet_restore(&quiet);
	runs_on(KTHREADD, "0-3");
	runs_on(RCU, "0-3");
	has("proc/sys/kernel/watchdog_cpumask", "0-3");
	has("proc/irq/31/smp_affinity", "f");
	json_decref(evidence);
	json_decref(state);
}

static void test_on(void **unused)
{
	json_t *state = json_pack("{s:s}", "cpu.quiet", "on"), *levels;

	(void)unused;
	assert_int_equal(quiet_apply(&quiet, root, "eth9", state), 0);
	assert_int_equal(quiet_place_workload(&quiet, state), 0);
	has("sys/devices/virtual/workqueue/cpumask", "5");
	runs_on(WORKLOAD, "1,3");
	levels = in_force(state);
	assert_true(json_equal(levels, state));
	json_decref(levels);
	/* Each thing that is not as asked is told. */
	has("proc/sys/vm/stat_interval", "120");
	put("proc/sys/vm/stat_interval", "1\n");
	levels = in_force(state);
	assert_string_equal(json_string_value(json_object_get(levels, "cpu.quiet")),
	                    "on, but vm.stat_interval is 1");
	json_decref(levels);
	put("sys/devices/virtual/workqueue/cpumask", "f\n");
	levels = in_force(state);
	assert_string_equal(json_string_value(json_object_get(levels, "cpu.quiet")),
	                    "on, but unbound workqueues are on CPUs of mask f");
	json_decref(levels);
	put("proc/sys/kernel/watchdog_cpumask", "0-3\n");
	levels = in_force(state);
	assert_string_equal(json_string_value(json_object_get(levels, "cpu.quiet")),
	                    "on, but lockup watchdogs are on CPUs 0-3");
	json_decref(levels);
	threads[RCU].cpus = list("0-3");
	levels = in_force(state);
	assert_string_equal(json_string_value(json_object_get(levels, "cpu.quiet")),
	                    "on, but kernel thread 14 is elsewhere again");
	json_decref(levels);
	quiet_restore(&quiet);
	has("sys/devices/virtual/workqueue/cpumask", "f");
	has("proc/sys/vm/stat_interval", "1");
	runs_on(WORKLOAD, "0-3");
	runs_on(KTHREADD, "0-3");
	json_decref(state);
}

/* It keeps house elsewhere, and leaves the workload where the plan wants it. */
static void test_workload(void **unused)
{
	json_t *state = json_pack("{s:s, s:i}", "cpu.quiet", "on", "cpu.workload", 4), *levels;

	(void)unused;
	threads[WORKLOAD].cpus = list("2");
	assert_int_equal(quiet_apply(&quiet, root, "eth9", state), 0);
	assert_int_equal(quiet_place_workload(&quiet, state), 0);
	runs_on(WORKLOAD, "2");
	runs_on(RCU, "1,3");
	has("sys/devices/virtual/workqueue/cpumask", "a");
	levels = in_force(state);
	assert_string_equal(json_string_value(json_object_get(levels, "cpu.quiet")), "on");
	json_decref(levels);
	quiet_restore(&quiet);
	json_decref(state);
}

static void test_off(void **unused)
{
	json_t *state = json_pack("{s:s}", "cpu.quiet", "off"), *levels;

	(void)unused;
	assert_int_equal(quiet_apply(&quiet, root, "eth9", state), 0);
	assert_int_equal(quiet_place_workload(&quiet, state), 0);
	runs_on(KTHREADD, "0-3");
	has("proc/irq/33/smp_affinity", "f");
	levels = in_force(state);
	assert_true(json_equal(levels, state));
	json_decref(levels);
	quiet_restore(&quiet);
	json_decref(state);
}

static void test_isolated(void **unused)
{
	json_t *state = json_pack("{s:s}", "boot.isolate", "on"), *levels;

	(void)unused;
	assert_int_equal(quiet_apply(&quiet, root, "eth9", state), 0);
	assert_int_equal(quiet_place_workload(&quiet, state), 0);
	runs_on(WORKLOAD, "1,3");
	levels = in_force(state);
	assert_string_equal(json_string_value(json_object_get(levels, "boot.isolate")),
	                    "on, but isolated is \"\", not \"1,3\"");
	json_decref(levels);
	put("sys/devices/system/cpu/isolated", "1,3,5-7\n");
	levels = in_force(state);
	assert_string_equal(json_string_value(json_object_get(levels, "boot.isolate")),
	                    "on, but nohz_full is \"(null)\", not \"1,3\"");
	json_decref(levels);
	put("sys/devices/system/cpu/nohz_full", "1,3,5-7\n");
	levels = in_force(state);
	assert_true(json_equal(levels, state));
	json_decref(levels);
	quiet_restore(&quiet);
	json_decref(state);
}

/* There is nothing to keep off: it is in force as far as it goes, and the evidence says so. */
static void test_one_cpu(void **unused)
{
	json_t *state = json_pack("{s:s, s:s}", "cpu.quiet", "on", "boot.isolate", "on"), *levels;
	json_t *evidence = json_object();

	(void)unused;
	put("sys/devices/system/cpu/online", "0\n");
	put("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0\n");
	assert_int_equal(quiet_apply(&quiet, root, "eth9", state), 0);
	assert_int_equal(quiet_place_workload(&quiet, state), 0);
	runs_on(KTHREADD, "0-3");
	levels = in_force(state);
	assert_true(json_equal(levels, state));
	json_decref(levels);
	assert_int_equal(quiet_evidence(&quiet, root, evidence), 0);
	assert_string_equal(json_string_value(json_array_get(json_object_get(evidence, "notes"), 0)),
	                    "this node has one CPU: nothing can be kept off what measures");
	assert_string_equal(json_string_value(
	                        json_object_get(json_object_get(evidence, "quiet"), "housekeeping")),
	                    "");
	quiet_restore(&quiet);
	json_decref(evidence);
	json_decref(state);
}

static void put_idle_states(int count)
{
	char name[96];

	for (int i = 0; i < 4 * count; i++) {
		snprintf(name, sizeof(name), "sys/devices/system/cpu/cpu%d/cpuidle/state%d/disable",
		         i / count, i % count);
		put(name, "0\n");
	}
}

/* Frequency and idle states are held by it where the plan does not say, and where there are any. */
static void test_held(void **unused)
{
	json_t *state = json_pack("{s:s}", "cpu.quiet", "on"), *levels;
	struct knob_changes changes = {0};
	struct failure why;

	(void)unused;
	assert_int_equal(knob_apply(&changes, &place, state, KNOB_FIRST, &why), 0);
	assert_int_equal(changes.count, 0);
	put_idle_states(3);
	put("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "schedutil\n");
	assert_int_equal(knob_apply(&changes, &place, state, KNOB_FIRST, &why), 0);
	has("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance");
	has("sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "0");
	has("sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "1");
	assert_int_equal(quiet_apply(&quiet, root, "eth9", state), 0);
	levels = in_force(state);
	assert_true(json_equal(levels, state));
	json_decref(levels);
	put("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave\n");
	levels = in_force(state);
	assert_string_equal(json_string_value(json_object_get(levels, "cpu.quiet")),
	                    "on, but cpu.governor is powersave");
	json_decref(levels);
	/* One that the plan names is its own factor. */
	json_object_set_new(state, "cpu.governor", json_string("powersave"));
	levels = in_force(state);
	assert_string_equal(json_string_value(json_object_get(levels, "cpu.quiet")), "on");
	json_decref(levels);
	quiet_restore(&quiet);
	knob_restore(&changes, &place);
	has("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "schedutil");
	has("sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "0");
	json_decref(state);
}

/* A machine that has but polling and one idle state is within what is asked. */
static void test_shallow(void **unused)
{
	json_t *state = json_pack("{s:s}", "cpu.quiet", "on");
	struct knob_changes changes = {0};
	struct failure why;

	(void)unused;
	put_idle_states(1);
	assert_int_equal(knob_apply(&changes, &place, state, KNOB_FIRST, &why), 0);
	assert_int_equal(changes.count, 0);
	json_decref(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_default, prepare, tear_down),
	    cmocka_unit_test_setup_teardown(test_on, prepare, tear_down),
	    cmocka_unit_test_setup_teardown(test_workload, prepare, tear_down),
	    cmocka_unit_test_setup_teardown(test_off, prepare, tear_down),
	    cmocka_unit_test_setup_teardown(test_isolated, prepare, tear_down),
	    cmocka_unit_test_setup_teardown(test_one_cpu, prepare, tear_down),
	    cmocka_unit_test_setup_teardown(test_held, prepare, tear_down),
	    cmocka_unit_test_setup_teardown(test_shallow, prepare, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
