/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the server gives up once its sockets are open (capabilities(7), credentials(7)). */
#include "server.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GROUPS_MAX_KEPT 64

/* For DHCP: answers to machines without an address, raw packets, and ports below 1024. */
static const unsigned int network[] = {CAP_NET_ADMIN, CAP_NET_RAW, CAP_NET_BIND_SERVICE};

/* Has MASK's capabilities, and no others, also after exec() where AMBIENT. */
static int keep(uint64_t mask, bool ambient)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	for (int i = 0; i < 2; i++) {
		uint32_t part = (uint32_t)(mask >> (32 * i));

		data[i] = (struct __user_cap_data_struct){.effective = part,
		                                          .permitted = part,
		                                          .inheritable = ambient ? part : 0};
	}
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) || syscall(SYS_capset, &head, data))
		return -errno;
	for (unsigned int i = 0; ambient && i < 64; i++)
		if (mask >> i & 1 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0))
			return -errno;
	return 0;
}

/* Of those that we have now. */
static uint64_t network_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};
	uint64_t have, mask = 0;

	syscall(SYS_capget, &head, data);
	have = (uint64_t)data[1].permitted << 32 | data[0].permitted;
	for (size_t i = 0; i < sizeof(network) / sizeof(network[0]); i++)
		mask |= have & UINT64_C(1) << network[i];
	return mask;
}

/* The owner of the folder that has the database. */
static uid_t folder_owner(const char *database)
{
	const char *slash = strrchr(database, '/');
	char folder[4096];
	struct stat st;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - database) + 1 : 1,
	         slash ? database : ".");
	return stat(folder, &st) ? 0 : st.st_uid;
}

int privilege_find(struct server *s, const char *user)
{
	const struct passwd *entry;

	s->user = geteuid();
	s->group = getegid();
	if (s->user) {
		if (user)
			fprintf(stderr, "assay serve: --user %s: only root can become another user\n", user);
		return user ? -EINVAL : 0;
	}
	entry = user ? getpwnam(user) : getpwuid(folder_owner(s->database));
	if (user && !entry) {
		fprintf(stderr,
		        "assay serve: --user %s: there is no such user (`getent passwd` lists them)\n", user);
		return -EINVAL;
	}
	if (!entry)
		return 0;
	s->user = entry->pw_uid;
	s->group = entry->pw_gid;
	snprintf(s->user_name, sizeof(s->user_name), "%s", entry->pw_name);
	return 0;
}

/* The user's groups, and the operators', to which it shall give the socket. */
static int become(const struct server *s)
{
	gid_t groups[GROUPS_MAX_KEPT + 1];
	int count = GROUPS_MAX_KEPT;

	if (getgrouplist(s->user_name, s->group, groups, &count) < 0)
		count = GROUPS_MAX_KEPT;
	if (s->operators != (gid_t)-1)
		groups[count++] = s->operators;
	if (setgroups((size_t)count, groups) || setresgid(s->group, s->group, s->group) ||
	    setresuid(s->user, s->user, s->user))
		return -errno;
	return 0;
}

/* Root that stays root keeps everything: what it starts (power drivers, the virtual lab's) may need it. */
static bool stays_root(const struct server *s)
{
	return !geteuid() && !s->user;
}

static int give_up(const struct server *s, uint64_t mask)
{
	int r = 0;

	if (stays_root(s))
		return 0;
	if (!geteuid()) {
		if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
			return -errno;
		r = become(s);
	}
	if (!r)
		r = keep(mask, mask);
	if (!r && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		r = -errno;
	return r;
}

int privilege_drop(const struct server *s)
{
	int r = give_up(s, 0);

	if (r)
		fprintf(stderr, "assay serve: it cannot become user %d and give up root's rights: %s\n",
		        (int)s->user, strerror(-r));
	return r;
}

int privilege_network_only(const struct server *s)
{
	return give_up(s, network_capabilities());
}
