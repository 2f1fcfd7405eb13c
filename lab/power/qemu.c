/* SPDX-License-Identifier: GPL-2.0-or-later
 * A virtual machine, by the QEMU Machine Protocol (docs/interop/qmp-spec of QEMU) over its Unix socket: JSON,
 * a line each way. */
#include "power_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 16384 };

/* Names of Unix sockets are short; through its folder any path is. */
static int open_socket(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char folder[4096], name[4096];
	int dir, fd, r;

	snprintf(folder, sizeof(folder), "%s", path);
	snprintf(name, sizeof(name), "%s", path);
	dir = open(dirname(folder), O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	r = snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", dir, basename(name));
	fd = r >= (int)sizeof(address.sun_path) ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		r = r >= (int)sizeof(address.sun_path) ? -ENAMETOOLONG : -errno;
	else
		r = connect(fd, (struct sockaddr *)&address, sizeof(address)) ? -errno : fd;
	if (r < 0 && fd >= 0)
		close(fd);
	close(dir);
	return r;
}

/* The next line, without its end. 0 or -errno. */
static int read_line(struct power *p, int fd, char *line)
{
	size_t used = 0;

	for (;;) {
		struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
		int64_t left_ms = (p->deadline_ns - power_now_ns()) / 1000000;
		ssize_t n;

		if (left_ms <= 0 || poll(&poll_fd, 1, (int)(left_ms < 60000 ? left_ms : 60000)) < 0)
			return -ETIMEDOUT;
		/* One byte at a time: these are few, and what follows the line stays for the next call. */
		n = poll_fd.revents ? read(fd, line + used, 1) : 0;
		if (poll_fd.revents && n <= 0)
			return n ? -errno : -ECONNRESET;
		if (n && line[used] == '\n') {
			line[used] = '\0';
			return 0;
		}
		used += (size_t)n;
		if (used >= LINE_MAX_BYTES)
			return -EMSGSIZE;
	}
}

static int refused(struct power *p, const char *command, const json_t *error)
{
	const char *why = json_string_value(json_object_get(error, "desc"));

	return power_says(p, -EREMOTEIO, "QEMU refuses %s: %.300s", command,
	                  why ? why : "it does not say why");
}

/* Sends COMMAND and waits for its reply, past events. Its "return" to *OUT (new reference), or -errno. */
static int execute(struct power *p, int fd, const char *command, json_t **out)
{
	char *line = malloc(LINE_MAX_BYTES + 1);
	char text[128];
	int length = snprintf(text, sizeof(text), "{\"execute\":\"%s\"}\n", command);
	int r = !line ? -ENOMEM : send(fd, text, (size_t)length, MSG_NOSIGNAL) == length ? 1 : -ECONNRESET;

	*out = NULL;
	while (r == 1) {
		json_t *reply = NULL;

		r = read_line(p, fd, line);
		if (!r)
			reply = json_loads(line, 0, NULL);
		if (!r && json_object_get(reply, "error"))
			r = refused(p, command, json_object_get(reply, "error"));
		else if (!r && json_object_get(reply, "return"))
			*out = json_incref(json_object_get(reply, "return"));
		else if (!r)
			r = 1; /* greeting or event */
		json_decref(reply);
	}
	free(line);
	return r;
}

/* Opens the machine's QMP and has COMMANDS executed (NULL ends them); the last one's answer to *OUT. */
static int qmp(struct power *p, const char *const commands[], json_t **out)
{
	const char *path = power_text(p, "socket");
	int fd = open_socket(path), r = fd < 0 ? fd : 0;

	*out = NULL;
	if (fd == -ECONNREFUSED || fd == -ENOENT)
		return power_says(p, fd, "nobody listens on %s: the virtual machine does not run; start it",
		                  path);
	for (size_t i = 0; !r && commands[i]; i++) {
		json_decref(*out);
		p->message[0] = '\0';
		r = execute(p, fd, commands[i], out);
	}
	if (r && !*p->message)
		power_says(p, r, "%s: %s", path,
		           r == -ETIMEDOUT ? "QEMU does not answer in time" : strerror(-r));
	if (fd >= 0)
		close(fd);
	return r;
}

/* A machine that does not run is off for us only where its end was ordered: `quit` ends the process. */
static int qemu_status(struct power *p)
{
	json_t *status;
	int r = qmp(p, (const char *const[]){"qmp_capabilities", "query-status", NULL}, &status);
	const char *word = json_string_value(json_object_get(status, "status"));

	if (!r)
		power_says(p, 0, "%s", word && !strcmp(word, "shutdown") ? "off" : "on");
	json_decref(status);
	return r;
}

static int qemu_act(struct power *p, enum power_action action)
{
	/* `cont`: a machine that was stopped stays so when it is reset. */
	static const char *const reset[] = {"qmp_capabilities", "system_reset", "cont", NULL};
	static const char *const quit[] = {"qmp_capabilities", "quit", NULL};
	json_t *answer;
	int r;

	if (action == POWER_STATUS)
		return qemu_status(p);
	if (action == POWER_ON) {
		r = qmp(p, (const char *const[]){"qmp_capabilities", "cont", NULL}, &answer);
		json_decref(answer);
		return r ? r : power_says(p, 0, "is on");
	}
	r = qmp(p, action == POWER_OFF ? quit : reset, &answer);
	json_decref(answer);
	return r ? r : power_says(p, 0, "%s", action == POWER_OFF ? "is switched off" : "is reset");
}

const struct power_driver power_qemu = {.name = "qemu", .act = qemu_act};
