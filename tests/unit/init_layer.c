/* SPDX-License-Identifier: GPL-2.0-or-later
 * Layers that a boot has. */
#include "layer.h"

#include "file.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64];

static void make(const char *name, const char *json)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/%s/layer.json", root, name);
	if (json)
		assert_int_equal(create_file(path, "%s", json), 0);
}

static void test_none(void **unused)
{
	json_t *names = layer_names("/nowhere"), *evidence = layer_evidence(root);

	(void)unused;
	assert_int_equal(json_array_size(names), 0);
	assert_int_equal(json_array_size(evidence), 0);
	json_decref(names);
	json_decref(evidence);
}

static void test_some(void **unused)
{
	json_t *names, *evidence;
	char *text;

	(void)unused;
	make("lvm2", "{\"name\": \"lvm2\", \"packages\": [{\"name\": \"libc6\", \"version\": \"2.36-9\", "
	             "\"sha256\": \"00\", \"licence\": \"L\"}]}");
	make("cryptsetup", "{\"name\": \"cryptsetup\", \"packages\": []}");
	make("cut-short", NULL);
	names = layer_names(root);
	text = json_dumps(names, JSON_COMPACT);
	assert_string_equal(text, "[\"cryptsetup\",\"lvm2\"]");
	free(text);
	evidence = layer_evidence(root);
	text = json_dumps(evidence, JSON_COMPACT | JSON_SORT_KEYS);
	assert_string_equal(text,
	                    "[{\"name\":\"cryptsetup\",\"packages\":[]},{\"name\":\"lvm2\",\"packages\":[{"
	                    "\"name\":\"libc6\",\"version\":\"2.36-9\"}]}]");
	free(text);
	json_decref(names);
	json_decref(evidence);
}

static void test_argv(void **unused)
{
	const char *args[LAYER_WORDS + 1] = {"/sbin/lvm", "version", NULL}, *argv[LAYER_WORDS];
	char path[64];

	(void)unused;
	assert_int_equal(layer_argv("lvm2", args, path, argv), 0);
	assert_string_equal(argv[0], "chroot");
	assert_string_equal(argv[1], "/layers/lvm2");
	assert_string_equal(argv[2], "/sbin/lvm");
	assert_string_equal(argv[3], "version");
	assert_null(argv[4]);
	for (size_t i = 0; i < LAYER_WORDS; i++)
		args[i] = "x";
	assert_int_equal(layer_argv("lvm2", args, path, argv), -E2BIG);
}

/* What the lab did not load is said by name. */
static void test_missing(void **unused)
{
	struct failure why = {0};

	(void)unused;
	assert_int_equal(layer_enter("no-such-layer", &why), -ENOENT);
	assert_non_null(strstr(why.message, "no-such-layer"));
}

static int remove_root(void **unused)
{
	char command[96];

	(void)unused;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_none),
	    cmocka_unit_test(test_some),
	    cmocka_unit_test(test_argv),
	    cmocka_unit_test(test_missing),
	};

	strcpy(root, "/tmp/assay-layers.XXXXXX");
	if (!mkdtemp(root))
		return 1;
	return cmocka_run_group_tests(tests, NULL, remove_root);
}
