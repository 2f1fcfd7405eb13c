/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pstore.h"

#include "cmdline.h"
#include "console.h"
#include "failure.h"
#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORDS_MAX 32
#define RECORD_MAX  (4UL << 20)
#define TEXT_MAX    65535

static void append(json_t *array, const char *folder, const char *name)
{
	char path[PATH_MAX], *text;
	size_t length;
	int r;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	r = read_file_alloc(path, RECORD_MAX, &text, &length);
	if (r < 0) {
		say("cannot read %s: %s", path, strerror(-r));
		return;
	}
	/* A record may be binary; and its end has what happened last. */
	for (size_t i = 0; i < length; i++)
		if (!text[i])
			text[i] = '?';
	cmdline_mask(text);
	json_array_append_new(array,
	                      json_pack("{s:s, s:o}", "name", name, "text",
	                                json_text(text + (length > TEXT_MAX ? length - TEXT_MAX : 0))));
	free(text);
}

json_t *pstore_read(const char *folder)
{
	json_t *array = json_array();
	struct dirent **names;
	int count = scandir(folder, &names, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		if (*names[i]->d_name != '.' && json_array_size(array) < RECORDS_MAX)
			append(array, folder, names[i]->d_name);
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	return array;
}

void pstore_delete(const char *folder, const json_t *array)
{
	char path[PATH_MAX];
	const json_t *record;
	size_t i;

	json_array_foreach (array, i, record) {
		snprintf(path, sizeof(path), "%s/%s", folder,
		         json_string_value(json_object_get(record, "name")));
		if (unlink(path))
			say("cannot delete %s: %s", path, strerror(errno));
	}
}
