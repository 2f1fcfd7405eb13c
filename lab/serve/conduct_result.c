/* SPDX-License-Identifier: GPL-2.0-or-later
 * What nodes bring: barriers and results. */
#include "conduct_internal.h"
#include "log.h"

#include "../store/chain.h"

#include <errno.h>
#include <math.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct sample_key {
	const char *run, *cell_id;
	int64_t boot, sample, attempt;
};

/* What was refused is kept for the operator to look at, not for a broken node to fill the disk with. */
#define REFUSED_MAX 32

static struct sample_key key_of(const json_t *message)
{
	return (struct sample_key){
	    .run = text(message, "run"),
	    .cell_id = text(message, "cell_id"),
	    .boot = number(message, "boot"),
	    .sample = number(message, "sample"),
	    .attempt = number(message, "attempt"),
	};
}

static bool is_open(const struct group *g, const struct sample_key *key)
{
	if (!g->run || !g->attempt.open)
		return false;
	const struct run_visit *visit = &g->run->visits[g->attempt.item.visit];
	return !strcmp(g->run->id, key->run) && !strcmp(g->run->cells[visit->cell].id, key->cell_id) &&
	       visit->boot == key->boot && g->attempt.item.sample + 1 == key->sample &&
	       g->attempt.number == key->attempt;
}

/* Why a sample is off, as it stands in the store. */
static json_t *off_error(struct conductor *c, const struct node *n, const struct sample_key *key)
{
	json_t *error = NULL;
	sqlite3_stmt *row;

	if (!store_ask(c->store, &row,
	               "SELECT error FROM attempts WHERE run = ? AND cell_id = ? AND boot = ? AND sample = ? "
	               "AND attempt = ?",
	               "ssiii", key->run, key->cell_id, key->boot, key->sample, key->attempt) &&
	    store_row(c->store, row) == 1) {
		error = json_loads(store_text(row, 0), 0, NULL);
		store_reset(row);
	}
	return error ? error
	             : error_new(n->name, "barrier", n->name, "sample",
	                         "Nothing to do: the sample is measured again.", "the sample is off");
}

static enum level level_of(const char *name)
{
	return !strcmp(name, "applied") ? LEVEL_APPLIED : !strcmp(name, "ready") ? LEVEL_READY : LEVEL_DONE;
}

void conductor_barrier(struct conductor *c, struct moment now, struct node *n, const json_t *barrier,
                       struct hold *hold)
{
	struct sample_key key = key_of(barrier);
	enum level level = level_of(text(barrier, "name"));
	struct group *g = n->group;

	answer(&n->barrier, 200, json_pack("{sb}", "go", 0));
	n->seen_unix_ns = now.unix_ns;
	n->dirty = true;
	if (!is_open(g, &key) || !n->assigned || strcmp(n->token, n->assigned_token)) {
		hold->reply.status = 410;
		hold->reply.body = json_pack("{so}", "error", off_error(c, n, &key));
		return;
	}
	hold->node = n;
	hold->barrier = (int)level;
	hold->since_ns = now.mono_ns;
	n->barrier = hold;
	if (level > n->level)
		n->level = level;
	advance(g, now);
}

__attribute__((format(printf, 3, 4))) static bool wrong(struct complaint *why, const char *path,
                                                        const char *format, ...)
{
	va_list args;

	copy_text(why->path, sizeof(why->path), path);
	va_start(args, format);
	vsnprintf(why->message, sizeof(why->message), format, args);
	va_end(args);
	return true;
}

static bool contradicts_itself(const struct node *n, const struct result_key *url, const json_t *result,
                               struct complaint *why)
{
	char id[SHA256_HEX_SIZE];

	if (strcmp(text(result, "run"), url->run))
		return wrong(why, "/run", "the address says %s", url->run);
	if (strcmp(text(result, "cell_id"), url->cell_id))
		return wrong(why, "/cell_id", "the address says %s", url->cell_id);
	if (number(result, "boot") != url->boot)
		return wrong(why, "/boot", "the address says %" PRId64, url->boot);
	if (number(result, "sample") != url->sample)
		return wrong(why, "/sample", "the address says %" PRId64, url->sample);
	if (strcmp(text(result, "node"), n->name))
		return wrong(why, "/node", "the token is that of %s", n->name);
	if (canonical_id(json_object_get(result, "cell"), id) || strcmp(id, url->cell_id))
		return wrong(why, "/cell", "its id is not cell_id");
	return false;
}

/* What a valid result must agree with; NULL: it does. */
static bool is_in_force(const json_t *state, const json_t *in_force)
{
	const char *name;
	json_t *level;

	json_object_foreach ((json_t *)state, name, level)
		if (!json_equal(level, json_object_get(in_force, name)))
			return false;
	return true;
}

/* MB/s that follow from bytes and ns, but for rounding. */
static bool is_rate(const json_t *measurement)
{
	double stated = json_number_value(json_object_get(measurement, "mb_per_s"));
	double ns = (double)number(measurement, "ns"), bytes = (double)number(measurement, "bytes");

	return ns > 0 && fabs(bytes * 1e3 / ns - stated) <= 0.001 * stated + 0.01;
}

static const char *doubt(const json_t *result, const char *boot_id, bool fresh)
{
	const json_t *evidence = json_object_get(result, "evidence");
	const json_t *measurement = json_object_get(result, "measurement");
	const json_t *workload = json_object_get(json_object_get(result, "cell"), "workload");

	if (strcmp(text(evidence, "boot_id"), boot_id))
		return "the evidence is from another boot than the sample was given to";
	if (json_array_size(json_object_get(evidence, "differences")))
		return "what was in force is not what was asked for";
	if (!is_in_force(json_object_get(json_object_get(result, "cell"), "state"),
	                 json_object_get(evidence, "in_force")))
		return "the evidence does not show in force all that was asked for";
	if (measurement && !is_rate(measurement))
		return "the rate does not follow from bytes and ns";
	if (fresh && number(evidence, "states_built_before") != 0)
		return "the cell asks for a fresh boot, and states were built before";
	if (measurement && !strcmp(text(workload, "type"), "copy") &&
	    number(measurement, "bytes") != number(workload, "size_bytes"))
		return "not as many bytes were written as the cell asks for";
	return NULL;
}

/* The same upload again? 1: yes, *REPLY is 200 or 409; 0: it is new; -errno. */
static int seen_before(struct conductor *c, const struct sample_key *key, const struct node *n,
                       const char *sha256, struct reply *reply)
{
	sqlite3_stmt *row;
	int r = store_ask(c->store, &row,
	                  "SELECT sha256 FROM results WHERE run = ? AND cell_id = ? AND boot = ? AND sample "
	                  "= ? AND attempt = ? "
	                  "AND node = ?",
	                  "ssiiis", key->run, key->cell_id, key->boot, key->sample, key->attempt, n->name);

	if (!r)
		r = store_row(c->store, row);
	if (r != 1)
		return r;
	if (!strcmp(store_text(row, 0), sha256))
		*reply = (struct reply){.status = 200, .body = json_pack("{ss}", "sha256", sha256)};
	else
		*reply = (struct reply){.status = 409};
	store_reset(row);
	return 1;
}

struct assignment {
	char role[16], boot_id[37];
	bool fresh;
};

/* Only of N's present boot: what an earlier one was given, this one did not measure. */
static int find_assignment(struct conductor *c, const struct sample_key *key, const struct node *n,
                           struct assignment *a)
{
	sqlite3_stmt *row;
	int r = store_ask(c->store, &row,
	                  "SELECT a.role, b.boot_id, c.fresh FROM assignments a JOIN boots b USING (token) "
	                  "JOIN cells c ON c.run = "
	                  "a.run AND c.cell_id = a.cell_id WHERE a.run = ? AND a.cell_id = ? AND boot = ? "
	                  "AND sample = ? AND "
	                  "attempt = ? AND a.node = ? AND a.token = ?",
	                  "ssiiiss", key->run, key->cell_id, key->boot, key->sample, key->attempt, n->name,
	                  n->token);

	if (!r)
		r = store_row(c->store, row);
	if (r != 1)
		return r;
	copy_text(a->role, sizeof(a->role), store_text(row, 0));
	copy_text(a->boot_id, sizeof(a->boot_id), store_text(row, 1));
	a->fresh = sqlite3_column_int(row, 2);
	store_reset(row);
	return 1;
}

static void tell_conductor(struct node *n, const struct sample_key *key, const json_t *result,
                           const char *verdict, const char *reason)
{
	if (!is_open(n->group, key) || !n->assigned)
		return;
	n->level = LEVEL_RESULT;
	n->verdict = !strcmp(verdict, "valid")     ? VERDICT_VALID
	             : !strcmp(verdict, "invalid") ? VERDICT_INVALID
	                                           : VERDICT_FAILED;
	free(n->reason);
	n->reason = reason ? strdup(reason) : NULL;
	json_decref(n->result_error);
	n->result_error = json_deep_copy(json_object_get(result, "error"));
}

struct judgement {
	const char *verdict, *reason, *sha256; /* of the body */
};

static int result_chain(struct conductor *c, struct moment now, const struct node *n,
                        const struct sample_key *key, const struct assignment *a, const struct judgement *v)
{
	json_t *content = chain_sample(key->cell_id, key->boot, key->sample, key->attempt);
	json_t *more = json_pack("{ss ss ss ss ss*}", "role", a->role, "verdict", v->verdict, "boot_id",
	                         a->boot_id, "body_sha256", v->sha256, "reason", v->reason);
	int r = content && more && !json_object_update(content, more) ? 0 : -ENOMEM;

	json_decref(more);
	if (r) {
		json_decref(content);
		return r;
	}
	return chain_add(c->store, now.unix_ns, "result", key->run, n->name, content);
}

static int store_result(struct conductor *c, struct moment now, const struct node *n,
                        const struct sample_key *key, const struct assignment *a, const struct judgement *v,
                        const json_t *measurement, const void *body, size_t length)
{
	int r = store_begin(c->store);

	if (r)
		return r;
	r = store_do(
	    c->store,
	    "INSERT INTO results (run, cell_id, boot, sample, attempt, node, role, verdict, reason, "
	    "measured_bytes, measured_ns, sha256, body, committed_unix_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, "
	    "?, ?, ?, ?, ?, ?)",
	    "ssiiissssnnsbi", key->run, key->cell_id, key->boot, key->sample, key->attempt, n->name, a->role,
	    v->verdict, v->reason, measurement ? number(measurement, "bytes") : (int64_t)-1,
	    measurement ? number(measurement, "ns") : (int64_t)-1, v->sha256, body, length, now.unix_ns);
	if (!r)
		r = result_chain(c, now, n, key, a, v);
	return store_end(c->store, r);
}

struct reply conductor_result(struct conductor *c, struct moment now, struct node *n,
                              const struct result_key *url, const json_t *result, const void *body,
                              size_t length, struct complaint *why)
{
	struct sample_key key = key_of(result);
	struct assignment assignment = {0};
	char sha256[SHA256_HEX_SIZE];
	struct reply reply = {0};
	const json_t *measurement = json_object_get(result, "measurement");
	const char *verdict = text(result, "verdict");
	const char *reason = json_string_value(json_object_get(result, "reason"));

	if (contradicts_itself(n, url, result, why))
		return (struct reply){.status = 422};
	int r = sha256_hex(body, length, sha256);
	if (!r)
		r = seen_before(c, &key, n, sha256, &reply);
	if (r == 1) {
		wrong(why, "", "another result is there already for this sample, attempt and node");
		return reply;
	}
	if (!r)
		r = find_assignment(c, &key, n, &assignment);
	if (!r) {
		wrong(why, "/attempt", "this sample was never given to this boot of %s", n->name);
		return (struct reply){.status = 404};
	}
	if (r == 1 && strcmp(assignment.role, text(result, "role"))) {
		wrong(why, "/role", "the role given was %s", assignment.role);
		return (struct reply){.status = 422};
	}
	if (r == 1 && !strcmp(verdict, "valid") && doubt(result, assignment.boot_id, assignment.fresh)) {
		verdict = "invalid";
		reason = doubt(result, assignment.boot_id, assignment.fresh);
	}
	if (r == 1)
		r = store_result(c, now, n, &key, &assignment, &(struct judgement){verdict, reason, sha256},
		                 measurement, body, length);
	if (r)
		return store_refuses(c, "result", r);
	log_event(n->name, "result", "sample %" PRId64 ", attempt %" PRId64 ": %s%s%s", key.sample,
	          key.attempt, verdict, reason ? ": " : "", reason ? reason : "");
	live(n, now, "result", "%s", verdict);
	tell_conductor(n, &key, result, verdict, reason);
	advance(n->group, now);
	return (struct reply){.status = 200, .body = json_pack("{ss}", "sha256", sha256)};
}

void conductor_refuse(struct conductor *c, struct moment now, const char *node, const char *request,
                      const struct complaint *why, const void *body, size_t length)
{
	int r = store_do(
	    c->store,
	    "INSERT INTO refused (at_unix_ns, node, request, path, message, body) VALUES (?, ?, ?, ?, ?, ?)",
	    "issssb", now.unix_ns, node, request, why->path, why->message, body, length);

	if (!r)
		r = store_do(c->store, "DELETE FROM refused WHERE id <= (SELECT max(id) FROM refused) - ?",
		             "i", (int64_t)REFUSED_MAX);
	if (r)
		store_failed(c, "refused", r);
	log_event(node, "refused", "%s: %s: %s", request, *why->path ? why->path : "/", why->message);
}
