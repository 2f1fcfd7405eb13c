/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "queue.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static int make_id(const char *plan_name, struct timespec now, char run[RUN_ID_SIZE])
{
	unsigned char random[2];
	char name[33], date[16];
	size_t n = 0;
	struct tm tm;

	for (const char *c = plan_name; *c && n < sizeof(name) - 1; c++)
		name[n++] = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '-';
	name[n] = '\0';
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EIO;
	gmtime_r(&now.tv_sec, &tm);
	strftime(date, sizeof(date), "%Y%m%d-%H%M", &tm);
	snprintf(run, RUN_ID_SIZE, "%s-%s-%02x%02x", isalnum((unsigned char)*name) ? name : "run", date,
	         random[0], random[1]);
	return 0;
}

static int put_cells(struct store *store, const struct plan *plan, const char *run)
{
	int r = 0;

	for (size_t i = 0; i < plan->cell_count && !r; i++) {
		const struct plan_cell *cell = &plan->cells[i];
		json_t *json = plan_cell_json(plan, cell);
		char *body = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);

		json_decref(json);

		if (!body)
			return -ENOMEM;
		r = store_do(store,
		             "INSERT INTO cells (run, ordinal, cell_id, state_id, label, fresh, nodes, "
		             "size_bytes, body) VALUES (?, "
		             "?, ?, ?, ?, ?, ?, ?, ?)",
		             "sisssiiis", run, (int64_t)i + 1, cell->id, cell->state_id, cell->label,
		             (int64_t)cell->fresh, (int64_t)cell->nodes, (int64_t)cell->size_bytes, body);
		free(body);
	}
	for (size_t i = 0; i < plan->visit_count && !r; i++)
		r = store_do(store, "INSERT INTO visits (run, position, boot, cell_id) VALUES (?, ?, ?, ?)",
		             "siis", run, (int64_t)i + 1, (int64_t)plan->visits[i].boot,
		             plan->cells[plan->visits[i].cell].id);
	return r;
}

int queue_run(struct store *store, const struct plan *plan, const char *plan_text, const json_t *lab,
              const char *group, char run[RUN_ID_SIZE])
{
	char scale[32], *lab_text = json_dumps(lab, JSON_COMPACT | JSON_SORT_KEYS);
	struct timespec now;
	int64_t number = 0;
	int r;

	char *acceptance = plan->acceptance ? json_dumps(plan->acceptance, JSON_COMPACT) : NULL;

	if (!lab_text || (plan->acceptance && !acceptance)) {
		free(lab_text);
		return -ENOMEM;
	}
	snprintf(scale, sizeof(scale), "%u/%u", plan->scale.numerator, plan->scale.denominator);
	clock_gettime(CLOCK_REALTIME, &now);
	r = make_id(plan->name, now, run);
	if (!r)
		r = store_begin(store);
	if (r) {
		free(lab_text);
		free(acceptance);
		return r;
	}
	r = store_int(store, &number, "SELECT max(number) FROM runs", "");
	if (!r)
		r = store_do(
		    store,
		    "INSERT INTO runs (run, number, group_name, state, plan_name, question, "
		    "plan_text, plan_sha256, lab, "
		    "nodes, boots, samples, retries, shuffled, seed, peer_ms, apply_ms, measure_ms, "
		    "created_unix_ns, scale, acceptance, as_published) "
		    "VALUES (?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		    "sissssssiiiiiiiiiissi", run, number + 1, group, plan->name, plan->question, plan_text,
		    plan->text_sha256, lab_text, (int64_t)plan->nodes, (int64_t)plan->boots,
		    (int64_t)plan->samples, (int64_t)plan->retries, (int64_t)plan->shuffled,
		    (int64_t)plan->seed, (int64_t)plan->peer_ms, (int64_t)plan->apply_ms,
		    (int64_t)plan->measure_ms, (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec,
		    plan->scale.denominator ? scale : NULL, acceptance, (int64_t)plan->as_published);
	if (!r)
		r = put_cells(store, plan, run);
	free(lab_text);
	free(acceptance);
	return store_end(store, r);
}
