/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the kernel says of noise, with texts as it wrote them. */
#include "noise_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char trace[] =
    "# tracer: osnoise\n"
    "#\n"
    "#                                _-----=> irqs-off\n"
    "#                               / _----=> need-resched\n"
    "#                              | / _---=> hardirq/softirq\n"
    "#                              || / _--=> preempt-depth     \n"
    "#                              ||| / _-=> migrate-disable                                       "
    "            MAX\n"
    "#                              |||| /     delay                                               "
    "           SINGLE      Interference counters:\n"
    "#                              |||||               RUNTIME      NOISE  %% OF CPU  NOISE    "
    "+-----------------------------+\n"
    "#           TASK-PID      CPU# |||||   TIMESTAMP    IN US       IN US  AVAILABLE  IN US     HW    "
    "NMI    IRQ   SIRQ THREAD\n"
    "#              | |         |   |||||      |           |             |    |            |      |      "
    "|      |      |      |\n"
    "           <...>-859     [000] .....    81.637220: 1000000        190  99.98100       9     18      "
    "0   1007     18      1\n"
    "       osnoise/1-860     [001] .....    81.638154: 1000000        656  99.93440      74     23      "
    "0   1006     16      3\n"
    "  a [7] b: [x]-861     [012] .....    81.638154: 250000          0 100.00000       0      0      "
    "0      0      0      0\n";

static void test_osnoise(void **state)
{
	const char *text = trace;
	struct noise_cpu c;

	(void)state;
	assert_true(noise_osnoise(&text, &c));
	assert_int_equal(c.cpu, 0);
	assert_int_equal(c.runtime_us, 1000000);
	assert_int_equal(c.noise_us, 190);
	assert_int_equal(c.longest_us, 9);
	assert_int_equal(c.hw, 18);
	assert_int_equal(c.nmi, 0);
	assert_int_equal(c.irq, 1007);
	assert_int_equal(c.softirq, 18);
	assert_int_equal(c.thread, 1);
	assert_true(noise_osnoise(&text, &c));
	assert_int_equal(c.cpu, 1);
	assert_int_equal(c.noise_us, 656);
	assert_int_equal(c.thread, 3);
	assert_true(noise_osnoise(&text, &c));
	assert_int_equal(c.runtime_us, 250000);
	assert_int_equal(c.noise_us, 0);
	assert_false(noise_osnoise(&text, &c));
	assert_string_equal(text, "");
}

/* Read while it is being written, the last line may end anywhere. */
static void test_osnoise_cut(void **state)
{
	size_t whole = strlen(trace);

	(void)state;
	for (size_t length = 0; length < whole; length++) {
		char copy[sizeof(trace)];
		const char *text = copy;
		struct noise_cpu c;

		memcpy(copy, trace, length);
		copy[length] = '\0';
		while (noise_osnoise(&text, &c))
			assert_true(c.runtime_us == 1000000 && c.longest_us == (c.cpu ? 74 : 9));
	}
}

static void test_interrupts(void **state)
{
	const char *text = "           CPU0       CPU2       \n"
	                   "  0:          9          0   IO-APIC   2-edge      timer\n"
	                   "NMI:          1          0   Non-maskable interrupts\n"
	                   "LOC:       5120         17   Local timer interrupts\n"
	                   "ERR:          0\n";
	int64_t n[4];

	(void)state;
	assert_true(noise_interrupts(text, "LOC:", n, 4));
	assert_int_equal(n[0], 5120);
	assert_int_equal(n[1], 0);
	assert_int_equal(n[2], 17);
	/* A CPU beyond what is held is left out, a line that ends early leaves the rest 0. */
	assert_true(noise_interrupts(text, "LOC:", n, 2));
	assert_int_equal(n[0], 5120);
	assert_true(noise_interrupts(text, "ERR:", n, 4));
	assert_int_equal(n[2], 0);
	assert_false(noise_interrupts(text, "PIW:", n, 4));
	assert_false(noise_interrupts("", "LOC:", n, 4));
}

static void test_threads(void **state)
{
	int64_t ran;
	const char *stat =
	    "33 (kworker/1:1-ev) I 2 0 0 0 -1 69238880 0 0 0 0 0 4 0 0 20 0 1 0 33 0 0 "
	    "18446744073709551615 0 0 0 0 0 0 0 2147483647 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n";

	(void)state;
	assert_true(noise_schedstat("1830211 4217 90\n", &ran));
	assert_int_equal(ran, 1830211);
	assert_false(noise_schedstat("1830211 4217", &ran));
	assert_false(noise_schedstat("", &ran));
	assert_int_equal(noise_last_cpu(stat), 1);
	assert_int_equal(noise_last_cpu("33 (a) b) I 2 0 0 0"), -1);
	assert_int_equal(noise_last_cpu(""), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_osnoise),
	    cmocka_unit_test(test_osnoise_cut),
	    cmocka_unit_test(test_interrupts),
	    cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
