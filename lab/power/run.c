/* SPDX-License-Identifier: GPL-2.0-or-later
 * Runs another program, for a time that is bounded. */
#include "power_internal.h"

#include "../child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS 50

extern char **environ;

/* Our environment and EXTRA, which wins; the strings stay theirs. */
static char **environment(const char *const extra[])
{
	size_t ours = 0, more = 0, used = 0;
	char **all;

	while (environ[ours])
		ours++;
	while (extra && extra[more])
		more++;
	all = calloc(ours + more + 1, sizeof(*all));
	if (!all)
		return NULL;
	for (size_t i = 0; i < more; i++)
		all[used++] = (char *)extra[i];
	for (size_t i = 0; i < ours; i++) {
		size_t name = strcspn(environ[i], "=");
		bool replaced = false;

		for (size_t k = 0; k < more; k++)
			replaced = replaced || !strncmp(environ[i], extra[k], name + 1);
		if (!replaced)
			all[used++] = environ[i];
	}
	return all;
}

/* Whatever is in the pipe now; what does not fit is thrown away. False at its end. */
static bool drain(int fd, char *out, size_t size, size_t *used)
{
	char text[512];
	ssize_t n;

	while ((n = read(fd, text, sizeof(text))) > 0) {
		size_t fits = (size_t)n < size - 1 - *used ? (size_t)n : size - 1 - *used;

		memcpy(out + *used, text, fits);
		*used += fits;
	}
	out[*used] = '\0';
	return n < 0;
}

int power_run(struct power *p, const char *const argv[], const char *const extra[], char *out, size_t size)
{
	char **env = environment(extra);
	int pipe_fd[2] = {-1, -1}, status = 0, r;
	bool open = true;
	size_t used = 0;
	pid_t pid, ended = 0;

	out[0] = '\0';
	r = !env || pipe2(pipe_fd, O_CLOEXEC | O_NONBLOCK)
	        ? -errno
	        /* A group of its own, so that a deadline ends its children too. */
	        : child_start(argv[0], argv, env, pipe_fd[1], true, &pid);
	free(env);
	if (pipe_fd[1] >= 0)
		close(pipe_fd[1]);
	/* A child of the program's may keep the pipe open: its own end is what counts. */
	while (!r && !ended) {
		struct pollfd fd = {.fd = open ? pipe_fd[0] : -1, .events = POLLIN};

		poll(&fd, 1, LOOK_MS);
		open = open && drain(pipe_fd[0], out, size, &used);
		ended = waitpid(pid, &status, WNOHANG);
		if (!ended && power_now_ns() > p->deadline_ns) {
			kill(-pid, SIGKILL);
			waitpid(pid, &status, 0);
			r = -ETIMEDOUT;
		}
	}
	if (!r && open)
		drain(pipe_fd[0], out, size, &used);
	if (pipe_fd[0] >= 0)
		close(pipe_fd[0]);
	if (r)
		return r;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
