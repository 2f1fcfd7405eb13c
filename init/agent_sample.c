/* SPDX-License-Identifier: GPL-2.0-or-later
 * One sample: apply, prove, measure, evidence, result. */
#include "agent.h"

#include "console.h"
#include "file.h"

#include "../results-schema/canonical.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SCHEMA_VERSION    1
#define STEP_MS           2000
#define BARRIER_MS        60000 /* the lab holds them up to 25 s, but `done` as long as measuring may take */
#define PUT_MS            60000
#define AT_ONCE_NS        1000000000LL
#define DEADLINE_GRACE_MS 30000 /* cell.c keeps the deadlines itself; PID 1 is for what hangs */

struct sample {
	struct agent *agent;
	const json_t *assignment;
	bool measures; /* this node's role; the other is the peer's */
	json_t *steps_ns, *evidence, *measurement;
	json_t *error; /* error.json, where the lab has called the sample off */
	char *reason;  /* why it is invalid */
	struct failure why;
	long long started_unix_ns;
	int leave; /* enum worker_exit: the token was refused */
};

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static long long deadline_ms(const struct sample *s, const char *name)
{
	return json_integer_value(json_object_get(json_object_get(s->assignment, "deadlines"), name));
}

/* Tells PID 1 what goes on, and that it must have ended in MS milliseconds; 0: whenever. */
static void enter(struct sample *s, const char *step, long long ms)
{
	struct supervised *shared = s->agent->shared;

	snprintf(shared->step, sizeof(shared->step), "%s", step);
	snprintf(shared->object, sizeof(shared->object), "cell %.16s", text_of(s->assignment, "cell_id"));
	shared->deadline_ns = ms ? now_ns() + (ms + DEADLINE_GRACE_MS) * 1000000 : 0;
}

/* The lab's reason for calling the sample off: kept as it is where it is an error.json. */
static void take_error(struct sample *s, const struct client_answer *answer)
{
	const json_t *error = json_object_get(answer->body, "error");

	if (!s->error && *text_of(error, "node") && *text_of(error, "step") && *text_of(error, "message") &&
	    *text_of(error, "scope"))
		s->error = json_deep_copy(error);
}

/* cell_progress: console and lab; the lab may miss it. */
static int progress(void *ctx, const char *step, const char *text)
{
	struct sample *s = ctx;
	struct client_answer answer = {0};
	json_t *body;
	char *line;
	int r;

	say("%s: %s", step, text);
	body = json_pack("{s:o, s:o}", "step", json_stringn(step, strnlen(step, 64)), "text",
	                 json_stringn(text, strnlen(text, 512)));
	line = body ? json_dumps(body, JSON_COMPACT) : NULL;
	if (line)
		client_request(s->agent->client, "POST", "/v1/step", line, strlen(line), STEP_MS, &answer);
	if (answer.status == 410)
		take_error(s, &answer);
	r = answer.status == 410 ? -ECANCELED : 0;
	client_answer_clear(&answer);
	free(line);
	json_decref(body);
	return r;
}

/* The members of ASSIGNMENT that name the sample. */
static json_t *sample_key(const json_t *assignment)
{
	static const char *const names[] = {"run", "cell_id", "boot", "sample", "attempt"};
	json_t *key = json_object();

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		json_object_set(key, names[i], json_object_get(assignment, names[i]));
	return key;
}

static int called_off(struct sample *s, const char *barrier, const struct client_answer *answer)
{
	take_error(s, answer);
	return fail(
	    &s->why, -ECANCELED, FAILURE_SAMPLE, "barrier", barrier,
	    "The lab says why in the run's log; the sample is tried again as often as the plan allows.",
	    "the lab has called this sample off: %s", answer->reason);
}

/* Waits in barrier NAME until every node is there. 0, or -errno with s->why. Says nothing. */
static int barrier(struct sample *s, const char *name)
{
	const bool done = !strcmp(name, "done");
	const struct client_retry retry = {.timeout_ms =
	                                       BARRIER_MS + (done ? (long)deadline_ms(s, "measure_ms") : 0)};
	struct client_answer answer;
	json_t *body = sample_key(s->assignment);
	char *text;
	int r = -EAGAIN;

	enter(s, name, 0);
	json_object_set_new(body, "name", json_string(name));
	text = json_dumps(body, JSON_COMPACT);
	json_decref(body);
	while (text && r == -EAGAIN) {
		long long start = now_ns();

		client_request_until(s->agent->client, "POST", "/v1/barrier", text, strlen(text), &retry,
		                     &answer);
		if (answer.status == 401) {
			s->leave = agent_refused(s->agent, &answer);
			r = -EACCES;
		} else if (answer.status >= 300) {
			r = called_off(s, name, &answer);
		} else if (json_is_true(json_object_get(answer.body, "go"))) {
			r = 0;
		} else if (now_ns() - start < AT_ONCE_NS) {
			poll(NULL, 0, 200);
		}
		client_answer_clear(&answer);
	}
	free(text);
	return text ? r : fail(&s->why, -ENOMEM, FAILURE_SAMPLE, "barrier", name, "", "no memory");
}

static void took(struct sample *s, const char *step, long long since_ns)
{
	json_object_set_new(s->steps_ns, step, json_integer(now_ns() - since_ns));
}

static int apply(struct sample *s)
{
	long long start = now_ns();
	int r;

	/* Building waits for the peer where legs are proven. */
	enter(s, "apply", deadline_ms(s, "apply_ms") + deadline_ms(s, "peer_ms"));
	r = cell_apply(&s->agent->cell, s->assignment, progress, s, &s->why);
	took(s, "apply", start);
	return r;
}

static int prove(struct sample *s)
{
	long long start = now_ns();
	int r;

	enter(s, "prove", deadline_ms(s, "apply_ms"));
	r = cell_prove(&s->agent->cell, s->assignment, progress, s, &s->evidence, &s->why);
	took(s, "prove", start);
	if (r == 0)
		say("ready");
	return r;
}

/* Says nothing until it is done. */
static int measure(struct sample *s)
{
	long long start = now_ns();
	int r;

	cell_watch(&s->agent->cell, s->assignment);
	if (!s->measures)
		return 0;
	enter(s, "measure", deadline_ms(s, "measure_ms"));
	r = cell_measure(&s->agent->cell, s->assignment, &s->measurement, &s->why);
	took(s, "measure", start);
	return r;
}

static int evidence(struct sample *s)
{
	long long start = now_ns();
	int r;

	enter(s, "evidence", deadline_ms(s, "apply_ms"));
	r = cell_evidence_after(&s->agent->cell, s->assignment, s->evidence, &s->reason, &s->why);
	took(s, "evidence", start);
	return r;
}

static int at_applied(struct sample *s)
{
	return barrier(s, "applied");
}

static int at_ready(struct sample *s)
{
	return barrier(s, "ready");
}

static int at_done(struct sample *s)
{
	return barrier(s, "done");
}

static int (*const steps[])(struct sample *s) = {apply,   at_applied, prove,   at_ready,
                                                 measure, at_done,    evidence};

/* result.json; R is how the steps ended. */
static json_t *result_json(const struct sample *s, int r)
{
	json_t *result = sample_key(s->assignment);
	json_object_set_new(result, "schema_version", json_integer(SCHEMA_VERSION));
	json_object_set_new(result, "node",
	                    json_string(text_of(json_object_get(s->assignment, "self"), "name")));
	json_object_set(result, "role", json_object_get(s->assignment, "role"));
	json_object_set(result, "cell", json_object_get(s->assignment, "cell"));
	json_object_set_new(result, "started_unix_ns", json_integer(s->started_unix_ns));
	json_object_set(result, "steps_ns", s->steps_ns);
	json_object_set_new(result, "verdict", json_string(r ? "failed" : s->reason ? "invalid" : "valid"));
	if (r && s->error)
		json_object_set(result, "error", s->error);
	else if (r)
		json_object_set_new(result, "error", failure_json(&s->why, s->agent->shared->node));
	if (!r && s->reason)
		json_object_set_new(result, "reason", json_text(s->reason));
	/* A figure without evidence, or evidence that was not finished, would not tell the truth. */
	if (!r)
		json_object_set(result, "evidence", s->evidence);
	if (!r && s->measurement)
		json_object_set(result, "measurement", s->measurement);
	return result;
}

static void say_result(const json_t *result)
{
	const char *verdict = text_of(result, "verdict");
	const json_t *error = json_object_get(result, "error");
	const json_t *speed = json_object_get(json_object_get(result, "measurement"), "mb_per_s");

	if (error)
		say("%s: %s: %s", verdict, text_of(error, "step"), text_of(error, "message"));
	else if (json_is_number(speed))
		say("%s: %.2f MB/s %s", verdict, json_number_value(speed), text_of(result, "reason"));
	else
		say("%s %s", verdict, text_of(result, "reason"));
}

/* Uploads the LENGTH bytes of TEXT, always the same, until the lab has them. WORKER_GOES_ON or WORKER_REBOOT.
 */
static int put(struct sample *s, const char *text, size_t length)
{
	const json_t *a = s->assignment;
	char path[512], digest[SHA256_HEX_SIZE] = "", kept[256];
	struct client_retry retry = {.timeout_ms = PUT_MS, .kept = kept};
	struct client_answer answer;
	struct failure why;
	int r = -EAGAIN;

	sha256_hex(text, length, digest);
	snprintf(kept, sizeof(kept), "the result is kept until the lab has it: %zu bytes, sha256 %s", length,
	         digest);
	snprintf(path, sizeof(path), "/v1/results/%s/%s/%lld/%lld", text_of(a, "run"), text_of(a, "cell_id"),
	         (long long)json_integer_value(json_object_get(a, "boot")),
	         (long long)json_integer_value(json_object_get(a, "sample")));
	enter(s, "upload", 0);
	while (r == -EAGAIN) {
		client_request_until(s->agent->client, "PUT", path, text, length, &retry, &answer);
		if (answer.status == 401) {
			say("a result is lost with this token: %zu bytes, sha256 %s", length, digest);
			r = agent_refused(s->agent, &answer);
		} else if (answer.status < 300 && strcmp(text_of(answer.body, "sha256"), digest)) {
			say("PUT %s: the acknowledgement is not for what was sent (sha256 %.64s, not %s); "
			    "sent again",
			    path, text_of(answer.body, "sha256"), digest);
			poll(NULL, 0, s->agent->again_ms);
		} else if (answer.status < 300) {
			r = WORKER_GOES_ON;
		} else {
			say("the lab does not take the result: %s", answer.reason);
			fail(&why, 0, FAILURE_SAMPLE, "upload", path,
			     "The lab keeps refused bytes aside; its log says where.",
			     "the lab does not take the result (%zu bytes, sha256 %s): %s", length, digest,
			     answer.reason);
			agent_report(s->agent, &why);
			r = WORKER_GOES_ON;
		}
		client_answer_clear(&answer);
	}
	return r;
}

static int send_result(struct sample *s, int steps_result)
{
	json_t *result = result_json(s, steps_result);
	char *text = json_dumps(result, JSON_COMPACT);
	int r = 1; /* no memory: PID 1 makes an error and a reboot of it */

	say_result(result);
	if (text)
		r = put(s, text, strlen(text));
	free(text);
	json_decref(result);
	return r;
}

/* A new run starts on nodes where everything is down, also where its first state happens to be in force. */
static void enter_run(struct agent *agent, const char *run)
{
	if (!strcmp(agent->run, run))
		return;
	if (*agent->run)
		cell_restore(&agent->cell);
	snprintf(agent->run, sizeof(agent->run), "%s", run);
}

int agent_sample(struct agent *agent, const json_t *assignment)
{
	struct sample s = {.agent = agent, .assignment = assignment, .steps_ns = json_object()};
	struct timespec now;
	int r = 0, left;

	clock_gettime(CLOCK_REALTIME, &now);
	s.started_unix_ns = now.tv_sec * 1000000000LL + now.tv_nsec;
	s.measures = !strcmp(text_of(assignment, "role"), "measure");
	say("run %s cell %.12s boot %lld sample %lld attempt %lld: %s", text_of(assignment, "run"),
	    text_of(assignment, "cell_id"),
	    (long long)json_integer_value(json_object_get(assignment, "boot")),
	    (long long)json_integer_value(json_object_get(assignment, "sample")),
	    (long long)json_integer_value(json_object_get(assignment, "attempt")),
	    s.measures ? "this node measures" : "this node is the peer");
	enter_run(agent, text_of(assignment, "run"));
	if (json_is_true(json_object_get(assignment, "rebuild")))
		cell_restore(&agent->cell);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps) && !r; i++)
		r = steps[i](&s);
	left = s.leave ? s.leave : send_result(&s, r);
	if (r && !s.leave) {
		enter(&s, "restore", deadline_ms(&s, "apply_ms"));
		cell_restore(&agent->cell);
	}
	enter(&s, "next", 0);
	json_decref(s.steps_ns);
	json_decref(s.evidence);
	json_decref(s.measurement);
	json_decref(s.error);
	free(s.reason);
	return left;
}
