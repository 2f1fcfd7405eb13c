/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../lab/store/path.h"
#include "../../lab/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
	char folder[64], path[96];
	FILE *err;
	char *said;
	size_t said_size;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->folder, "/tmp/assay-store-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->path, sizeof(f->path), "%s/db", f->folder);
	f->err = open_memstream(&f->said, &f->said_size);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char path[128];

	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s%s", f->path, i == 0 ? "" : i == 1 ? "-wal" : "-shm");
		unlink(path);
	}
	rmdir(f->folder);
	fclose(f->err);
	free(f->said);
	free(f);
	return 0;
}

static int64_t count(struct store *store, const char *sql)
{
	int64_t n = -1;

	assert_int_equal(store_int(store, &n, sql, ""), 0);
	return n;
}

static void stranger(struct store *store, const char *mac, int wanted)
{
	assert_int_equal(store_do(store, "INSERT INTO strangers (mac, uuid, seen_unix_ns) VALUES (?, '', ?)",
	                          "si", mac, (int64_t)7),
	                 wanted);
}

static void test_made_as_promised(void **state)
{
	struct fixture *f = *state;
	struct store *store;
	sqlite3_stmt *row;

	assert_int_equal(store_open(f->path, STORE_EXISTING, f->err, &store), -ENOENT);
	fflush(f->err);
	assert_non_null(strstr(f->said, "no database of assay there"));
	assert_int_equal(store_open(f->path, STORE_CREATE, f->err, &store), 0);
	assert_int_equal(store_ask(store, &row, "PRAGMA journal_mode", ""), 0);
	assert_int_equal(store_row(store, row), 1);
	assert_string_equal(store_text(row, 0), "wal");
	store_reset(row);
	assert_int_equal(count(store, "PRAGMA synchronous"), 2);
	assert_int_equal(count(store, "PRAGMA foreign_keys"), 1);
	assert_int_equal(count(store, "PRAGMA user_version"), 5);
	assert_int_equal(count(store, "SELECT count(*) FROM pragma_table_list WHERE type = 'table' AND "
	                              "schema = 'main' AND NOT strict "
	                              "AND name NOT LIKE 'sqlite%'"),
	                 0);
	assert_int_equal(store_check(store), 0);
	store_close(store);
	assert_int_equal(store_open(f->path, STORE_EXISTING, f->err, &store), 0);
	store_close(store);
}

static void test_other_version(void **state)
{
	struct fixture *f = *state;
	struct store *store;

	assert_int_equal(store_open(f->path, STORE_CREATE, f->err, &store), 0);
	assert_int_equal(store_do(store, "PRAGMA user_version = 99", ""), 0);
	store_close(store);
	assert_int_equal(store_open(f->path, STORE_CREATE, f->err, &store), -EPROTO);
	fflush(f->err);
	assert_non_null(strstr(f->said, "schema 99"));
}

/* What the first version had is there after the columns of later ones came. */
static void test_first_version(void **state)
{
	struct fixture *f = *state;
	struct store *store;

	assert_int_equal(store_open(f->path, STORE_CREATE, f->err, &store), 0);
	assert_int_equal(store_do(store, "DROP TABLE chain", ""), 0);
	assert_int_equal(store_do(store, "ALTER TABLE boots DROP COLUMN arguments", ""), 0);
	assert_int_equal(store_do(store, "ALTER TABLE runs DROP COLUMN scale", ""), 0);
	assert_int_equal(store_do(store, "ALTER TABLE runs DROP COLUMN acceptance", ""), 0);
	assert_int_equal(store_do(store, "ALTER TABLE runs DROP COLUMN as_published", ""), 0);
	assert_int_equal(store_do(store, "ALTER TABLE runs DROP COLUMN precision", ""), 0);
	assert_int_equal(store_do(store, "ALTER TABLE runs DROP COLUMN imported", ""), 0);
	assert_int_equal(store_do(store, "ALTER TABLE cells DROP COLUMN enough", ""), 0);
	assert_int_equal(store_do(store, "ALTER TABLE runs DROP COLUMN tune", ""), 0);
	assert_int_equal(store_do(store,
	                          "INSERT INTO boots (token, node, mac, made_unix_ns) VALUES ('t', 'n', "
	                          "'m', 1)",
	                          ""),
	                 0);
	assert_int_equal(store_do(store, "PRAGMA user_version = 1", ""), 0);
	store_close(store);
	assert_int_equal(store_open(f->path, STORE_EXISTING, f->err, &store), 0);
	assert_int_equal(count(store, "PRAGMA user_version"), 5);
	assert_int_equal(count(store, "SELECT count(*) FROM boots WHERE arguments = ''"), 1);
	assert_int_equal(count(store, "SELECT count(*) FROM runs WHERE scale IS NULL"), 0);
	assert_int_equal(count(store, "SELECT count(*) FROM chain"), 0);
	store_close(store);
}

static void test_not_a_database(void **state)
{
	struct fixture *f = *state;
	struct store *store;
	FILE *out = fopen(f->path, "w");

	for (int i = 0; i < 1000; i++)
		fputs("this is no database ", out);
	fclose(out);
	assert_int_equal(store_open(f->path, STORE_CREATE, f->err, &store), -EUCLEAN);
}

static void test_damage_is_found(void **state)
{
	struct fixture *f = *state;
	struct store *store;
	char mac[32];

	assert_int_equal(store_open(f->path, STORE_CREATE, f->err, &store), 0);
	assert_int_equal(store_begin(store), 0);
	for (int i = 0; i < 5000; i++) {
		snprintf(mac, sizeof(mac), "mac number %d", i);
		stranger(store, mac, 0);
	}
	assert_int_equal(store_end(store, 0), 0);
	int64_t pages = count(store, "PRAGMA page_count"), size = count(store, "PRAGMA page_size");
	store_close(store);
	int fd = open(f->path, O_WRONLY);
	char junk[512];
	memset(junk, 0xa5, sizeof(junk));
	assert_int_equal(pwrite(fd, junk, sizeof(junk), (pages - 5) * size), sizeof(junk));
	close(fd);
	assert_int_equal(store_open(f->path, STORE_EXISTING, f->err, &store), 0);
	assert_int_equal(store_check(store), -EUCLEAN);
	assert_true(*store_message(store));
	store_close(store);
}

static void test_transactions(void **state)
{
	struct fixture *f = *state;
	struct store *store;

	assert_int_equal(store_open(f->path, STORE_CREATE, f->err, &store), 0);
	assert_int_equal(store_begin(store), 0);
	stranger(store, "a", 0);
	stranger(store, "a", -EEXIST);
	assert_int_equal(store_end(store, -EEXIST), -EEXIST);
	assert_int_equal(count(store, "SELECT count(*) FROM strangers"), 0);
	assert_int_equal(store_begin(store), 0);
	stranger(store, "a", 0);
	assert_int_equal(store_end(store, 0), 0);
	assert_int_equal(count(store, "SELECT count(*) FROM strangers"), 1);
	/* What refers to nothing is refused, and so is a value of another type. */
	assert_int_equal(store_do(store,
	                          "INSERT INTO pstore (token, node, name, text) VALUES ('t', 'n', 'x', 'y')",
	                          ""),
	                 -EEXIST);
	assert_int_equal(store_do(store, "UPDATE strangers SET seen_unix_ns = 'yesterday'", ""), -EEXIST);
	store_close(store);
}

static void test_values(void **state)
{
	struct fixture *f = *state;
	struct store *store;
	sqlite3_stmt *row;
	const char blob[] = {0, 1, 2, 0, 3};

	assert_int_equal(store_open(f->path, STORE_CREATE, f->err, &store), 0);
	assert_int_equal(store_ask(store, &row, "SELECT ?, ?, ?, ?, ?", "sinbs", "x", INT64_MIN, (int64_t)-1,
	                           blob, sizeof(blob), (char *)NULL),
	                 0);
	assert_int_equal(store_row(store, row), 1);
	assert_string_equal(store_text(row, 0), "x");
	assert_true(sqlite3_column_int64(row, 1) == INT64_MIN);
	assert_int_equal(sqlite3_column_type(row, 2), SQLITE_NULL);
	assert_int_equal(sqlite3_column_bytes(row, 3), sizeof(blob));
	assert_memory_equal(sqlite3_column_blob(row, 3), blob, sizeof(blob));
	assert_string_equal(store_text(row, 4), "");
	assert_int_equal(store_row(store, row), 0);
	int64_t untouched = 42;
	assert_int_equal(store_int(store, &untouched, "SELECT 1 WHERE 0", ""), 0);
	assert_int_equal(untouched, 42);
	assert_int_equal(store_int(store, &untouched, "SELECT x FROM nowhere", ""), -EIO);
	assert_string_equal(store_message(store), "no such table: nowhere");
	store_close(store);
}

static void test_changes_are_seen(void **state)
{
	struct fixture *f = *state;
	struct store *one, *two;

	assert_int_equal(store_open(f->path, STORE_CREATE, f->err, &one), 0);
	assert_int_equal(store_open(f->path, STORE_EXISTING, f->err, &two), 0);
	int64_t before = store_changes(one);
	stranger(one, "mine", 0);
	assert_true(store_changes(one) == before);
	stranger(two, "theirs", 0);
	assert_true(store_changes(one) != before);
	store_close(one);
	store_close(two);
}

static void *hammer(void *path)
{
	struct store *store;
	char mac[64];

	if (store_open(path, STORE_EXISTING, stderr, &store))
		return NULL;
	for (int i = 0; i < 200; i++) {
		snprintf(mac, sizeof(mac), "%p %d", (void *)&store, i);
		if (store_do(store, "INSERT INTO strangers (mac, uuid, seen_unix_ns) VALUES (?, '', 1)", "s",
		             mac)) {
			store_close(store);
			return NULL;
		}
	}
	store_close(store);
	return path;
}

static void test_busy_is_waited_for(void **state)
{
	struct fixture *f = *state;
	struct store *store;
	pthread_t threads[4];
	void *result;

	assert_int_equal(store_open(f->path, STORE_CREATE, f->err, &store), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, hammer, f->path), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], &result), 0);
		assert_non_null(result);
	}
	assert_int_equal(count(store, "SELECT count(*) FROM strangers"), 800);
	store_close(store);
}

static void test_database_path(void **state)
{
	static const struct {
		const char *lab, *lab_path, *wanted;
	} cases[] = {
	    {"{\"server\": {}}", "labs/one.yaml", "assay.db"},
	    {"{\"server\": {\"database\": \"one.db\"}}", "labs/one.yaml", "labs/one.db"},
	    {"{\"server\": {\"database\": \"one.db\"}}", "one.yaml", "one.db"},
	    {"{\"server\": {\"database\": \"/var/one.db\"}}", "labs/one.yaml", "/var/one.db"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *lab = json_loads(cases[i].lab, 0, NULL);
		char *path = database_path(lab, cases[i].lab_path);

		assert_string_equal(path, cases[i].wanted);
		free(path);
		json_decref(lab);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_made_as_promised, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_other_version, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_first_version, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_not_a_database, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_damage_is_found, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_transactions, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_values, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_changes_are_seen, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_busy_is_waited_for, set_up, tear_down),
	    cmocka_unit_test(test_database_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
