/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console.h"

#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONSOLES_MAX  8
#define STALL_MS      200
#define LINE_SIZE     1024
#define KMSG_TAIL_MAX 65536

static struct {
	char path[40];
	int fd;
} consoles[CONSOLES_MAX];
static unsigned int console_count;
static int kmsg_fd = -1;

static void add_console(const char *name)
{
	char *path;
	int fd;

	if (console_count >= CONSOLES_MAX)
		return;
	path = consoles[console_count].path;
	snprintf(path, sizeof(consoles[0].path), "/dev/%s", name);
	/* Not blocking: a serial port held by flow control must not hold us. */
	fd = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	consoles[console_count++].fd = fd;
}

void console_open(void)
{
	char active[256], *name, *rest = active;
	int fd;

	/* A kernel without an initial console starts us without 0, 1 and 2, which tools would then take for
	 * theirs. */
	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
	read_file("/sys/class/tty/console/active", active, sizeof(active));
	while ((name = strsep(&rest, " ")))
		if (*name)
			add_console(name);
	if (!console_count)
		add_console("console");
	/* Without this the kernel drops what comes faster than ten lines in five seconds. */
	write_file("/proc/sys/kernel/printk_devkmsg", "on");
	kmsg_fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
}

static void write_console(int fd, const char *text, size_t length)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
	long long end = now_ns() + STALL_MS * 1000000LL;

	while (length) {
		ssize_t n = write(fd, text, length);

		if (n > 0) {
			text += n;
			length -= n;
		} else if (n < 0 && errno != EAGAIN && errno != EINTR) {
			return;
		}
		if (length && (now_ns() >= end || poll(&poll_fd, 1, STALL_MS) == 0))
			return;
	}
}

void say(const char *format, ...)
{
	char line[LINE_SIZE];
	long long ms = uptime_ns() / 1000000;
	va_list args;
	size_t head, length;
	int n;

	/* Level debug: in the log, but not a second time on the consoles. */
	head = snprintf(line, sizeof(line), "<15>");
	length =
	    head + snprintf(line + head, sizeof(line) - head, "assay %lld.%03lld: ", ms / 1000, ms % 1000);
	va_start(args, format);
	n = vsnprintf(line + length, sizeof(line) - length - 2, format, args);
	va_end(args);
	if (n > 0)
		length += (size_t)n < sizeof(line) - length - 2 ? (size_t)n : sizeof(line) - length - 3;
	if (kmsg_fd >= 0 && write(kmsg_fd, line, length) < 0 && errno == EBADF)
		kmsg_fd = -1;
	line[length++] = '\r';
	line[length++] = '\n';
	for (unsigned int i = 0; i < console_count; i++)
		write_console(consoles[i].fd, line + head, length - head);
	if (!console_count)
		write_console(STDERR_FILENO, line + head, length - head);
}

/* A record is "priority,sequence,microseconds,flags;text\n KEY=value…": appends "[seconds] text". */
static size_t append_record(char *all, size_t done, size_t size, char *record)
{
	char *text = strchr(record, ';');
	unsigned long long us = 0;
	int n;

	if (!text)
		return done;
	*text++ = '\0';
	text[strcspn(text, "\n")] = '\0';
	sscanf(record, "%*u,%*u,%llu", &us);
	n = snprintf(all + done, size - done, "[%llu.%06llu] %s\n", us / 1000000, us % 1000000, text);
	return n > 0 && (size_t)n < size - done ? done + n : done;
}

void console_tail(char *buf, size_t size)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char record[8192], *all = malloc(KMSG_TAIL_MAX), *from;
	size_t done = 0;
	ssize_t n;

	*buf = '\0';
	if (fd < 0 || !all)
		goto out;
	while ((n = read(fd, record, sizeof(record) - 1)) > 0 ||
	       (n < 0 && (errno == EPIPE || errno == EINTR))) {
		if (n < 0)
			continue; /* EPIPE: records were overwritten while we read; the next read has the
			             oldest */
		record[n] = '\0';
		if (done > KMSG_TAIL_MAX - sizeof(record)) {
			memmove(all, all + done / 2, done - done / 2);
			done -= done / 2;
		}
		done = append_record(all, done, KMSG_TAIL_MAX, record);
	}
	all[done] = '\0';
	from = all;
	if (done > size - 1) {
		from = strchr(all + done - (size - 1), '\n');
		from = from ? from + 1 : all + done;
	}
	strcpy(buf, from);
out:
	free(all);
	if (fd >= 0)
		close(fd);
}

static pid_t shell_on(const char *path)
{
	static char *const argv[] = {"sh", NULL};
	static char *const envp[] = {"PATH=/bin:/sbin:/usr/bin:/usr/sbin", "TERM=linux", "HOME=/", NULL};
	pid_t pid = fork();
	sigset_t none;
	int fd;

	if (pid)
		return pid;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	fd = open(path, O_RDWR);
	if (fd < 0)
		_exit(127);
	ioctl(fd, TIOCSCTTY, 1);
	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	execve("/bin/busybox", argv, envp);
	_exit(127);
}

void console_rescue(void)
{
	pid_t shells[CONSOLES_MAX], ended;
	int status = 0;

	if (access("/bin/busybox", X_OK)) {
		say("assay.rescue: this image has no /bin/busybox, so there is no shell; the boot goes on");
		return;
	}
	say("assay.rescue: a shell on every console; the boot goes on when one of them ends (exit)");
	for (unsigned int i = 0; i < console_count; i++)
		shells[i] = shell_on(consoles[i].path);
	do
		ended = wait(&status);
	while (ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127);
	for (unsigned int i = 0; i < console_count; i++)
		if (shells[i] > 0 && shells[i] != ended && !kill(-shells[i], SIGKILL))
			waitpid(shells[i], NULL, 0);
	/* With the session of a shell its terminal was hung up, for us as well. */
	for (unsigned int i = 0; i < console_count; i++)
		close(consoles[i].fd);
	close(kmsg_fd);
	console_count = 0;
	console_open();
	say("assay.rescue: the shell has ended, the boot goes on");
}
