/* SPDX-License-Identifier: GPL-2.0-or-later
 * Latencies, counted: three significant digits from 1 ns to 60 s, in an array of fixed size (the layout of
 * HDR Histogram by Gil Tene: below 2048 a bucket is a nanosecond; each doubling above has 1024 buckets). The
 * node writes the JSON, the lab reads it: hence here. */
#ifndef ASSAY_HISTOGRAM_H
#define ASSAY_HISTOGRAM_H

#include <jansson.h>
#include <stdint.h>

#define HISTOGRAM_MAX_NS INT64_C(60000000000)
/* 60 s is 1788 times 2^25. */
enum { HISTOGRAM_HALF = 1024, HISTOGRAM_BUCKETS = 25 * HISTOGRAM_HALF + 1789 };

struct histogram {
	uint64_t count, sum_ns, over; /* over: longer than 60 s, counted as 60 s */
	uint64_t min_ns, max_ns;      /* as they were */
	uint64_t buckets[HISTOGRAM_BUCKETS];
};

/* Empties it, and touches every page of it. */
void histogram_clear(struct histogram *h);

/* Bucket of NS, which is at most HISTOGRAM_MAX_NS. */
static inline unsigned int histogram_index(uint64_t ns)
{
	unsigned int shift = 53 - (unsigned int)__builtin_clzll(ns | HISTOGRAM_HALF);

	return shift * HISTOGRAM_HALF + (unsigned int)(ns >> shift);
}

/* Records one. What is below 1 ns counts as 1 ns. */
static inline void histogram_record(struct histogram *h, int64_t ns)
{
	uint64_t value = ns < 1 ? 1 : (uint64_t)ns, kept = value;

	if (__builtin_expect(value > HISTOGRAM_MAX_NS, 0)) {
		kept = HISTOGRAM_MAX_NS;
		h->over++;
	}
	h->buckets[histogram_index(kept)]++;
	h->count++;
	h->sum_ns += value;
	if (value > h->max_ns)
		h->max_ns = value;
	if (value < h->min_ns)
		h->min_ns = value;
}

/* Adds what FROM has to TO. */
void histogram_merge(struct histogram *to, const struct histogram *from);

/* The value that PPM millionths (p99.9: 999000) of all are at or below: the upper end of its bucket, so at
 * most 0.1 % above the exact one, and never above the maximum. 0 of an empty one. */
uint64_t histogram_percentile_ns(const struct histogram *h, uint32_t ppm);

/* {"layout": "hdr-1024", count, sum_ns, over, min_ns, max_ns, "buckets": [[index, count], ...]}, empty
 * buckets left out. The caller owns it; NULL without memory. */
json_t *histogram_json(const struct histogram *h);

/* The reverse. 0, or -EINVAL where JSON is no histogram or its sums are wrong. */
int histogram_read(const json_t *json, struct histogram *h);

/* {"min", "mean", "p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99", "max"} in ns. The caller owns it. */
json_t *histogram_percentiles_json(const struct histogram *h);

#endif
