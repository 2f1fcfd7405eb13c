/* SPDX-License-Identifier: GPL-2.0-or-later
 * What acceptance can demand: the metrics, and bounds with their units. */
#ifndef ASSAY_ACCEPT_METRIC_H
#define ASSAY_ACCEPT_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum metric_kind {
	METRIC_SAMPLE,   /* a figure of every valid sample of a cell: decided by its interval over boots */
	METRIC_SIBLINGS, /* a cell beside the same cell on other nodes: decided by the interval of the ratio
	                  */
	METRIC_NODE,     /* a fact of each node: what its boots' inventories and its samples' evidence say */
	METRIC_RUN,      /* a count over the whole run */
};

enum metric_quantity {
	QUANTITY_COUNT,
	QUANTITY_RATE,     /* MB/s */
	QUANTITY_TIME,     /* ns */
	QUANTITY_SHARE,    /* % */
	QUANTITY_BIT_RATE, /* Mb/s */
	QUANTITY_LANES,
	QUANTITY_TRANSFERS, /* GT/s */
	QUANTITY_BYTES,
	QUANTITY_COUNT_OF,
};

struct metric {
	const char *name;
	enum metric_kind kind;
	enum metric_quantity quantity;
	const char *source;   /* of a sample: its place in the measurement; else an SQL query, see decide.c */
	const char *workload; /* cells that have it: "aio", "failover link" (its what), "" (all) */
	const char *description;
};

extern const struct metric metrics[];
extern const size_t metric_count;

/* The metric of that name, or NULL. */
const struct metric *metric_find(const char *name);
/* The name nearest to NAME by edit distance; never NULL. */
const char *metric_nearest(const char *name);

/* "800 MB/s", "2ms", "x8", "5 %" as a number in the unit that the quantity above names. 0, or -EINVAL with
 * the reason, which names the units, in WHY. */
int metric_bound(const struct metric *metric, const char *text, double *bound, char *why, size_t why_size);
/* VALUE for people: "812.4 MB/s", "1.93 ms", "x8". Gives OUT. */
const char *metric_text(const struct metric *metric, double value, char *out, size_t size);

/* All of them for `assay factors --metrics`. */
void metric_print(FILE *out);

#endif
