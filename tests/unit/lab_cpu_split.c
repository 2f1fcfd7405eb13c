/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which CPUs measure and which keep house, for the topologies that servers and virtual machines have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>

#include <cmocka.h>

#include "cpu_split.h"

static const struct {
	const char *what, *cores[9], *workload, *housekeeping, *measuring;
	bool alone, shares_core;
} topologies[] = {
    {"one CPU", {"0"}, NULL, "0", "0", true, false},
    {"two cores", {"0", "1"}, NULL, "0", "1", false, false},
    {"one core, two threads", {"0-1"}, NULL, "0", "1", false, true},
    {"siblings far apart (Intel)", {"0,4", "1,5", "2,6", "3,7"}, NULL, "0,4", "1-3,5-7", false, false},
    {"siblings side by side", {"0-1", "2-3", "4-5", "6-7"}, NULL, "0-1", "2-7", false, false},
    {"packages that alternate", {"0,8", "1,9", "2,10", "3,11"}, NULL, "0,8", "1-3,9-11", false, false},
    {"cores told in another order", {"3", "1", "0", "2"}, NULL, "0", "1-3", false, false},
    {"the boot CPU is offline", {"2,6", "3,7"}, NULL, "2,6", "3,7", false, false},
    {"a thread of the first core is offline", {"0", "1,5"}, NULL, "0", "1,5", false, false},
    {"four threads a core", {"0-3", "4-7"}, NULL, "0-3", "4-7", false, false},
    {"the workload is on the first core", {"0,4", "1,5", "2,6", "3,7"}, "0", "1,5", "0", false, false},
    {"the workload leaves the last core", {"0", "1", "2"}, "0-1", "2", "0-1", false, false},
    {"the workload leaves one thread", {"0-1", "2-3"}, "0-2", "3", "0-2", false, true},
    {"the workload is everywhere", {"0", "1"}, "0-1", "0-1", "0-1", true, false},
    {"the workload is on CPUs that are not there", {"0", "1"}, "7", "0", "1", false, false},
};

static void is_list(const char *what, const cpu_set_t *set, const char *list)
{
	char real[256];

	cpus_to_list(set, real, sizeof(real));
	if (strcmp(real, list))
		print_error("%s\n", what);
	assert_string_equal(real, list);
}

static void test_topologies(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(topologies) / sizeof(*topologies); i++) {
		cpu_set_t cores[9], workload;
		struct cpu_split split;
		size_t count = 0;

		for (; topologies[i].cores[count]; count++)
			assert_int_equal(cpus_from_list(topologies[i].cores[count], &cores[count]), 0);
		if (topologies[i].workload)
			assert_int_equal(cpus_from_list(topologies[i].workload, &workload), 0);
		cpu_split(cores, count, topologies[i].workload ? &workload : NULL, &split);
		is_list(topologies[i].what, &split.housekeeping, topologies[i].housekeeping);
		is_list(topologies[i].what, &split.measuring, topologies[i].measuring);
		assert_int_equal(split.alone, topologies[i].alone);
		assert_int_equal(split.shares_core, topologies[i].shares_core);
	}
}

/* Two packages of 32 cores with two threads, as a large server numbers them. */
static void test_large(void **state)
{
	char arguments[CPU_SPLIT_ARGUMENTS_SIZE];
	cpu_set_t cores[64];
	struct cpu_split split;

	(void)state;
	for (size_t i = 0; i < 64; i++) {
		CPU_ZERO(&cores[i]);
		CPU_SET(i, &cores[i]);
		CPU_SET(i + 64, &cores[i]);
	}
	cpu_split(cores, 64, NULL, &split);
	cpu_split_arguments(&split, arguments);
	assert_string_equal(arguments, "nohz_full=1-63,65-127 rcu_nocbs=1-63,65-127 "
	                               "isolcpus=managed_irq,domain,1-63,65-127 irqaffinity=0,64");
}

static int of_inventory(const char *json, struct cpu_split *split)
{
	json_t *cpus = json_loads(json, 0, NULL);
	int r;

	assert_non_null(cpus);
	r = cpu_split_inventory(cpus, NULL, split);
	json_decref(cpus);
	return r;
}

static void test_inventory(void **state)
{
	char arguments[CPU_SPLIT_ARGUMENTS_SIZE];
	struct cpu_split split;

	(void)state;
	assert_int_equal(of_inventory("{\"cores\": [{\"cpus\": \"0\"}, {\"cpus\": \"1\", \"package\": 1}]}",
	                              &split),
	                 0);
	cpu_split_arguments(&split, arguments);
	assert_string_equal(arguments, "nohz_full=1 rcu_nocbs=1 isolcpus=managed_irq,domain,1 irqaffinity=0");
	assert_int_equal(of_inventory("{\"cores\": [{\"cpus\": \"0\"}]}", &split), 0);
	cpu_split_arguments(&split, arguments);
	assert_string_equal(arguments, "");
	assert_int_equal(of_inventory("{}", &split), -ENOENT);
	cpu_split_arguments(&split, arguments);
	assert_string_equal(arguments, "");
	assert_int_equal(of_inventory("{\"cores\": []}", &split), -ENOENT);
	assert_int_equal(of_inventory("{\"cores\": [{\"cpus\": \"0-99999\"}]}", &split), -EINVAL);
	assert_int_equal(of_inventory("{\"cores\": [{\"cpus\": \"\"}, {\"cpus\": \"1\"}]}", &split), -EINVAL);
	assert_int_equal(of_inventory("{\"cores\": [1]}", &split), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_topologies),
	    cmocka_unit_test(test_large),
	    cmocka_unit_test(test_inventory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
