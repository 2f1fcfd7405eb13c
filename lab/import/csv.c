/* SPDX-License-Identifier: GPL-2.0-or-later
 * Comma-separated values, RFC 4180, with a line of names. */
#include "import.h"

#include "../report/figure.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 200 };

enum role {
	ROLE_SETTING,
	ROLE_LEFT_OUT,
	ROLE_BYTES,
	ROLE_NS,
	ROLE_SECONDS,
	ROLE_BOOT,
	ROLE_NODE,
	ROLE_FIGURE
};

static const struct {
	const char *name;
	enum role role;
} roles[] = {
    {"bytes", ROLE_BYTES},
    {"ns", ROLE_NS},
    {"seconds", ROLE_SECONDS},
    {"boot", ROLE_BOOT},
    {"node", ROLE_NODE},
    /* of assay report --csv, and no settings */
    {"run", ROLE_LEFT_OUT},
    {"ordinal", ROLE_LEFT_OUT},
    {"cell_id", ROLE_LEFT_OUT},
    {"sample", ROLE_LEFT_OUT},
    {"attempt", ROLE_LEFT_OUT},
    {"begun_unix_ns", ROLE_LEFT_OUT},
};

struct column {
	char *name;
	enum role role;
	enum figure_id figure;
};

struct csv {
	char *text, *at; /* cut into fields in place */
	int line;
	struct column columns[COLUMNS_MAX];
	size_t column_count;
	struct complaints *complaints;
};

/* The next field, in place; *LAST: of its line. NULL: the file is over. */
static char *next_field(struct csv *c, bool *last)
{
	char *from = c->at, *to = c->at, *read = c->at;
	bool quoted = *read == '"';

	if (!*read)
		return NULL;
	for (read += quoted; *read; read++) {
		if (quoted && *read == '"' && read[1] == '"')
			read++;
		else if (quoted && *read == '"') {
			quoted = false;
			continue;
		} else if (!quoted && (*read == ',' || *read == '\n'))
			break;
		*to++ = *read;
	}
	*last = *read != ',';
	c->at = *read ? read + 1 : read;
	while (*last && to > from && to[-1] == '\r')
		to--;
	/* a comma at the very end: one more, empty field, which at the end of the text cannot be told from
	 * none */
	*to = '\0';
	return from;
}

static int read_names(struct csv *c)
{
	bool last = false;
	char *field;

	while (!last && (field = next_field(c, &last))) {
		struct column *column = &c->columns[c->column_count++];
		const struct figure *figure = figure_find(field);

		*column = (struct column){.name = field, .role = figure ? ROLE_FIGURE : ROLE_SETTING};
		if (figure)
			column->figure = figure->id;
		for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
			if (!strcmp(roles[i].name, field))
				column->role = roles[i].role;
		json_t *valid = json_string(field);
		json_decref(valid);
		if (!*field || !valid || c->column_count == COLUMNS_MAX) {
			complain_at(c->complaints, 1, 1,
			            !*field  ? "a column has no name"
			            : !valid ? "a name is no UTF-8"
			                     : "too many columns");
			return -EINVAL;
		}
	}
	c->line = 1;
	return 0;
}

static bool number(const char *field, double *out)
{
	char *end;

	*out = strtod(field, &end);
	return end != field && !*end && isfinite(*out) && *out >= 0;
}

/* Seconds and bytes that were not given are made from the throughput: of one second. */
static int finish(struct csv *c, struct import_sample *s, double bytes, double seconds)
{
	double mb_per_s = s->figure[FIGURE_MB_PER_S];

	if (seconds > 0 && bytes >= 1 && bytes < 9e18 && seconds < 9e9) {
		s->ns = (uint64_t)llround(seconds * 1e9);
		s->bytes = (uint64_t)bytes;
	} else if (mb_per_s > 0 && mb_per_s < 1e9) {
		s->ns = 1000000000;
		s->bytes = (uint64_t)llround(mb_per_s * 1e6);
	}
	if (s->ns && s->bytes)
		return 0;
	complain_at(c->complaints, c->line, 1,
	            "no throughput: bytes and seconds (or ns), or mb_per_s, all above 0, must be there");
	return -EINVAL;
}

static int take_field(const struct column *column, const char *field, struct import_sample *s, double *bytes,
                      double *seconds)
{
	double n = 0;

	if (column->role == ROLE_LEFT_OUT || !*field)
		return 0;
	if (column->role == ROLE_SETTING)
		return json_object_set_new(s->state, column->name, json_string(field)) ? -EINVAL : 0;
	if (column->role == ROLE_NODE) {
		free(s->node);
		s->node = strdup(field);
		json_t *valid = json_string(field);
		json_decref(valid);
		return valid && s->node ? 0 : -EINVAL;
	}
	if (!number(field, &n) || (column->role == ROLE_BOOT && (n > 1e6 || n != floor(n))))
		return -EINVAL;
	switch (column->role) {
	case ROLE_BYTES:
		*bytes = n;
		break;
	case ROLE_NS:
		*seconds = n / 1e9;
		break;
	case ROLE_SECONDS:
		*seconds = n;
		break;
	case ROLE_BOOT:
		s->boot += (uint32_t)n;
		break;
	default:
		s->figure[column->figure] = n;
	}
	return 0;
}

/* 1: a line; 0: the file is over; -errno. */
static int take_line(struct csv *c, struct import *import)
{
	struct import_sample s = import_sample_new();
	double bytes = 0, seconds = 0;
	bool last = false, empty = true;
	size_t column = 0;
	char *field;
	int r = 0;

	c->line++;
	if (!*c->at)
		return 0;
	s.state = json_object();
	s.workload = json_pack("{ss}", "type", "csv");
	s.boot = import->first_boot;
	s.line = c->line;
	while (!last && (field = next_field(c, &last))) {
		empty = empty && !*field;
		if (!r && column < c->column_count) {
			r = take_field(&c->columns[column], field, &s, &bytes, &seconds);
			if (r)
				complain_at(c->complaints, c->line, (int)column + 1, "%s: \"%.60s\" is none",
				            c->columns[column].name, field);
		}
		column++;
	}
	if (empty && column == 1) { /* an empty line */
		s.line = 0;
	} else if (!r && column > c->column_count) {
		complain_at(c->complaints, c->line, 1, "%zu fields, but there are %zu names", column,
		            c->column_count);
		r = -EINVAL;
	} else if (!r) {
		r = finish(c, &s, bytes, seconds);
	}
	if (r || !s.line) {
		json_decref(s.state);
		json_decref(s.workload);
		free(s.node);
		return r ? r : 1;
	}
	r = import_add(import, &s);
	return r ? r : 1;
}

int import_csv(struct import *import, const char *text, size_t size, struct complaints *complaints)
{
	struct csv *c = calloc(1, sizeof(*c));
	size_t had = import->count;
	int r = -ENOMEM, worst = 0;

	if (c)
		c->text = c->at = strndup(text, size);
	if (c && c->text) {
		c->complaints = complaints;
		if (!strncmp(c->at, "\xef\xbb\xbf", 3))
			c->at += 3;
		r = read_names(c);
		while (!r && (r = take_line(c, import)) != 0 && r != -ENOMEM && r != -E2BIG) {
			worst = r < 0 ? r : worst;
			r = 0;
		}
		r = r ? r : worst;
		if (!r && import->count == had) {
			complain_at(complaints, 0, 0, "there is no line of figures in it");
			r = -EINVAL;
		}
	}
	if (c)
		free(c->text);
	free(c);
	return r;
}
