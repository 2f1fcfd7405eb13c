/* SPDX-License-Identifier: GPL-2.0-or-later
 * What nodes upload of their observers: whatever is decoded fits the limits, and is the same when written and
 * read again. The first bytes are the shape, the rest the coded columns. */
#include "series.h"

#include <assert.h>
#include <mbedtls/base64.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *text;
	size_t length = 0;
	json_t *json, *again;
	struct series *s, *t;

	if (size < 3)
		return 0;
	text = malloc(2 * size + 8);
	mbedtls_base64_encode(text, 2 * size + 8, &length, data + 3, size - 3);
	json = json_pack("{s:s, s:i, s:o}", "layout", SERIES_LAYOUT, "rows", data[0] | data[1] << 8, "data",
	                 json_stringn((char *)text, length));
	json_object_set_new(json, "objects", json_array());
	for (unsigned int i = 0; i < data[2] % 8; i++)
		json_array_append_new(json_object_get(json, "objects"),
		                      json_pack("{s:s, s:o, s:[s], s:[s, s]}", "source", "disk", "object",
		                                json_sprintf("vd%u", i), "counters", "write_bytes", "gauges",
		                                "in_flight", "size"));
	if (!series_load(json, &s)) {
		assert(s->rows && s->rows <= SERIES_ROWS_MAX && s->column_count <= SERIES_COLUMNS_MAX);
		again = series_json(s);
		assert(again && !series_load(again, &t));
		assert(t->rows == s->rows && t->column_count == s->column_count);
		assert(!memcmp(t->time_ns, s->time_ns, s->rows * sizeof(*s->time_ns)));
		for (size_t i = 0; i < s->column_count; i++)
			assert(
			    !memcmp(t->columns[i].values, s->columns[i].values, s->rows * sizeof(int64_t)));
		series_free(t);
		series_free(s);
		json_decref(again);
	}
	json_decref(json);
	free(text);
	return 0;
}
