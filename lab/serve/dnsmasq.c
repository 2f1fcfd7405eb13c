/* SPDX-License-Identifier: GPL-2.0-or-later
 * dnsmasq as a child: DHCP (or proxyDHCP) and TFTP on the lab's interface, and nowhere else. */
#include "server.h"
#include "log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define RESTART_NS   (1000 * INT64_C(1000000))
#define STEADY_NS    (60 * INT64_C(1000000000))
#define RESTARTS_MAX 5 /* in a row, each of less than STEADY_NS */
#define NO_DNSMASQ   127
#define START_MS     5000

static const char port_taken[] =
    "; `ss -lunp sport = :67` names who serves DHCP on this machine: stop that, or set "
    "server.dhcp to proxy or none in the lab file";

struct dnsmasq {
	pid_t pid;
	int log;
	int64_t started_ns;
	unsigned int restarts;
	char config[512], pid_file[512];
	char line[1024];
	size_t line_length;
};

/* Whether PID is the dnsmasq that runs with our configuration. */
static bool is_ours(const struct dnsmasq *d, pid_t pid)
{
	char path[64], line[4096];
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (n <= 0)
		return false;
	line[n] = '\0';
	for (char *word = line; word < line + n; word += strlen(word) + 1)
		found = found || (!strncmp(word, "--conf-file=", 12) && !strcmp(word + 12, d->config));
	return found && strstr(line, "dnsmasq");
}

static void end_process(pid_t pid, bool child)
{
	for (int i = 0; i < 40; i++) {
		if (kill(pid, i < 20 ? SIGTERM : SIGKILL))
			return;
		if (child && waitpid(pid, NULL, WNOHANG) != 0)
			return;
		poll(NULL, 0, 50);
	}
}

static void end_stale(const struct dnsmasq *d)
{
	char text[32] = "";
	int fd = open(d->pid_file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	ssize_t n = read(fd, text, sizeof(text) - 1);
	close(fd);
	pid_t pid = n > 0 ? (pid_t)strtol(text, NULL, 10) : 0;
	if (pid > 1 && is_ours(d, pid)) {
		log_event(NULL, "dnsmasq", "ending process %d, which an earlier server left behind",
		          (int)pid);
		end_process(pid, false);
	}
	unlink(d->pid_file);
}

static void child(const struct dnsmasq *d, int log, pid_t parent)
{
	static const char *const names[] = {"dnsmasq", "/usr/sbin/dnsmasq", "/usr/local/sbin/dnsmasq"};
	char config[sizeof(d->config) + 16];
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(log, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	/* A Ctrl-C is for the server. */
	setpgid(0, 0);
	snprintf(config, sizeof(config), "--conf-file=%s", d->config);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		execlp(names[i], "dnsmasq", "--keep-in-foreground", config, (char *)NULL);
	_exit(NO_DNSMASQ);
}

static int spawn(struct dnsmasq *d)
{
	int pipe_fd[2];
	pid_t parent = getpid();

	if (pipe2(pipe_fd, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	d->pid = fork();
	if (d->pid == 0)
		child(d, pipe_fd[1], parent);
	close(pipe_fd[1]);
	if (d->pid < 0) {
		close(pipe_fd[0]);
		return -errno;
	}
	if (d->log >= 0)
		close(d->log);
	d->log = pipe_fd[0];
	d->started_ns = moment_now().mono_ns;
	FILE *out = fopen(d->pid_file, "we");
	if (out) {
		fprintf(out, "%d\n", (int)d->pid);
		fclose(out);
	}
	return 0;
}

/* "... DHCPDISCOVER(br0) 52:54:00:00:00:09 ignored": a machine that is not in the lab file wants to boot. */
static void look_for_stranger(struct server *s, char *line)
{
	char *at = strstr(line, "DHCPDISCOVER("), *end;
	char mac[18];

	if (!at || !strstr(at, " ignored"))
		return;
	at = strchr(at, ' ');
	for (end = at + 1; *end && *end != ' '; end++)
		;
	if (end - at - 1 != 17)
		return;
	memcpy(mac, at + 1, 17);
	mac[17] = '\0';
	/* A name made up for each packet must not fill the log and the store. */
	if (!limit_take(s->limit, 0, moment_now()))
		return;
	pthread_mutex_lock(&s->lock);
	conductor_stranger(s->conductor, moment_now(), mac, "");
	pthread_mutex_unlock(&s->lock);
	log_event(NULL, "dhcp", "%s asks to boot and gets no answer: it is not in the lab file", mac);
}

static void read_log(struct server *s, struct dnsmasq *d)
{
	char buffer[4096];
	ssize_t n;

	while ((n = read(d->log, buffer, sizeof(buffer))) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (buffer[i] != '\n') {
				if (d->line_length < sizeof(d->line) - 1)
					d->line[d->line_length++] = buffer[i];
				continue;
			}
			d->line[d->line_length] = '\0';
			if (strstr(d->line, " ignored"))
				look_for_stranger(s, d->line);
			else if (!strstr(d->line, "DHCPDISCOVER(") && !strstr(d->line, "DHCPOFFER(") &&
			         !strstr(d->line, "DHCPREQUEST("))
				log_event(NULL, "dnsmasq", "%s", d->line);
			d->line_length = 0;
		}
	}
}

static void explain(int status)
{
	const char *remedy = "its own words are above";

	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_DNSMASQ)
		remedy = "it is not installed (Debian: dnsmasq-base)";
	else if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		remedy =
		    "a port is taken, or the interface or its address is not there; its own words are above";
	else if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
		remedy = "it does not accept its configuration: check server.interface, server.address and "
		         "server.dhcp_range in "
		         "the lab file";
	fprintf(stderr, "assay serve: dnsmasq ended (%s %d): %s\n",
	        WIFSIGNALED(status) ? "signal" : "exit code",
	        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), remedy);
}

int dnsmasq_tick(struct server *s, struct dnsmasq *d, struct moment now)
{
	int status;

	if (!d)
		return 0;
	if (d->log >= 0)
		read_log(s, d);
	if (d->pid > 0) {
		if (waitpid(d->pid, &status, WNOHANG) != d->pid)
			return 0;
		read_log(s, d);
		explain(status);
		d->pid = -1;
		d->restarts = now.mono_ns - d->started_ns > STEADY_NS ? 1 : d->restarts + 1;
		if (d->restarts > RESTARTS_MAX) {
			fprintf(stderr, "assay serve: dnsmasq ended %u times in a row: giving up\n",
			        d->restarts);
			return -EIO;
		}
	}
	if (now.mono_ns - d->started_ns < RESTART_NS * d->restarts)
		return 0;
	log_event(NULL, "dnsmasq", "starting it again");
	return spawn(d);
}

/* It speaks once its sockets are bound; or it ends. */
static int wait_until_up(struct server *s, struct dnsmasq *d)
{
	struct pollfd fd = {.fd = d->log, .events = POLLIN};
	int status, ready = poll(&fd, 1, START_MS);

	/* Where its first words are of its end, it needs a moment to end. */
	for (int i = 0; i < 10; i++) {
		if (waitpid(d->pid, &status, WNOHANG) == d->pid) {
			d->pid = -1;
			read_log(s, d);
			explain(status);
			return -EADDRINUSE;
		}
		poll(NULL, 0, 10);
	}
	if (ready <= 0)
		fprintf(stderr, "assay serve: dnsmasq has said nothing for %d ms\n", START_MS);
	return 0;
}

/* Two dnsmasqs share a port without a word, and then answer one after the other. */
static int port_free(const char *interface)
{
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = htons(67)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), r = 0;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface, (socklen_t)strlen(interface))) {
		r = -errno;
		fprintf(stderr,
		        "assay serve: interface %s: %s (server.interface in the lab file; `ip link` lists "
		        "them)\n",
		        interface, strerror(errno));
	} else if (bind(fd, (struct sockaddr *)&sin, sizeof(sin))) {
		r = -errno;
		fprintf(stderr, "assay serve: DHCP on %s: %s%s\n", interface, strerror(errno),
		        errno == EADDRINUSE ? port_taken
		        : errno == EACCES   ? "; it needs root"
		                            : "");
	}
	close(fd);
	return r;
}

int dnsmasq_start(struct server *s, struct dnsmasq **out)
{
	const json_t *server = json_object_get(s->lab, "server");
	const char *mode = json_string_value(json_object_get(server, "dhcp"));
	bool proxy = mode && !strcmp(mode, "proxy");
	struct dnsmasq *d;
	int r;

	*out = NULL;
	if (mode && !strcmp(mode, "none"))
		return 0;
	if (!proxy && !json_object_get(server, "dhcp_range")) {
		fprintf(stderr, "assay serve: the lab file has no server.dhcp_range (give one, or "
		                "server.dhcp: proxy or none)\n");
		return -EINVAL;
	}
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->log = -1;
	d->pid = -1;
	snprintf(d->config, sizeof(d->config), "%s/dnsmasq.conf", s->run_dir);
	snprintf(d->pid_file, sizeof(d->pid_file), "%s/dnsmasq.pid", s->run_dir);
	end_stale(d);
	r = port_free(json_string_value(json_object_get(server, "interface")));
	if (!r)
		r = dnsmasq_config(s, d->config, proxy);
	if (!r)
		r = spawn(d);
	if (!r)
		r = wait_until_up(s, d);
	if (r) {
		dnsmasq_stop(d);
		return r;
	}
	*out = d;
	return 0;
}

void dnsmasq_stop(struct dnsmasq *d)
{
	if (!d)
		return;
	if (d->pid > 0)
		end_process(d->pid, true);
	unlink(d->pid_file);
	if (d->log >= 0)
		close(d->log);
	free(d);
}
