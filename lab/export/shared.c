/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

FILE *export_open(const char *folder, const char *name)
{
	char *path;
	FILE *file = NULL;

	if (mkdir(folder, 0777) && errno != EEXIST) {
		fprintf(stderr, "assay export: %s: %s\n", folder, strerror(errno));
		return NULL;
	}
	if (asprintf(&path, "%s/%s", folder, name) < 0) {
		errno = ENOMEM;
		return NULL;
	}
	file = fopen(path, "we");
	if (!file)
		fprintf(stderr, "assay export: %s: %s\n", path, strerror(errno));
	free(path);
	return file;
}

int export_close(FILE *file, int r)
{
	bool failed = ferror(file);

	if (fclose(file) && !r)
		r = -errno;
	return !r && failed ? -EIO : r;
}

json_t *export_body(sqlite3_stmt *row, int column)
{
	const void *body = sqlite3_column_blob(row, column);

	return body ? json_loadb(body, (size_t)sqlite3_column_bytes(row, column), 0, NULL) : NULL;
}

const char *export_time(int64_t unix_ns, char text[40])
{
	time_t seconds = unix_ns / INT64_C(1000000000);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(text, 40, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + 19, 21, ".%09" PRId64 "Z", unix_ns % INT64_C(1000000000));
	return text;
}
