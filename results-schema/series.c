/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "series.h"

#include <errno.h>
#include <mbedtls/base64.h>
#include <stdlib.h>
#include <string.h>

enum { LEB128_MAX_BYTES = 10 };

struct bytes {
	unsigned char *data;
	size_t size, used;
};

static void put(struct bytes *out, uint64_t value)
{
	do {
		unsigned char byte = value & 0x7f;

		value >>= 7;
		if (out->used < out->size)
			out->data[out->used] = byte | (value ? 0x80 : 0);
		out->used++;
	} while (value);
}

/* Differences wrap round, as unsigned ones may. */
size_t series_encode_column(const int64_t *values, size_t rows, unsigned char *buf, size_t size)
{
	struct bytes out = {.data = buf, .size = size};
	uint64_t before = 0;
	size_t zeros = 0;

	for (size_t i = 0; i < rows; i++) {
		uint64_t d = (uint64_t)values[i] - before;

		before = (uint64_t)values[i];
		if (!d && zeros++)
			continue;
		if (d && zeros) {
			put(&out, zeros - 1);
			zeros = 0;
		}
		put(&out, d << 1 ^ (d >> 63 ? UINT64_MAX : 0));
	}
	if (zeros)
		put(&out, zeros - 1);
	return out.used;
}

/* One number from DATA at *USED. False: there is none. */
static bool get(const unsigned char *data, size_t length, size_t *used, uint64_t *value)
{
	*value = 0;
	for (unsigned int i = 0; i < LEB128_MAX_BYTES && *used < length; i++) {
		unsigned char byte = data[(*used)++];

		/* Of the tenth byte one bit is left. */
		if (i == LEB128_MAX_BYTES - 1 && byte > 1)
			return false;
		*value |= (uint64_t)(byte & 0x7f) << 7 * i;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

size_t series_decode_column(const unsigned char *data, size_t length, int64_t *values, size_t rows)
{
	uint64_t value = 0, code, zeros;
	size_t used = 0;

	for (size_t i = 0; i < rows;) {
		if (!get(data, length, &used, &code))
			return 0;
		value += code >> 1 ^ (code & 1 ? UINT64_MAX : 0);
		values[i++] = (int64_t)value;
		if (code)
			continue;
		if (!get(data, length, &used, &zeros) || zeros > rows - i)
			return 0;
		while (zeros--)
			values[i++] = (int64_t)value;
	}
	return used;
}

/* {"source", "object", "counters": [field …], "gauges": [field …]} for each object. */
static json_t *objects_json(const struct series *s)
{
	json_t *objects = json_array(), *one = NULL;

	for (size_t i = 0; i < s->column_count; i++) {
		const struct series_column *c = &s->columns[i], *last = c - 1;

		if (!i || strcmp(c->source, last->source) != 0 || strcmp(c->object, last->object) != 0) {
			one = json_pack("{s:s, s:s, s:[], s:[]}", "source", c->source, "object", c->object,
			                "counters", "gauges");
			json_array_append_new(objects, one);
		}
		if (json_array_append_new(json_object_get(one, c->gauge ? "gauges" : "counters"),
		                          json_string(c->field))) {
			json_decref(objects);
			return NULL;
		}
	}
	return objects;
}

static size_t encode_all(const struct series *s, unsigned char *buf, size_t size)
{
	size_t used = series_encode_column(s->time_ns, s->rows, buf, size);

	for (size_t i = 0; i < s->column_count; i++) {
		size_t at = used < size ? used : size;

		used += series_encode_column(s->columns[i].values, s->rows, buf ? buf + at : NULL, size - at);
	}
	return used;
}

static json_t *data_json(const struct series *s)
{
	size_t size = encode_all(s, NULL, 0), text_size = size / 3 * 4 + 8, length = 0;
	unsigned char *bytes = malloc(size + 1), *text = malloc(text_size);
	json_t *data = NULL;

	if (bytes && text) {
		encode_all(s, bytes, size);
		if (!mbedtls_base64_encode(text, text_size, &length, bytes, size))
			data = json_stringn((char *)text, length);
	}
	free(bytes);
	free(text);
	return data;
}

json_t *series_json(const struct series *s)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:i, s:b, s:o, s:o}", "layout", SERIES_LAYOUT, "rows",
	                 (json_int_t)s->rows, "begin_ns", (json_int_t)s->begin_ns, "interval_ns",
	                 (json_int_t)s->interval_ns, "cost_ns", (json_int_t)s->cost_ns, "cpu", s->cpu,
	                 "shared", s->shared, "objects", objects_json(s), "data", data_json(s));
}

static bool copy_name(char *to, size_t size, const json_t *from)
{
	const char *text = json_string_value(from);

	if (!text || strlen(text) >= size)
		return false;
	strcpy(to, text);
	return true;
}

static bool add_columns(struct series *s, const json_t *object, const char *kind)
{
	const json_t *fields = json_object_get(object, kind), *field;
	size_t i;

	json_array_foreach ((json_t *)fields, i, field) {
		struct series_column *c = &s->columns[s->column_count++];

		c->gauge = !strcmp(kind, "gauges");
		if (!copy_name(c->source, sizeof(c->source), json_object_get(object, "source")) ||
		    !copy_name(c->object, sizeof(c->object), json_object_get(object, "object")) ||
		    !copy_name(c->field, sizeof(c->field), field))
			return false;
	}
	return true;
}

/* Names of all columns. 0 or -errno. */
static int load_columns(struct series *s, const json_t *objects)
{
	size_t i, count = 0;
	const json_t *object;

	json_array_foreach ((json_t *)objects, i, object)
		count += json_array_size(json_object_get(object, "counters")) +
		         json_array_size(json_object_get(object, "gauges"));
	if (count > SERIES_COLUMNS_MAX || (count + 1) * s->rows > SERIES_VALUES_MAX)
		return -EBADMSG;
	s->columns = calloc(count + 1, sizeof(*s->columns));
	if (!s->columns)
		return -ENOMEM;
	json_array_foreach ((json_t *)objects, i, object)
		if (!add_columns(s, object, "counters") || !add_columns(s, object, "gauges"))
			return -EBADMSG;
	return 0;
}

/* Values of all columns: one allocation, which begins at time_ns. */
static int load_values(struct series *s, const json_t *data)
{
	const char *text = json_string_value(data);
	size_t text_length = json_string_length(data), length = 0, used;
	size_t size = text_length / 4 * 3 + 3;
	unsigned char *bytes = malloc(size);
	int r = 0;

	s->time_ns = calloc((s->column_count + 1) * s->rows + 1, sizeof(*s->time_ns));
	if (!bytes || !s->time_ns)
		r = -ENOMEM;
	else if (!text ||
	         mbedtls_base64_decode(bytes, size, &length, (const unsigned char *)text, text_length))
		r = -EBADMSG;
	used = r ? 0 : series_decode_column(bytes, length, s->time_ns, s->rows);
	for (size_t i = 0; i < s->column_count && used; i++) {
		size_t n;

		s->columns[i].values = s->time_ns + (i + 1) * s->rows;
		n = series_decode_column(bytes + used, length - used, s->columns[i].values, s->rows);
		used = n ? used + n : 0;
	}
	if (!r && (!used || used != length))
		r = -EBADMSG;
	free(bytes);
	return r;
}

int series_load(const json_t *json, struct series **out)
{
	json_int_t rows = json_integer_value(json_object_get(json, "rows"));
	const char *layout = json_string_value(json_object_get(json, "layout"));
	struct series *s;
	int r;

	*out = NULL;
	if (!layout || strcmp(layout, SERIES_LAYOUT) != 0 || rows < 1 || rows > SERIES_ROWS_MAX)
		return -EBADMSG;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->rows = (size_t)rows;
	s->begin_ns = json_integer_value(json_object_get(json, "begin_ns"));
	s->interval_ns = json_integer_value(json_object_get(json, "interval_ns"));
	s->cost_ns = json_integer_value(json_object_get(json, "cost_ns"));
	s->cpu = (int)json_integer_value(json_object_get(json, "cpu"));
	s->shared = json_is_true(json_object_get(json, "shared"));
	r = load_columns(s, json_object_get(json, "objects"));
	if (!r)
		r = load_values(s, json_object_get(json, "data"));
	if (r)
		series_free(s);
	else
		*out = s;
	return r;
}

void series_free(struct series *s)
{
	if (!s)
		return;
	free(s->time_ns);
	free(s->columns);
	free(s);
}

const struct series_column *series_find(const struct series *s, const char *source, const char *object,
                                        const char *field)
{
	for (size_t i = 0; i < s->column_count; i++)
		if (!strcmp(s->columns[i].source, source) && !strcmp(s->columns[i].object, object) &&
		    !strcmp(s->columns[i].field, field))
			return &s->columns[i];
	return NULL;
}

double series_rate(const struct series *s, const struct series_column *c, size_t row)
{
	double ns = (double)(s->time_ns[row] - s->time_ns[row - 1]);

	return ns > 0 ? (double)(c->values[row] - c->values[row - 1]) * 1e9 / ns : 0;
}
