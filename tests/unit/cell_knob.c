/* SPDX-License-Identifier: GPL-2.0-or-later
 * sysctl, block and cpu settings against a made-up /proc and /sys: applied, read back, put back. */
#include "cell_sys.h"
#include "boot_arguments.h"
#include "knob.h"

#include <errno.h>
#include <sched.h>

static struct knob_place place;
static struct knob_changes changes;

static int prepare(void **state)
{
	int r = set_up(state);

	put("proc/sys/net/core/rmem_max", "212992\n");
	put("proc/sys/net/core/wmem_max", "212992\n");
	put("proc/sys/net/core/netdev_max_backlog", "1000\n");
	put("proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
	put("proc/sys/net/ipv4/tcp_wmem", "4096\t16384\t4194304\n");
	put("proc/sys/net/ipv4/tcp_sack", "1\n");
	put("proc/sys/net/ipv4/tcp_timestamps", "1\n");
	put("sys/block/vda/queue/read_ahead_kb", "128\n");
	put("sys/block/vda/queue/write_cache", "write back\n");
	put("sys/block/vda/queue/scheduler", "[none] mq-deadline kyber\n");
	put("sys/devices/system/cpu/cpu0/cpuidle/state0/disable", "0\n");
	put("sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "0\n");
	put("sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "0\n");
	put("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "schedutil\n");
	place = (struct knob_place){.sys = sys, .proc = proc, .disk = "vda", .layer[STACK_DRBD] = "drbd0"};
	changes = (struct knob_changes){0};
	return r;
}

static void has(const char *name, const char *text)
{
	char real[256];

	assert_true(read_file_at(real, sizeof(real), "%s/%s", root, name) >= 0);
	assert_string_equal(real, text);
}

static void test_set(void **unused)
{
	json_t *state = json_pack("{s:s, s:i}", "sysctl.set", "20mb-buffers", "sysctl.net.ipv4.tcp_sack", 1);
	json_t *in_force = json_object();
	struct failure why;

	(void)unused;
	assert_int_equal(knob_apply(&changes, &place, state, KNOB_FIRST, &why), 0);
	has("proc/sys/net/core/rmem_max", "20971520");
	has("proc/sys/net/ipv4/tcp_wmem", "2097152 20971520 20971520");
	has("proc/sys/net/ipv4/tcp_sack", "1");
	has("proc/sys/net/ipv4/tcp_timestamps", "0");
	assert_int_equal(knob_in_force(&place, state, in_force), 0);
	assert_true(json_equal(in_force, state));
	put("proc/sys/net/core/wmem_max", "5000");
	assert_int_equal(knob_in_force(&place, state, in_force), 0);
	assert_string_equal(json_string_value(json_object_get(in_force, "sysctl.set")),
	                    "20mb-buffers, but sysctl.net.core.wmem_max is 5000");
	knob_restore(&changes, &place);
	has("proc/sys/net/core/rmem_max", "212992");
	has("proc/sys/net/core/wmem_max", "212992");
	has("proc/sys/net/ipv4/tcp_rmem", "4096 131072 6291456");
	has("proc/sys/net/ipv4/tcp_timestamps", "1");
	json_decref(in_force);
	json_decref(state);
}

/* Pages make 727 sectors 720, and 728 a page more. */
static void test_read_ahead(void **unused)
{
	json_t *state = json_pack("{s:i}", "block.disk.read-ahead", 727), *in_force = json_object(),
	       *settings;
	struct failure why;

	(void)unused;
	assert_int_equal(knob_apply(&changes, &place, state, KNOB_FIRST, &why), 0);
	has("sys/block/vda/queue/read_ahead_kb", "363");
	put("sys/block/vda/queue/read_ahead_kb", "360");
	assert_int_equal(knob_in_force(&place, state, in_force), 0);
	assert_int_equal(json_integer_value(json_object_get(in_force, "block.disk.read-ahead")), 727);
	settings = knob_settings(&place);
	assert_int_equal(json_integer_value(json_object_get(settings, "block.disk.read-ahead")), 720);
	json_decref(settings);
	put("sys/block/vda/queue/read_ahead_kb", "364");
	assert_int_equal(knob_in_force(&place, state, in_force), 0);
	assert_int_equal(json_integer_value(json_object_get(in_force, "block.disk.read-ahead")), 728);
	knob_restore(&changes, &place);
	has("sys/block/vda/queue/read_ahead_kb", "128");
	json_decref(in_force);
	json_decref(state);
}

static void test_words(void **unused)
{
	json_t *state = json_pack("{s:s, s:s, s:i}", "block.disk.write-cache", "write-through",
	                          "cpu.governor", "performance", "cpu.max-cstate", 1);
	json_t *in_force = json_object();
	struct failure why;

	(void)unused;
	assert_int_equal(knob_apply(&changes, &place, state, KNOB_FIRST, &why), 0);
	has("sys/block/vda/queue/write_cache", "write through");
	has("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance");
	has("sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "0");
	has("sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "1");
	assert_int_equal(knob_in_force(&place, state, in_force), 0);
	assert_true(json_equal(in_force, state));
	knob_restore(&changes, &place);
	has("sys/block/vda/queue/write_cache", "write back");
	has("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "schedutil");
	has("sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "0");
	json_decref(in_force);
	json_decref(state);
}

/* What the virtual lab's CPUs have nothing for (tests/boot/proven): two levels of each, as they were found
 * and as asked. */
static void test_cpus(void **unused)
{
	static const struct {
		const char *file, *name, *found, *asked;
	} levels[] = {
	    {"sys/devices/system/cpu/smt/control", "cpu.smt", "on", "off"},
	    {"sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "cpu.governor", "schedutil",
	     "powersave"},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		json_t *state = json_pack("{s:s}", levels[i].name, levels[i].asked);
		json_t *in_force = json_object(), *settings;
		struct failure why;

		put(levels[i].file, levels[i].found);
		settings = knob_settings(&place);
		assert_string_equal(json_string_value(json_object_get(settings, levels[i].name)),
		                    levels[i].found);
		json_decref(settings);
		assert_int_equal(knob_apply(&changes, &place, state, KNOB_FIRST, &why), 0);
		has(levels[i].file, levels[i].asked);
		assert_int_equal(knob_in_force(&place, state, in_force), 0);
		assert_true(json_equal(in_force, state));
		/* A kernel that goes back on it is found out. */
		put(levels[i].file, levels[i].found);
		assert_int_equal(knob_in_force(&place, state, in_force), 0);
		assert_string_equal(json_string_value(json_object_get(in_force, levels[i].name)),
		                    levels[i].found);
		put(levels[i].file, levels[i].asked);
		knob_restore(&changes, &place);
		has(levels[i].file, levels[i].found);
		json_decref(in_force);
		json_decref(state);
	}
}

static void refuses(json_t *state, int wanted, const char *message)
{
	struct failure why;

	assert_int_equal(knob_apply(&changes, &place, state, KNOB_FIRST, &why), wanted);
	assert_int_equal(why.scope, FAILURE_UNSUPPORTED);
	assert_string_equal(why.step, "unsupported");
	assert_string_equal(why.message, message);
	knob_restore(&changes, &place);
	json_decref(state);
}

static void test_unsupported(void **unused)
{
	(void)unused;
	refuses(json_pack("{s:i}", "cpu.max-cstate", 7), -EINVAL,
	        "This node does not take cpu.max-cstate=7 (it has 2)");
	refuses(json_pack("{s:s}", "cpu.smt", "off"), -ENOENT, "This node does not take cpu.smt=off");
	refuses(json_pack("{s:i}", "block.disk.nr-requests", 64), -ENOENT,
	        "This node does not take block.disk.nr-requests=64");
}

static void test_workload(void **unused)
{
	json_t *state, *in_force = json_object();
	struct failure why;
	cpu_set_t before, after;
	int first = 0;

	(void)unused;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	while (!CPU_ISSET(first, &before))
		first++;
	state = json_pack("{s:I}", "cpu.workload", (json_int_t)1 << first);
	assert_int_equal(knob_apply(&changes, &place, state, KNOB_FIRST, &why), 0);
	assert_int_equal(changes.count, 0);
	assert_int_equal(knob_apply(&changes, &place, state, KNOB_LAST, &why), 0);
	assert_int_equal(knob_in_force(&place, state, in_force), 0);
	assert_true(json_equal(in_force, state));
	knob_restore(&changes, &place);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
	json_decref(in_force);
	json_decref(state);
}

static void test_boot_arguments(void **unused)
{
	json_t *state = json_pack("{s:s}", "boot.cmdline", "maxcpus=1 nosmp"), *in_force = json_object();

	(void)unused;
	put("proc/cmdline", "quiet maxcpus=1 a.nosmp nosmp=2\n");
	assert_int_equal(boot_arguments_in_force(state, proc, in_force), 0);
	assert_string_equal(json_string_value(json_object_get(in_force, "boot.cmdline")),
	                    "booted without nosmp");
	put("proc/cmdline", "quiet nosmp panic=1 maxcpus=1\n");
	assert_int_equal(boot_arguments_in_force(state, proc, in_force), 0);
	assert_true(json_equal(state, in_force));
	json_decref(in_force);
	json_decref(state);
}

static void test_boot_kernel(void **unused)
{
	json_t *state = json_pack("{s:s}", "boot.kernel", "debian"), *in_force = json_object();
	char folder[128];

	(void)unused;
	put("layers/kernel-debian/layer.json",
	    "{\"name\": \"kernel-debian\", \"release\": \"6.1.0-57-amd64\"}\n");
	snprintf(folder, sizeof(folder), "%s/layers", root);
	assert_int_equal(boot_kernel_in_force(state, folder, "6.1.0-57-amd64", in_force), 0);
	assert_true(json_equal(state, in_force));
	assert_int_equal(boot_kernel_in_force(state, folder, "6.1.192-assay", in_force), 0);
	assert_string_equal(json_string_value(json_object_get(in_force, "boot.kernel")),
	                    "booted 6.1.192-assay");
	assert_int_equal(boot_kernel_in_force(state, "/nowhere", "6.1.0-57-amd64", in_force), 0);
	assert_string_equal(json_string_value(json_object_get(in_force, "boot.kernel")),
	                    "booted 6.1.0-57-amd64");
	json_decref(in_force);
	json_decref(state);
}

/* block.read-ahead is of the highest device: put back where that is the disk, gone with it where it is not,
 * and nothing where it is the other node's. */
static void test_top(void **unused)
{
	static const struct {
		const char *top, *then;
	} tops[] = {{"vda", "128"}, {"drbd0", "256"}, {"", "128"}};
	json_t *state = json_pack("{s:i}", "block.read-ahead", 512);

	(void)unused;
	for (size_t i = 0; i < sizeof(tops) / sizeof(*tops); i++) {
		struct knob_changes changes = {0};
		json_t *in_force = json_object();
		struct failure why;
		char text[32], path[160];

		put("sys/block/vda/queue/read_ahead_kb", "128\n");
		put("sys/block/drbd0/queue/read_ahead_kb", "128\n");
		snprintf(place.top, sizeof(place.top), "%s", tops[i].top);
		assert_int_equal(knob_apply(&changes, &place, state, KNOB_FIRST, &why), 0);
		assert_int_equal(knob_apply(&changes, &place, state, KNOB_LAST, &why), 0);
		assert_int_equal(knob_in_force(&place, state, in_force), 0);
		assert_true(json_equal(state, in_force));
		knob_restore(&changes, &place);
		snprintf(path, sizeof(path), "%s/block/%s/queue/read_ahead_kb", sys,
		         *tops[i].top ? tops[i].top : "vda");
		assert_true(read_file(path, text, sizeof(text)) > 0);
		assert_string_equal(text, tops[i].then);
		json_decref(in_force);
	}
	json_decref(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_set, prepare, tear_down),
	    cmocka_unit_test_setup_teardown(test_read_ahead, prepare, tear_down),
	    cmocka_unit_test_setup_teardown(test_words, prepare, tear_down),
	    cmocka_unit_test_setup_teardown(test_cpus, prepare, tear_down),
	    cmocka_unit_test_setup_teardown(test_unsupported, prepare, tear_down),
	    cmocka_unit_test_setup_teardown(test_workload, prepare, tear_down),
	    cmocka_unit_test_setup_teardown(test_boot_arguments, prepare, tear_down),
	    cmocka_unit_test_setup_teardown(test_boot_kernel, prepare, tear_down),
	    cmocka_unit_test_setup_teardown(test_top, prepare, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
