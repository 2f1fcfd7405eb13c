/* SPDX-License-Identifier: GPL-2.0-or-later
 * Workloads of a plan: sizes and flags checked, defaults filled in, as cell.json has them. */
#include "plan_internal.h"
#include "units.h"

#include <errno.h>
#include <stdarg.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR_BYTES = 512, BS_MAX_BYTES = 1 << 30 };
#define SIZE_LIMIT_BYTES (UINT64_C(1) << 53)

struct copy {
	uint64_t bs, size, seek;
	bool read, direct, dsync, sync;
};

void plan_workload_complain(struct plan_build *b, size_t index, const char *key, const char *format, ...)
{
	const json_t *item = json_array_get(json_object_get(b->doc.root, "workloads"), index);
	const char *type = json_object_iter_key(json_object_iter((json_t *)item));
	char at[96], text[300];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(at, sizeof(at), "/workloads/%zu/%s/%s", index, type, key);
	yaml_complain(&b->doc, at, false, "%s: %s", key, text);
}

bool plan_workload_size(struct plan_build *b, size_t index, const json_t *copy, const char *key,
                        uint64_t *bytes)
{
	const json_t *value = json_object_get(copy, key);
	char why[200];

	if (!value)
		return true;
	if (json_is_integer(value)) {
		json_int_t n = json_integer_value(value);

		if (n >= 0 && (uint64_t)n <= SIZE_LIMIT_BYTES) {
			*bytes = (uint64_t)n;
			return true;
		}
		plan_workload_complain(b, index, key, "%" JSON_INTEGER_FORMAT " bytes is out of range", n);
		return false;
	}
	if (!units_size(json_string_value(value), bytes, why, sizeof(why)))
		return true;
	plan_workload_complain(b, index, key, "%s", why);
	return false;
}

static void read_flags(struct plan_build *b, size_t index, const json_t *copy, struct copy *c)
{
	json_t *flag;
	size_t i;

	if (json_array_size(json_object_get(copy, "iflag"))) /* the schema knows only direct */
		c->direct = true;
	json_array_foreach (json_object_get(copy, "oflag"), i, flag) {
		const char *name = json_string_value(flag);
		bool *at = !strcmp(name, "direct")  ? &c->direct
		           : !strcmp(name, "dsync") ? &c->dsync
		                                    : &c->sync;

		if (*at)
			plan_workload_complain(b, index, "oflag", "%s is there twice", name);
		*at = true;
	}
	if (c->sync && c->dsync)
		plan_workload_complain(b, index, "oflag", "sync includes dsync; name one of them");
}

static void check_sizes(struct plan_build *b, size_t index, const json_t *copy, const struct copy *c)
{
	const char *total = json_object_get(copy, "size") ? "size" : "count";

	if (c->bs < SECTOR_BYTES || c->bs > BS_MAX_BYTES) {
		plan_workload_complain(b, index, "bs", "%" PRIu64 " bytes; it goes from 512 bytes to 1GiB",
		                       c->bs);
		return;
	}
	if (c->direct && c->bs % SECTOR_BYTES)
		plan_workload_complain(b, index, "bs",
		                       "%" PRIu64 " bytes; direct writes need a multiple of %d", c->bs,
		                       SECTOR_BYTES);
	if (c->direct && c->seek % SECTOR_BYTES)
		plan_workload_complain(b, index, "seek",
		                       "%" PRIu64 " bytes; direct writes need a multiple of %d", c->seek,
		                       SECTOR_BYTES);
	if (!c->size)
		plan_workload_complain(b, index, total, "nothing would be written");
	else if (c->size > SIZE_LIMIT_BYTES)
		plan_workload_complain(b, index, total, "more bytes than any disk has");
	else if (c->size % c->bs)
		plan_workload_complain(b, index, total,
		                       "%" PRIu64 " bytes is no multiple of bs, %" PRIu64 " bytes", c->size,
		                       c->bs);
}

static json_t *make(const json_t *copy, const struct copy *c)
{
	const json_t *conv = json_object_get(copy, "conv"), *source = json_object_get(copy, "source");
	const json_t *drop = json_object_get(copy, "drop_caches"), *seed = json_object_get(copy, "seed");
	const json_t *prepare = json_object_get(copy, "prepare");
	bool zero = source && !strcmp(json_string_value(source), "zero");
	json_t *w;

	if (c->read)
		zero = true;
	w = json_pack("{s:s, s:s, s:I, s:I, s:I, s:b, s:b, s:b, s:s, s:s, s:I, s:b}", "type", "copy",
	              "direction", c->read ? "read" : "write", "bs_bytes", (json_int_t)c->bs, "size_bytes",
	              (json_int_t)c->size, "seek_bytes", (json_int_t)c->seek, "direct", c->direct, "dsync",
	              c->dsync, "sync", c->sync, "conv", conv ? json_string_value(conv) : "none", "source",
	              c->read ? "none"
	              : zero  ? "zero"
	                      : "incompressible",
	              "seed",
	              zero   ? (json_int_t)0
	              : seed ? json_integer_value(seed)
	                     : (json_int_t)1,
	              "drop_caches", drop ? json_is_true(drop) : 1);
	/* A disk answers for what nobody wrote without looking. */
	if (w && c->read && (!prepare || json_is_true(prepare)))
		json_object_set_new(w, "prepare", json_true());
	return w;
}

/* What has no meaning in a read, or in a write. */
static void check_direction(struct plan_build *b, size_t index, const json_t *copy, struct copy *c)
{
	static const char *const writes[] = {"oflag", "conv", "source", "seed"};
	const char *direction = json_string_value(json_object_get(copy, "direction"));

	c->read = direction && !strcmp(direction, "read");
	for (size_t i = 0; c->read && i < sizeof(writes) / sizeof(*writes); i++)
		if (json_object_get(copy, writes[i]))
			plan_workload_complain(b, index, writes[i], "a read has none%s",
			                       i ? "" : "; iflag: [direct] is what it may have");
	if (!c->read && json_object_get(copy, "prepare"))
		plan_workload_complain(b, index, "prepare", "nothing is read");
	if (!c->read && json_object_get(copy, "iflag"))
		plan_workload_complain(b, index, "iflag", "a write has none; oflag is what it may have");
}

static json_t *read_copy(struct plan_build *b, size_t index, const json_t *copy)
{
	const json_t *count = json_object_get(copy, "count"), *source = json_object_get(copy, "source");
	size_t complaints = b->doc.complaints->count;
	struct copy c = {0};
	bool good;

	good = plan_workload_size(b, index, copy, "bs", &c.bs);
	good &= plan_workload_size(b, index, copy, "size", &c.size);
	good &= plan_workload_size(b, index, copy, "seek", &c.seek);
	if (count && good && __builtin_mul_overflow(c.bs, (uint64_t)json_integer_value(count), &c.size))
		c.size = UINT64_MAX;
	read_flags(b, index, copy, &c);
	check_direction(b, index, copy, &c);
	if (good)
		check_sizes(b, index, copy, &c);
	if (source && !strcmp(json_string_value(source), "zero") && json_object_get(copy, "seed"))
		plan_workload_complain(b, index, "seed", "zeros have no seed");
	if (b->doc.complaints->count == complaints && b->plan->scale.denominator) {
		c.size = plan_scaled(&b->plan->scale, c.size, c.bs);
		c.size = c.size ? c.size : c.bs;
		c.seek = plan_scaled(&b->plan->scale, c.seek, c.bs);
	}
	return make(copy, &c);
}

static const struct {
	const char *type;
	json_t *(*read)(struct plan_build *b, size_t index, const json_t *workload);
} types[] = {
    {"copy", read_copy},          {"stream", plan_read_stream},
    {"rtt", plan_read_rtt},       {"failover", plan_read_failover},
    {"aio", plan_read_aio},       {"resync", plan_read_resync},
    {"verify", plan_read_verify}, {"precondition", plan_read_precondition},
    {"files", plan_read_files},
};

/* Adds WORKLOAD, which becomes its own, unless it is there. */
static int add_workload(struct plan_build *b, size_t index, json_t *workload)
{
	struct plan_workload *w = &b->parts->workloads[b->parts->workload_count];

	for (size_t i = 0; i < b->parts->workload_count; i++)
		if (json_equal(workload, b->parts->workloads[i].workload)) {
			json_array_append_new(b->plan->notes,
			                      json_sprintf("workload %zu is the same as an earlier one "
			                                   "and is measured once",
			                                   index + 1));
			json_decref(workload);
			return 0;
		}
	w->workload = workload;
	w->place = index;
	b->parts->workload_count++;
	return canonical_json(w->workload, &w->canonical);
}

static int read_workload(struct plan_build *b, size_t index, const json_t *item)
{
	const json_t *crystal = json_object_get(item, "crystal");
	size_t complaints = b->doc.complaints->count;
	json_t *workload = NULL, *one;
	size_t i;
	int r = 0;

	for (size_t t = 0; t < sizeof(types) / sizeof(*types); t++)
		if (json_object_get(item, types[t].type))
			workload = types[t].read(b, index, json_object_get(item, types[t].type));
	if (crystal)
		workload = plan_read_crystal(b, index, crystal);
	if (b->doc.complaints->count > complaints) {
		json_decref(workload);
		return 0;
	}
	if (!workload)
		return -ENOMEM;
	if (!json_is_array(workload))
		return add_workload(b, index, workload);
	json_array_foreach (workload, i, one) {
		if (!r)
			r = add_workload(b, index, json_incref(one));
	}
	json_decref(workload);
	return r;
}

int plan_read_workloads(struct plan_build *b)
{
	json_t *list = json_object_get(b->doc.root, "workloads"), *item;
	size_t i;
	int r = 0;

	b->parts->workloads =
	    calloc(json_array_size(list) * PLAN_CRYSTAL_CELLS, sizeof(*b->parts->workloads));
	if (!b->parts->workloads)
		return -ENOMEM;
	json_array_foreach (list, i, item) {
		if (!r)
			r = read_workload(b, i, item);
	}
	if (r)
		return r;
	return b->doc.complaints->count ? -EINVAL : 0;
}
