/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent.h"

#include "console.h"
#include "file.h"
#include "inventory.h"
#include "module.h"
#include "pstore.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SCHEMA_VERSION 1
#define PSTORE         "/sys/fs/pstore"
#define AGAIN_MS       10000
#define REQUEST_MS     30000
#define LONG_POLL_MS   60000 /* the lab holds requests up to 25 s */
#define AT_ONCE_NS     1000000000LL

int agent_refused(const struct agent *agent, const struct client_answer *answer)
{
	say("the lab refuses this boot's token (%s): reboot through PXE in some seconds", answer->reason);
	poll(NULL, 0, agent->again_ms);
	return WORKER_REBOOT;
}

void agent_report(struct agent *agent, const struct failure *why)
{
	json_t *body = json_pack("{s:o}", "error", failure_json(why, agent->shared->node));
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	struct client_answer answer = {0};

	if (text &&
	    client_request(agent->client, "POST", "/v1/error", text, strlen(text), REQUEST_MS, &answer))
		say("the error could not be uploaded: %s", answer.reason);
	client_answer_clear(&answer);
	free(text);
	json_decref(body);
}

static void set_clock(const json_t *answer)
{
	long long ns = json_integer_value(json_object_get(answer, "server_time_ns"));
	struct timespec ts = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	if (ns > 0 && clock_settime(CLOCK_REALTIME, &ts))
		say("cannot set the clock to the lab's: %s", strerror(errno));
}

/* Takes over who the lab says we are. */
static void set_identity(struct agent *agent, const json_t *answer)
{
	const char *node = json_string_value(json_object_get(answer, "node"));
	const char *group = json_string_value(json_object_get(answer, "group"));
	const char *image = json_string_value(json_object_get(answer, "image_id"));

	set_clock(answer);
	if (node) {
		snprintf(agent->shared->node, sizeof(agent->shared->node), "%.63s", node);
		if (sethostname(node, strnlen(node, 63)))
			say("cannot set the hostname: %s", strerror(errno));
	}
	say("hello: this is node %s of group %s", node ? node : "?", group ? group : "?");
	if (image && *image && strcmp(image, agent->cell.image_id))
		say("this image is %.16s, but the lab serves %.16s now", agent->cell.image_id, image);
}

int agent_hello(struct agent *agent, const json_t *body)
{
	const struct client_retry retry = {.timeout_ms = REQUEST_MS};
	char *text = json_dumps(body, JSON_COMPACT);
	struct client_answer answer;
	int r = -EAGAIN;

	if (!text)
		return -ENOMEM;
	strcpy(agent->shared->step, "hello");
	while (r == -EAGAIN) {
		client_request_until(agent->client, "POST", "/v1/hello", text, strlen(text), &retry, &answer);
		if (answer.status == 401) {
			r = agent_refused(agent, &answer);
		} else if (answer.status >= 300 || !json_is_object(answer.body)) {
			say("the lab does not take this node's hello: %s; tried again every %ld s",
			    *answer.reason ? answer.reason : "the answer is no JSON", agent->again_ms / 1000);
			poll(NULL, 0, agent->again_ms);
		} else {
			set_identity(agent, answer.body);
			r = WORKER_GOES_ON;
		}
		client_answer_clear(&answer);
	}
	free(text);
	return r;
}

/* Waits until every driver is loaded; tells of those that were not. */
static void finish_drivers(struct agent *agent)
{
	struct failure why;
	json_t *failures;
	char *text;

	if (!agent->drivers)
		return;
	module_coldplug_finish(agent->drivers);
	agent->drivers = 0;
	failures = module_failures();
	text = json_dumps(failures, JSON_COMPACT);
	if (json_array_size(failures)) {
		fail(&why, 0, FAILURE_SAMPLE, "drivers", "kernel modules",
		     "If the hardware is not needed here, nothing; else the image lacks the module or its "
		     "firmware.",
		     "modules that hardware of this node asks for do not load: %s", text ? text : "");
		agent_report(agent, &why);
	}
	free(text);
	json_decref(failures);
}

/* Does what ANSWER says, which was asked for at ASKED_NS. */
static int act(struct agent *agent, const json_t *answer, long long asked_ns)
{
	const char *action = json_string_value(json_object_get(answer, "action"));
	const char *reason = json_string_value(json_object_get(answer, "reason"));

	if (action && !strcmp(action, "measure")) {
		finish_drivers(agent);
		return agent_sample(agent, answer);
	}
	if (action && !strcmp(action, "wait")) {
		/* A lab that does not hold the request must not be asked without pause. */
		if (now_ns() - asked_ns < AT_ONCE_NS)
			poll(NULL, 0, 200);
		return WORKER_GOES_ON;
	}
	if (action && (!strcmp(action, "reboot") || !strcmp(action, "poweroff"))) {
		say("the lab asks for %s%s%s", action, reason ? ": " : "", reason ? reason : "");
		return *action == 'r' ? WORKER_REBOOT : WORKER_POWEROFF;
	}
	say("the lab asks for %s, which this image does not know; asked again in %ld s",
	    action ? action : "nothing", agent->again_ms / 1000);
	poll(NULL, 0, agent->again_ms);
	return WORKER_GOES_ON;
}

int agent_loop(struct agent *agent)
{
	const struct client_retry retry = {.timeout_ms = LONG_POLL_MS};
	struct client_answer answer;
	int r = WORKER_GOES_ON;
	long long start;

	strcpy(agent->shared->step, "next");
	say("asks for its first cell");
	while (r == WORKER_GOES_ON) {
		start = now_ns();
		client_request_until(agent->client, "GET", "/v1/next", NULL, 0, &retry, &answer);
		if (answer.status == 401) {
			r = agent_refused(agent, &answer);
		} else if (answer.status >= 300 || !json_is_object(answer.body)) {
			say("the lab does not say what is next: %s",
			    *answer.reason ? answer.reason : "no JSON");
			poll(NULL, 0, agent->again_ms);
		} else {
			r = act(agent, answer.body, start);
		}
		client_answer_clear(&answer);
	}
	return r;
}

static json_t *hello_body(struct agent *agent, json_t *pstore)
{
	json_t *body = json_object();
	char text[128];

	read_file_at(text, sizeof(text), "/sys/class/net/%s/address", agent->cell.management_nic);
	json_object_set_new(body, "schema_version", json_integer(SCHEMA_VERSION));
	json_object_set_new(body, "mac", json_text(text));
	if (read_file("/sys/class/dmi/id/product_uuid", text, sizeof(text)) > 0)
		json_object_set_new(body, "uuid", json_text(text));
	read_file("/proc/sys/kernel/random/boot_id", text, sizeof(text));
	json_object_set_new(body, "boot_id", json_text(text));
	json_object_set_new(body, "image_id", json_text(agent->cell.image_id));
	json_object_set_new(body, "inventory", inventory_collect("", agent->cell.management_nic));
	if (json_array_size(pstore))
		json_object_set(body, "pstore", pstore);
	json_object_set_new(body, "uptime_ns", json_integer(uptime_ns()));
	return body;
}

int agent_main(struct supervised *shared, const struct cmdline *options, const char *nic)
{
	struct agent agent = {.shared = shared,
	                      .client = client_new(options->server, options->token),
	                      .again_ms = AGAIN_MS};
	json_t *pstore, *body;
	int r;

	if (!*options->server || !*options->token) {
		say("assay.server= or assay.token= is missing on the kernel command line: boot through the "
		    "lab's iPXE "
		    "script; rebooting in %d s",
		    AGAIN_MS / 1000);
		poll(NULL, 0, AGAIN_MS);
		return WORKER_REBOOT;
	}
	if (!agent.client)
		return 1;
	snprintf(agent.cell.management_nic, sizeof(agent.cell.management_nic), "%.15s", nic);
	read_file("/etc/assay/image-id", agent.cell.image_id, sizeof(agent.cell.image_id));
	read_file_at(shared->node, sizeof(shared->node), "/sys/class/net/%s/address", nic);
	for (char *c = shared->node; *c; c++)
		if (*c == ':')
			*c = '-';
	pstore = pstore_read(PSTORE);
	body = hello_body(&agent, pstore);
	r = agent_hello(&agent, body);
	if (r == WORKER_GOES_ON) {
		pstore_delete(PSTORE, pstore);
		agent.drivers = module_coldplug_start(MODULE_ALL, supervise_drivers_loaded);
	}
	json_decref(body);
	json_decref(pstore);
	if (r == WORKER_GOES_ON)
		r = agent_loop(&agent);
	client_free(agent.client);
	return r;
}
