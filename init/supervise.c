/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "supervise.h"

#include "client.h"
#include "console.h"
#include "file.h"
#include "watchdog.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define UPLOAD_MS      60000
#define UPLOAD_TRY_MS  10000
#define REBOOT_STUCK_S 20
#define STATUS_HANGS   (-1) /* no wait(2) status: the worker hangs */
#define REBOOT_REMEDY                                                                                        \
	"The node reboots and the sample is measured again. If it happens again, the log tells what was "    \
	"going on: "                                                                                         \
	"report it with the run's id."

const char *supervise_sysrq = "/proc/sysrq-trigger";

static sigset_t watched;

/* A child of PID 1 that runs with ordinary signals. */
static pid_t start_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		sigprocmask(SIG_UNBLOCK, &watched, NULL);
	return pid;
}

/* Reboots or powers off. The kernel's own way down can hang in a driver; then, after a while, the short way.
 */
static noreturn void leave(int how, bool orderly)
{
	/* After a crash the watchdog stays armed: it helps where everything else does not. */
	if (orderly)
		watchdog_stop();
	if (fork() == 0) {
		sleep(REBOOT_STUCK_S);
		say("the kernel does not come down: forced");
		write_file(supervise_sysrq, "%c", how == RB_POWER_OFF ? 'o' : 'b');
		_exit(0);
	}
	/* Nothing is mounted from a disk, and a sync could wait for a dead one. */
	reboot(how);
	say("reboot(2) fails: %s", strerror(errno));
	for (;;)
		pause();
}

void supervise_crash(const struct supervised *shared, int status, struct failure *why)
{
	const char *step = *shared->step ? shared->step : "boot";

	if (status == STATUS_HANGS)
		fail(why, -ETIMEDOUT, FAILURE_SAMPLE, step, shared->object, REBOOT_REMEDY,
		     "the worker did not come to the end of step %s by its deadline", step);
	else if (WIFSIGNALED(status))
		fail(why, 0, FAILURE_SAMPLE, step, shared->object, REBOOT_REMEDY,
		     "the worker was killed by signal %d (%s) in step %s", WTERMSIG(status),
		     strsignal(WTERMSIG(status)), step);
	else
		fail(why, 0, FAILURE_SAMPLE, step, shared->object, REBOOT_REMEDY,
		     "the worker ended with status %d in step %s", WEXITSTATUS(status), step);
}

/* In a child: sends WHY until it is acknowledged. */
static noreturn void upload(const struct supervised *shared, const struct cmdline *options,
                            const struct failure *why)
{
	struct client *client = client_new(options->server, options->token);
	json_t *body = json_pack("{s:o}", "error", failure_json(why, shared->node));
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	struct client_retry retry = {.timeout_ms = UPLOAD_TRY_MS};
	struct client_answer answer;

	if (!client || !text)
		_exit(1);
	client_request_until(client, "POST", "/v1/error", text, strlen(text), &retry, &answer);
	if (answer.status >= 300)
		say("the lab does not take the error: %s", answer.reason);
	_exit(answer.status >= 300);
}

/* Tells the lab of WHY, for at most a minute. */
static void report(const struct supervised *shared, const struct cmdline *options, struct failure *why)
{
	long long end = now_ns() + UPLOAD_MS * 1000000LL;
	int status = 0;
	pid_t pid, ended = 0;

	say("error in step %s%s%s: %s", why->step, *why->object ? " on " : "", why->object, why->message);
	if (!shared->network || !*options->server) {
		say("the error cannot be uploaded: there was no network yet");
		return;
	}
	console_tail(why->log, sizeof(why->log));
	cmdline_mask(why->log);
	pid = start_child();
	if (pid == 0)
		upload(shared, options, why);
	if (pid < 0) {
		say("the error cannot be uploaded: %s", strerror(errno));
		return;
	}
	while (!ended && now_ns() < end) {
		poll(NULL, 0, 100);
		watchdog_feed();
		ended = waitpid(pid, &status, WNOHANG);
	}
	if (!ended) {
		kill(pid, SIGKILL);
		say("the error could not be uploaded within %d s", UPLOAD_MS / 1000);
	} else if (ended == pid && WIFEXITED(status) && !WEXITSTATUS(status)) {
		say("the error is uploaded");
	}
}

static noreturn void crashed(const struct supervised *shared, const struct cmdline *options, int status)
{
	struct failure why;

	supervise_crash(shared, status, &why);
	report(shared, options, &why);
	say("rebooting");
	leave(RB_AUTOBOOT, false);
}

/* Buries every dead child. Returns whether the worker was among them, with its *STATUS. */
static bool reap(pid_t worker, int *status)
{
	bool worker_ended = false;
	int ended_status;
	pid_t pid;

	while ((pid = waitpid(-1, &ended_status, WNOHANG)) > 0)
		if (pid == worker) {
			*status = ended_status;
			worker_ended = true;
		}
	return worker_ended;
}

static void worker_ended(const struct supervised *shared, const struct cmdline *options, int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == WORKER_REBOOT) {
		say("rebooting");
		leave(RB_AUTOBOOT, true);
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == WORKER_POWEROFF) {
		say("powering off");
		leave(RB_POWER_OFF, true);
	}
	crashed(shared, options, status);
}

/* How long PID 1 may sleep, in ms. */
static int sleep_ms(const struct supervised *shared)
{
	long long deadline_ns = shared->deadline_ns, left_ms;

	if (!deadline_ns)
		return WATCHDOG_FEED_MS;
	left_ms = (deadline_ns - now_ns()) / 1000000 + 1;
	if (left_ms < 0)
		return 0;
	return left_ms < WATCHDOG_FEED_MS ? (int)left_ms : WATCHDOG_FEED_MS;
}

noreturn void supervise(worker_main *worker, const struct cmdline *options)
{
	struct supervised *shared =
	    mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct signalfd_siginfo info;
	struct pollfd poll_fd = {.events = POLLIN};
	long long deadline_ns;
	int status = 0;
	pid_t pid;

	sigemptyset(&watched);
	for (const int *s = (const int[]){SIGCHLD, SIGUSR1, SIGINT, SIGTERM, 0}; *s; s++)
		sigaddset(&watched, *s);
	sigprocmask(SIG_BLOCK, &watched, NULL);
	signal(SIGPIPE, SIG_IGN);
	reboot(RB_DISABLE_CAD); /* Ctrl-Alt-Del comes as SIGINT */
	poll_fd.fd = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
	pid = shared == MAP_FAILED || poll_fd.fd < 0 ? -1 : start_child();
	if (pid == 0)
		_exit(worker(shared, options));
	if (pid < 0) {
		say("cannot start the worker: %s; rebooting", strerror(errno));
		leave(RB_AUTOBOOT, false);
	}
	for (;;) {
		poll(&poll_fd, 1, sleep_ms(shared));
		watchdog_feed();
		while (read(poll_fd.fd, &info, sizeof(info)) == sizeof(info)) {
			if (info.ssi_signo == SIGUSR1)
				watchdog_open();
			if (info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM) {
				say("reboot asked for on the console");
				leave(RB_AUTOBOOT, true);
			}
		}
		if (reap(pid, &status))
			worker_ended(shared, options, status);
		deadline_ns = shared->deadline_ns; /* once: the worker may set it to 0 at any moment */
		if (deadline_ns && now_ns() > deadline_ns) {
			kill(pid, SIGKILL);
			crashed(shared, options, STATUS_HANGS);
		}
	}
}

void supervise_drivers_loaded(void)
{
	kill(1, SIGUSR1);
}
