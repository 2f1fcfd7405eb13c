/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay run: has a plan measured, and shows how it goes on. */
#include "watch.h"

#include "../cli.h"
#include "../operator/operator.h"
#include "../plan/plan.h"
#include "../store/path.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WAIT_TRIES 150
#define WAIT_MS    200

struct options {
	const char *plan, *lab, *group, *database, *cancel;
	bool seeded, no_wait;
	struct plan_options plan_options;
};

static volatile int stop;

static void on_signal(int signal)
{
	stop = signal;
}

static bool parse_scale(const char *command, const char *text, void *to)
{
	if (plan_scale_parse(text, to))
		return true;
	cli_usage(command, "--scale takes a fraction such as 1/1000, not \"%s\"", text);
	return false;
}

/* CLI_GO, or the exit code. */
static int parse(int argc, char **argv, struct options *o)
{
	const struct cli_row rows[] = {
	    {"lab", "FILE", "the lab file, which names the database", .text = &o->lab},
	    {"group", "NAME", "the group of nodes (default: the lab's only one)", .text = &o->group},
	    {"db", "FILE", "the database (default: server.database of the lab file, else assay.db here)",
	     .text = &o->database},
	    {"seed", "N",
	     "for a plan whose order is shuffled without a seed (default: by chance; it is recorded)",
	     .set = &o->seeded, .number = &o->plan_options.seed, .max = UINT32_MAX},
	    {"scale", "1/N",
	     "with the N-th part of the sizes that workloads have, where there is no hardware; it is "
	     "recorded",
	     .parse = parse_scale, .to = &o->plan_options.scale},
	    {"boots", "N", "instead of the plan's repeat: boots", .number = &o->plan_options.boots,
	     .max = 1000},
	    {"samples", "N", "instead of the plan's repeat: samples", .number = &o->plan_options.samples,
	     .max = 10000},
	    {"as-published", NULL,
	     "as the experiment was made that the plan repeats, mistakes included; it is recorded",
	     .set = &o->plan_options.as_published},
	    {"no-wait", NULL, "print the run's name and return at once", .set = &o->no_wait},
	    {"cancel", "RUN", "end a run that is queued or running, instead of measuring a plan",
	     .text = &o->cancel},
	    {0},
	};
	const struct cli_command command = {
	    "PLAN",
	    "Asks the lab's server to measure PLAN, and shows how it goes on. Ctrl-C leaves the run going.",
	    NULL, rows};
	int result;

	*o = (struct options){0};
	result = cli_parse(argc, argv, &command);
	if (result != CLI_GO)
		return result;
	if (optind + !o->cancel != argc)
		return cli_usage("run", optind < argc ? "one plan, please" : "which plan?");
	o->plan = argv[optind];
	return CLI_GO;
}

/* The error's message in ANSWER, or what the server's status says. */
static int refused(long status, const json_t *answer)
{
	const json_t *error = json_object_get(answer, "error");
	const char *message = json_string_value(json_object_get(error, "message"));

	fprintf(stderr, "assay run: %s\n", message ? message : "the server's answer makes no sense");
	return status >= 500 ? ASSAY_SYSTEM : ASSAY_USAGE;
}

static int cancel(struct operator_link *server, const char *run)
{
	json_t *answer;
	char path[256];
	long status;
	int result = ASSAY_OK;

	if (run[strspn(run, "abcdefghijklmnopqrstuvwxyz0123456789-")]) {
		fprintf(stderr, "assay run: %s is no run's name\n", run);
		return ASSAY_USAGE;
	}
	snprintf(path, sizeof(path), "/runs/%s/cancel", run);
	if (operator_ask(server, "POST", path, NULL, &status, &answer)) {
		fprintf(stderr, "assay run: %s\n", operator_message(server));
		return ASSAY_SYSTEM;
	}
	if (status == 200)
		printf("run %s is cancelled\n", run);
	else
		result = refused(status, answer);
	json_decref(answer);
	return result;
}

/* The whole of PATH; NULL: said on stderr. */
static char *read_text(const char *path)
{
	FILE *in = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;
	ssize_t n = in ? getdelim(&text, &size, '\0', in) : -1;

	if (n < 0) {
		fprintf(stderr, "%s: %s\n", path, in && feof(in) ? "it is empty" : strerror(errno));
		free(text);
		text = NULL;
	} else if ((size_t)n != strlen(text)) {
		fprintf(stderr, "%s: a zero byte in it\n", path);
		free(text);
		text = NULL;
	}
	if (in)
		fclose(in);
	return text;
}

static int finish(struct operator_link *server, const char *run)
{
	int result = ASSAY_SYSTEM;
	json_t *answer;
	char path[256];
	long status;

	snprintf(path, sizeof(path), "/runs/%s/report", run);
	if (operator_ask(server, "GET", path, NULL, &status, &answer)) {
		fprintf(stderr, "assay run: %s\n", operator_message(server));
		return ASSAY_SYSTEM;
	}
	if (status == 200) {
		fputs(json_string_value(json_object_get(answer, "text")), stdout);
		result = (int)json_integer_value(json_object_get(answer, "exit"));
	} else {
		refused(status, answer);
	}
	json_decref(answer);
	return result;
}

static int watch(struct operator_link *server, const char *run, const char *database)
{
	const struct sigaction action = {.sa_handler = on_signal};
	struct sigaction before;
	int r;

	/* Who started us may have Ctrl-C for itself, and with it the right to say what goes on. */
	if (!sigaction(SIGINT, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(SIGINT, &action, NULL);
	r = watch_run(server, run, &stop);
	if (r == -EINTR) {
		fprintf(stderr,
		        "\nThe run goes on. `assay status --db %s` shows it, `assay report %s --db %s` its "
		        "results,\n"
		        "`assay run --cancel %s --db %s` ends it.\n",
		        database, run, database, run, database);
		return ASSAY_NOT_VALID;
	}
	return r ? ASSAY_SYSTEM : finish(server, run);
}

/* What is asked of the server; it reads the plan itself. */
static json_t *order(const struct options *o, const char *text)
{
	const struct plan_options *p = &o->plan_options;
	json_t *order = json_pack("{ss ss* sI sI sI sb}", "path", o->plan, "group", o->group, "seed",
	                          (json_int_t)p->seed, "boots", (json_int_t)p->boots, "samples",
	                          (json_int_t)p->samples, "as_published", (int)p->as_published);

	if (order && p->scale.denominator)
		json_object_set_new(order, "scale",
		                    json_pack("[ii]", (int)p->scale.numerator, (int)p->scale.denominator));
	if (order && json_object_set_new(order, "text", json_string(text))) {
		fprintf(stderr, "%s: it is no UTF-8\n", o->plan);
		json_decref(order);
		return NULL;
	}
	return order;
}

/* A server that was just started gets some time to be there. */
static int ask_patiently(struct operator_link *server, const json_t *order, long *status, json_t **answer)
{
	int r;

	for (int i = 0; i < WAIT_TRIES; i++) {
		r = operator_ask(server, "POST", "/runs", order, status, answer);
		if (r != -ENOENT && r != -ECONNREFUSED)
			break;
		if (i == 0)
			fprintf(stderr, "assay run: %s; waiting up to %d s for one\n",
			        operator_message(server), WAIT_TRIES * WAIT_MS / 1000);
		poll(NULL, 0, WAIT_MS);
	}
	if (r)
		fprintf(stderr, "assay run: %s\n", operator_message(server));
	return r;
}

static int started(struct operator_link *server, const struct options *o, const json_t *answer,
                   const char *database)
{
	const char *id = json_string_value(json_object_get(answer, "run"));
	const char *group = json_string_value(json_object_get(answer, "group"));
	int64_t before = json_integer_value(json_object_get(answer, "before"));

	if (!id || !group)
		return refused(500, answer);
	if (o->no_wait) {
		puts(id);
		return ASSAY_OK;
	}
	printf("run %s on group %s: %" PRId64 " cells\n", id, group,
	       (int64_t)json_integer_value(json_object_get(answer, "cells")));
	if (before)
		printf("%" PRId64 " of this group's runs come first\n", before);
	fflush(stdout);
	return watch(server, id, database);
}

static int run(struct operator_link *server, const struct options *o, const char *database)
{
	char *text = read_text(o->plan);
	json_t *body = text ? order(o, text) : NULL, *answer = NULL;
	int result = ASSAY_USAGE;
	long status;

	if (!body)
		goto out;
	result = ASSAY_SYSTEM;
	if (ask_patiently(server, body, &status, &answer))
		goto out;
	if (status == 422) {
		/* Places in the plan, a line each, as `assay plan` says them. */
		fputs(json_string_value(json_object_get(answer, "complaints")), stderr);
		result = ASSAY_USAGE;
	} else if (status == 200) {
		result = started(server, o, answer, database);
	} else {
		result = refused(status, answer);
	}
out:
	json_decref(answer);
	json_decref(body);
	free(text);
	return result;
}

/* Whether a server ever worked there: to wait for one makes sense then. */
static bool is_database(const char *database)
{
	if (!access(database, F_OK))
		return true;
	fprintf(stderr, "%s: no database of assay there; `assay serve` makes one, --db names another\n",
	        database);
	return false;
}

int cmd_run(int argc, char **argv)
{
	struct operator_link *server = NULL;
	json_t *lab = NULL;
	char *database = NULL;
	struct options o;
	int result = parse(argc, argv, &o);

	if (result != CLI_GO)
		return result;
	if (!o.seeded)
		o.plan_options.seed = (uint64_t)time(NULL) % 1000000;
	if (o.lab && lab_file_load(o.lab, stderr, &lab))
		return ASSAY_USAGE;
	database = o.database ? strdup(o.database) : database_path(lab, o.lab);
	server = database ? operator_new(database) : NULL;
	if (!server || (!o.lab && !is_database(database)))
		result = ASSAY_SYSTEM;
	else
		result = o.cancel ? cancel(server, o.cancel) : run(server, &o, database);
	operator_free(server);
	json_decref(lab);
	free(database);
	return result;
}
