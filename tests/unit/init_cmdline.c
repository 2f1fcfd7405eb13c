/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmdline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define GOOD                                                                                                 \
	"BOOT_IMAGE=vmlinuz console=tty0 console=ttyS0,115200 assay.server=http://10.77.0.1:8080 "           \
	"assay.token=abcXYZ.1 "

static char said[2048];

static void complain(void *ctx, const char *text)
{
	(void)ctx;
	strncat(said, text, sizeof(said) - strlen(said) - 2);
	strcat(said, "\n");
}

static struct cmdline parse(const char *text)
{
	struct cmdline options;

	*said = '\0';
	cmdline_parse(text, &options, complain, NULL);
	return options;
}

static void everything_given(void **state)
{
	struct cmdline o = parse(GOOD "assay.ip=10.77.0.11/24,10.77.0.1 BOOTIF=01-52-54-00-AB-cd-01 quiet\n");

	(void)state;
	assert_string_equal(said, "");
	assert_string_equal(o.server, "http://10.77.0.1:8080");
	assert_string_equal(o.token, "abcXYZ.1");
	assert_string_equal(o.address, "10.77.0.11");
	assert_int_equal(o.prefix_bits, 24);
	assert_string_equal(o.gateway, "10.77.0.1");
	assert_string_equal(o.bootif, "52:54:00:ab:cd:01");
	assert_false(o.rescue);
}

static void nothing_given(void **state)
{
	struct cmdline o = parse("");

	(void)state;
	assert_string_equal(said, "");
	assert_string_equal(o.server, "");
	assert_string_equal(o.address, "");
}

static void quotes_are_the_kernels(void **state)
{
	struct cmdline o =
	    parse("dyndbg=\"file a.c +p\" assay.server=\"http://lab/\" \"assay.token=x\" \"assay.rescue\"");

	(void)state;
	assert_string_equal(said, "");
	assert_string_equal(o.server, "http://lab");
	assert_string_equal(o.token, "x");
	assert_true(o.rescue);
	/* Inside quotes this is no key. */
	o = parse("foo=\"assay.rescue assay.tokn=1\"");
	assert_string_equal(said, "");
	assert_false(o.rescue);
}

static void last_of_two_wins(void **state)
{
	struct cmdline o = parse("assay.token=one assay.token=two");

	(void)state;
	assert_string_equal(o.token, "two");
	assert_non_null(strstr(said, "assay.token is given more than once"));
}

static void unknown_key_names_the_nearest(void **state)
{
	static const char *const cases[][2] = {
	    {"assay.sever=http://x", "did you mean assay.server?"},
	    {"assay.tokn=x", "did you mean assay.token?"},
	    {"assay.resuce", "did you mean assay.rescue?"},
	    {"assay.", "did you mean"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		parse(cases[i][0]);
		assert_non_null(strstr(said, cases[i][1]));
	}
	parse("assayserver=1 root=/dev/sda x.y=z");
	assert_string_equal(said, "");
}

static void wrong_values_are_named_and_left_out(void **state)
{
	static const char *const cases[] = {
	    "assay.ip=10.0.0.1",     "assay.ip=10.0.0.1/",
	    "assay.ip=10.0.0.1/33",  "assay.ip=10.0.0.1/0",
	    "assay.ip=10.0.0.1/2x",  "assay.ip=10.0.0/24",
	    "assay.ip=1.2.3.4/24,x", "assay.ip",
	    "assay.ip=1.2.3.4/-1",   "assay.server=10.0.0.1",
	    "assay.server",          "assay.token=",
	    "assay.token=a;b",       "assay.token=\"a b\"",
	    "BOOTIF=eth0",           "BOOTIF=",
	    "BOOTIF=52:54:00:1:2:3", "BOOTIF=02-525400123456x",
	    "assay.rescue=yes",      "assay.ip=1.2.3.4/ 24",
	};
	struct cmdline o;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		o = parse(cases[i]);
		if (!*said || *o.address || *o.server || *o.bootif || o.rescue || *o.token)
			fail_msg("%s: said \"%s\"", cases[i], said);
	}
}

static void too_long_is_left_out(void **state)
{
	char text[4000] = "assay.token=";
	struct cmdline o;

	(void)state;
	memset(text + 12, 'a', 3000);
	strcpy(text + 3012, " BOOTIF=52:54:00:00:00:01");
	o = parse(text);
	assert_string_equal(o.token, "");
	assert_non_null(strstr(said, "assay.token: longer than"));
	assert_string_equal(o.bootif, "52:54:00:00:00:01");
}

static void bootif_forms(void **state)
{
	static const char *const good[] = {
	    "01-52-54-00-12-34-56", "01:52:54:00:12:34:56", "52:54:00:12:34:56",
	    "52-54-00-12-34-56",    "525400123456",         "01525400123456",
	};
	static const char *const bad[] = {
	    "",
	    "01",
	    "02-52-54-00-12-34-56",
	    "52:54:00:12:34",
	    "52:54:00:12:34:56:",
	    "52::54:00:12:34:56",
	    ":52:54:00:12:34:56",
	    "52:54:00:12:34:5g",
	    "5:25:40:01:23:456",
	    "01-52-54-00-12-34-56-78",
	};
	char mac[18];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(cmdline_mac(good[i], mac), 0);
		assert_string_equal(mac, "52:54:00:12:34:56");
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (!cmdline_mac(bad[i], mac))
			fail_msg("%s is taken", bad[i]);
	assert_int_equal(cmdline_mac("01-52-54-00-AB-CD-EF", mac), 0);
	assert_string_equal(mac, "52:54:00:ab:cd:ef");
}

static void token_is_not_shown(void **state)
{
	char text[128], small[20];

	(void)state;
	cmdline_redact("a=1 assay.token=secret b \"assay.token=other\" c", text, sizeof(text));
	assert_string_equal(text, "a=1 assay.token=*** b \"assay.token=***\" c");
	cmdline_redact("assay.token=s assay.token=t", small, sizeof(small));
	assert_string_equal(small, "assay.token=*** ass");
	strcpy(text, "Command line: assay.token=ab\nassay.token=\nx assay.token=c");
	cmdline_mask(text);
	assert_string_equal(text, "Command line: assay.token=**\nassay.token=\nx assay.token=*");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(everything_given),
	    cmocka_unit_test(nothing_given),
	    cmocka_unit_test(quotes_are_the_kernels),
	    cmocka_unit_test(last_of_two_wins),
	    cmocka_unit_test(unknown_key_names_the_nearest),
	    cmocka_unit_test(wrong_values_are_named_and_left_out),
	    cmocka_unit_test(too_long_is_left_out),
	    cmocka_unit_test(bootif_forms),
	    cmocka_unit_test(token_is_not_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
