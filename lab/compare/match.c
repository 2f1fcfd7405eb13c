/* SPDX-License-Identifier: GPL-2.0-or-later
 * Cells go together that are the same but for what is asked about and what is allowed. */
#include "compare.h"

#include "../cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct differences {
	struct difference of[DIFFERENCES_MAX];
	size_t count;
	size_t asked;    /* of them, that are picked or allowed */
	size_t one_side; /* of them, that have no meaning on one side */
};

static bool is_picked(const struct compare *c, const struct side *b, const char *name)
{
	const struct side *sides[] = {&c->sides[0], b};

	for (size_t s = 0; s < 2; s++)
		for (size_t i = 0; i < sides[s]->pick_count; i++)
			if (!strcmp(sides[s]->picks[i].factor, name))
				return true;
	return false;
}

bool is_allowed(struct compare *c, const char *name)
{
	for (size_t i = 0; i < c->allowed_count; i++)
		if (!strcmp(c->allowed[i], name)) {
			c->allowed_used[i] = true;
			return true;
		}
	return false;
}

static void add(struct differences *d, const char *name, const char *a, const char *b)
{
	if (d->count == DIFFERENCES_MAX)
		return;
	struct difference *to = &d->of[d->count++];

	snprintf(to->name, sizeof(to->name), "%s", name);
	to->a = a;
	to->b = b;
	d->one_side += !a || !b;
}

/* Names that both designs have are looked at once. */
static void find_differences(const struct side *a, size_t a_cell, const struct side *b, size_t b_cell,
                             struct differences *d)
{
	d->count = d->asked = d->one_side = 0;
	for (size_t s = 0; s < 2; s++) {
		const struct design *design = s ? b->design : a->design;

		for (size_t i = 0; i < design->axis_count; i++) {
			const char *name = design->axes[i].name, *x = side_level(a, a_cell, name),
			           *y = side_level(b, b_cell, name);
			bool seen = false;

			if (x == y || (x && y && !strcmp(x, y)))
				continue;
			for (size_t k = 0; s && k < d->count && !seen; k++)
				seen = !strcmp(d->of[k].name, name);
			if (!seen)
				add(d, name, x, y);
		}
	}
}

/* How many differences stand against comparing. One in a factor that has no meaning on one side comes with
 * the difference that took its meaning; alone it counts. */
static size_t against(struct compare *c, const struct side *b, struct differences *d)
{
	size_t count = 0;

	for (size_t i = 0; i < d->count; i++) {
		bool asked = is_picked(c, b, d->of[i].name) || is_allowed(c, d->of[i].name);

		d->asked += asked;
		count += !asked && d->of[i].a && d->of[i].b;
	}
	if (!d->asked)
		count += d->one_side;
	return count;
}

static int add_pair(struct compare *c, const struct side *b, size_t a_cell, size_t b_cell)
{
	if (!(c->pair_count & (c->pair_count + 1))) { /* 0, 1, 3, 7 … are full */
		struct pair *grown = reallocarray(c->pairs, 2 * c->pair_count + 1, sizeof(*grown));

		if (!grown)
			return ASSAY_SYSTEM;
		c->pairs = grown;
	}
	c->pairs[c->pair_count++] = (struct pair){.b = b, .a_cell = a_cell, .b_cell = b_cell};
	return ASSAY_OK;
}

/* The same samples: a run, of which one side picks levels and the other all. */
static bool is_itself(const struct compare *c, const struct side *b, size_t a_cell, size_t b_cell)
{
	const struct side *a = &c->sides[0];

	return a_cell == b_cell && !strcmp(a->report->run, b->report->run) &&
	       !strcmp(a->database, b->database) && !side_node(a) && !side_node(b);
}

/* What stands between the two cells, for a complaint. */
static void print_against(struct compare *c, const struct side *b, const struct differences *d)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct difference *x = &d->of[i];

		if (is_picked(c, b, x->name) || is_allowed(c, x->name) || (d->asked && (!x->a || !x->b)))
			continue;
		fprintf(stderr,
		        "  %s: A %s, %c %s   (--allow %s compares all the same, or pick a level of each "
		        "side: ,%s=LEVEL)\n",
		        x->name, x->a ? x->a : "has none", b->name, x->b ? x->b : "has none", x->name,
		        x->name);
	}
}

/* The cell of the first side that goes with CELL of B: ASSAY_OK and *FOUND, or not *FOUND. *NEAREST: the
 * least that stands against any, and *A_NEAREST where. */
static int find_partner(struct compare *c, const struct side *b, size_t cell, struct differences *d,
                        bool *found, size_t *partner, size_t *nearest, size_t *a_nearest)
{
	const struct side *a = &c->sides[0];
	size_t least = DIFFERENCES_MAX + 1, as_near = 0;

	*found = false;
	*nearest = DIFFERENCES_MAX + 1;
	for (size_t i = 0; i < a->report->cell_count; i++) {
		size_t count;

		if (!a->taken[i])
			continue;
		find_differences(a, i, b, cell, d);
		count = against(c, b, d);
		if (count < *nearest) {
			*nearest = count;
			*a_nearest = i;
		}
		if (count)
			continue;
		*found = true;
		as_near = d->count == least ? as_near + 1 : d->count < least ? 1 : as_near;
		if (d->count < least) {
			least = d->count;
			*partner = i;
		}
	}
	if (as_near < 2)
		return ASSAY_OK;
	fprintf(
	    stderr,
	    "assay compare: %zu cells of A go with \"%s\" of %c: pick levels (,FACTOR=LEVEL) until one is "
	    "left, or allow less\n",
	    as_near, b->report->cells[cell].label, b->name);
	return ASSAY_USAGE;
}

/* Adds the names of what stands between the cells to what is said of cells left alone. */
static void note_alone(struct compare *c, const struct side *b, size_t a_cell, size_t b_cell,
                       struct differences *d)
{
	char *names = c->alone_in[b->name - 'A'];
	const size_t size = sizeof(c->alone_in[0]);

	c->alone[b->name - 'A']++;
	find_differences(&c->sides[0], a_cell, b, b_cell, d);
	against(c, b, d);
	for (size_t i = 0; i < d->count; i++) {
		const char *name = d->of[i].name, *had = strstr(names, name);
		size_t used = strlen(names);

		if (is_picked(c, b, name) || is_allowed(c, name) ||
		    (d->asked && (!d->of[i].a || !d->of[i].b)) || had)
			continue;
		if (used + strlen(name) + 3 < size)
			snprintf(names + used, size - used, "%s%s", used ? ", " : "", name);
	}
}

static int match_side(struct compare *c, struct side *b, struct differences *d)
{
	size_t pairs = c->pair_count, best = DIFFERENCES_MAX + 1, best_a = 0, best_b = 0;

	for (size_t i = 0; i < b->report->cell_count; i++) {
		size_t partner = 0, nearest, a_nearest = 0;
		bool found;

		if (!b->taken[i] || (is_itself(c, b, i, i) && c->sides[0].taken[i]))
			continue;
		int r = find_partner(c, b, i, d, &found, &partner, &nearest, &a_nearest);
		if (!r && found)
			r = add_pair(c, b, partner, i);
		if (r)
			return r;
		if (!found)
			note_alone(c, b, a_nearest, i, d);
		if (!found && nearest < best) {
			best = nearest;
			best_a = a_nearest;
			best_b = i;
		}
	}
	if (c->pair_count > pairs)
		return ASSAY_OK;
	fprintf(stderr,
	        "assay compare: A and %c cannot be compared: no cells differ only in what is asked about. "
	        "Nearest are\n  A: %s\n  %c: %s\nwhich differ in\n",
	        b->name, c->sides[0].report->cells[best_a].label, b->name, b->report->cells[best_b].label);
	find_differences(&c->sides[0], best_a, b, best_b, d);
	against(c, b, d);
	print_against(c, b, d);
	return ASSAY_NOT_COMPARABLE;
}

int match_cells(struct compare *c)
{
	struct differences *d = malloc(sizeof(*d));
	int r = d ? ASSAY_OK : ASSAY_SYSTEM;

	for (size_t s = 1; s < c->side_count && !r; s++)
		r = match_side(c, &c->sides[s], d);
	free(d);
	return r;
}
