/* SPDX-License-Identifier: GPL-2.0-or-later
 * PID 1 in a PID namespace, whose kernel turns its reboot(2) into the signal that ends it: SIGHUP for a
 * reboot, SIGINT for a power-off. */
#include "file.h"
#include "supervise.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define WAIT_MS 20000

static int listener;
static struct cmdline options = {.token = "secret"};
static char request[65536];

/* Starts PID 1 of a new namespace with WORKER. */
static pid_t start(worker_main *worker)
{
	unsigned long flags = CLONE_NEWPID | SIGCHLD;
	pid_t pid;

	if (geteuid())
		flags |= CLONE_NEWUSER;
	pid = syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
	if (pid < 0)
		fail_msg("cannot make a PID namespace: %s", strerror(errno));
	if (pid == 0) {
		supervise_sysrq = "/dev/null";
		supervise(worker, &options);
	}
	return pid;
}

/* The signal that ended PID; fails after WAIT_MS. */
static int ended_by(pid_t pid)
{
	long long end = now_ns() + WAIT_MS * 1000000LL;
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (now_ns() > end) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			fail_msg("PID 1 did not end");
		}
		poll(NULL, 0, 10);
	}
	return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

/* Accepts one connection, reads the request, answers 204. False: none came. */
static bool take_request(void)
{
	struct pollfd poll_fd = {.fd = listener, .events = POLLIN};
	static const char answer[] = "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n";
	size_t done = 0;
	ssize_t n;
	int fd;

	if (poll(&poll_fd, 1, WAIT_MS) != 1)
		return false;
	fd = accept(listener, NULL, NULL);
	while ((n = read(fd, request + done, sizeof(request) - 1 - done)) > 0) {
		done += n;
		request[done] = '\0';
		if (strstr(request, "\r\n\r\n") && strstr(request, "}}"))
			break;
	}
	n = write(fd, answer, sizeof(answer) - 1);
	close(fd);
	return n == sizeof(answer) - 1;
}

static int setup(void **state)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);

	(void)state;
	*request = '\0';
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 8) ||
	    getsockname(listener, (struct sockaddr *)&address, &length))
		return -1;
	snprintf(options.server, sizeof(options.server), "http://127.0.0.1:%d", ntohs(address.sin_port));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return close(listener);
}

static int wants_reboot(struct supervised *shared, const struct cmdline *cmdline)
{
	(void)shared;
	(void)cmdline;
	return WORKER_REBOOT;
}

static int wants_poweroff(struct supervised *shared, const struct cmdline *cmdline)
{
	(void)shared;
	(void)cmdline;
	return WORKER_POWEROFF;
}

static int crashes(struct supervised *shared, const struct cmdline *cmdline)
{
	(void)cmdline;
	strcpy(shared->node, "alpha");
	strcpy(shared->step, "apply");
	strcpy(shared->object, "cell 01");
	shared->network = true;
	raise(SIGKILL);
	return 0;
}

static int crashes_early(struct supervised *shared, const struct cmdline *cmdline)
{
	(void)shared;
	(void)cmdline;
	return 1;
}

static int hangs(struct supervised *shared, const struct cmdline *cmdline)
{
	(void)cmdline;
	strcpy(shared->node, "alpha");
	strcpy(shared->step, "prove");
	shared->network = true;
	shared->deadline_ns = now_ns() + 1;
	/* PID 1 looks at its next feeding of the watchdog; an orphan that ends makes it look at once. */
	if (fork() == 0) {
		if (fork())
			_exit(0);
		while (getppid() != 1)
			poll(NULL, 0, 1);
		_exit(0);
	}
	for (;;)
		pause();
}

static void reboot_on_wish(void **state)
{
	(void)state;
	assert_int_equal(ended_by(start(wants_reboot)), SIGHUP);
}

static void poweroff_on_wish(void **state)
{
	(void)state;
	assert_int_equal(ended_by(start(wants_poweroff)), SIGINT);
}

static void crash_is_uploaded(void **state)
{
	pid_t pid = start(crashes);

	(void)state;
	assert_true(take_request());
	assert_int_equal(ended_by(pid), SIGHUP);
	assert_memory_equal(request, "POST /v1/error ", 15);
	assert_non_null(strstr(request, "Bearer secret"));
	assert_non_null(strstr(request, "\"node\":\"alpha\""));
	assert_non_null(strstr(request, "signal 9"));
	assert_non_null(strstr(request, "step apply"));
}

static void crash_without_network(void **state)
{
	struct pollfd poll_fd = {.fd = listener, .events = POLLIN};

	(void)state;
	assert_int_equal(ended_by(start(crashes_early)), SIGHUP);
	assert_int_equal(poll(&poll_fd, 1, 0), 0);
}

static void hang_is_uploaded(void **state)
{
	pid_t pid = start(hangs);

	(void)state;
	assert_true(take_request());
	assert_int_equal(ended_by(pid), SIGHUP);
	assert_non_null(strstr(request, "step prove by its deadline"));
	assert_non_null(strstr(request, "ETIMEDOUT"));
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    test(reboot_on_wish),        test(poweroff_on_wish), test(crash_is_uploaded),
	    test(crash_without_network), test(hang_is_uploaded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
