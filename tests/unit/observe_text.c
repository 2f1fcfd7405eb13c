/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the observers read, with texts as kernels wrote them. */
#include "observe_text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_block_stat(void **state)
{
	const char *text =
	    "     168        0     5576       25     2331       12   149184     1203        3      "
	    "900     1240        0        0        0        0      114       12\n";
	int64_t n[17];

	(void)state;
	assert_int_equal(text_numbers(&text, 10, n, 17), 17);
	assert_int_equal(n[4], 2331);
	assert_int_equal(n[6], 149184);
	assert_int_equal(n[8], 3);
	assert_int_equal(n[16], 12);
	assert_string_equal(text, "");
	/* Before 5.5 there were no flushes. */
	text = "1 2 3 4 5 6 7 8 9 10 11\n7\n";
	assert_int_equal(text_numbers(&text, 10, n, 17), 11);
	assert_int_equal(text_numbers(&text, 10, n, 17), 1);
	assert_int_equal(n[0], 7);
	assert_int_equal(text_numbers(&text, 10, n, 17), 0);
}

static void test_softnet_and_irq(void **state)
{
	const char *text = "0000dc7c 00000002 0000000a 00000000 00000000 00000000 00000000 00000000 00000000 "
	                   "00000000 00000000 "
	                   "00000000 00000000\n"
	                   "0001ab01 00000000 00000001 00000000 00000000 00000000 00000000 00000000 00000000 "
	                   "00000000 00000000 "
	                   "00000000 00000001\n";
	int64_t n[13];

	(void)state;
	assert_int_equal(text_numbers(&text, 16, n, 13), 13);
	assert_int_equal(n[0], 0xdc7c);
	assert_int_equal(n[1], 2);
	assert_int_equal(n[2], 10);
	assert_int_equal(text_numbers(&text, 16, n, 13), 13);
	assert_int_equal(n[12], 1);
	text = "12,0,345\n";
	assert_int_equal(text_numbers(&text, 10, n, 13), 3);
	assert_int_equal(n[2], 345);
	text = "1 2 3 4 5\nrest";
	assert_int_equal(text_numbers(&text, 10, n, 2), 2);
	assert_string_equal(text, "rest");
}

static void test_cpus(void **state)
{
	const char *text = "cpu  50 1 60 900 5 0 7 0 0 0\n"
	                   "cpu0 20 1 30 450 5 0 7 0 0 0\n"
	                   "cpu12 30 0 30 450\n"
	                   "intr 10094 0 9\n";
	unsigned int cpu = 99;
	int64_t t[8];

	(void)state;
	assert_true(text_cpu(&text, &cpu, t, 8));
	assert_int_equal(cpu, 0);
	assert_int_equal(t[0], 20);
	assert_int_equal(t[6], 7);
	assert_true(text_cpu(&text, &cpu, t, 8));
	assert_int_equal(cpu, 12);
	assert_int_equal(t[3], 450);
	assert_int_equal(t[4], 0);
	assert_false(text_cpu(&text, &cpu, t, 8));
}

static void test_task(void **state)
{
	struct text_task task;

	(void)state;
	assert_int_equal(
	    text_task("412 (drbd_w_assay) S 2 0 0 0 -1 2129984 0 0 0 0 3 96 0 0 20 0 1 0 100 0 0\n", &task),
	    0);
	assert_string_equal(task.name, "drbd_w_assay");
	assert_int_equal(task.parent, 2);
	assert_true(task.kernel);
	assert_int_equal(task.cpu_ticks, 99);
	assert_int_equal(text_task("7 (a) b (c) R 1 7 7 0 -1 4194304 1 2 3 4 5 6 0 0 20 0 1\n", &task), 0);
	assert_string_equal(task.name, "a) b (c");
	assert_false(task.kernel);
	assert_int_equal(task.cpu_ticks, 11);
	assert_int_equal(text_task("412 (drbd_w_assay) S 2 0", &task), -EBADMSG);
	assert_int_equal(text_task("", &task), -EBADMSG);
	assert_int_equal(text_task(")(", &task), -EBADMSG);
}

static void test_drbd(void **state)
{
	const char *text =
	    "version: 8.4.11 (api:1/proto:86-101)\n"
	    "srcversion: 4F73BEF4B9B8AB4D9B0E0F0\n"
	    " 0: cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate C r-----\n"
	    "    ns:16384 nr:1 dw:16385 dr:2112 al:5 bm:2 lo:3 pe:4 ua:6 ap:7 ep:1 wo:f oos:8\n"
	    "\t[>....................] sync'ed:  0.5% (1024/1024)K\n"
	    " 1: cs:WFConnection ro:Secondary/Unknown ds:UpToDate/DUnknown C r-----\n"
	    "    ns:99 nr:0 dw:0 dr:0 al:0 bm:0 lo:0 pe:0 ua:0 ap:0 ep:1 wo:f oos:0\n";

	(void)state;
	assert_int_equal(text_drbd(text, 0, "ns:", -1), 16384);
	assert_int_equal(text_drbd(text, 0, "oos:", -1), 8);
	assert_int_equal(text_drbd(text, 0, "pe:", -1), 4);
	assert_int_equal(text_drbd(text, 0, "ep:", -1), 1);
	assert_int_equal(text_drbd(text, 0, "wo:", -1), -1);
	assert_int_equal(text_drbd(text, 1, "ns:", -1), 99);
	assert_int_equal(text_drbd(text, 2, "ns:", -1), -1);
	assert_int_equal(text_drbd(" 0: cs:Unconfigured\n", 0, "ns:", -1), -1);
}

static void test_oldest(void **state)
{
	const char *head =
	    "v: 0\n\nepoch\tsector\tsize\trw\tstart\tin AL\tsubmit\tsent\tacked\tdone\tstate\n";
	char text[1024] = "";

	(void)state;
	assert_int_equal(text_oldest_ms(head), 0);
	strcat(text, head);
	strcat(text, "0x3\t2048\t64\tW\t12\t12\t-\t12\t-\t-\t0x00000842\tmaster: pending\tlocal: in-AL\n"
	             "0x3\t4096\t64\tR\t250\t-\t250\t-\t-\t-\t0x00000001\tmaster: pending\tlocal: pending\n"
	             "0x3\t40");
	assert_int_equal(text_oldest_ms(text), 250);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_block_stat), cmocka_unit_test(test_softnet_and_irq),
	    cmocka_unit_test(test_cpus),       cmocka_unit_test(test_task),
	    cmocka_unit_test(test_drbd),       cmocka_unit_test(test_oldest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
