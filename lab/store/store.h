/* SPDX-License-Identifier: GPL-2.0-or-later
 * The lab's only memory: one SQLite file (WAL, every commit on disk before it counts), shared by the server
 * and by the commands that look at it. Not thread-safe: one caller at a time.
 *
 * Statements are SQL literals with parameters ?; TYPES says what follows, one letter each:
 *   s  const char * (NULL: null)      i  int64_t (pass exactly that type)
 *   b  const void *, size_t           n  int64_t, where -1 is null
 *   d  double
 * All return 0 or -errno; store_message() then says more. */
#ifndef ASSAY_STORE_H
#define ASSAY_STORE_H

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>

struct store;

enum store_mode { STORE_CREATE, STORE_EXISTING };

/* Opens PATH; STORE_CREATE makes it where it is missing. Complaints, with what to do, go to ERR. */
int store_open(const char *path, enum store_mode mode, FILE *err, struct store **store);
void store_close(struct store *store);

/* What SQLite said of the last failure; valid until the next call. */
const char *store_message(const struct store *store);

int store_begin(struct store *store);
/* Commits where R is 0, else rolls back; returns R, or why the commit failed. */
int store_end(struct store *store, int r);

/* Runs a statement that gives no rows. */
int store_do(struct store *store, const char *sql, const char *types, ...);

/* Starts a query: then store_row() until it gives 0. */
int store_ask(struct store *store, sqlite3_stmt **row, const char *sql, const char *types, ...);
/* 1: a row is there; 0: no more; -errno. After 0 or -errno the statement is reset. */
int store_row(struct store *store, sqlite3_stmt *row);
/* Needed only by who stops before store_row() gave 0. */
void store_reset(sqlite3_stmt *row);

/* The first column of the first row: *VALUE is left alone where there is none or it is null. */
int store_int(struct store *store, int64_t *value, const char *sql, const char *types, ...);

/* Column as string, never NULL ("" for null); valid until the next store_row(). */
const char *store_text(sqlite3_stmt *row, int column);

/* Rises when another connection changed the file. */
int64_t store_changes(struct store *store);

/* Checks the whole file; -EUCLEAN and the first finding in store_message(). */
int store_check(struct store *store);

#endif
