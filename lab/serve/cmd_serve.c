/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay serve: boots the nodes of a lab, conducts them, stores what they measure. */
#include "server.h"
#include "log.h"

#include "../cli.h"
#include "../plan/plan.h"
#include "../store/path.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define TICK_NS 100000000
#define BEAT_NS (5 * INT64_C(1000000000))

struct options {
	const char *lab, *database, *image, *operators, *user, *pages;
	bool no_dhcp, port_given, metrics;
	uint64_t port; /* 0: any */
};

/* CLI_GO, or the exit code. */
static int parse(int argc, char **argv, struct options *o)
{
	const struct cli_row rows[] = {
	    {"db", "FILE", "the database (default: server.database of the lab file, else assay.db here)",
	     .text = &o->database},
	    {"image", "FOLDER", "kernel, initramfs and iPXE (default: out)", .text = &o->image},
	    {"port", "N", "listen there instead of server.http_port; 0 takes any", .set = &o->port_given,
	     .number = &o->port, .max = 65535},
	    {"pages", "ADDRESS:PORT",
	     "there, let everybody read the status and the reports (default: nobody)", .text = &o->pages},
	    {"user", "NAME",
	     "who the server becomes once its sockets are open, where root starts it (default: the owner of "
	     "the "
	     "folder that has the database)",
	     .text = &o->user},
	    {"operators", "GROUP",
	     "whose members may use `assay run` and `assay status`, and read the database (default: only "
	     "this user)",
	     .text = &o->operators},
	    {"metrics", NULL,
	     "answer GET /metrics, for Prometheus, to whoever reaches the port: names of nodes, runs, cells, "
	     "and "
	     "how fast they were",
	     .set = &o->metrics},
	    {"no-dhcp", NULL, "start no dnsmasq: something else boots the nodes", .set = &o->no_dhcp},
	    {0},
	};
	const struct cli_command command = {
	    "LAB",
	    "Boots the nodes that the lab file LAB lists, gives them what `assay run` asks for, and stores "
	    "their results.",
	    "It may be stopped, killed and started again at any moment: nothing is lost or measured twice.\n",
	    rows};
	int result;

	*o = (struct options){.image = "out"};
	result = cli_parse(argc, argv, &command);
	if (result != CLI_GO)
		return result;
	if (optind + 1 != argc)
		return cli_usage("serve", optind < argc ? "one lab file, please" : "which lab file?");
	o->lab = argv[optind];
	return CLI_GO;
}

/* --operators: NAME's id. 0 or -errno, said on stderr. */
static int read_operators(struct server *s, const char *name)
{
	const struct group *group = name ? getgrnam(name) : NULL;

	s->operators = group ? group->gr_gid : (gid_t)-1;
	if (!name || group)
		return 0;
	fprintf(stderr, "assay serve: --operators %s: there is no such group (`getent group` lists them)\n",
	        name);
	return -EINVAL;
}

static int read_address(struct server *s)
{
	const char *address =
	    json_string_value(json_object_get(json_object_get(s->lab, "server"), "address"));
	const char *slash = address ? strchr(address, '/') : NULL;

	s->interface = json_string_value(json_object_get(json_object_get(s->lab, "server"), "interface"));

	if (!slash || slash - address >= (long)sizeof(s->address))
		return -EINVAL;
	memcpy(s->address, address, (size_t)(slash - address));
	s->address[slash - address] = '\0';
	s->prefix = (unsigned int)strtoul(slash + 1, NULL, 10);
	return 0;
}

/* What the command line and the lab file say. */
static int read_files(struct server *s, const struct options *o)
{
	int r = lab_file_load(o->lab, stderr, &s->lab);

	if (r)
		return r;
	s->lab_path = realpath(o->lab, NULL);
	if (!s->lab_path)
		return -errno;
	s->image_dir = realpath(o->image, NULL);
	if (!s->image_dir) {
		fprintf(stderr, "assay serve: %s: %s (make image builds it; --image names another folder)\n",
		        o->image, strerror(errno));
		return -EINVAL;
	}
	s->metrics = o->metrics;
	s->database = o->database ? strdup(o->database) : database_path(s->lab, o->lab);
	if (!s->database)
		return -ENOMEM;
	s->port =
	    (uint16_t)(o->port_given ? (int64_t)o->port
	                             : json_integer_value(
	                                   json_object_get(json_object_get(s->lab, "server"), "http_port")));
	r = read_address(s);
	if (!r)
		r = read_operators(s, o->operators);
	return r ? r : privilege_find(s, o->user);
}

/* All that needs root's rights, and their end. */
static int open_sockets(struct server *s, const struct options *o)
{
	int r = neighbour_open(s);

	if (!r)
		r = listen_open(s);
	if (!r && o->pages)
		r = listen_pages(s, o->pages);
	if (!r && !o->no_dhcp)
		r = dnsmasq_prepare(s);
	if (!r)
		r = privilege_drop(s);
	if (!r && access(s->image_dir, R_OK | X_OK)) {
		r = -errno;
		fprintf(stderr,
		        "assay serve: %s: %s, for user %d, which it has become; --user names another\n",
		        s->image_dir, strerror(-r), (int)s->user);
	}
	return r;
}

static int open_store(struct server *s)
{
	int r = folder_open(s);

	if (!r)
		r = store_open(s->database, STORE_CREATE, stderr, &s->store);
	if (!r) {
		r = store_check(s->store);
		if (r)
			fprintf(
			    stderr,
			    "assay serve: %s is damaged: %s. Move it away and keep it; a new one is made.\n",
			    s->database, store_message(s->store));
	}
	if (!r)
		r = conductor_open(s->store, s->lab, moment_now(), &s->conductor);
	if (!r)
		conductor_power(s->conductor, power_child_cycle, s);
	return r;
}

static int announce(struct server *s)
{
	char *lab = json_dumps(s->lab, JSON_COMPACT | JSON_SORT_KEYS);
	struct moment now = moment_now();
	int r = lab ? store_do(s->store,
	                       "INSERT OR REPLACE INTO server (id, lab, url, pid, started_unix_ns, "
	                       "beat_unix_ns) VALUES (1, ?, ?, "
	                       "?, ?, ?)",
	                       "ssiii", lab, s->url, (int64_t)getpid(), now.unix_ns, now.unix_ns)
	            : -ENOMEM;

	free(lab);
	return r;
}

static void beat(struct server *s, struct moment now, int64_t *next_ns)
{
	if (now.mono_ns < *next_ns)
		return;
	*next_ns = now.mono_ns + BEAT_NS;
	int r = store_do(s->store, "UPDATE server SET beat_unix_ns = ? WHERE id = 1", "i", now.unix_ns);
	if (r)
		log_seldom(NULL, "store", "%s", store_message(s->store));
}

/* Of the disk that has the store. */
int64_t server_room(const struct server *s)
{
	struct statvfs disk;

	return statvfs(s->run_dir, &disk) ? INT64_MAX : (int64_t)(disk.f_bavail * disk.f_frsize);
}

/* Until a signal ends it; 0, or -errno where it cannot go on. */
static int work(struct server *s, struct dnsmasq *dnsmasq, const sigset_t *signals)
{
	const struct timespec tick = {.tv_nsec = TICK_NS};
	int64_t next_beat_ns = 0;
	int r = 0;

	while (!r) {
		int signal = sigtimedwait(signals, NULL, &tick);

		if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) {
			log_event(NULL, "serve", "ends (signal %d); started again, it goes on where it was",
			          signal);
			break;
		}
		struct moment now = moment_now();
		int64_t room = server_room(s);
		pthread_mutex_lock(&s->lock);
		conductor_room(s->conductor, room);
		conductor_tick(s->conductor, now);
		beat(s, now, &next_beat_ns);
		pthread_mutex_unlock(&s->lock);
		http_tick(s, now);
		pages_tick(s, now);
		power_child_tick(s, now);
		r = dnsmasq_tick(s, dnsmasq, now);
	}
	store_do(s->store, "UPDATE server SET beat_unix_ns = 0 WHERE id = 1", "");
	return r;
}

static int serve(struct server *s, const sigset_t *signals)
{
	struct dnsmasq *dnsmasq = NULL;
	int r = http_start(s);

	if (!r)
		r = s->operator_socket = listen_operator(s);
	if (r > 0)
		r = orders_start(s);
	if (!r && s->pages_socket >= 0)
		r = pages_start(s);
	if (!r)
		r = announce(s);
	if (!r)
		r = dnsmasq_start(s, &dnsmasq);
	if (!r) {
		log_event(NULL, "serve", "listening on %s, image %s, %s, as user %d%s", s->url, s->image_dir,
		          dnsmasq ? "dnsmasq answers DHCP" : "no DHCP", (int)s->user,
		          s->user ? "" : ": root, which --user would give up");
		if (!image_complete(s))
			log_event(NULL, "image",
			          "%s has no vmlinuz or no initramfs: no node can boot from it; run `make "
			          "image`, or "
			          "give another --image",
			          s->image_dir);
		r = work(s, dnsmasq, signals);
	}
	dnsmasq_stop(dnsmasq);
	pages_stop(s);
	orders_stop(s);
	http_stop(s);
	power_child_stop(s);
	return r;
}

int cmd_serve(int argc, char **argv)
{
	struct server s = {.lock = PTHREAD_MUTEX_INITIALIZER, .pages_socket = -1};
	struct options o;
	sigset_t signals;
	int r = parse(argc, argv, &o);

	if (r != CLI_GO)
		return r;
	/* Before any thread is there, so that all of them inherit it. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	umask(0077);
	r = read_files(&s, &o);
	bool usage = r == -EINVAL;
	if (!r)
		r = open_sockets(&s, &o);
	if (!r) {
		r = open_store(&s);
		usage = r == -EINVAL;
	}
	if (!r)
		r = serve(&s, &signals);
	if (s.keeper)
		keeper_stop(s.keeper);
	conductor_close(s.conductor);
	store_close(s.store);
	json_decref(s.lab);
	free(s.run_dir);
	free(s.image_dir);
	free(s.lab_path);
	free(s.database);
	return usage ? ASSAY_USAGE : r ? ASSAY_SYSTEM : ASSAY_OK;
}
