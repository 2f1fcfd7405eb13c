/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "yaml.h"

#include <errno.h>
#include <stdlib.h>

enum { SIZE_MAX_BYTES = 1 << 20 };

int yaml_load(const char *path, struct complaints *complaints, struct yaml_doc *doc)
{
	FILE *file = fopen(path, "re");
	char *text = malloc(SIZE_MAX_BYTES + 1);
	size_t n;
	int r;

	*doc = (struct yaml_doc){.complaints = complaints};
	if (!file || !text) {
		r = file ? -ENOMEM : -errno;
		goto out;
	}
	errno = 0;
	n = fread(text, 1, SIZE_MAX_BYTES + 1, file);
	if (ferror(file)) {
		r = errno ? -errno : -EIO;
	} else if (n > SIZE_MAX_BYTES) {
		complain_at(complaints, 0, 0, "larger than %d bytes", SIZE_MAX_BYTES);
		r = -EINVAL;
	} else {
		r = yaml_parse(text, n, complaints, doc);
	}
out:
	if (file)
		fclose(file);
	free(text);
	return r;
}

void yaml_free(struct yaml_doc *doc)
{
	for (size_t i = 0; i < doc->mark_count; i++)
		free(doc->marks[i].pointer);
	free(doc->marks);
	free(doc->text);
	json_decref(doc->root);
	*doc = (struct yaml_doc){0};
}
