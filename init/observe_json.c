/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe_source.h"

#include "series.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of all columns: a result must fit the upload. */
enum { ENCODED_MAX_BYTES = 1 << 20 };

/* Whether column C tells nothing: a counter that never moved. */
static bool stands_still(const struct observer *o, size_t c)
{
	return !o->columns[c].gauge && o->values[(o->rows - 1) * o->stride + c] == o->values[c];
}

/* Columns of an object that came late stand at the end. */
static int by_name(const void *a, const void *b)
{
	const struct series_column *x = a, *y = b;
	int r = strcmp(x->source, y->source);

	r = r ? r : strcmp(x->object, y->object);
	r = r ? r : x->gauge - y->gauge;
	return r ? r : strcmp(x->field, y->field);
}

/* Columns to S, with one allocation for their values, which begins at S->time_ns. 0 or -ENOMEM. */
static int fill(const struct observer *o, struct series *s)
{
	s->columns = calloc(o->column_count + 1, sizeof(*s->columns));
	s->time_ns = calloc((o->column_count + 1) * o->rows + 1, sizeof(*s->time_ns));
	if (!s->columns || !s->time_ns)
		return -ENOMEM;
	memcpy(s->time_ns, o->time_ns, o->rows * sizeof(*s->time_ns));
	for (size_t i = 0; i < o->column_count; i++) {
		const struct observe_column *from = &o->columns[i];
		struct series_column *c = &s->columns[s->column_count];

		if (stands_still(o, i))
			continue;
		snprintf(c->source, sizeof(c->source), "%s", from->source);
		snprintf(c->object, sizeof(c->object), "%s", from->object);
		snprintf(c->field, sizeof(c->field), "%s", from->field);
		c->gauge = from->gauge;
		c->values = s->time_ns + (++s->column_count) * o->rows;
		for (size_t row = 0; row < o->rows; row++)
			c->values[row] = o->values[row * o->stride + i] - (c->gauge ? 0 : o->values[i]);
	}
	qsort(s->columns, s->column_count, sizeof(*s->columns), by_name);
	return 0;
}

static size_t encoded_bytes(const struct series *s)
{
	size_t bytes = 0;

	for (size_t i = 0; i < s->column_count; i++)
		bytes += series_encode_column(s->columns[i].values, s->rows, NULL, 0);
	return bytes;
}

/* Leaves out every other row, but not the last one. */
static void halve(struct series *s)
{
	size_t last = s->rows - 1, kept = 0;

	for (size_t i = 0; i <= last; i += i + 2 > last && i < last ? last - i : 2, kept++) {
		s->time_ns[kept] = s->time_ns[i];
		for (size_t c = 0; c < s->column_count; c++)
			s->columns[c].values[kept] = s->columns[c].values[i];
	}
	s->rows = kept;
	s->interval_ns *= 2;
}

static json_t *notes_json(const struct observer *o)
{
	json_t *notes = json_array();

	for (size_t i = 0; i < o->note_count; i++)
		json_array_append_new(notes, json_string(o->notes[i]));
	return notes;
}

int observer_json(const struct observer *o, json_t *evidence)
{
	struct series s = {.rows = o->rows,
	                   .begin_ns = o->begin_ns,
	                   .interval_ns = o->interval_ns,
	                   .cost_ns = o->cost_ns,
	                   .cpu = o->cpu,
	                   .shared = o->shared};
	json_t *json = NULL;
	int r = fill(o, &s);

	while (!r && encoded_bytes(&s) > ENCODED_MAX_BYTES && s.rows > 2)
		halve(&s);
	if (!r)
		json = series_json(&s);
	if (json && o->note_count)
		json_object_set_new(json, "notes", notes_json(o));
	r = !json || json_object_set_new(evidence, "series", json) ||
	    json_object_set_new(evidence, "hot", observe_hot(o));
	free(s.columns);
	free(s.time_ns);
	return r ? -ENOMEM : 0;
}
