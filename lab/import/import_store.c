/* SPDX-License-Identifier: GPL-2.0-or-later
 * Imported figures as a run: the same tables as what was measured, but for the evidence, which nobody has. */
#include "import.h"

#include "../store/queue.h"
#include "canonical.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What the samples come to: the cell of each, its boot counted over all nodes, its number within the boot. */
struct place {
	size_t cell;
	int64_t boot, sample;
};

struct cells {
	char (*ids)[SHA256_HEX_SIZE];
	size_t count;
	json_t *by_id; /* id -> place in ids */
	json_t *boots; /* "node/boot" -> number from 1 */
	json_t *taken; /* "cell/boot" -> samples so far */
};

static json_t *cell_of(const struct import_sample *s)
{
	return json_pack("{si sO sO}", "schema_version", 1, "state", s->state, "workload", s->workload);
}

/* The number under KEY, from 1 in the order in which keys come. */
static int64_t numbered(json_t *object, const char *key)
{
	const json_t *had = json_object_get(object, key);

	if (!had)
		json_object_set_new(object, key, json_integer((json_int_t)json_object_size(object) + 1));
	return json_integer_value(json_object_get(object, key));
}

static const char *node_of(const struct import_sample *s)
{
	return s->node ? s->node : "imported";
}

static void label_of(const struct import_sample *s, char *label, size_t size)
{
	const char *key;
	json_t *value;
	size_t used = 0;

	*label = '\0';
	json_object_foreach (s->state, key, value) {
		bool bare = !strcmp(key, "settings") || !strcmp(key, "label");
		int n = snprintf(label + used, size - used, "%s%s%s%s", used ? " " : "", bare ? "" : key,
		                 bare ? "" : "=", json_string_value(value));

		used += (size_t)n;
		if (used >= size)
			return;
	}
	const char *direction = json_string_value(json_object_get(s->workload, "direction"));
	if (direction)
		snprintf(label + used, size - used, " %s", direction);
}

static int put_cell(struct store *store, const char *run, struct cells *cells, const struct import_sample *s,
                    size_t *place)
{
	json_t *cell = cell_of(s), *known;
	char *body = cell ? json_dumps(cell, JSON_COMPACT | JSON_SORT_KEYS) : NULL, id[SHA256_HEX_SIZE],
	     label[200];
	int r = body ? sha256_hex(body, strlen(body), id) : -ENOMEM;

	json_decref(cell);
	known = r ? NULL : json_object_get(cells->by_id, id);
	if (known) {
		*place = (size_t)json_integer_value(known) - 1;
	} else if (!r && cells->count == IMPORT_CELLS_MAX) {
		r = -E2BIG;
	} else if (!r) {
		char(*grown)[SHA256_HEX_SIZE] = reallocarray(cells->ids, cells->count + 1, sizeof(*grown));

		if (grown)
			cells->ids = grown;
		r = grown && numbered(cells->by_id, id) ? 0 : -ENOMEM;
		if (!r) {
			memcpy(cells->ids[cells->count], id, sizeof(id));
			*place = cells->count++;
			label_of(s, label, sizeof(label));
			r = store_do(store,
			             "INSERT INTO cells (run, ordinal, cell_id, state_id, label, fresh, "
			             "nodes, size_bytes, body) "
			             "VALUES (?, ?, ?, ?, ?, 0, 1, ?, ?)",
			             "sisssis", run, (int64_t)cells->count, id, id, label, (int64_t)s->bytes,
			             body);
		}
	}
	free(body);
	return r;
}

static void token_of(const char *run, int64_t boot, char *token, size_t size)
{
	snprintf(token, size, "imported:%s:%" PRId64, run, boot);
}

static int put_boot(struct store *store, const char *run, const struct import_sample *s, int64_t boot,
                    int64_t now)
{
	char token[128];

	token_of(run, boot, token, sizeof(token));
	return store_do(
	    store,
	    "INSERT INTO boots (token, node, mac, made_unix_ns, run, block) VALUES (?, ?, '', ?, ?, ?)",
	    "ssisi", token, node_of(s), now, run, boot);
}

/* The result as init would send it, as far as it is known. The caller frees. */
static char *result_of(const struct import_sample *s)
{
	double mb_per_s = (double)s->bytes * 1e3 / (double)s->ns;
	json_t *measurement = json_pack("{sI sI sf}", "bytes", (json_int_t)s->bytes, "ns", (json_int_t)s->ns,
	                                "mb_per_s", mb_per_s),
	       *aio = json_object(), *latency = json_object();
	static const struct {
		enum figure_id figure;
		const char *name;
	} latencies[] = {{FIGURE_P50_US, "p50"},
	                 {FIGURE_P99_US, "p99"},
	                 {FIGURE_P99_9_US, "p99_9"},
	                 {FIGURE_MAX_US, "max"}};

	for (size_t i = 0; i < sizeof(latencies) / sizeof(latencies[0]); i++)
		if (!isnan(s->figure[latencies[i].figure]))
			json_object_set_new(latency, latencies[i].name,
			                    json_integer(
			                        (json_int_t)llround(s->figure[latencies[i].figure] * 1e3)));
	if (!isnan(s->figure[FIGURE_IOPS]))
		json_object_set_new(aio, "iops", json_real(s->figure[FIGURE_IOPS]));
	if (json_object_size(latency))
		json_object_set(aio, "latency_ns", latency);
	if (json_object_size(aio))
		json_object_set(measurement, "aio", aio);
	json_decref(aio);
	json_decref(latency);
	json_t *result = json_pack("{si sb si so}", "schema_version", 1, "imported", 1, "line", s->line,
	                           "measurement", measurement);
	char *text = result ? json_dumps(result, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	json_decref(result);
	return text;
}

static int put_sample(struct store *store, const char *run, const char *cell, const struct place *p,
                      const struct import_sample *s, int64_t at)
{
	char token[128], sha256[SHA256_HEX_SIZE], *body = result_of(s);
	const char *node = node_of(s);
	int r = body ? sha256_hex(body, strlen(body), sha256) : -ENOMEM;

	token_of(run, p->boot, token, sizeof(token));
	if (!r)
		r = store_do(store,
		             "INSERT INTO attempts (run, cell_id, boot, sample, attempt, state, rebuild, "
		             "opened_unix_ns, "
		             "closed_unix_ns) VALUES (?, ?, ?, ?, 1, 'valid', 0, ?, ?)",
		             "ssiiii", run, cell, p->boot, p->sample, at, at);
	if (!r)
		r = store_do(store,
		             "INSERT INTO assignments (run, cell_id, boot, sample, attempt, node, role, "
		             "token) VALUES (?, ?, ?, "
		             "?, 1, ?, 'measure', ?)",
		             "ssiiss", run, cell, p->boot, p->sample, node, token);
	if (!r)
		r = store_do(store,
		             "INSERT INTO results (run, cell_id, boot, sample, attempt, node, role, verdict, "
		             "measured_bytes, "
		             "measured_ns, sha256, body, committed_unix_ns) VALUES (?, ?, ?, ?, 1, ?, "
		             "'measure', 'valid', ?, "
		             "?, ?, ?, ?)",
		             "ssiisiisbi", run, cell, p->boot, p->sample, node, (int64_t)s->bytes,
		             (int64_t)s->ns, sha256, body, strlen(body), at);
	free(body);
	return r;
}

static int put_all(struct store *store, const struct import *import, const char *run, struct cells *cells,
                   int64_t now)
{
	int64_t visits = 0;
	int r = 0;

	for (size_t i = 0; i < import->count && !r; i++) {
		const struct import_sample *s = &import->samples[i];
		struct place p = {0};
		char key[300];
		size_t boots = json_object_size(cells->boots);

		r = put_cell(store, run, cells, s, &p.cell);
		snprintf(key, sizeof(key), "%" PRIu32 "/%.200s", s->boot, node_of(s));
		p.boot = numbered(cells->boots, key);
		if (!r && json_object_size(cells->boots) > boots)
			r = put_boot(store, run, s, p.boot, now);
		snprintf(key, sizeof(key), "%zu/%" PRId64, p.cell, p.boot);
		p.sample = json_integer_value(json_object_get(cells->taken, key)) + 1;
		if (!r && json_object_set_new(cells->taken, key, json_integer(p.sample)))
			r = -ENOMEM;
		if (!r && p.sample == 1)
			r = store_do(store,
			             "INSERT INTO visits (run, position, boot, cell_id) VALUES (?, ?, ?, ?)",
			             "siis", run, ++visits, p.boot, cells->ids[p.cell]);
		if (!r) /* the order of the file is kept in the times, a nanosecond apart */
			r = put_sample(store, run, cells->ids[p.cell], &p, s, now + (int64_t)i);
	}
	return r;
}

static int put_run(struct store *store, const struct import *import, const char *run, const char *name,
                   const char *question, const char *source, struct cells *cells, int64_t now)
{
	int64_t number = 0;
	int r = store_int(store, &number, "SELECT max(number) FROM runs", "");

	if (!r)
		r = store_do(
		    store,
		    "INSERT INTO runs (run, number, group_name, state, plan_name, question, plan_text, "
		    "plan_sha256, "
		    "lab, nodes, boots, samples, retries, shuffled, seed, peer_ms, apply_ms, measure_ms, "
		    "created_unix_ns, started_unix_ns, ended_unix_ns, imported) VALUES (?, ?, 'imported', "
		    "'done', ?, "
		    "?, '', '', '{}', 1, 1, 1, 0, 0, 0, 0, 0, 0, ?, ?, ?, ?)",
		    "sissiiis", run, number + 1, name, question, now, now, now, source);
	if (!r)
		r = put_all(store, import, run, cells, now);
	if (!r)
		r = store_do(store, "UPDATE runs SET boots = ? WHERE run = ?", "is",
		             (int64_t)json_object_size(cells->boots), run);
	return r;
}

int import_store(struct store *store, const struct import *import, const char *name, const char *question,
                 const char *source, char run[RUN_ID_SIZE])
{
	struct cells cells = {.by_id = json_object(), .boots = json_object(), .taken = json_object()};
	struct timespec now;
	int r = cells.by_id && cells.boots && cells.taken ? 0 : -ENOMEM;

	clock_gettime(CLOCK_REALTIME, &now);
	if (!r)
		r = queue_run_id(name, now, run);
	if (!r)
		r = store_begin(store);
	if (!r) {
		r = put_run(store, import, run, name, question, source, &cells,
		            (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec);
		r = store_end(store, r);
	}
	json_decref(cells.by_id);
	json_decref(cells.boots);
	json_decref(cells.taken);
	free(cells.ids);
	return r;
}
