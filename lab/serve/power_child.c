/* SPDX-License-Identifier: GPL-2.0-or-later
 * Power-cycles on behalf of the conductor: each is a process `assay power` of its own, so that a BMC that
 * does not answer holds up nobody. */
#include "server.h"
#include "log.h"

#include "../child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMEOUT_S "60"
#define KILL_NS   (75 * INT64_C(1000000000)) /* it did not heed its own */

struct power_child {
	char *node;
	pid_t pid;
	int out;
	int64_t since_ns;
	struct power_child *next;
};

extern char **environ;

static int start(const struct server *s, struct power_child *child, int out)
{
	const char *argv[] = {"assay",     "power",     "--timeout", TIMEOUT_S, "--",
	                      s->lab_path, child->node, "cycle",     NULL};

	return child_start("/proc/self/exe", argv, environ, out, false, &child->pid);
}

static void child_free(struct power_child *child)
{
	if (!child)
		return;
	if (child->out >= 0)
		close(child->out);
	free(child->node);
	free(child);
}

int power_child_cycle(void *server, const char *node)
{
	struct server *s = server;
	struct power_child *child = calloc(1, sizeof(*child));
	int ends[2] = {-1, -1}, r = 0;

	if (!child)
		return -ENOMEM;
	child->out = -1;
	child->since_ns = moment_now().mono_ns;
	child->node = strdup(node);
	if (!child->node)
		r = -ENOMEM;
	else if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		r = -errno;
	child->out = ends[0];
	if (!r)
		r = start(s, child, ends[1]);
	if (ends[1] >= 0)
		close(ends[1]);
	if (r) {
		child_free(child);
		return r;
	}
	child->next = s->power_children;
	s->power_children = child;
	return 0;
}

/* What the process said: its last line, without a line's end. */
static const char *last_words(const struct power_child *child, char *text, size_t size)
{
	ssize_t length = read(child->out, text, size - 1);
	char *line;

	text[length > 0 ? length : 0] = '\0';
	while (*text && strchr("\r\n ", text[strlen(text) - 1]))
		text[strlen(text) - 1] = '\0';
	line = strrchr(text, '\n');
	return line ? line + 1 : text;
}

void power_child_tick(struct server *s, struct moment now)
{
	struct power_child **at = &s->power_children;

	pthread_mutex_lock(&s->lock);
	while (*at) {
		struct power_child *child = *at;
		char text[2048];
		int status;

		if (now.mono_ns - child->since_ns > KILL_NS)
			kill(child->pid, SIGKILL);
		if (waitpid(child->pid, &status, WNOHANG) != child->pid) {
			at = &child->next;
			continue;
		}
		*at = child->next;
		const char *words = last_words(child, text, sizeof(text));
		conductor_powered(s->conductor, now, child->node, WIFEXITED(status) && !WEXITSTATUS(status),
		                  *words ? words : "assay power ended without a word");
		child_free(child);
	}
	pthread_mutex_unlock(&s->lock);
}

void power_child_stop(struct server *s)
{
	while (s->power_children) {
		struct power_child *child = s->power_children;

		s->power_children = child->next;
		/* Half a power-cycle would leave the node off: it comes to its end by itself. */
		child_free(child);
	}
}
