/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the pairs come to. */
#include "compare.h"

#include "../cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One side of a pair: samples, and one value for whatever counts as repeated. */
struct values {
	struct stats_sample *samples;
	double *values;
	size_t sample_count, count, boots;
};

static void values_free(struct values *v)
{
	free(v->samples);
	free(v->values);
}

static int load(const struct side *side, size_t cell, const struct figure *figure, struct values *v,
                struct stats_figure *f, double confidence)
{
	const struct report_cell *c = &side->report->cells[cell];
	long boots;
	int r;

	*v = (struct values){.samples = calloc(c->sample_count + 1, sizeof(*v->samples)),
	                     .values = calloc(c->sample_count + 1, sizeof(*v->values))};
	if (!v->samples || !v->values)
		return -ENOMEM;
	for (size_t i = 0; i < c->sample_count; i++) {
		const struct report_sample *s = &c->samples[i];

		if (side_has(side, s) && !isnan(s->figure[figure->id]))
			v->samples[v->sample_count++] =
			    (struct stats_sample){s->figure[figure->id], (uint32_t)s->boot, s->node};
	}
	if (!v->sample_count)
		return 0;
	r = stats_figure(v->samples, v->sample_count, confidence, f);
	boots = r ? r : stats_boot_medians(v->samples, v->sample_count, v->values);
	if (boots < 0)
		return (int)boots;
	v->boots = v->count = (size_t)boots;
	return 0;
}

/* Samples instead of boots. */
static void by_samples(struct values *v)
{
	for (size_t i = 0; i < v->sample_count; i++)
		v->values[i] = v->samples[i].value;
	v->count = v->sample_count;
}

static int measure(const struct compare *c, struct pair *p, struct values *a, struct values *b)
{
	int r;

	if (!a->sample_count || !b->sample_count)
		return 0; /* no such figure on one side: nothing to say */
	p->by_boots = a->boots > 1 && b->boots > 1 && !c->one_boot;
	if (!p->by_boots) {
		by_samples(a);
		by_samples(b);
	}
	p->decidable = p->by_boots || c->one_boot;
	r = stats_ratio(a->values, a->count, b->values, b->count, c->margin, c->confidence, &p->ratio);
	if (r == -EINVAL) { /* a value of 0: there is no ratio to it */
		p->decidable = false;
		p->ratio = (struct stats_ratio){.median = NAN,
		                                .interval = {NAN, NAN, 0},
		                                .p_differs = 1,
		                                .p_apart = 1};
		return 0;
	}
	if (!r)
		r = stats_bootstrap_ratio(a->samples, a->sample_count, b->samples, b->sample_count,
		                          c->confidence, STATS_SEED, &p->bootstrap_ratio, &p->bootstrap);
	p->boots_needed =
	    stats_ratio_more(a->values, a->count, b->values, b->count, c->margin, 1 - c->confidence);
	return r;
}

static int judge_pair(const struct compare *c, struct pair *p)
{
	const struct side *a = &c->sides[0];
	const json_t *workload = json_object_get(json_array_get(p->b->design->bodies, p->b_cell), "workload");
	struct values x = {0}, y = {0};
	int r;

	p->figure =
	    c->figure ? c->figure : figure_of_workload(json_string_value(json_object_get(workload, "type")));
	p->verdict = STATS_UNDECIDED;
	p->p_differs = p->p_apart = 1;
	r = load(a, p->a_cell, p->figure, &x, &p->a_figure, c->confidence);
	if (!r)
		r = load(p->b, p->b_cell, p->figure, &y, &p->b_figure, c->confidence);
	if (!r)
		r = measure(c, p, &x, &y);
	values_free(&x);
	values_free(&y);
	return r;
}

/* P values of all pairs that can be decided, corrected for being many. */
static int correct(struct compare *c)
{
	double *differs = calloc(c->pair_count + 1, sizeof(double)),
	       *apart = calloc(c->pair_count + 1, sizeof(double));
	size_t n = 0;
	int r = differs && apart ? 0 : -ENOMEM;

	for (size_t i = 0; i < c->pair_count && !r; i++) {
		if (!c->pairs[i].decidable)
			continue;
		differs[n] = c->pairs[i].ratio.p_differs;
		apart[n++] = c->pairs[i].ratio.p_apart;
	}
	c->tested = n;
	if (!r)
		r = stats_holm(differs, n);
	if (!r)
		r = stats_holm(apart, n);
	n = 0;
	for (size_t i = 0; i < c->pair_count && !r; i++) {
		struct pair *p = &c->pairs[i];

		if (!p->decidable)
			continue;
		p->p_differs = differs[n];
		p->p_apart = apart[n++];
		p->verdict = stats_verdict(&p->ratio, !p->figure->less_is_better, p->p_differs, p->p_apart,
		                           1 - c->confidence);
	}
	free(differs);
	free(apart);
	return r;
}

int judge(struct compare *c)
{
	int r = 0;

	for (size_t i = 0; i < c->pair_count && !r; i++)
		r = judge_pair(c, &c->pairs[i]);
	if (!r)
		r = correct(c);
	for (size_t i = 0; i < c->pair_count && !r; i++) {
		size_t least = stats_ratio_needs(1 - c->confidence, c->tested ? c->tested : 1);

		if (c->pairs[i].boots_needed < least)
			c->pairs[i].boots_needed = least;
	}
	return r;
}

int judge_exit(const struct compare *c)
{
	bool undecided = false;

	for (size_t i = 0; i < c->pair_count; i++) {
		if (c->pairs[i].verdict == STATS_WORSE)
			return ASSAY_WORSE;
		undecided = undecided || c->pairs[i].verdict == STATS_UNDECIDED;
	}
	return undecided ? ASSAY_UNDECIDED : ASSAY_OK;
}
