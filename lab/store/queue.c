/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "queue.h"

#include "chain.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

int queue_run_id(const char *plan_name, struct timespec now, char run[RUN_ID_SIZE])
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

int queue_cells(struct store *store, const struct plan *plan, const char *run, unsigned int blocks_before)
{
	int64_t ordinal = 0, position = 0;
	int r = store_int(store, &ordinal, "SELECT max(ordinal) FROM cells WHERE run = ?", "s", run);

	if (!r)
		r = store_int(store, &position, "SELECT max(position) FROM visits WHERE run = ?", "s", run);
	for (size_t i = 0; i < plan->cell_count && !r; i++) {
		const struct plan_cell *cell = &plan->cells[i];
		json_t *json = plan_cell_json(plan, cell);
		char *body = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
		int64_t there = 0;

		json_decref(json);
		if (!body)
			return -ENOMEM;
		r = store_int(store, &there, "SELECT 1 FROM cells WHERE run = ? AND cell_id = ?", "ss", run,
		              cell->id);
		if (!r && !there)
			r = store_do(
			    store,
			    "INSERT INTO cells (run, ordinal, cell_id, state_id, label, fresh, nodes, "
			    "size_bytes, body) VALUES (?, "
			    "?, ?, ?, ?, ?, ?, ?, ?)",
			    "sisssiiis", run, ++ordinal, cell->id, cell->state_id, cell->label,
			    (int64_t)cell->fresh, (int64_t)cell->nodes, (int64_t)cell->size_bytes, body);
		free(body);
	}
	for (size_t i = 0; i < plan->visit_count && !r; i++)
		r = store_do(store, "INSERT INTO visits (run, position, boot, cell_id) VALUES (?, ?, ?, ?)",
		             "siis", run, ++position, (int64_t)(plan->visits[i].boot + blocks_before),
		             plan->cells[plan->visits[i].cell].id);
	return r;
}

static int put_run(struct store *store, const struct plan *plan, const char *plan_text, const char *lab,
                   const char *group, const char *run, struct timespec now)
{
	char *acceptance = plan->acceptance ? json_dumps(plan->acceptance, JSON_COMPACT) : NULL;
	char *tune = plan->tune ? json_dumps(plan->tune, JSON_COMPACT) : NULL;
	char scale[32];
	int64_t number = 0;
	int r = store_int(store, &number, "SELECT max(number) FROM runs", "");

	snprintf(scale, sizeof(scale), "%u/%u", plan->scale.numerator, plan->scale.denominator);
	if ((plan->acceptance && !acceptance) || (plan->tune && !tune))
		r = -ENOMEM;
	if (!r)
		r = store_do(
		    store,
		    "INSERT INTO runs (run, number, group_name, state, plan_name, question, plan_text, "
		    "plan_sha256, lab, nodes, boots, samples, retries, shuffled, seed, peer_ms, apply_ms, "
		    "measure_ms, created_unix_ns, precision, scale, acceptance, tune, as_published) "
		    "VALUES (?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0), "
		    "?, ?, ?, ?)",
		    "sissssssiiiiiiiiiidsssi", run, number + 1, group, plan->name, plan->question, plan_text,
		    plan->text_sha256, lab, (int64_t)plan->nodes, (int64_t)plan->boots,
		    (int64_t)plan->samples, (int64_t)plan->retries, (int64_t)plan->shuffled,
		    (int64_t)plan->seed, (int64_t)plan->peer_ms, (int64_t)plan->apply_ms,
		    (int64_t)plan->measure_ms, (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec,
		    plan->precision, plan->scale.denominator ? scale : NULL, acceptance, tune,
		    (int64_t)plan->as_published);
	free(acceptance);
	free(tune);
	return r;
}

static int chain_run(struct store *store, const struct plan *plan, const char *lab, const char *group,
                     const char *run, struct timespec now)
{
	char lab_sha256[SHA256_HEX_SIZE];
	int r = sha256_hex(lab, strlen(lab), lab_sha256);
	json_t *content =
	    json_pack("{ss ss ss ss sI sI sI sb sI sI sb sO* sO*}", "group", group, "plan", plan->name,
	              "plan_sha256", plan->text_sha256, "lab_sha256", lab_sha256, "boots",
	              (json_int_t)plan->boots, "samples", (json_int_t)plan->samples, "seed",
	              (json_int_t)plan->seed, "shuffled", (int)plan->shuffled, "scale_numerator",
	              (json_int_t)plan->scale.numerator, "scale_denominator",
	              (json_int_t)plan->scale.denominator, "as_published", (int)plan->as_published,
	              "acceptance", plan->acceptance, "tune", plan->tune);

	if (r) {
		json_decref(content);
		return r;
	}
	return chain_add(store, (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec, "run", run, "",
	                 content);
}

int queue_run(struct store *store, const struct plan *plan, const char *plan_text, const json_t *lab,
              const char *group, char run[RUN_ID_SIZE])
{
	char *lab_text = json_dumps(lab, JSON_COMPACT | JSON_SORT_KEYS);
	struct timespec now;
	int r;

	clock_gettime(CLOCK_REALTIME, &now);
	r = lab_text ? queue_run_id(plan->name, now, run) : -ENOMEM;
	if (!r)
		r = store_begin(store);
	if (!r) {
		r = put_run(store, plan, plan_text, lab_text, group, run, now);
		if (!r)
			r = queue_cells(store, plan, run, 0);
		if (!r)
			r = chain_run(store, plan, lab_text, group, run, now);
		r = store_end(store, r);
	}
	free(lab_text);
	return r;
}
