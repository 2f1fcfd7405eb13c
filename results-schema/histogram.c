/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "histogram.h"

#include <errno.h>
#include <string.h>

static const char layout[] = "hdr-1024";

void histogram_clear(struct histogram *h)
{
	memset(h, 0, sizeof(*h));
	h->min_ns = UINT64_MAX;
}

void histogram_merge(struct histogram *to, const struct histogram *from)
{
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		to->buckets[i] += from->buckets[i];
	to->count += from->count;
	to->sum_ns += from->sum_ns;
	to->over += from->over;
	to->max_ns = from->max_ns > to->max_ns ? from->max_ns : to->max_ns;
	to->min_ns = from->min_ns < to->min_ns ? from->min_ns : to->min_ns;
}

/* The largest value that falls into bucket INDEX. */
static uint64_t upper_end_ns(unsigned int index)
{
	unsigned int shift = index < 2 * HISTOGRAM_HALF ? 0 : index / HISTOGRAM_HALF - 1;

	return ((uint64_t)(index - shift * HISTOGRAM_HALF + 1) << shift) - 1;
}

uint64_t histogram_percentile_ns(const struct histogram *h, uint32_t ppm)
{
	/* The nearest rank, in whole numbers: 0.99 has no exact binary form. */
	unsigned __int128 rank = ((unsigned __int128)h->count * ppm + 999999) / 1000000;
	uint64_t seen = 0;

	rank = rank ? rank : 1;
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->buckets[i];
		if (seen >= rank) {
			uint64_t end = upper_end_ns(i);

			/* The last bucket also has what is longer than 60 s. */
			return end > h->max_ns || (h->over && i == HISTOGRAM_BUCKETS - 1) ? h->max_ns : end;
		}
	}
	return 0;
}

json_t *histogram_json(const struct histogram *h)
{
	json_t *buckets = json_array();
	int r = buckets ? 0 : -1;

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS && !r; i++)
		if (h->buckets[i])
			r = json_array_append_new(buckets, json_pack("[I, I]", (json_int_t)i,
			                                             (json_int_t)h->buckets[i]));
	if (r) {
		json_decref(buckets);
		return NULL;
	}
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:o}", "layout", layout, "count",
	                 (json_int_t)h->count, "sum_ns", (json_int_t)h->sum_ns, "over", (json_int_t)h->over,
	                 "min_ns", (json_int_t)(h->count ? h->min_ns : 0), "max_ns", (json_int_t)h->max_ns,
	                 "buckets", buckets);
}

static int read_buckets(const json_t *list, struct histogram *h)
{
	json_int_t last = -1;
	uint64_t sum = 0;
	json_t *pair;
	size_t i;

	json_array_foreach (list, i, pair) {
		json_int_t at = json_integer_value(json_array_get(pair, 0));
		json_int_t n = json_integer_value(json_array_get(pair, 1));

		if (json_array_size(pair) != 2 || !json_is_integer(json_array_get(pair, 0)) || at <= last ||
		    at >= HISTOGRAM_BUCKETS || n < 1 || (uint64_t)n > h->count - sum)
			return -EINVAL;
		h->buckets[at] = (uint64_t)n;
		sum += (uint64_t)n;
		last = at;
	}
	return sum == h->count ? 0 : -EINVAL;
}

int histogram_read(const json_t *json, struct histogram *h)
{
	json_int_t count, sum, over, min, max;
	const char *name;
	json_t *buckets;

	histogram_clear(h);
	if (json_unpack((json_t *)json, "{s:s, s:I, s:I, s:I, s:I, s:I, s:o}", "layout", &name, "count",
	                &count, "sum_ns", &sum, "over", &over, "min_ns", &min, "max_ns", &max, "buckets",
	                &buckets))
		return -EINVAL;
	if (strcmp(name, layout) || !json_is_array(buckets) || count < 0 || sum < 0 || over < 0 || min < 0 ||
	    max < min)
		return -EINVAL;
	h->count = (uint64_t)count;
	h->sum_ns = (uint64_t)sum;
	h->over = (uint64_t)over;
	h->max_ns = (uint64_t)max;
	if (count)
		h->min_ns = (uint64_t)min;
	return read_buckets(buckets, h);
}

json_t *histogram_percentiles_json(const struct histogram *h)
{
	static const struct {
		const char *name;
		uint32_t ppm;
	} table[] = {
	    {"p50", 500000}, {"p75", 750000},   {"p90", 900000},    {"p95", 950000},
	    {"p99", 990000}, {"p99_9", 999000}, {"p99_99", 999900},
	};
	json_t *json = json_object();
	int r = json ? 0 : -1;

	if (!r)
		r = json_object_set_new(json, "min", json_integer((json_int_t)(h->count ? h->min_ns : 0)));
	if (!r)
		r = json_object_set_new(json, "mean",
		                        json_integer((json_int_t)(h->count ? h->sum_ns / h->count : 0)));
	for (size_t i = 0; i < sizeof(table) / sizeof(*table) && !r; i++)
		r = json_object_set_new(json, table[i].name,
		                        json_integer((json_int_t)histogram_percentile_ns(h, table[i].ppm)));
	if (!r)
		r = json_object_set_new(json, "max", json_integer((json_int_t)h->max_ns));
	if (!r)
		return json;
	json_decref(json);
	return NULL;
}
