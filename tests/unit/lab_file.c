/* SPDX-License-Identifier: GPL-2.0-or-later
 * Lab files as the conductor gets them: normalised, complete, and still fitting the schema. */
#include "network.h"
#include "plan.h"
#include "schema.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define LABS "tests/data/labs/"

static const char *at(const json_t *value, const char *a, const char *b, const char *c)
{
	return json_string_value(json_object_get(json_object_get(json_object_get(value, a), b), c));
}

static const char *item(const json_t *list, size_t i)
{
	return json_string_value(json_array_get(list, i));
}

static void test_defaults(void **state)
{
	struct schema_error error;
	const json_t *server, *a, *b;
	json_t *lab;

	(void)state;
	assert_int_equal(lab_file_load(LABS "good/pair.yaml", stderr, &lab), 0);
	if (schema_check("lab.json", lab, &error))
		fail_msg("%s: %s", error.path, error.message);
	server = json_object_get(lab, "server");
	assert_int_equal(json_integer_value(json_object_get(server, "http_port")), 8080);
	assert_string_equal(json_string_value(json_object_get(server, "dhcp")), "own");
	assert_string_equal(item(json_object_get(server, "dhcp_range"), 0), "10.77.0.128");
	assert_string_equal(item(json_object_get(server, "dhcp_range"), 1), "10.77.0.254");
	a = json_object_get(json_object_get(lab, "nodes"), "a");
	b = json_object_get(json_object_get(lab, "nodes"), "b");
	assert_string_equal(at(lab, "nodes", "a", "mac"), "52:54:00:aa:00:01");
	assert_string_equal(at(lab, "nodes", "b", "uuid"), "0b7d3b2e-5d7c-4f83-9a55-1d2a6c8e9f01");
	assert_string_equal(item(json_object_get(a, "storage_nics"), 0), "52:54:00:aa:01:01");
	assert_string_equal(item(json_object_get(a, "storage_nics"), 1), "52:54:00:aa:01:02");
	assert_string_equal(item(json_object_get(b, "storage_nics"), 0), "0000:3b:00.0");
	assert_string_equal(item(json_object_get(a, "console"), 0), "tty0");
	assert_string_equal(item(json_object_get(a, "console"), 1), "ttyS0");
	assert_int_equal(json_integer_value(
	                     json_object_get(json_object_get(json_object_get(lab, "groups"), "pair"),
	                                     "drbd_port")),
	                 7788);
	json_decref(lab);
}

static void test_kept(void **state)
{
	const json_t *server, *a;
	json_t *lab;

	(void)state;
	assert_int_equal(lab_file_load(LABS "good/two-groups.yaml", stderr, &lab), 0);
	server = json_object_get(lab, "server");
	a = json_object_get(json_object_get(lab, "nodes"), "a");
	assert_int_equal(json_integer_value(json_object_get(server, "http_port")), 80);
	assert_null(json_object_get(server, "dhcp_range"));
	assert_int_equal(json_array_size(json_object_get(a, "console")), 1);
	json_decref(lab);
}

static void test_errors(void **state)
{
	FILE *null = fopen("/dev/null", "w");
	json_t *lab = (void *)1;

	(void)state;
	assert_int_equal(lab_file_load(LABS "none.yaml", null, &lab), -ENOENT);
	assert_null(lab);
	assert_int_equal(lab_file_load(LABS "bad/nodes.yaml", null, &lab), -EINVAL);
	assert_null(lab);
	fclose(null);
}

static void test_networks(void **state)
{
	static const char *const bad[] = {"10.0.0.0",      "10.0.0.0/7", "10.0.0.0/31",           "10.0.0/24",
	                                  "10.0.0.256/24", "/24",        "1000.1000.1000.1000/24"};
	struct network a, b;
	uint32_t ip;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(network_parse(bad[i], &a));
	assert_true(network_parse("10.77.0.1/24", &a));
	assert_int_equal(network_hosts(&a), 254);
	assert_true(network_ip("10.77.0.254", &ip));
	assert_true(network_has(&a, ip));
	assert_false(network_has(&a, ip + 1));
	assert_false(network_has(&a, ip - 254));
	assert_false(network_has(&a, ip + 2));
	assert_true(network_parse("10.0.0.0/8", &b));
	assert_true(network_overlap(&a, &b) && network_overlap(&b, &a));
	assert_true(network_parse("10.77.1.0/30", &b));
	assert_int_equal(network_hosts(&b), 2);
	assert_false(network_overlap(&a, &b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_defaults),
	    cmocka_unit_test(test_kept),
	    cmocka_unit_test(test_errors),
	    cmocka_unit_test(test_networks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
