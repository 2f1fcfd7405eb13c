/* SPDX-License-Identifier: GPL-2.0-or-later
 * A process of its own that starts dnsmasq, since the server gives up the right to: it has no more of root's
 * rights than dnsmasq needs, does one thing, and ends with the server. */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MS 5000
#define PATH_SIZE 512

/* Where the keeper has its files, and no others. */
enum { FD_ORDERS = 3, FD_LOG, FD_SIGNALS, FD_FIRST_FREE };

/* What it says: of dnsmasq's start (its process, or -errno), or of its end (waitpid(2)'s status). */
struct word {
	enum { STARTED, ENDED } what;
	int value;
};

struct keeper {
	int socket, log;
	bool ended;
	int status;
};

static void child(const char *config, pid_t parent)
{
	static const char *const names[] = {"dnsmasq", "/usr/sbin/dnsmasq", "/usr/local/sbin/dnsmasq"};
	char argument[PATH_SIZE + 16];
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(FD_LOG, STDOUT_FILENO);
	dup2(FD_LOG, STDERR_FILENO);
	close_range(FD_ORDERS, ~0U, 0);
	snprintf(argument, sizeof(argument), "--conf-file=%s", config);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		execlp(names[i], "dnsmasq", "--keep-in-foreground", argument, (char *)NULL);
	_exit(KEEPER_NO_PROGRAM);
}

static void say(struct word word)
{
	/* The server is gone where that fails, and the next order says so. */
	(void)!send(FD_ORDERS, &word, sizeof(word), MSG_NOSIGNAL);
}

static void end(pid_t pid)
{
	for (int i = 0; i < 40; i++) {
		kill(pid, i < 20 ? SIGTERM : SIGKILL);
		if (waitpid(pid, NULL, WNOHANG) != 0)
			return;
		poll(NULL, 0, 50);
	}
}

static pid_t start(const char *config)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0)
		child(config, parent);
	say((struct word){STARTED, pid < 0 ? -errno : pid});
	return pid;
}

_Noreturn static void keep(void)
{
	struct pollfd fds[] = {{.fd = FD_ORDERS, .events = POLLIN}, {.fd = FD_SIGNALS, .events = POLLIN}};
	struct signalfd_siginfo signal;
	char config[PATH_SIZE];
	pid_t pid = -1;
	int status;

	for (;;) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents && read(FD_SIGNALS, &signal, sizeof(signal)) > 0 && pid > 0 &&
		    waitpid(pid, &status, WNOHANG) == pid) {
			pid = -1;
			say((struct word){ENDED, status});
		}
		if (!fds[0].revents)
			continue;
		ssize_t n = recv(FD_ORDERS, config, sizeof(config) - 1, 0);
		if (n <= 0)
			break;
		config[n] = '\0';
		if (pid <= 0)
			pid = start(config);
	}
	if (pid > 0)
		end(pid);
	_exit(0);
}

/* The keeper's side of the fork. */
_Noreturn static void become_keeper(const struct server *s, int orders, int log)
{
	sigset_t child_ended;

	/* A Ctrl-C is for the server. */
	setpgid(0, 0);
	if (privilege_network_only(s))
		_exit(1);
	sigemptyset(&child_ended);
	sigaddset(&child_ended, SIGCHLD);
	int signals = signalfd(-1, &child_ended, 0);
	/* Out of the way of the numbers that they get. */
	orders = fcntl(orders, F_DUPFD, 64);
	log = fcntl(log, F_DUPFD, 64);
	signals = fcntl(signals, F_DUPFD, 64);
	if (dup2(orders, FD_ORDERS) < 0 || dup2(log, FD_LOG) < 0 || dup2(signals, FD_SIGNALS) < 0)
		_exit(1);
	close_range(FD_FIRST_FREE, ~0U, 0);
	keep();
}

int keeper_start(const struct server *s, struct keeper **out)
{
	struct keeper *k = calloc(1, sizeof(*k));
	int orders[2] = {-1, -1}, log[2] = {-1, -1}, r = 0;

	*out = NULL;
	if (!k)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, orders) ||
	    pipe2(log, O_CLOEXEC | O_NONBLOCK))
		r = -errno;
	pid_t pid = r ? -1 : fork();
	if (pid == 0)
		become_keeper(s, orders[1], log[1]);
	if (!r && pid < 0)
		r = -errno;
	if (orders[1] >= 0)
		close(orders[1]);
	if (log[1] >= 0)
		close(log[1]);
	k->socket = orders[0];
	k->log = log[0];
	if (r)
		keeper_stop(k);
	else
		*out = k;
	return r;
}

void keeper_stop(struct keeper *k)
{
	struct pollfd fd = {.fd = k->socket, .events = POLLIN};
	struct word word;

	if (k->socket >= 0) {
		/* It ends dnsmasq, then itself: that closes its side. */
		shutdown(k->socket, SHUT_WR);
		while (poll(&fd, 1, ANSWER_MS) > 0 && recv(k->socket, &word, sizeof(word), 0) > 0)
			;
		close(k->socket);
	}
	if (k->log >= 0)
		close(k->log);
	free(k);
}

int keeper_log(const struct keeper *k)
{
	return k->log;
}

pid_t keeper_run(struct keeper *k, const char *config)
{
	struct pollfd fd = {.fd = k->socket, .events = POLLIN};
	struct word word;

	if (strlen(config) >= PATH_SIZE)
		return -ENAMETOOLONG;
	k->ended = false;
	if (send(k->socket, config, strlen(config), MSG_NOSIGNAL) < 0)
		return -errno;
	if (poll(&fd, 1, ANSWER_MS) <= 0 || recv(k->socket, &word, sizeof(word), 0) != sizeof(word))
		return -EPIPE;
	return word.what == STARTED ? word.value : -EPROTO;
}

bool keeper_ended(struct keeper *k, int *status)
{
	struct word word;
	ssize_t n = k->ended ? 0 : recv(k->socket, &word, sizeof(word), MSG_DONTWAIT);

	if (n == sizeof(word) && word.what == ENDED) {
		k->ended = true;
		k->status = word.value;
	} else if (n == 0 && !k->ended) { /* the keeper itself was killed */
		k->ended = true;
		k->status = SIGKILL;
	}
	*status = k->status;
	return k->ended;
}
