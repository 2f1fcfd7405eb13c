/* SPDX-License-Identifier: GPL-2.0-or-later
 * base, and (sweep one at a time) x cross x zip, filtered by where, completed with defaults, without doubles.
 */
#include "plan_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Levels that one way of varying sets, of one of its points. Borrowed from the document. */
struct choice {
	json_t *levels[FACTOR_COUNT];
	factor_set set;
};

struct filter {
	json_t *entries;
	bool *hit;
};

struct expansion {
	struct plan_build *b;
	json_t *sweep, *cross, *zip;
	json_t *ids; /* state id -> index */
	struct filter only, except;
};

static void choose(struct choice *c, const char *name, json_t *level, bool varied)
{
	const struct factor *f = factor_find(name);

	c->levels[f - factors] = level;
	if (varied)
		c->set |= FACTOR_BIT(f);
}

static size_t sweep_points(const json_t *sweep)
{
	size_t n = 1; /* the base itself */
	const char *name;
	json_t *list;

	json_object_foreach ((json_t *)sweep, name, list) {
		n += json_array_size(list);
	}
	return n;
}

static void choose_sweep(const json_t *sweep, size_t point, struct choice *c)
{
	const char *name;
	json_t *list;

	if (!point--)
		return;
	json_object_foreach ((json_t *)sweep, name, list) {
		if (point < json_array_size(list)) {
			choose(c, name, json_array_get(list, point), true);
			return;
		}
		point -= json_array_size(list);
	}
}

/* SIZE_MAX where it is more than can be. */
static size_t cross_points(const json_t *cross)
{
	size_t n = 1;
	const char *name;
	json_t *list;

	json_object_foreach ((json_t *)cross, name, list) {
		if (__builtin_mul_overflow(n, json_array_size(list), &n))
			return SIZE_MAX;
	}
	return n;
}

/* The factor named last varies fastest. */
static void choose_cross(const json_t *cross, size_t point, struct choice *c)
{
	size_t rest = cross_points(cross);
	const char *name;
	json_t *list;

	json_object_foreach ((json_t *)cross, name, list) {
		rest /= json_array_size(list);
		choose(c, name, json_array_get(list, point / rest), true);
		point %= rest;
	}
}

static size_t zip_points(const json_t *zip)
{
	if (json_is_array(zip))
		return json_array_size(zip);
	if (json_is_object(zip))
		return json_array_size(json_object_iter_value(json_object_iter((json_t *)zip)));
	return 1;
}

static void choose_zip(const json_t *zip, size_t point, struct choice *c)
{
	const char *name;
	json_t *value;

	if (json_is_array(zip)) {
		json_object_foreach (json_array_get(zip, point), name, value) {
			choose(c, name, value, true);
		}
		return;
	}
	json_object_foreach ((json_t *)zip, name, value) {
		choose(c, name, json_array_get(value, point), true);
	}
}

static bool matches(const json_t *entry, const json_t *state)
{
	const char *name;
	json_t *level;

	json_object_foreach ((json_t *)entry, name, level) {
		const struct factor *f = factor_find(name);
		const json_t *real = json_object_get(state, name);

		if (!real && factor_left_alone(f, level) && factor_relevant(f, state))
			continue;
		if (!json_equal(real, level))
			return false;
	}
	return true;
}

static bool any_matches(struct filter *filter, const json_t *state)
{
	bool any = false;
	json_t *entry;
	size_t i;

	json_array_foreach (filter->entries, i, entry) {
		if (matches(entry, state))
			any = filter->hit[i] = true;
	}
	return any;
}

static json_t *state_of(const struct choice *c)
{
	json_t *chosen = json_object(), *state;

	for (size_t i = 0; chosen && i < FACTOR_COUNT; i++)
		if (c->levels[i] && json_object_set(chosen, factors[i].name, c->levels[i])) {
			json_decref(chosen);
			return NULL;
		}
	state = chosen ? factor_complete_state(chosen) : NULL;
	json_decref(chosen);
	return state;
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

/* The state's id, and those of its cells: canonical_id() of the cell, from canonical pieces, since thousands
 * of cells share few workloads. */
static int make_ids(const struct plan_build *b, struct plan_state *s)
{
	char *state, *cell = NULL;
	int r = canonical_json(s->state, &state), length;

	s->cell_ids = calloc(b->workload_count, sizeof(*s->cell_ids));
	if (!r)
		r = s->cell_ids ? sha256_hex(state, strlen(state), s->id) : -ENOMEM;
	for (size_t w = 0; !r && w < b->workload_count; w++) {
		length = asprintf(&cell, "{\"schema_version\":1,\"state\":%s,\"workload\":%s}", state,
		                  b->workloads[w].canonical);
		if (length < 0)
			r = -ENOMEM;
		else
			r = sha256_hex(cell, (size_t)length, s->cell_ids[w]);
		if (length >= 0)
			free(cell);
	}
	free(state);
	return r;
}

/* Takes STATE over. */
static int add_state(struct expansion *x, json_t *state, const struct choice *c)
{
	struct plan_build *b = x->b;
	struct plan_state *s;
	json_t *earlier;
	int r;

	if (b->state_count == b->state_room) {
		size_t room = b->state_room ? 2 * b->state_room : 64;
		struct plan_state *grown = realloc(b->states, room * sizeof(*grown));

		if (!grown) {
			json_decref(state);
			return -ENOMEM;
		}
		b->states = grown;
		b->state_room = room;
	}
	s = &b->states[b->state_count];
	*s = (struct plan_state){.state = state, .varied = c->set};
	r = make_ids(b, s);
	earlier = r ? NULL : json_object_get(x->ids, s->id);
	if (earlier)
		keep_double(b, c, (size_t)json_integer_value(earlier));
	else if (!r && json_object_set_new(x->ids, s->id, json_integer((json_int_t)b->state_count)))
		r = -ENOMEM;
	if (r || earlier) {
		free(s->cell_ids);
		json_decref(state);
		return r;
	}
	for (size_t i = 0; i < FACTOR_COUNT && b->named & ~b->used; i++)
		if (b->named & ~b->used & FACTOR_INDEX_BIT(i) && factor_relevant(&factors[i], state))
			b->used |= FACTOR_INDEX_BIT(i);
	b->state_count++;
	return 0;
}

static int expand_point(struct expansion *x, size_t sweep, size_t cross, size_t zip)
{
	struct choice c = {0};
	const char *name;
	json_t *level, *state;

	json_object_foreach (json_object_get(x->b->doc.root, "base"), name, level) {
		choose(&c, name, level, false);
	}
	choose_zip(x->zip, zip, &c);
	choose_cross(x->cross, cross, &c);
	choose_sweep(x->sweep, sweep, &c);
	state = state_of(&c);
	if (!state)
		return -ENOMEM;
	if ((x->only.entries && !any_matches(&x->only, state)) || any_matches(&x->except, state)) {
		json_decref(state);
		return 0;
	}
	return add_state(x, state, &c);
}

static int open_filter(struct expansion *x, const char *name, struct filter *filter)
{
	filter->entries = json_object_get(json_object_get(x->b->doc.root, "where"), name);
	filter->hit = calloc(json_array_size(filter->entries) + 1, sizeof(bool));
	return filter->hit ? 0 : -ENOMEM;
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

static int expand_all(struct expansion *x)
{
	size_t sweeps = sweep_points(x->sweep), crosses = cross_points(x->cross), zips = zip_points(x->zip),
	       total;
	int r = 0;

	if (__builtin_mul_overflow(sweeps, crosses, &total) || __builtin_mul_overflow(total, zips, &total) ||
	    __builtin_mul_overflow(total, x->b->workload_count, &total) || total > PLAN_CELLS_MAX) {
		yaml_complain(&x->b->doc,
		              x->cross ? "/cross"
		              : x->zip ? "/zip"
		                       : "/sweep",
		              true, "this makes more than %d cells", PLAN_CELLS_MAX);
		return -EINVAL;
	}
	for (size_t s = 0; !r && s < sweeps; s++)
		for (size_t c = 0; !r && c < crosses; c++)
			for (size_t z = 0; !r && z < zips; z++)
				r = expand_point(x, s, c, z);
	return r;
}

int plan_expand_states(struct plan_build *b)
{
	struct expansion x = {
	    .b = b,
	    .sweep = json_object_get(b->doc.root, "sweep"),
	    .cross = json_object_get(b->doc.root, "cross"),
	    .zip = json_object_get(b->doc.root, "zip"),
	    .ids = json_object(),
	};
	int r = x.ids ? 0 : -ENOMEM;

	if (!r)
		r = open_filter(&x, "only", &x.only);
	if (!r)
		r = open_filter(&x, "except", &x.except);
	if (!r)
		r = expand_all(&x);
	if (!r && !b->state_count) {
		yaml_complain(&b->doc, "/where", true, "no cell is left after these filters");
		r = -EINVAL;
	} else if (!r) {
		check_filter(&x, "only", &x.only);
		check_filter(&x, "except", &x.except);
	}
	json_decref(x.ids);
	free(x.only.hit);
	free(x.except.hit);
	return r;
}
