/* SPDX-License-Identifier: GPL-2.0-or-later
 * Exports, under the sanitizers, to the bytes of tests/data/export (tests/export/export.t has them read by
 * other tools); of a database that has nothing, too. */
#include "../../lab/export/export.h"
#include "../../lab/export/ocp.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/assay-export-XXXXXX";
static struct store *store;
static struct report *report;

static int begin(void **state)
{
	char command[200], path[100];

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/db", folder);
	snprintf(command, sizeof(command), "tests/export/run.pl %s", path);
	if (system(command) || store_open(path, STORE_EXISTING, stderr, &store))
		return -1;
	return report_load(store, NULL, &report) == 1 ? 0 : -1;
}

static int end(void **state)
{
	char command[100];

	(void)state;
	report_free(report);
	store_close(store);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static char *slurp(const char *path)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_true(getdelim(&text, &size, '\0', file) > 0);
	fclose(file);
	return text;
}

static void is_as_before(int (*export)(const struct report *, FILE *), const char *golden)
{
	char *text = NULL, *wanted = slurp(golden);
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(export(report, out), 0);
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
	free(wanted);
}

static void test_bytes(void **state)
{
	(void)state;
	is_as_before(export_junit, "tests/data/export/run.junit");
	is_as_before(export_jsonl, "tests/data/export/run.jsonl");
	is_as_before(export_fio, "tests/data/export/run.fio");
	is_as_before(ocp_campaign, "tests/data/export/ocp/campaign.jsonl");
}

static void test_folders(void **state)
{
	char path[100];
	char *text, *wanted;

	(void)state;
	snprintf(path, sizeof(path), "%s/ocp", folder);
	assert_int_equal(export_ocp_folder(report, path), 0);
	snprintf(path, sizeof(path), "%s/ocp/boot-1.jsonl", folder);
	text = slurp(path);
	wanted = slurp("tests/data/export/ocp/boot-1.jsonl");
	assert_string_equal(text, wanted);
	free(text);
	free(wanted);
	snprintf(path, sizeof(path), "%s/logs", folder);
	assert_int_equal(export_fio_logs(report, path), 0);
	snprintf(path, sizeof(path), "%s/logs/cell2-boot1-sample1_iops.log", folder);
	text = slurp(path);
	assert_string_equal(text, "1000, 400, 0, 4096\n2000, 400, 0, 4096\n2500, 398, 0, 4096\n");
	free(text);
	/* a folder that cannot be made */
	snprintf(path, sizeof(path), "%s/db/no", folder);
	assert_int_equal(export_fio_logs(report, path), -ENOTDIR);
}

/* A disk that is full is an error, not half a file. */
static void test_full(void **state)
{
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(full);
	int r = export_jsonl(report, full);
	assert_true(export_close(full, r) < 0);
}

static void test_times(void **state)
{
	char text[40];

	(void)state;
	assert_string_equal(export_time(0, text), "1970-01-01T00:00:00.000000000Z");
	assert_string_equal(export_time(1796076811000000009, text), "2026-11-30T22:13:31.000000009Z");
}

static void test_metrics(void **state)
{
	struct store *empty = NULL;
	char path[100], *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(metrics_print(store, 1796076911000000000, out), 0);
	fclose(out);
	assert_non_null(strstr(text, "\nassay_node_silence_seconds{group=\"pair1\",node=\"n1\"} 15\n"));
	assert_non_null(strstr(text, "label=\"drbd <max-buffers=\\\"8000\\\"> & it's \xc3\xa4\\n\\\\copy\""));
	assert_non_null(strstr(text, "state=\"abandoned\"} 1\n"));
	assert_string_equal(text + strlen(text) - 6, "# EOF\n");
	free(text);
	snprintf(path, sizeof(path), "%s/empty", folder);
	assert_int_equal(store_open(path, STORE_CREATE, stderr, &empty), 0);
	out = open_memstream(&text, &size);
	assert_int_equal(metrics_print(empty, 1, out), 0);
	fclose(out);
	assert_non_null(strstr(text, "\nassay_errors_total 0\n"));
	free(text);
	store_close(empty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bytes), cmocka_unit_test(test_folders), cmocka_unit_test(test_full),
	    cmocka_unit_test(test_times), cmocka_unit_test(test_metrics),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
