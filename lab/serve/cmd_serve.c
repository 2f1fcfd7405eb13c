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
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define TICK_NS 100000000
#define BEAT_NS (5 * INT64_C(1000000000))

struct options {
	const char *lab, *database, *image, *operators;
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

static int make_run_dir(struct server *s, const char *database)
{
	char *name = NULL;

	if (asprintf(&name, "%s.run", database) < 0)
		return -ENOMEM;
	bool shared = s->operators != (gid_t)-1;
	if ((mkdir(name, 0700) && errno != EEXIST) || (shared && chown(name, (uid_t)-1, s->operators)) ||
	    chmod(name, shared ? 0750 : 0700)) {
		int error = errno;

		fprintf(stderr, "assay serve: %s: %s\n", name, strerror(error));
		free(name);
		return -error;
	}
	s->run_dir = realpath(name, NULL);
	free(name);
	return s->run_dir ? 0 : -errno;
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

/* The database, which has the tokens, may be read by the operators alone; what SQLite makes beside it is made
 * like it. */
static int share_database(const struct server *s)
{
	static const char *const endings[] = {"", "-wal", "-shm"};
	char path[4096];
	int r = 0;

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]) && !r; i++) {
		snprintf(path, sizeof(path), "%s%s", s->database, endings[i]);
		int fd = open(path, O_RDWR | O_CLOEXEC | (i ? 0 : O_CREAT), 0600);

		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0 ||
		    (s->operators != (gid_t)-1 && (fchown(fd, (uid_t)-1, s->operators) || fchmod(fd, 0640))))
			r = -errno;
		if (r)
			fprintf(stderr, "assay serve: %s: %s\n", path, strerror(-r));
		if (fd >= 0)
			close(fd);
	}
	return r;
}

/* One server a database. The lock is held until the process ends. */
static int lock_run_dir(const struct server *s, const char *database)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/lock", s->run_dir);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB)) {
		int error = errno;

		if (error == EWOULDBLOCK)
			fprintf(
			    stderr,
			    "assay serve: another server works on %s already; --db names another database\n",
			    database);
		else
			fprintf(stderr, "assay serve: %s: %s\n", path, strerror(error));
		if (fd >= 0)
			close(fd);
		return -error;
	}
	return 0;
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

static int set_up(struct server *s, const struct options *o)
{
	int r = lab_file_load(o->lab, stderr, &s->lab);

	if (r)
		return r;
	s->image_dir = realpath(o->image, NULL);
	if (!s->image_dir) {
		fprintf(stderr, "assay serve: %s: %s (make image builds it; --image names another folder)\n",
		        o->image, strerror(errno));
		return -EINVAL;
	}
	s->metrics = o->metrics;
	s->database = o->database ? strdup(o->database) : database_path(s->lab, o->lab);
	const char *database = s->database;
	if (!database)
		return -ENOMEM;
	r = read_address(s);
	if (!r)
		r = read_operators(s, o->operators);
	if (!r)
		r = make_run_dir(s, database);
	if (!r)
		r = lock_run_dir(s, database);
	if (!r)
		r = share_database(s);
	if (!r)
		r = store_open(database, STORE_CREATE, stderr, &s->store);
	if (!r) {
		r = store_check(s->store);
		if (r)
			fprintf(
			    stderr,
			    "assay serve: %s is damaged: %s. Move it away and keep it; a new one is made.\n",
			    database, store_message(s->store));
	}
	if (!r)
		r = conductor_open(s->store, s->lab, moment_now(), &s->conductor);
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
		r = dnsmasq_tick(s, dnsmasq, now);
	}
	store_do(s->store, "UPDATE server SET beat_unix_ns = 0 WHERE id = 1", "");
	return r;
}

static int serve(struct server *s, const struct options *o, const sigset_t *signals)
{
	struct dnsmasq *dnsmasq = NULL;
	int r = neighbour_open(s);

	if (!r)
		r = http_start(s);
	if (!r)
		r = s->operator_socket = listen_operator(s);
	if (r > 0)
		r = orders_start(s);
	if (!r)
		r = announce(s);
	if (!r && !o->no_dhcp)
		r = dnsmasq_start(s, &dnsmasq);
	if (!r) {
		log_event(NULL, "serve", "listening on %s, image %s, %s", s->url, s->image_dir,
		          dnsmasq ? "dnsmasq answers DHCP" : "no DHCP");
		if (!image_complete(s))
			log_event(NULL, "image",
			          "%s has no vmlinuz or no initramfs: no node can boot from it; run `make "
			          "image`, or "
			          "give another --image",
			          s->image_dir);
		r = work(s, dnsmasq, signals);
	}
	dnsmasq_stop(dnsmasq);
	orders_stop(s);
	http_stop(s);
	return r;
}

int cmd_serve(int argc, char **argv)
{
	struct server s = {.lock = PTHREAD_MUTEX_INITIALIZER};
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
	r = set_up(&s, &o);
	if (r == -EINVAL) {
		r = ASSAY_USAGE;
	} else if (!r) {
		s.port = (uint16_t)(o.port_given
		                        ? (int64_t)o.port
		                        : json_integer_value(json_object_get(json_object_get(s.lab, "server"),
		                                                             "http_port")));
		r = serve(&s, &o, &signals) ? ASSAY_SYSTEM : ASSAY_OK;
	} else {
		r = ASSAY_SYSTEM;
	}
	conductor_close(s.conductor);
	store_close(s.store);
	json_decref(s.lab);
	free(s.run_dir);
	free(s.image_dir);
	free(s.database);
	return r;
}
