/* SPDX-License-Identifier: GPL-2.0-or-later
 * The hierarchical bootstrap. */
#include "stats.h"

#include <gsl/gsl_rng.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 2000 };

/* Samples, boot by boot. */
struct boots {
	double *values, *drawn, *medians;
	size_t *first; /* of each boot, and the end */
	size_t count;
};

static void boots_free(struct boots *b)
{
	free(b->values);
	free(b->drawn);
	free(b->medians);
	free(b->first);
}

static int boots_load(const struct stats_sample *samples, size_t count, struct boots *b)
{
	bool *taken = calloc(count + 1, sizeof(*taken));
	size_t at = 0;

	*b = (struct boots){.values = calloc(count + 1, sizeof(double)),
	                    .drawn = calloc(count + 1, sizeof(double)),
	                    .medians = calloc(count + 1, sizeof(double)),
	                    .first = calloc(count + 2, sizeof(size_t))};
	if (!taken || !b->values || !b->drawn || !b->medians || !b->first) {
		free(taken);
		boots_free(b);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		if (taken[i])
			continue;
		b->first[b->count++] = at;
		for (size_t k = i; k < count; k++)
			if (!taken[k] && samples[k].boot == samples[i].boot &&
			    samples[k].node == samples[i].node) {
				taken[k] = true;
				b->values[at++] = samples[k].value;
			}
	}
	b->first[b->count] = at;
	free(taken);
	return 0;
}

static double draw(struct boots *b, gsl_rng *rng)
{
	for (size_t i = 0; i < b->count; i++) {
		size_t boot = gsl_rng_uniform_int(rng, b->count);
		size_t first = b->first[boot], n = b->first[boot + 1] - first;

		for (size_t k = 0; k < n; k++)
			b->drawn[k] = b->values[first + gsl_rng_uniform_int(rng, n)];
		b->medians[i] = stats_median(b->drawn, n);
	}
	return stats_median(b->medians, b->count);
}

/* The median of the boots' medians as they are. */
static double as_is(struct boots *b)
{
	for (size_t i = 0; i < b->count; i++) {
		size_t n = b->first[i + 1] - b->first[i];

		memcpy(b->drawn, b->values + b->first[i], n * sizeof(*b->drawn));
		b->medians[i] = stats_median(b->drawn, n);
	}
	return stats_median(b->medians, b->count);
}

/* A NULL: of B alone. */
static int bootstrap(struct boots *a, struct boots *b, double confidence, uint64_t seed,
                     struct stats_interval *interval)
{
	size_t boots = a && a->count < b->count ? a->count : b->count;
	double *draws = calloc(DRAWS, sizeof(*draws)), tail = (1 - confidence) / 2;
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	if (!draws || !rng) {
		free(draws);
		gsl_rng_free(rng);
		return -ENOMEM;
	}
	gsl_rng_set(rng, seed);
	for (size_t i = 0; i < DRAWS; i++)
		draws[i] = a ? draw(b, rng) / draw(a, rng) : draw(b, rng);
	gsl_rng_free(rng);
	stats_median(draws, DRAWS); /* sorts */
	/* No draw is beyond the smallest and the largest boot, which cover a median with 1 - 2^(1 - n). */
	*interval = (struct stats_interval){stats_quantile(draws, DRAWS, tail),
	                                    stats_quantile(draws, DRAWS, 1 - tail),
	                                    fmin(confidence, 1 - ldexp(1, 1 - (int)boots))};
	free(draws);
	return 0;
}

int stats_bootstrap_median(const struct stats_sample *samples, size_t count, double confidence, uint64_t seed,
                           struct stats_interval *interval)
{
	struct boots b;
	int r = boots_load(samples, count, &b);

	*interval = (struct stats_interval){NAN, NAN, 0};
	if (r)
		return r;
	if (b.count > 1)
		r = bootstrap(NULL, &b, confidence, seed, interval);
	boots_free(&b);
	return r;
}

int stats_bootstrap_ratio(const struct stats_sample *a, size_t a_count, const struct stats_sample *b,
                          size_t b_count, double confidence, uint64_t seed, double *ratio,
                          struct stats_interval *interval)
{
	struct boots old, new;
	int r = boots_load(a, a_count, &old);

	*interval = (struct stats_interval){NAN, NAN, 0};
	if (r)
		return r;
	r = boots_load(b, b_count, &new);
	if (r) {
		boots_free(&old);
		return r;
	}
	*ratio = as_is(&new) / as_is(&old);
	if (old.count > 1 && new.count > 1)
		r = bootstrap(&old, &new, confidence, seed, interval);
	boots_free(&old);
	boots_free(&new);
	return r;
}
