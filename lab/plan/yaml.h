/* SPDX-License-Identifier: GPL-2.0-or-later
 * YAML 1.2 (core schema: `no` is a string) as JSON, with the place of everything. */
#ifndef ASSAY_YAML_H
#define ASSAY_YAML_H

#include "complain.h"

#include <jansson.h>

struct yaml_mark {
	char *pointer; /* JSON pointer */
	int line, column, key_line, key_column;
};

struct yaml_doc {
	char *text;
	size_t size;
	json_t *root;
	struct yaml_mark *marks;
	size_t mark_count, mark_room;
	struct complaints *complaints;
};

/* Reads PATH into *DOC. 0; -EINVAL with complaints made (syntax, duplicate keys, more than 1 MiB, deeper than
 * 32 levels, more than 100,000 nodes after aliases are followed); -errno where it can't be read. yaml_free()
 * in any case; COMPLAINTS must live as long. */
int yaml_load(const char *path, struct complaints *complaints, struct yaml_doc *doc);

/* The same for text in memory, which is copied. */
int yaml_parse(const char *text, size_t size, struct complaints *complaints, struct yaml_doc *doc);
void yaml_free(struct yaml_doc *doc);

/* Complains of the value at POINTER, or of its key; of the nearest enclosing value that has a place. */
__attribute__((format(printf, 4, 5))) void yaml_complain(struct yaml_doc *doc, const char *pointer,
                                                         bool at_key, const char *format, ...);

/* What stands at FROM in the file is complained of as if it were at TO, and what stood at TO no more. 0 or
 * -ENOMEM. */
int yaml_move_marks(struct yaml_doc *doc, const char *from, const char *to);

/* Complains of everything that does not fit the schema NAME. Whether there was nothing. */
bool yaml_check_schema(struct yaml_doc *doc, const char *name);

#endif
