/* SPDX-License-Identifier: GPL-2.0-or-later
 * base, and (sweep one at a time) x cross x zip, filtered by where, completed with defaults, without doubles.
 */
#include "plan_points.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Levels that are set, and which of them vary. */
struct choice {
	const json_t *levels[FACTOR_COUNT];
	uint16_t numbers[FACTOR_COUNT];
	factor_set set;
};

struct filter {
	json_t *entries;
	struct points points; /* a point an entry */
	bool *hit;
};

struct expansion {
	struct plan_build *b;
	struct points base, sweep, zip;
	struct points *cross; /* an element a factor, a point a level */
	size_t axis_count;
	size_t total;    /* as many states as there can be */
	uint32_t *table; /* hash of levels -> state's index plus one */
	size_t table_size;
	struct filter only, except;
};

/* The base itself, then one level at a time. */
static int read_sweep(struct expansion *x)
{
	json_t *sweep = json_object_get(x->b->doc.root, "sweep"), *list;
	const char *name;
	int r = points_end(&x->sweep);

	json_object_foreach (sweep, name, list) {
		if (!r)
			r = points_list(x->b, &x->sweep, name, list);
	}
	return r;
}

/* Rows, or lists side by side. */
static int read_zip(struct expansion *x)
{
	json_t *zip = json_object_get(x->b->doc.root, "zip"), *list;
	size_t count = json_array_size(zip);
	const char *name;
	int r = 0;

	if (!zip)
		return points_end(&x->zip);
	for (size_t i = 0; !r && i < count; i++)
		r = points_row(x->b, &x->zip, json_array_get(zip, i));
	if (json_is_object(zip))
		count = json_array_size(json_object_iter_value(json_object_iter(zip)));
	for (size_t i = 0; !r && json_is_object(zip) && i < count; i++) {
		json_object_foreach (zip, name, list) {
			if (!r)
				r = points_setting(x->b, &x->zip, name, json_array_get(list, i));
		}
		r = r ? r : points_end(&x->zip);
	}
	return r;
}

static int read_cross(struct expansion *x)
{
	json_t *cross = json_object_get(x->b->doc.root, "cross"), *list;
	const char *name;
	int r = 0;

	x->cross = calloc(json_object_size(cross) + 1, sizeof(*x->cross));
	if (!x->cross)
		return -ENOMEM;
	json_object_foreach (cross, name, list) {
		if (!r)
			r = points_list(x->b, &x->cross[x->axis_count++], name, list);
	}
	return r;
}

static int read_filter(struct expansion *x, const char *name, struct filter *filter)
{
	json_t *entry;
	size_t i;
	int r = 0;

	filter->entries = json_object_get(json_object_get(x->b->doc.root, "where"), name);
	filter->hit = calloc(json_array_size(filter->entries) + 1, sizeof(bool));
	if (!filter->hit)
		return -ENOMEM;
	json_array_foreach (filter->entries, i, entry) {
		if (!r)
			r = points_row(x->b, &filter->points, entry);
	}
	return r;
}

static void choose(struct choice *c, const struct points *p, size_t point, bool varied)
{
	for (size_t i = points_first(p, point); i < p->ends[point]; i++) {
		const struct setting *s = &p->settings[i];

		c->levels[s->factor] = s->json;
		c->numbers[s->factor] = s->level;
		if (varied)
			c->set |= FACTOR_INDEX_BIT(s->factor);
	}
}

/* The factor named last varies fastest. */
static void choose_cross(const struct expansion *x, size_t point, struct choice *c)
{
	for (size_t i = x->axis_count; i-- > 0;) {
		const struct points *p = &x->cross[i];

		choose(c, p, point % p->count, true);
		point /= p->count;
	}
}

static size_t cross_points(const struct expansion *x)
{
	size_t n = 1;

	for (size_t i = 0; i < x->axis_count; i++)
		if (__builtin_mul_overflow(n, x->cross[i].count, &n))
			return SIZE_MAX;
	return n;
}

static bool matches(const struct points *p, size_t entry, const struct plan_state *s, unsigned int groups)
{
	for (size_t i = points_first(p, entry); i < p->ends[entry]; i++) {
		const struct setting *want = &p->settings[i];
		const struct factor *f = &factors[want->factor];
		uint16_t real = s->levels[want->factor];

		if (!real && factor_left_alone(f, want->json) && groups & 1u << f->group)
			continue;
		if (real != want->level)
			return false;
	}
	return true;
}

static bool any_matches(struct filter *filter, const struct plan_state *s, unsigned int groups)
{
	bool any = false;

	for (size_t i = 0; i < filter->points.count; i++)
		if (matches(&filter->points, i, s, groups))
			any = filter->hit[i] = true;
	return any;
}

static void keep_double(struct plan_build *b, const struct choice *c, size_t same)
{
	struct plan_double *d;
	char level[64];
	size_t n = 0;

	if (b->double_count++ >= PLAN_DOUBLES_TOLD)
		return;
	d = &b->doubles[b->double_count - 1];
	d->same = same;
	snprintf(d->text, sizeof(d->text), "the base");
	for (size_t i = 0; i < FACTOR_COUNT && n < sizeof(d->text); i++)
		if (c->set & FACTOR_INDEX_BIT(i))
			n += (size_t)snprintf(d->text + n, sizeof(d->text) - n, "%s%s=%s", n ? ", " : "",
			                      factors[i].name,
			                      plan_level_text(c->levels[i], level, sizeof(level)));
}

/* FNV-1a of the levels, eight bytes at a time. */
static uint64_t hash_levels(const uint16_t *levels)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < FACTOR_COUNT; i++)
		hash = (hash ^ levels[i]) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 32;
}

/* Where S stands in the table, or belongs. */
static uint32_t *table_place(const struct expansion *x, const struct plan_state *s)
{
	size_t at = hash_levels(s->levels) & (x->table_size - 1);

	while (x->table[at] &&
	       memcmp(x->b->parts->states[x->table[at] - 1].levels, s->levels, sizeof(s->levels)))
		at = (at + 1) & (x->table_size - 1);
	return &x->table[at];
}

static int add_state(struct expansion *x, const struct plan_state *s, const struct choice *c,
                     unsigned int groups)
{
	struct plan_build *b = x->b;
	char text[PLAN_STATE_TEXT_SIZE];
	uint32_t *place = table_place(x, s);
	struct plan_state *kept;
	size_t length;

	if (*place) {
		keep_double(b, c, *place - 1);
		return 0;
	}
	kept = &b->parts->states[b->parts->state_count];
	*kept = *s;
	length = plan_state_text(&b->parts->levels, s, text, sizeof(text));
	if (!length || sha256_hex(text, length, kept->id))
		return -EIO;
	*place = (uint32_t)++b->parts->state_count;
	for (size_t i = 0; i < FACTOR_COUNT && b->named & ~b->used; i++)
		if (groups & 1u << factors[i].group)
			b->used |= b->named & FACTOR_INDEX_BIT(i);
	return 0;
}

static int expand_point(struct expansion *x, size_t sweep, size_t cross, size_t zip)
{
	unsigned char part[FACTOR_COUNT];
	struct plan_state s = {0};
	struct choice c = {0};
	unsigned int groups;

	choose(&c, &x->base, 0, false);
	choose(&c, &x->zip, zip, true);
	choose_cross(x, cross, &c);
	choose(&c, &x->sweep, sweep, true);
	groups = factor_complete_levels(c.levels, part);
	for (size_t i = 0; i < FACTOR_COUNT; i++)
		if (part[i] != FACTOR_ABSENT)
			s.levels[i] =
			    part[i] == FACTOR_GIVEN ? c.numbers[i] : x->b->parts->levels.defaults[i];
	s.varied = c.set;
	if ((x->only.entries && !any_matches(&x->only, &s, groups)) || any_matches(&x->except, &s, groups))
		return 0;
	return add_state(x, &s, &c, groups);
}

static void check_filter(struct expansion *x, const char *name, const struct filter *filter)
{
	for (size_t i = 0; i < json_array_size(filter->entries); i++) {
		char at[64];

		snprintf(at, sizeof(at), "/where/%s/%zu", name, i);
		if (!filter->hit[i])
			yaml_complain(&x->b->doc, at, false, "no cell is like this");
	}
}

/* How many states there can be, or a complaint; and room for them. */
static int make_room(struct expansion *x)
{
	size_t total;

	if (__builtin_mul_overflow(x->sweep.count, cross_points(x), &total) ||
	    __builtin_mul_overflow(total, x->zip.count, &x->total) ||
	    __builtin_mul_overflow(x->total, x->b->parts->workload_count, &total) || total > PLAN_CELLS_MAX) {
		const json_t *root = x->b->doc.root;

		yaml_complain(&x->b->doc,
		              json_object_get(root, "cross") ? "/cross"
		              : json_object_get(root, "zip") ? "/zip"
		                                             : "/sweep",
		              true, "this makes more than %d cells", PLAN_CELLS_MAX);
		return -EINVAL;
	}
	for (x->table_size = 64; x->table_size < 2 * x->total; x->table_size *= 2)
		;
	x->table = calloc(x->table_size, sizeof(*x->table));
	x->b->parts->states = calloc(x->total, sizeof(*x->b->parts->states));
	return x->table && x->b->parts->states ? 0 : -ENOMEM;
}

static int expand_all(struct expansion *x)
{
	size_t crosses = cross_points(x);
	int r = 0;

	for (size_t s = 0; !r && s < x->sweep.count; s++)
		for (size_t c = 0; !r && c < crosses; c++)
			for (size_t z = 0; !r && z < x->zip.count; z++)
				r = expand_point(x, s, c, z);
	return r;
}

static void expansion_free(struct expansion *x)
{
	points_free(&x->base);
	points_free(&x->sweep);
	points_free(&x->zip);
	for (size_t i = 0; i < x->axis_count; i++)
		points_free(&x->cross[i]);
	points_free(&x->only.points);
	points_free(&x->except.points);
	free(x->cross);
	free(x->only.hit);
	free(x->except.hit);
	free(x->table);
}

int plan_expand_states(struct plan_build *b)
{
	struct expansion x = {.b = b};
	int r = points_row(b, &x.base, json_object_get(b->doc.root, "base"));

	if (!r)
		r = read_sweep(&x);
	if (!r)
		r = read_cross(&x);
	if (!r)
		r = read_zip(&x);
	if (!r)
		r = read_filter(&x, "only", &x.only);
	if (!r)
		r = read_filter(&x, "except", &x.except);
	if (!r)
		r = make_room(&x);
	if (!r)
		r = expand_all(&x);
	if (!r && !b->parts->state_count) {
		yaml_complain(&b->doc, "/where", true, "no cell is left after these filters");
		r = -EINVAL;
	} else if (!r) {
		check_filter(&x, "only", &x.only);
		check_filter(&x, "except", &x.except);
	}
	expansion_free(&x);
	return r;
}
