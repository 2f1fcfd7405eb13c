/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "irq_balance.h"

#include "command.h"
#include "factor.h"
#include "file.h"
#include "layer.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LAYER "irqbalance"

/* It first looks for a second, then places all that it sees. */
static const char *const once[] = {"/usr/sbin/irqbalance", "--foreground", "--oneshot", "--interval=1", NULL};
static const char *const always[] = {"/usr/sbin/irqbalance", "--foreground", NULL};

static void note_all(struct irq_changes *changes, const struct irq_roots *roots)
{
	char path[320], old[1024];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/irq", roots->proc);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "%s/irq/%.32s/smp_affinity", roots->proc, entry->d_name);
		if (read_file(path, old, sizeof(old)) > 0)
			json_array_append_new(changes->changed, json_pack("[s, s]", path, old));
	}
	if (dir)
		closedir(dir);
}

static int start(pid_t *child, const char *const argv[])
{
	int null;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
		for (int fd = 0; fd < 3; fd++)
			dup2(null, fd);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	*child = pid;
	return 0;
}

int irq_balance_start(struct irq_changes *changes, const struct irq_roots *roots, struct failure *why)
{
	static struct command_result result;
	const char *argv[LAYER_WORDS];
	char path[64];
	int r = layer_enter(LAYER, why);

	if (r)
		return r;
	note_all(changes, roots);
	layer_argv(LAYER, once, path, argv);
	r = command_run(argv, 20000, &result);
	if (!r) {
		layer_argv(LAYER, always, path, argv);
		r = start(&changes->balancer, argv);
	}
	if (!r)
		return 0;
	fail(why, r == -EREMOTEIO ? 0 : r, FAILURE_UNSUPPORTED, "unsupported", "irq.affinity",
	     "The log below is what it said. It needs a node with several CPUs.",
	     "irqbalance failed with status %d", result.status);
	snprintf(why->log, sizeof(why->log), "%.8000s", result.output);
	return r;
}

int irq_balance_in_force(struct irq_changes *changes, const json_t *state, json_t *in_force)
{
	const char *name = factors[FACTOR_IRQ_AFFINITY].name;
	int status = 0;
	pid_t pid;

	if (strcmp(factor_string(state, FACTOR_IRQ_AFFINITY), "irqbalance") != 0)
		return 0;
	pid = changes->balancer > 0 ? waitpid(changes->balancer, &status, WNOHANG) : -1;
	if (!pid)
		return json_object_set_new(in_force, name, json_string("irqbalance")) ? -ENOMEM : 0;
	/* On one CPU it sees nothing to do. */
	changes->balancer = 0;
	return json_object_set_new(in_force, name,
	                           json_sprintf("irqbalance that ended with status %d", WEXITSTATUS(status)))
	           ? -ENOMEM
	           : 0;
}

void irq_balance_stop(struct irq_changes *changes)
{
	if (changes->balancer <= 0)
		return;
	kill(changes->balancer, SIGTERM);
	for (int i = 0; i < 100 && !waitpid(changes->balancer, NULL, WNOHANG); i++) {
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
		if (i == 90)
			kill(changes->balancer, SIGKILL);
	}
	changes->balancer = 0;
}
