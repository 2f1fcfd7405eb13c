/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tune.h"

#include <errno.h>
#include <stdlib.h>

/* P values of all that were compared, corrected together. */
static int correct(struct tune_candidate *candidates, size_t count)
{
	double *p = calloc(count + 1, sizeof(*p));
	size_t n = 0;
	int r;

	if (!p)
		return -ENOMEM;
	for (size_t i = 1; i < count; i++)
		if (candidates[i].compared)
			p[n++] = candidates[i].ratio.p_differs;
	r = stats_holm(p, n);
	n = 0;
	for (size_t i = 1; !r && i < count; i++)
		if (candidates[i].compared)
			candidates[i].p = p[n++];
	free(p);
	return r;
}

static bool beats(const struct tune_candidate *a, const struct tune_candidate *b, bool more_is_better)
{
	return more_is_better ? a->ratio.median > b->ratio.median : a->ratio.median < b->ratio.median;
}

int tune_choose(struct tune_candidate *candidates, size_t count, bool more_is_better, double margin,
                size_t *kept)
{
	int r;

	*kept = 0;
	if (!count || candidates[0].failed || !candidates[0].boots)
		return -ENODATA;
	for (size_t i = 1; i < count; i++) {
		struct tune_candidate *c = &candidates[i];

		c->compared = false;
		if (c->failed || !c->boots)
			continue;
		r = stats_ratio(candidates[0].medians, candidates[0].boots, c->medians, c->boots, margin,
		                1 - TUNE_ALPHA, &c->ratio);
		if (r == -ENOMEM)
			return r;
		c->compared = !r; /* -EINVAL: a median of 0 */
	}
	r = correct(candidates, count);
	for (size_t i = 1; !r && i < count; i++) {
		struct tune_candidate *c = &candidates[i];

		if (!c->compared)
			continue;
		c->verdict = stats_verdict(&c->ratio, more_is_better, c->p, c->ratio.p_apart, TUNE_ALPHA);
		if (c->verdict == STATS_BETTER && (!*kept || beats(c, &candidates[*kept], more_is_better)))
			*kept = i;
	}
	return r;
}
