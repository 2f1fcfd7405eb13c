/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "management.h"

#include "console.h"
#include "file.h"
#include "module.h"
#include "netlink.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_MS  5
#define SAY_NS   10000000000LL
#define BUSYBOX  "/bin/busybox"
#define OWN_PATH "/init"

/* Calls EACH for every NIC with a device behind it (no bond, bridge, loopback), until it returns true. */
static bool each_nic(const char *root, bool (*each)(void *ctx, const char *nic, const char *mac), void *ctx)
{
	char path[PATH_MAX], mac[64];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/sys/class/net", root);
	dir = opendir(path);
	if (!dir)
		return false;
	while (!found && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/sys/class/net/%s/device", root, entry->d_name);
		if (*entry->d_name == '.' || access(path, F_OK))
			continue;
		read_file_at(mac, sizeof(mac), "%s/sys/class/net/%s/address", root, entry->d_name);
		found = each(ctx, entry->d_name, mac);
	}
	closedir(dir);
	return found;
}

struct search {
	const char *mac;
	char *nic;
	unsigned int count;
};

static bool match(void *ctx, const char *nic, const char *mac)
{
	struct search *search = ctx;

	if (*search->mac && strcmp(search->mac, mac))
		return false;
	snprintf(search->nic, NIC_NAME_SIZE, "%.15s", nic);
	search->count++;
	return *search->mac;
}

int management_find(const char *root, const char *mac, char nic[NIC_NAME_SIZE])
{
	struct search search = {.mac = mac, .nic = nic};

	*nic = '\0';
	each_nic(root, match, &search);
	if (search.count > 1)
		return -ENOTUNIQ;
	return search.count ? 0 : -ENODEV;
}

struct listing {
	char *buf;
	size_t size, done;
};

static bool append(void *ctx, const char *nic, const char *mac)
{
	struct listing *list = ctx;
	int n = snprintf(list->buf + list->done, list->size - list->done, "%s%s %s", list->done ? ", " : "",
	                 nic, mac);

	if (n > 0 && (size_t)n < list->size - list->done)
		list->done += n;
	return false;
}

void management_list(const char *root, char *buf, size_t size)
{
	struct listing list = {.buf = buf, .size = size};

	snprintf(buf, size, "none");
	each_nic(root, append, &list);
}

void management_wait_nic(const struct cmdline *options, char nic[NIC_NAME_SIZE])
{
	long long say_at = now_ns() + SAY_NS / 10;
	char list[768];
	int r;

	while ((r = management_find("", options->bootif, nic))) {
		if (now_ns() >= say_at) {
			say_at = now_ns() + SAY_NS;
			management_list("", list, sizeof(list));
			if (*options->bootif)
				say("no NIC has the address %s of BOOTIF; NICs here: %s; waiting for it (is "
				    "its driver "
				    "in this image?)",
				    options->bootif, list);
			else
				say("BOOTIF is not on the kernel command line, so the management NIC is "
				    "unknown; NICs "
				    "here: %s; waiting",
				    list);
		}
		poll(NULL, 0, 10 * POLL_MS);
		/* A device may have come up late, behind a slow bus. */
		module_coldplug(MODULE_ALL);
	}
	r = link_set_up(nic, true);
	if (r < 0)
		say("cannot set management NIC %s up: %s", nic, strerror(-r));
}

static void wait_carrier(const char *nic)
{
	char path[PATH_MAX];
	long long carrier = 0, start = now_ns(), say_at = start + SAY_NS;

	snprintf(path, sizeof(path), "/sys/class/net/%s/carrier", nic);
	while (read_integer(path, &carrier) || carrier != 1) {
		if (now_ns() >= say_at) {
			say("no carrier on management NIC %s for %lld s: check cable and switch port; "
			    "waiting",
			    nic, (now_ns() - start) / 1000000000);
			say_at = now_ns() + SAY_NS;
		}
		poll(NULL, 0, POLL_MS);
	}
}

/* One lease by busybox's udhcpc, which calls us back: management_lease(). The lease is not renewed: a node
 * must be silent, and lives shorter than its lease. */
static int ask_dhcp(const char *nic)
{
	char *const argv[] = {"udhcpc", "-i", (char *)nic, "-f", "-q",     "-n", "-t",
	                      "5",      "-T", "2",         "-s", OWN_PATH, NULL};
	char *const envp[] = {"PATH=/bin:/sbin", NULL};
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		execve(BUSYBOX, argv, envp);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return -ENOENT;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ETIMEDOUT;
}

static int set_address(const char *nic, const char *address, unsigned int prefix_bits, const char *gateway)
{
	int r = address_add(nic, address, prefix_bits);

	if (r < 0)
		say("cannot give %s the address %s/%u: %s", nic, address, prefix_bits, strerror(-r));
	if (r < 0 || !*gateway)
		return r;
	r = route_add_default(nic, gateway);
	if (r < 0)
		say("cannot route through %s on %s: %s", gateway, nic, strerror(-r));
	return r;
}

void management_wait_address(const struct cmdline *options, const char *nic)
{
	int r;

	wait_carrier(nic);
	if (*options->address) {
		set_address(nic, options->address, options->prefix_bits, options->gateway);
		return;
	}
	say("no assay.ip on the kernel command line: asking DHCP on %s", nic);
	while ((r = ask_dhcp(nic))) {
		say("no DHCP lease on %s: %s; asking again", nic,
		    r == -ENOENT ? "the image has no " BUSYBOX : strerror(-r));
		poll(NULL, 0, 5000);
	}
}

int management_lease(int argc, char **argv)
{
	const char *nic = getenv("interface"), *address = getenv("ip"), *mask = getenv("mask");
	char gateway[16] = "", *list = getenv("router");
	int r;

	if (argc < 2 || !nic)
		return 1;
	if (!strcmp(argv[1], "deconfig"))
		return link_set_up(nic, true) < 0;
	if (strcmp(argv[1], "bound") && strcmp(argv[1], "renew"))
		return 0;
	if (!address || !mask)
		return 1;
	if (list)
		snprintf(gateway, sizeof(gateway), "%.*s", (int)strcspn(list, " "), list);
	r = set_address(nic, address, strtoul(mask, NULL, 10), gateway);
	return r < 0;
}
