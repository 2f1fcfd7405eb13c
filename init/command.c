/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "command.h"

#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child: the output to OUT; the errno of a failed exec to EXEC_ERROR, which a good exec closes. */
static _Noreturn void child(const char *const argv[], int out, int exec_error)
{
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;
	int error;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0);
	if (in >= 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
	    dup2(out, STDERR_FILENO) >= 0)
		execvp(argv[0], (char *const *)argv);
	error = errno;
	if (write(exec_error, &error, sizeof(error)) != sizeof(error))
		_exit(126);
	_exit(127);
}

static void take_output(int fd, struct command_result *result, bool *end)
{
	char rest[4096];
	size_t room = sizeof(result->output) - 1 - result->length;
	ssize_t n = read(fd, room ? result->output + result->length : rest, room ? room : sizeof(rest));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		*end = true;
		return;
	}
	if (room)
		result->length += (size_t)n;
	else
		result->truncated = true;
}

/* Reads until the tool ends. A grandchild may hold the pipe open after the tool's end: it is not waited for.
 */
static int collect(pid_t pid, int fd, long long deadline_ns, struct command_result *result, int *status)
{
	bool end = false;

	for (;;) {
		struct pollfd p = {.fd = end ? -1 : fd, .events = POLLIN};
		long long left_ms = (deadline_ns - now_ns()) / 1000000;
		pid_t r = waitpid(pid, status, WNOHANG);

		if (r < 0 && errno != EINTR)
			return -errno;
		if (r == pid) {
			while (!end && poll(&p, 1, 0) > 0)
				take_output(fd, result, &end);
			return 0;
		}
		if (left_ms <= 0)
			return -ETIMEDOUT;
		/* The end of output comes with the end of the tool; after it, poll is but a pause. */
		if (poll(&p, 1, end || left_ms < 5 ? 1 : 20) > 0)
			take_output(fd, result, &end);
	}
}

/* One that hangs in the kernel cannot be killed, and must not take its caller with it. */
static void reap(pid_t pid, int *status)
{
	for (int i = 0; i < 200 && waitpid(pid, status, WNOHANG) == 0; i++)
		poll(NULL, 0, 5);
}

int command_run(const char *const argv[], long timeout_ms, struct command_result *result)
{
	int out[2] = {-1, -1}, err[2] = {-1, -1};
	int status = 0, exec_error = 0, r;
	pid_t pid = -1;

	memset(result, 0, sizeof(*result));
	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) {
		r = -errno;
		goto out;
	}
	pid = fork();
	if (pid < 0) {
		r = -errno;
		goto out;
	}
	if (pid == 0)
		child(argv, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	out[1] = err[1] = -1;
	if (read(err[0], &exec_error, sizeof(exec_error)) == sizeof(exec_error)) {
		waitpid(pid, &status, 0);
		r = -exec_error;
		goto out;
	}
	r = collect(pid, out[0], now_ns() + timeout_ms * 1000000LL, result, &status);
	if (r == -ETIMEDOUT) {
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
		reap(pid, &status);
	}
	result->output[result->length] = '\0';
	result->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	if (!r && result->status)
		r = -EREMOTEIO;
out:
	for (int i = 0; i < 2; i++) {
		if (out[i] >= 0)
			close(out[i]);
		if (err[i] >= 0)
			close(err[i]);
	}
	return r;
}

void command_text(const char *const argv[], char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; argv[i]; i++) {
		int n = snprintf(buf + used, size - used, "%s%s", i ? " " : "", argv[i]);

		if (n < 0 || (size_t)n >= size - used)
			return;
		used += (size_t)n;
	}
}
