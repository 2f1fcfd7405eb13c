/* SPDX-License-Identifier: GPL-2.0-or-later
 * The folder beside the database, and who may look into both. */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_run_dir(struct server *s)
{
	char *name = NULL;

	if (asprintf(&name, "%s.run", s->database) < 0)
		return -ENOMEM;
	bool shared = s->operators != (gid_t)-1;
	if ((mkdir(name, 0700) && errno != EEXIST) || (shared && chown(name, (uid_t)-1, s->operators)) ||
	    chmod(name, shared ? 0750 : 0700)) {
		int error = errno;

		fprintf(stderr, "assay serve: %s: %s, for user %d, which it runs as\n", name, strerror(error),
		        (int)geteuid());
		free(name);
		return -error;
	}
	s->run_dir = realpath(name, NULL);
	free(name);
	return s->run_dir ? 0 : -errno;
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
static int lock_run_dir(const struct server *s)
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
			    s->database);
		else
			fprintf(stderr, "assay serve: %s: %s\n", path, strerror(error));
		if (fd >= 0)
			close(fd);
		return -error;
	}
	return 0;
}

int folder_open(struct server *s)
{
	int r = make_run_dir(s);

	if (!r)
		r = lock_run_dir(s);
	return r ? r : share_database(s);
}

char *folder_unused(const struct server *s)
{
	char path[4096];
	bool unused = false;

	snprintf(path, sizeof(path), "%s.run/lock", s->database);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0) {
		unused = !flock(fd, LOCK_EX | LOCK_NB);
		close(fd);
	}
	snprintf(path, sizeof(path), "%s.run", s->database);
	return unused ? realpath(path, NULL) : NULL;
}
