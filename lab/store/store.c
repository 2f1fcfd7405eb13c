/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STORE_VERSION   5
#define BUSY_TIMEOUT_MS 10000
#define STATEMENTS      256

/* The assembler takes schema.sql in as it stands; paths are relative to the root, where make runs. */
__asm__(".pushsection .rodata\n"
        ".global store_schema\n"
        "store_schema:\n"
        ".incbin \"lab/store/schema.sql\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char store_schema[];

struct store {
	sqlite3 *db;
	char message[512];
	struct {
		const char *sql; /* by address: callers pass literals */
		sqlite3_stmt *statement;
	} cache[STATEMENTS];
};

static const struct {
	int sqlite, error;
} error_map[] = {
    {SQLITE_BUSY, EBUSY},        {SQLITE_LOCKED, EBUSY},    {SQLITE_FULL, ENOSPC},
    {SQLITE_CONSTRAINT, EEXIST}, {SQLITE_NOMEM, ENOMEM},    {SQLITE_CANTOPEN, ENOENT},
    {SQLITE_READONLY, EROFS},    {SQLITE_CORRUPT, EUCLEAN}, {SQLITE_NOTADB, EUCLEAN},
    {SQLITE_PERM, EACCES},       {SQLITE_AUTH, EACCES},     {SQLITE_TOOBIG, EFBIG},
    {SQLITE_MISUSE, EINVAL},
};

static int store_error(struct store *store, int code)
{
	if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW)
		return 0;
	snprintf(store->message, sizeof(store->message), "%s", sqlite3_errmsg(store->db));
	for (size_t i = 0; i < sizeof(error_map) / sizeof(error_map[0]); i++)
		if (error_map[i].sqlite == (code & 0xff))
			return -error_map[i].error;
	return -EIO;
}

const char *store_message(const struct store *store)
{
	return store->message;
}

static int exec(struct store *store, const char *sql)
{
	return store_error(store, sqlite3_exec(store->db, sql, NULL, NULL, NULL));
}

int store_begin(struct store *store)
{
	return exec(store, "BEGIN IMMEDIATE");
}

int store_end(struct store *store, int r)
{
	char message[sizeof(store->message)];

	if (!r)
		r = exec(store, "COMMIT");
	if (r && !sqlite3_get_autocommit(store->db)) {
		memcpy(message, store->message, sizeof(message));
		exec(store, "ROLLBACK");
		memcpy(store->message, message, sizeof(message));
	}
	return r;
}

static int cached(struct store *store, const char *sql, sqlite3_stmt **statement)
{
	size_t start = ((uintptr_t)sql >> 3) % STATEMENTS;
	size_t i = start;

	do {
		if (store->cache[i].sql == sql) {
			*statement = store->cache[i].statement;
			return 0;
		}
		if (!store->cache[i].sql)
			break;
		i = (i + 1) % STATEMENTS;
	} while (i != start);
	if (store->cache[i].sql) {
		sqlite3_finalize(store->cache[i].statement);
		store->cache[i].sql = NULL;
	}
	int r = store_error(store, sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
	                                              &store->cache[i].statement, NULL));
	if (r)
		return r;
	store->cache[i].sql = sql;
	*statement = store->cache[i].statement;
	return 0;
}

static int bind(sqlite3_stmt *statement, int at, char type, va_list *args)
{
	const char *text;
	const void *data;
	int64_t number;

	switch (type) {
	case 's':
		text = va_arg(*args, const char *);
		return sqlite3_bind_text(statement, at, text, -1, SQLITE_TRANSIENT);
	case 'i':
		return sqlite3_bind_int64(statement, at, va_arg(*args, int64_t));
	case 'n':
		number = va_arg(*args, int64_t);
		return number == -1 ? sqlite3_bind_null(statement, at)
		                    : sqlite3_bind_int64(statement, at, number);
	case 'd':
		return sqlite3_bind_double(statement, at, va_arg(*args, double));
	case 'b':
		data = va_arg(*args, const void *);
		return sqlite3_bind_blob64(statement, at, data ? data : "", va_arg(*args, size_t),
		                           SQLITE_TRANSIENT);
	default:
		return SQLITE_MISUSE;
	}
}

static int ask(struct store *store, sqlite3_stmt **row, const char *sql, const char *types, va_list *args)
{
	int r = cached(store, sql, row);

	if (r)
		return r;
	sqlite3_reset(*row);
	for (int i = 0; types[i]; i++) {
		r = store_error(store, bind(*row, i + 1, types[i], args));
		if (r)
			return r;
	}
	return 0;
}

int store_ask(struct store *store, sqlite3_stmt **row, const char *sql, const char *types, ...)
{
	va_list args;

	va_start(args, types);
	int r = ask(store, row, sql, types, &args);
	va_end(args);
	return r;
}

int store_row(struct store *store, sqlite3_stmt *row)
{
	int code = sqlite3_step(row);

	if (code == SQLITE_ROW)
		return 1;
	int r = store_error(store, code);
	sqlite3_reset(row);
	return r;
}

void store_reset(sqlite3_stmt *row)
{
	sqlite3_reset(row);
}

int store_do(struct store *store, const char *sql, const char *types, ...)
{
	sqlite3_stmt *row;
	va_list args;

	va_start(args, types);
	int r = ask(store, &row, sql, types, &args);
	va_end(args);
	if (r)
		return r;
	r = store_row(store, row);
	if (r > 0)
		store_reset(row);
	return r < 0 ? r : 0;
}

int store_int(struct store *store, int64_t *value, const char *sql, const char *types, ...)
{
	sqlite3_stmt *row;
	va_list args;

	va_start(args, types);
	int r = ask(store, &row, sql, types, &args);
	va_end(args);
	if (r)
		return r;
	r = store_row(store, row);
	if (r <= 0)
		return r;
	if (sqlite3_column_type(row, 0) != SQLITE_NULL)
		*value = sqlite3_column_int64(row, 0);
	store_reset(row);
	return 0;
}

const char *store_text(sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	return text ? text : "";
}

int64_t store_changes(struct store *store)
{
	int64_t version = 0;

	store_int(store, &version, "PRAGMA data_version", "");
	return version;
}

int store_check(struct store *store)
{
	sqlite3_stmt *row;
	int r = store_ask(store, &row, "PRAGMA integrity_check(1)", "");

	if (r)
		return r;
	r = store_row(store, row);
	if (r < 0)
		return r;
	bool sound = r > 0 && !strcmp(store_text(row, 0), "ok");
	if (!sound)
		snprintf(store->message, sizeof(store->message), "%s",
		         r > 0 ? store_text(row, 0) : "no answer");
	store_reset(row);
	if (!sound)
		return -EUCLEAN;
	r = store_ask(store, &row, "PRAGMA foreign_key_check", "");
	if (r)
		return r;
	r = store_row(store, row);
	if (r > 0) {
		snprintf(store->message, sizeof(store->message),
		         "a row of %s refers to one of %s that is missing", store_text(row, 0),
		         store_text(row, 2));
		store_reset(row);
		return -EUCLEAN;
	}
	return r;
}

/* From each version to the next. */
static const char *const migrations[STORE_VERSION] = {
    [1] = "ALTER TABLE boots ADD COLUMN arguments TEXT NOT NULL DEFAULT '';"
          "ALTER TABLE runs ADD COLUMN scale TEXT;",
    [2] = "ALTER TABLE runs ADD COLUMN acceptance TEXT;"
          "ALTER TABLE runs ADD COLUMN tune TEXT;"
          "ALTER TABLE runs ADD COLUMN as_published INTEGER NOT NULL DEFAULT 0;",
    [3] = "ALTER TABLE runs ADD COLUMN precision REAL;"
          "ALTER TABLE runs ADD COLUMN imported TEXT;"
          "ALTER TABLE cells ADD COLUMN enough INTEGER;",
    [4] = "CREATE TABLE chain (n INTEGER PRIMARY KEY, at_unix_ns INTEGER NOT NULL, kind TEXT NOT NULL, run "
          "TEXT NOT NULL, node TEXT NOT NULL, content TEXT NOT NULL, sha256 TEXT NOT NULL) STRICT;",
};

static int migrate(struct store *store, const char *path, enum store_mode mode, FILE *err)
{
	int64_t version = 0;
	char sql[64];
	int r = store_int(store, &version, "PRAGMA user_version", "");

	if (r || version == STORE_VERSION)
		return r;
	r = store_begin(store);
	if (r)
		return r;
	r = store_int(store, &version, "PRAGMA user_version", "");
	if (!r && version == 0 && mode == STORE_EXISTING)
		r = -ENOENT;
	if (!r && version == 0) {
		snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", STORE_VERSION);
		r = exec(store, store_schema);
		if (!r)
			r = exec(store, sql);
	} else if (!r && version > 0 && version < STORE_VERSION) {
		snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", STORE_VERSION);
		for (int64_t from = version; !r && from < STORE_VERSION; from++)
			r = exec(store, migrations[from]);
		if (!r)
			r = exec(store, sql);
	} else if (!r && version != STORE_VERSION) {
		fprintf(err, "%s: written by another version of assay (schema %lld, this program has %d)\n",
		        path, (long long)version, STORE_VERSION);
		r = -EPROTO;
	}
	return store_end(store, r);
}

static int set_up(struct store *store)
{
	sqlite3_busy_timeout(store->db, BUSY_TIMEOUT_MS);
	return exec(store, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;");
}

/* Whether PATH is there to be read, and no server has it open: then there is no write-ahead log beside it. */
static bool nobody_writes(const char *path)
{
	char log[4096];

	snprintf(log, sizeof(log), "%s-wal", path);
	return !access(path, R_OK) && access(log, F_OK) && errno == ENOENT;
}

/* Who may only read cannot make the shared memory by which readers and writers of a write-ahead log agree. */
static int open_as_it_is(struct store *store, const char *path)
{
	char uri[4096] = "file:";
	size_t n = strlen(uri);

	for (; *path && n < sizeof(uri) - 16; path++)
		n += (size_t)snprintf(uri + n, 4, strchr("%?#", *path) ? "%%%02x" : "%c", *path);
	strcpy(uri + n, "?immutable=1");
	sqlite3_close(store->db);
	store->db = NULL;
	return store_error(store,
	                   sqlite3_open_v2(uri, &store->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL));
}

int store_open(const char *path, enum store_mode mode, FILE *err, struct store **out)
{
	struct store *store = calloc(1, sizeof(*store));
	int flags = SQLITE_OPEN_READWRITE | (mode == STORE_CREATE ? SQLITE_OPEN_CREATE : 0);
	int r;

	if (!store)
		return -ENOMEM;
	r = store_error(store, sqlite3_open_v2(path, &store->db, flags, NULL));
	if (!r)
		r = set_up(store);
	if ((r == -EROFS || r == -ENOENT) && mode == STORE_EXISTING && nobody_writes(path))
		r = open_as_it_is(store, path);
	if (!r)
		r = migrate(store, path, mode, err);
	if (r) {
		if (r == -ENOENT && mode == STORE_EXISTING)
			fprintf(
			    err,
			    "%s: no database of assay there; `assay serve` makes one, --db names another\n",
			    path);
		else if (r != -EPROTO)
			fprintf(err, "%s: %s\n", path, store->message);
		store_close(store);
		return r;
	}
	*out = store;
	return 0;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(store->cache[i].statement);
	sqlite3_close(store->db);
	free(store);
}
