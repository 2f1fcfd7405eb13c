/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay run: has a plan measured, and shows how it goes on. */
#include "report.h"
#include "watch.h"

#include "../cli.h"
#include "../plan/plan.h"
#include "../plan/wipe.h"
#include "../store/path.h"
#include "../store/queue.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct options {
	const char *plan, *lab, *group, *database, *cancel, *wipe;
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
	    {"lab", "FILE", "the lab file (default: the one that the server was started with)",
	     .text = &o->lab},
	    {"wipe", "TOKEN",
	     "yes, the disks that the lab file names may be overwritten by this plan: without it nothing is "
	     "measured, and what is meant and the token are printed (`assay plan --lab` prints them, too)",
	     .text = &o->wipe},
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

static int cancel(struct store *store, const char *run)
{
	int64_t known = 0;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (store_int(store, &known, "SELECT 1 FROM runs WHERE run = ? AND state IN ('queued', 'running')",
	              "s", run) ||
	    !known) {
		fprintf(stderr, "assay run: no run %s is queued or running\n", run);
		return ASSAY_USAGE;
	}
	/* A queued run ends here; a running one is ended by the server, which sees the state. */
	if (store_do(store,
	             "UPDATE runs SET state = 'cancelled', ended_unix_ns = CASE state WHEN 'queued' THEN ?1 "
	             "END WHERE run = ?2",
	             "is", (int64_t)now.tv_sec * INT64_C(1000000000), run)) {
		fprintf(stderr, "assay run: %s\n", store_message(store));
		return ASSAY_SYSTEM;
	}
	printf("run %s is cancelled\n", run);
	return ASSAY_OK;
}

/* The lab of the server that works, or worked last, on this database. */
static json_t *server_lab(struct store *store)
{
	json_t *lab = NULL;
	sqlite3_stmt *row;

	if (!store_ask(store, &row, "SELECT lab FROM server", "") && store_row(store, row) == 1) {
		lab = json_loads(store_text(row, 0), 0, NULL);
		store_reset(row);
	}
	if (!lab)
		fprintf(stderr, "assay run: no server has worked on this database yet: start assay serve, or "
		                "give --lab\n");
	return lab;
}

static char *read_text(const char *path)
{
	FILE *in = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;

	if (in && getdelim(&text, &size, '\0', in) < 0) {
		free(text);
		text = NULL;
	}
	if (in)
		fclose(in);
	return text;
}

static int finish(struct store *store, const char *run)
{
	struct report *report;
	int r = report_load(store, run, &report);

	if (r != 1)
		return ASSAY_SYSTEM;
	report_print(report, stdout);
	int result = report_exit(report);
	report_free(report);
	return result;
}

static int watch(struct store *store, const char *run, const char *database)
{
	const struct sigaction action = {.sa_handler = on_signal};
	struct sigaction before;
	int r;

	/* Who started us may have Ctrl-C for itself, and with it the right to say what goes on. */
	if (!sigaction(SIGINT, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(SIGINT, &action, NULL);
	r = watch_run(store, run, &stop);
	if (r == -EINTR) {
		fprintf(stderr,
		        "\nThe run goes on. `assay status --db %s` shows it, `assay report %s --db %s` its "
		        "results,\n"
		        "`assay run --cancel %s --db %s` ends it.\n",
		        database, run, database, run, database);
		return ASSAY_NOT_VALID;
	}
	if (r) {
		fprintf(stderr, "assay run: %s\n", store_message(store));
		return ASSAY_SYSTEM;
	}
	return finish(store, run);
}

static void say_queued(struct store *store, const char *id, const char *group, size_t cells)
{
	int64_t before = 0;

	printf("run %s on group %s: %zu cells\n", id, group, cells);
	if (!store_int(store, &before,
	               "SELECT count(*) FROM runs WHERE group_name = ? AND run <> ? AND state IN ('queued', "
	               "'running')",
	               "ss", group, id) &&
	    before)
		printf("%" PRId64 " of this group's runs come first\n", before);
	fflush(stdout);
}

static int run(struct store *store, const struct options *o, json_t *lab, const char *database)
{
	struct plan *plan = NULL;
	const char *group = NULL;
	char id[RUN_ID_SIZE], *text = NULL;
	int result = ASSAY_USAGE;

	if (!plan_load_options(o->plan, &o->plan_options, stderr, &plan) &&
	    !plan_fits_lab(plan, lab, o->group, stderr, &group) &&
	    wipe_allowed(plan, lab, group, o->wipe, stderr)) {
		text = read_text(o->plan);
		result = ASSAY_SYSTEM;
		if (!text || queue_run(store, plan, text, lab, group, id))
			fprintf(stderr, "assay run: %s\n",
			        text ? store_message(store) : "the plan cannot be read");
		else if (!o->no_wait)
			say_queued(store, id, group, plan->cell_count), result = watch(store, id, database);
		else
			puts(id), result = ASSAY_OK;
	}
	free(text);
	plan_free(plan);
	return result;
}

int cmd_run(int argc, char **argv)
{
	struct store *store = NULL;
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
	if (!database || store_open(database, o.lab ? STORE_CREATE : STORE_EXISTING, stderr, &store)) {
		result = ASSAY_SYSTEM;
	} else if (o.cancel) {
		result = cancel(store, o.cancel);
	} else {
		if (!lab)
			lab = server_lab(store);
		result = lab ? run(store, &o, lab, database) : ASSAY_USAGE;
	}
	store_close(store);
	json_decref(lab);
	free(database);
	return result;
}
