/* SPDX-License-Identifier: GPL-2.0-or-later
 * Our checker agrees with every example, and so with ajv (tests/schema/ajv.t asks it the same). */
#include "schema.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define FOLDER "results-schema/examples/"

static int is_json(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n > 5 && !strcmp(entry->d_name + n - 5, ".json");
}

static json_t *read_example(const char *kind, const char *name, char schema[64])
{
	char path[512];
	json_error_t error;
	json_t *value;

	snprintf(path, sizeof(path), FOLDER "%s/%s", kind, name);
	value = json_load_file(path, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
	if (!value)
		fail_msg("%s: %s", path, error.text);
	assert_non_null(strstr(name, "--"));
	snprintf(schema, 64, "%.*s.json", (int)(strstr(name, "--") - name), name);
	return value;
}

static void wanted_path(const char *name, char wanted[512])
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), FOLDER "invalid/%.*s.path", (int)strlen(name) - 5, name);
	file = fopen(path, "r");
	if (!file) {
		fail_msg("%s: %s", path, strerror(errno));
		return;
	}
	assert_non_null(fgets(wanted, 512, file));
	fclose(file);
	wanted[strcspn(wanted, "\n")] = '\0';
}

/* Calls JUDGE for every example of KIND; there must be at least LEAST. */
static void each(const char *kind, int least,
                 void (*judge)(const char *name, int r, const struct schema_error *e))
{
	struct dirent **names;
	char folder[64];
	int n;

	snprintf(folder, sizeof(folder), FOLDER "%s", kind);
	n = scandir(folder, &names, is_json, alphasort);
	assert_true(n >= least);
	for (int i = 0; i < n; i++) {
		struct schema_error error;
		char schema[64];
		json_t *value = read_example(kind, names[i]->d_name, schema);

		judge(names[i]->d_name, schema_check(schema, value, &error), &error);
		json_decref(value);
		free(names[i]);
	}
	free(names);
}

static void judge_valid(const char *name, int r, const struct schema_error *e)
{
	if (r)
		fail_msg("%s: %s at \"%s\"", name, e->message, e->path);
}

static void judge_invalid(const char *name, int r, const struct schema_error *e)
{
	char wanted[512];

	wanted_path(name, wanted);
	if (r != -EINVAL)
		fail_msg("%s passes", name);
	if (strcmp(e->path, wanted))
		fail_msg("%s: \"%s\" instead of \"%s\" (%s)", name, e->path, wanted, e->message);
	assert_true(e->message[0]);
}

static void test_valid(void **state)
{
	(void)state;
	each("valid", 30, judge_valid);
}

static void test_invalid(void **state)
{
	(void)state;
	each("invalid", 100, judge_invalid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_valid),
	    cmocka_unit_test(test_invalid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
