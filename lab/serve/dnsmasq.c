/* SPDX-License-Identifier: GPL-2.0-or-later
 * dnsmasq as a child: DHCP (or proxyDHCP) and TFTP on the lab's interface, and nowhere else. */
#include "server.h"
#include "log.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define RESTART_NS   (1000 * INT64_C(1000000))
#define STEADY_NS    (60 * INT64_C(1000000000))
#define RESTARTS_MAX 5 /* in a row, each of less than STEADY_NS */
#define NO_DNSMASQ   127
#define START_MS     5000

struct dnsmasq {
	pid_t pid;
	int log;
	int64_t started_ns;
	unsigned int restarts;
	char config[512], pid_file[512];
	char line[1024];
	size_t line_length;
};

static void write_hosts(const struct server *s, FILE *out)
{
	json_t *nodes = json_object_get(s->lab, "nodes"), *node;
	bool all_have_mac = true;
	const char *name;

	json_object_foreach (nodes, name, node) {
		const char *mac = json_string_value(json_object_get(node, "mac"));

		if (mac)
			fprintf(out, "dhcp-host=%s\n", mac);
		else
			all_have_mac = false;
	}
	/* A node known by its UUID alone cannot be told apart before it runs iPXE. */
	if (all_have_mac)
		fputs("dhcp-ignore=tag:!known\n", out);
}

static void write_boot(const struct server *s, FILE *out, bool proxy)
{
	char tftp[4096];
	struct stat st;

	snprintf(tftp, sizeof(tftp), "%s/ipxe", s->image_dir);
	bool have_tftp = !stat(tftp, &st) && S_ISDIR(st.st_mode);
	if (have_tftp)
		fprintf(out, "enable-tftp\ntftp-root=%s\ntftp-no-fail\n", tftp);
	else
		log_event(NULL, "dnsmasq", "%s is missing: only nodes with an iPXE of their own can boot",
		          tftp);
	fputs("dhcp-match=set:ipxe,175\n"
	      "dhcp-match=set:efi,option:client-arch,7\n"
	      "dhcp-match=set:efi,option:client-arch,9\n"
	      /* iPXE shall not wait for a PXE boot server */
	      "dhcp-option=tag:ipxe,encap:175,176,1b\n",
	      out);
	if (proxy) {
		fprintf(out, "pxe-service=tag:ipxe,x86PC,Assay,%s/boot.ipxe\n", s->url);
		fprintf(out, "pxe-service=tag:ipxe,X86-64_EFI,Assay,%s/boot.ipxe\n", s->url);
		if (have_tftp)
			fputs("pxe-service=tag:!ipxe,x86PC,Assay,undionly.kpxe\n"
			      "pxe-service=tag:!ipxe,X86-64_EFI,Assay,ipxe.efi\n"
			      "pxe-service=tag:!ipxe,BC_EFI,Assay,ipxe.efi\n",
			      out);
	}
	fprintf(out, "dhcp-boot=tag:ipxe,%s/boot.ipxe\n", s->url);
	if (have_tftp && !proxy)
		fputs("dhcp-boot=tag:!ipxe,tag:!efi,undionly.kpxe\ndhcp-boot=tag:!ipxe,tag:efi,ipxe.efi\n",
		      out);
}

static int write_config(const struct server *s, const char *path, bool proxy)
{
	const json_t *server = json_object_get(s->lab, "server");
	const json_t *range = json_object_get(server, "dhcp_range");
	struct in_addr address, mask = {.s_addr = htonl(s->prefix ? ~(uint32_t)0 << (32 - s->prefix) : 0)};
	char netmask[INET_ADDRSTRLEN], network[INET_ADDRSTRLEN];
	FILE *out = fopen(path, "we");

	if (!out) {
		fprintf(stderr, "assay serve: %s: %s\n", path, strerror(errno));
		return -EIO;
	}
	inet_pton(AF_INET, s->address, &address);
	address.s_addr &= mask.s_addr;
	inet_ntop(AF_INET, &mask, netmask, sizeof(netmask));
	inet_ntop(AF_INET, &address, network, sizeof(network));
	fprintf(out,
	        "# Written by assay serve; changes are lost.\n"
	        "port=0\n"
	        "interface=%s\n"
	        "except-interface=lo\n"
	        "bind-interfaces\n"
	        "no-ping\n"
	        "no-resolv\n"
	        "no-hosts\n"
	        "log-facility=-\n"
	        "dhcp-leasefile=%s/dnsmasq.leases\n"
	        "pid-file=\n"
	        /* Its files may lie where only root can read; it is bound to the lab's interface. */
	        "user=root\n"
	        "group=root\n"
	        "dhcp-option=3\n"
	        "dhcp-option=6\n",
	        json_string_value(json_object_get(server, "interface")), s->run_dir);
	if (proxy)
		fprintf(out, "dhcp-range=%s,proxy,%s\n", network, netmask);
	else
		fprintf(out, "dhcp-authoritative\ndhcp-range=%s,%s,%s,168h\n",
		        json_string_value(json_array_get(range, 0)),
		        json_string_value(json_array_get(range, 1)), netmask);
	write_hosts(s, out);
	write_boot(s, out, proxy);
	if (fclose(out)) {
		fprintf(stderr, "assay serve: %s: %s\n", path, strerror(errno));
		return -EIO;
	}
	return 0;
}

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
		remedy = "its port is taken or the interface is not there: `ss -lunp sport = :67` names who "
		         "serves DHCP on this "
		         "machine; stop that, or set server.dhcp to proxy or none in the lab file";
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
	r = write_config(s, d->config, proxy);
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
