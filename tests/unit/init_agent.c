/* SPDX-License-Identifier: GPL-2.0-or-later
 * The agent's conversation, with a server on loopback that keeps to a script, and cells that do nothing. */
#include "agent.h"
#include "file.h"
#include "inventory.h"

#include "../../results-schema/canonical.h"
#include "../../results-schema/schema.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#undef fail /* cmocka has a macro of our name, which its fail_msg() needs */
#define broken(...) (print_error(__VA_ARGS__), _fail(__FILE__, __LINE__))

enum how { ANSWER, CLOSE, TRICKLE, ACKNOWLEDGE };

/* What the server expects and does, in this order; /v1/step is answered at any time and not listed. */
struct act {
	const char *request; /* "PUT /v1/results/" : how the request line begins */
	enum how how;
	const char *status; /* "200 OK" */
	const char *body;
};

static struct server {
	int listener, port;
	pthread_t thread;
	const struct act *script;
	size_t done;
	unsigned int steps;
	char wrong[256]; /* the request that was not expected */
	char puts[8][16384], last_body[16384];
	size_t put_count;
	bool in_measure, noise; /* a request came while a workload ran */
} server;

/* Reads a request to BUF: its head, and its body behind the blank line. False: the client has closed. */
static bool read_request(int fd, char *buf, size_t size, char **body)
{
	size_t done = 0, want = 0;
	char *end, *length;
	ssize_t n;

	*body = NULL;
	while (!*body || done < want) {
		n = read(fd, buf + done, size - 1 - done);
		if (n <= 0)
			return false;
		done += n;
		buf[done] = '\0';
		end = strstr(buf, "\r\n\r\n");
		if (!*body && end) {
			*body = end + 4;
			length = strstr(buf, "Content-Length: ");
			want = *body - buf + (length && length < end ? strtoul(length + 16, NULL, 10) : 0);
		}
	}
	return true;
}

static void answer(int fd, const char *status, const char *body)
{
	char text[16384];
	int n = snprintf(text, sizeof(text),
	                 "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
	                 status, strlen(body), body);

	if (write(fd, text, n) != n)
		perror("server");
}

static void acknowledge(int fd, const char *body)
{
	char digest[SHA256_HEX_SIZE], text[128];

	sha256_hex(body, strlen(body), digest);
	snprintf(text, sizeof(text), "{\"sha256\": \"%s\"}", digest);
	answer(fd, "200 OK", text);
}

/* Keeps what is wrong with BODY, which is to fit SCHEMA, or with its member "error". */
static void check_body(const char *schema, const char *body)
{
	struct schema_error error = {0};
	json_t *value = json_loads(body, 0, NULL), *inner = json_object_get(value, "error");

	if (schema_check(schema, !strcmp(schema, "error.json") ? inner : value, &error))
		snprintf(server.wrong, sizeof(server.wrong), "%s: %.100s: %.100s", schema, error.path,
		         error.message);
	json_decref(value);
}

/* The schema of what is sent to a path; hello's body is no hello in these tests. */
static const char *const schemas[][2] = {
    {"POST /v1/step ", "step.json"},
    {"POST /v1/barrier ", "barrier.json"},
    {"PUT /v1/results/", "result.json"},
    {"POST /v1/error ", "error.json"},
};

/* Plays the next act for REQUEST. False: the connection is to be closed. */
static bool play(int fd, const char *request, const char *body)
{
	const struct act *act = &server.script[server.done];

	server.noise |= server.in_measure;
	if (!strstr(request, "\r\nAuthorization: Bearer secret\r\n"))
		snprintf(server.wrong, sizeof(server.wrong), "no token: %.200s", request);
	for (size_t i = 0; i < sizeof(schemas) / sizeof(*schemas); i++)
		if (!strncmp(request, schemas[i][0], strlen(schemas[i][0])))
			check_body(schemas[i][1], body);
	if (!strncmp(request, "POST /v1/step ", 14)) {
		server.steps++;
		answer(fd, "204 No Content", "");
		return true;
	}
	if (!act->request || strncmp(request, act->request, strlen(act->request))) {
		snprintf(server.wrong, sizeof(server.wrong), "not %s: %.200s",
		         act->request ? act->request : "-", request);
		answer(fd, "404 Not Found", "{}");
		return true;
	}
	if (!strncmp(request, "PUT ", 4) && server.put_count < 8)
		strcpy(server.puts[server.put_count++], body);
	strcpy(server.last_body, body);
	server.done++;
	if (act->how == ANSWER)
		answer(fd, act->status, act->body);
	else if (act->how == ACKNOWLEDGE)
		acknowledge(fd, body);
	else if (act->how == TRICKLE)
		dprintf(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"sha");
	return act->how == ANSWER || act->how == ACKNOWLEDGE;
}

static void *serve(void *arg)
{
	static char request[32768];
	char *body;
	int fd;

	(void)arg;
	while ((fd = accept(server.listener, NULL, NULL)) >= 0) {
		while (read_request(fd, request, sizeof(request), &body) && play(fd, request, body))
			;
		close(fd);
	}
	return NULL;
}

/* The example NAME of results-schema. */
static json_t *example(const char *name)
{
	char path[128];
	json_t *value;

	snprintf(path, sizeof(path), "results-schema/examples/valid/%s.json", name);
	value = json_load_file(path, 0, NULL);
	if (!value)
		broken("%s cannot be read: run this from the root of the repository", path);
	return value;
}

/* The member NAME of the example of a whole result; the caller owns it. */
static json_t *example_part(const char *name)
{
	json_t *result = example("result--valid-drbd"), *part = json_incref(json_object_get(result, name));

	json_decref(result);
	return part;
}

static struct agent agent;
static struct supervised shared;
static struct {
	int apply, prove, measure, after, restored; /* results, and how often restored */
	bool reason;
} fake;

int cell_apply(struct cell_node *node, const json_t *assignment, cell_progress *progress, void *ctx,
               struct failure *why)
{
	(void)node;
	(void)assignment;
	progress(ctx, "apply", "bond built");
	if (fake.apply)
		return fail(why, fake.apply, FAILURE_RUN, "disk", "serial X", "Consent.", "disk is refused");
	return 0;
}

int cell_prove(struct cell_node *node, const json_t *assignment, cell_progress *progress, void *ctx,
               json_t **evidence, struct failure *why)
{
	(void)node;
	(void)assignment;
	(void)why;
	progress(ctx, "prove", "pings");
	*evidence = example_part("evidence");
	json_object_del(*evidence, "after");
	json_array_clear(json_object_get(*evidence, "differences"));
	return fake.prove;
}

void cell_watch(struct cell_node *node, const json_t *assignment)
{
	(void)node;
	(void)assignment;
}

int cell_measure(struct cell_node *node, const json_t *assignment, json_t **measurement, struct failure *why)
{
	(void)node;
	(void)assignment;
	server.in_measure = true;
	*measurement = example_part("measurement");
	usleep(20000);
	server.in_measure = false;
	if (fake.measure)
		return fail(why, fake.measure, FAILURE_SAMPLE, "copy", "/dev/drbd0", "", "write fails");
	return 0;
}

int cell_evidence_after(struct cell_node *node, const json_t *assignment, json_t *evidence, char **reason,
                        struct failure *why)
{
	json_t *whole = example_part("evidence");

	(void)node;
	(void)assignment;
	(void)why;
	json_object_set(evidence, "after", json_object_get(whole, "after"));
	json_decref(whole);
	*reason = fake.reason ? strdup("eth1 flapped") : NULL;
	return fake.after;
}

void cell_restore(struct cell_node *node)
{
	(void)node;
	fake.restored++;
}

static int setup(void **state)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	char url[64];

	(void)state;
	memset(&server, 0, sizeof(server));
	memset(&fake, 0, sizeof(fake));
	memset(&shared, 0, sizeof(shared));
	memset(&agent, 0, sizeof(agent));
	server.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(server.listener, (struct sockaddr *)&address, length) || listen(server.listener, 8) ||
	    getsockname(server.listener, (struct sockaddr *)&address, &length))
		return -1;
	server.port = ntohs(address.sin_port);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", server.port);
	strcpy(shared.node, "n1");
	agent.shared = &shared;
	agent.again_ms = 10;
	agent.client = client_new(url, "secret");
	client_set_backoff(agent.client, 5, 10);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	client_free(agent.client);
	shutdown(server.listener, SHUT_RDWR);
	close(server.listener);
	return pthread_join(server.thread, NULL);
}

static void start(const struct act *script)
{
	server.script = script;
	assert_int_equal(pthread_create(&server.thread, NULL, serve, NULL), 0);
}

/* The whole script was played, and nothing else came. */
static void check_script(void)
{
	assert_string_equal(server.wrong, "");
	assert_null(server.script[server.done].request);
	assert_false(server.noise);
}

#define RESULT                                                                                               \
	"PUT "                                                                                               \
	"/v1/results/20261130-2108-smoke/1776d712f3170000000000000000000000000000000000000000000000000abc/"  \
	"1/1 "
#define GO      ANSWER, "200 OK", "{\"go\": true}"
#define NO_GO   ANSWER, "200 OK", "{\"go\": false}"
#define BARRIER "POST /v1/barrier "

static json_t *run_sample(const char *role, int expected)
{
	json_t *a = example(strcmp(role, "peer") ? "next--measure" : "next--peer"), *result;

	assert_int_equal(agent_sample(&agent, a), expected);
	json_decref(a);
	result = json_loads(server.puts[0], 0, NULL);
	check_script();
	assert_int_equal(shared.deadline_ns, 0);
	return result;
}

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static void valid_sample(void **state)
{
	static const struct act script[] = {{BARRIER, GO},
	                                    {BARRIER, NO_GO},
	                                    {BARRIER, GO},
	                                    {BARRIER, GO},
	                                    {RESULT, ACKNOWLEDGE, NULL, NULL},
	                                    {0}};
	json_t *result;

	(void)state;
	start(script);
	result = run_sample("measure", WORKER_GOES_ON);
	assert_string_equal(text_of(result, "verdict"), "valid");
	assert_string_equal(text_of(result, "node"), "n1");
	assert_int_equal(json_integer_value(json_object_get(result, "attempt")), 1);
	assert_non_null(json_object_get(result, "measurement"));
	assert_non_null(json_object_get(json_object_get(result, "evidence"), "after"));
	assert_int_equal(json_object_size(json_object_get(result, "steps_ns")), 4);
	assert_null(json_object_get(result, "reason"));
	assert_null(json_object_get(result, "error"));
	assert_int_equal(server.steps, 2);
	assert_int_equal(fake.restored, 0);
	json_decref(result);
}

static void peer_has_no_measurement(void **state)
{
	static const struct act script[] = {{BARRIER, GO},
	                                    {BARRIER, GO},
	                                    {BARRIER, NO_GO},
	                                    {BARRIER, GO},
	                                    {RESULT, ACKNOWLEDGE, NULL, NULL},
	                                    {0}};
	json_t *result;

	(void)state;
	start(script);
	result = run_sample("peer", WORKER_GOES_ON);
	assert_string_equal(text_of(result, "verdict"), "valid");
	assert_string_equal(text_of(result, "role"), "peer");
	assert_null(json_object_get(result, "measurement"));
	json_decref(result);
}

/* Refused, cut off, half answered, acknowledged for other bytes: the same bytes come each time. */
static void upload_is_repeated_unchanged(void **state)
{
	static const struct act script[] = {
	    {BARRIER, GO},
	    {BARRIER, GO},
	    {BARRIER, GO},
	    {RESULT, ANSWER, "500 Oops", "{\"error\": \"disk full\"}"},
	    {RESULT, CLOSE, NULL, NULL},
	    {RESULT, TRICKLE, NULL, NULL},
	    {RESULT, ANSWER, "429 Slow", ""},
	    {RESULT, ANSWER, "200 OK", "{\"sha256\": \"00\"}"},
	    {RESULT, ANSWER, "200 OK", "no json"},
	    {RESULT, ACKNOWLEDGE, NULL, NULL},
	    {0},
	};
	json_t *result;

	(void)state;
	start(script);
	result = run_sample("measure", WORKER_GOES_ON);
	assert_int_equal(server.put_count, 7);
	for (size_t i = 1; i < server.put_count; i++)
		assert_string_equal(server.puts[i], server.puts[0]);
	json_decref(result);
}

static void a_reason_makes_it_invalid(void **state)
{
	static const struct act script[] = {
	    {BARRIER, GO}, {BARRIER, GO}, {BARRIER, GO}, {RESULT, ACKNOWLEDGE, NULL, NULL}, {0}};
	json_t *result;

	(void)state;
	fake.reason = true;
	start(script);
	result = run_sample("measure", WORKER_GOES_ON);
	assert_string_equal(text_of(result, "verdict"), "invalid");
	assert_string_equal(text_of(result, "reason"), "eth1 flapped");
	/* An invalid sample keeps its figure. */
	assert_non_null(json_object_get(result, "measurement"));
	json_decref(result);
}

static void failed_apply(void **state)
{
	static const struct act script[] = {{RESULT, ACKNOWLEDGE, NULL, NULL}, {0}};
	json_t *result, *error;

	(void)state;
	fake.apply = -EBUSY;
	start(script);
	result = run_sample("measure", WORKER_GOES_ON);
	error = json_object_get(result, "error");
	assert_string_equal(text_of(result, "verdict"), "failed");
	assert_string_equal(text_of(error, "node"), "n1");
	assert_string_equal(text_of(error, "scope"), "run");
	assert_string_equal(text_of(error, "errno_name"), "EBUSY");
	assert_null(json_object_get(result, "evidence"));
	assert_int_equal(fake.restored, 1);
	json_decref(result);
}

static void failed_measure(void **state)
{
	static const struct act script[] = {{BARRIER, GO},
	                                    {BARRIER, GO},
	                                    {RESULT, ACKNOWLEDGE, NULL, NULL},
	                                    {0}};
	json_t *result;

	(void)state;
	fake.measure = -EIO;
	start(script);
	result = run_sample("measure", WORKER_GOES_ON);
	assert_string_equal(text_of(result, "verdict"), "failed");
	assert_string_equal(text_of(json_object_get(result, "error"), "object"), "/dev/drbd0");
	assert_null(json_object_get(result, "measurement"));
	assert_int_equal(fake.restored, 1);
	json_decref(result);
}

static void lab_calls_it_off(void **state)
{
	static const struct act script[] = {{BARRIER, GO},
	                                    {BARRIER, ANSWER, "410 Gone",
	                                     "{\"error\": {\"node\": \"beta\", \"step\": \"boot\", "
	                                     "\"object\": \"\", \"message\": \"beta rebooted\", "
	                                     "\"remedy\": \"\", \"scope\": \"sample\"}}"},
	                                    {RESULT, ACKNOWLEDGE, NULL, NULL},
	                                    {0}};
	json_t *result;

	(void)state;
	start(script);
	result = run_sample("peer", WORKER_GOES_ON);
	assert_string_equal(text_of(result, "verdict"), "failed");
	assert_string_equal(text_of(json_object_get(result, "error"), "node"), "beta");
	assert_string_equal(text_of(json_object_get(result, "error"), "message"), "beta rebooted");
	assert_int_equal(fake.restored, 1);
	json_decref(result);
}

static void lab_calls_it_off_in_words(void **state)
{
	static const struct act script[] = {{BARRIER, ANSWER, "410 Gone",
	                                     "{\"error\": \"peer did not come\"}"},
	                                    {RESULT, ACKNOWLEDGE, NULL, NULL},
	                                    {0}};
	json_t *result;

	(void)state;
	start(script);
	result = run_sample("peer", WORKER_GOES_ON);
	assert_string_equal(text_of(json_object_get(result, "error"), "node"), "n1");
	assert_non_null(strstr(text_of(json_object_get(result, "error"), "message"), "peer did not come"));
	json_decref(result);
}

/* A refused result is told, and the node goes on. */
static void lab_refuses_the_result(void **state)
{
	static const struct act script[] = {{BARRIER, GO},
	                                    {BARRIER, GO},
	                                    {BARRIER, GO},
	                                    {RESULT, ANSWER, "409 Conflict", "{\"error\": \"other bytes\"}"},
	                                    {"POST /v1/error ", ANSWER, "204 No Content", ""},
	                                    {0}};
	json_t *result = NULL, *body;

	(void)state;
	start(script);
	result = run_sample("measure", WORKER_GOES_ON);
	body = json_loads(server.last_body, 0, NULL);
	assert_non_null(strstr(text_of(json_object_get(body, "error"), "message"), "other bytes"));
	json_decref(body);
	json_decref(result);
}

static void refused_token_means_reboot(void **state)
{
	static const struct act script[] = {{BARRIER, ANSWER, "401 Unauthorized", "{\"error\": \"unknown\"}"},
	                                    {0}};

	(void)state;
	start(script);
	assert_null(run_sample("measure", WORKER_REBOOT));
	assert_int_equal(server.put_count, 0);
}

static void hello_is_repeated(void **state)
{
	static const struct act script[] = {{"POST /v1/hello ", ANSWER, "503 Starting", ""},
	                                    {"POST /v1/hello ", ANSWER, "422 No",
	                                     "{\"error\": \"/mac: missing\"}"},
	                                    {"POST /v1/hello ", ANSWER, "200 OK", "what"},
	                                    {"POST /v1/hello ", ANSWER, "401 Unauthorized", "{}"},
	                                    {0}};
	json_t *body = json_pack("{s:i}", "schema_version", 1);

	(void)state;
	start(script);
	assert_int_equal(agent_hello(&agent, body), WORKER_REBOOT);
	check_script();
	json_decref(body);
}

static void loop_until_reboot(void **state)
{
	static const struct act script[] = {{"GET /v1/next ", ANSWER, "200 OK", "{\"action\": \"wait\"}"},
	                                    {"GET /v1/next ", ANSWER, "500 No", ""},
	                                    {"GET /v1/next ", ANSWER, "200 OK", "{\"action\": \"dance\"}"},
	                                    {"GET /v1/next ", ANSWER, "200 OK", "[]"},
	                                    {"GET /v1/next ", ANSWER, "200 OK",
	                                     "{\"action\": \"reboot\", \"reason\": \"fresh\"}"},
	                                    {0}};

	(void)state;
	start(script);
	assert_int_equal(agent_loop(&agent), WORKER_REBOOT);
	check_script();
}

static void loop_until_poweroff(void **state)
{
	static const struct act script[] = {{"GET /v1/next ", ANSWER, "200 OK", "{\"action\": \"poweroff\"}"},
	                                    {0}};

	(void)state;
	start(script);
	assert_int_equal(agent_loop(&agent), WORKER_POWEROFF);
	check_script();
}

/* Two runs: between them everything is taken down, though the state may be the same. */
static void new_run_starts_clean(void **state)
{
	static const struct act script[] = {
	    {BARRIER, GO}, {BARRIER, GO}, {BARRIER, GO}, {RESULT, ACKNOWLEDGE, NULL, NULL}, {0}};

	(void)state;
	strcpy(agent.run, "another-run");
	start(script);
	json_decref(run_sample("measure", WORKER_GOES_ON));
	assert_int_equal(fake.restored, 1);
	assert_string_equal(agent.run, "20261130-2108-smoke");
}

/* What this very machine is made of fits the schema. */
static void own_inventory_fits(void **state)
{
	struct schema_error error = {0};
	json_t *inventory;

	(void)state;
	inventory_sfp_start();
	inventory = inventory_collect("", "eth0");
	if (schema_check("inventory.json", inventory, &error))
		broken("%s: %s", error.path, error.message);
	json_decref(inventory);
}

static void crash_says_what_was_going_on(void **state)
{
	struct failure why;

	(void)state;
	strcpy(shared.step, "apply");
	supervise_crash(&shared, 11, &why);
	assert_non_null(strstr(why.message, "signal 11"));
	assert_non_null(strstr(why.message, "step apply"));
	supervise_crash(&shared, 3 << 8, &why);
	assert_non_null(strstr(why.message, "status 3"));
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    test(valid_sample),
	    test(peer_has_no_measurement),
	    test(upload_is_repeated_unchanged),
	    test(a_reason_makes_it_invalid),
	    test(failed_apply),
	    test(failed_measure),
	    test(lab_calls_it_off),
	    test(lab_calls_it_off_in_words),
	    test(lab_refuses_the_result),
	    test(refused_token_means_reboot),
	    test(hello_is_repeated),
	    test(loop_until_reboot),
	    test(loop_until_poweroff),
	    test(new_run_starts_clean),
	    cmocka_unit_test(own_inventory_fits),
	    cmocka_unit_test(crash_says_what_was_going_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
