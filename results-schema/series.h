/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the observers saw while a sample ran: a column of integers for each thing looked at, a row a look. The
 * node writes it, the lab reads it, both by this file; as JSON it is series.json.
 *
 * A column has a source, an object and a field: ("disk", "vda", "write_bytes"), ("thread",
 * "drbd_w_assay/123", "cpu_ns"). The field's last word is its unit. A counter counts from the first row on,
 * so its first value is 0; one that never moved is left out. A gauge is as it was found; -1: it was not there
 * then.
 *
 * A sample of an hour has about 3,600 rows of 100 to 200 columns, which is 0.4 to 1 MB in base64. The node
 * leaves out every other row, as often as it takes to stay below 1.4 MB, so that longer samples on larger
 * machines are looked at less often.
 *
 * Layout "delta-1", in base64: each column's values one after the other, the first being the time; a value is
 * kept as its difference to the one before (0 before the first), zigzag-coded (0, -1, 1, -2 … to 0, 1, 2, 3
 * …), in LEB128 (seven bits a byte, the low ones first, bit 7: more follow); a difference of 0 is followed by
 * the number of further zeros in the column, in LEB128. */
#ifndef ASSAY_SERIES_H
#define ASSAY_SERIES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERIES_LAYOUT "delta-1"

/* More than this is not decoded. */
enum { SERIES_ROWS_MAX = 65536, SERIES_COLUMNS_MAX = 4096, SERIES_VALUES_MAX = 4 << 20 };

struct series_column {
	char source[16], object[48], field[32];
	bool gauge;
	int64_t *values; /* one a row */
};

struct series {
	size_t rows, column_count;
	int64_t *time_ns; /* of each row, since all nodes of the sample had passed `ready` */
	struct series_column *columns;

	int64_t begin_ns; /* when the workload's first second began, on the same clock; 0: not on this node */
	int64_t interval_ns; /* from look to look, as wanted */
	int64_t cost_ns;     /* CPU time that looking took, in all */
	int cpu;             /* that looked */
	bool shared;         /* it may have measured as well */
};

/* Column I as bytes, at most SIZE, to BUF. How many there are, also where they do not fit. */
size_t series_encode_column(const int64_t *values, size_t rows, unsigned char *buf, size_t size);

/* The next ROWS values from the LENGTH bytes at DATA. How many bytes they took; 0: they are none. */
size_t series_decode_column(const unsigned char *data, size_t length, int64_t *values, size_t rows);

/* *S as series.json; columns of a source and object must follow each other, counters before gauges. The
 * caller owns it; NULL: out of memory. */
json_t *series_json(const struct series *s);

/* JSON (series.json) to *OUT, which the caller ends with series_free(). 0; -EBADMSG: it contradicts itself,
 * or is larger than what is decoded; -ENOMEM. */
int series_load(const json_t *json, struct series **out);
void series_free(struct series *s);

/* The column, or NULL. */
const struct series_column *series_find(const struct series *s, const char *source, const char *object,
                                        const char *field);

/* What column C of S rose by in a second, between row ROW - 1 and ROW (from 1 on); 0 where no time passed. */
double series_rate(const struct series *s, const struct series_column *c, size_t row);

#endif
