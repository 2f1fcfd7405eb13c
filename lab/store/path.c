/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *database_path(const json_t *lab, const char *lab_path)
{
	const char *name = json_string_value(json_object_get(json_object_get(lab, "server"), "database"));
	const char *slash = lab_path ? strrchr(lab_path, '/') : NULL;
	char *path;

	if (!name)
		return strdup("assay.db");
	if (*name == '/' || !slash)
		return strdup(name);
	return asprintf(&path, "%.*s/%s", (int)(slash - lab_path), lab_path, name) < 0 ? NULL : path;
}
