/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot.h"

#include "console.h"
#include "file.h"
#include "netlink.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define QUIET_FLAGS (MS_NOSUID | MS_NOEXEC | MS_NODEV)

static struct mount_point {
	const char *type, *path;
	unsigned long flags;
	const char *options;
	bool optional; /* not every kernel or machine has it */
	int error;
} mounts[] = {
    {.type = "proc", .path = "/proc", .flags = QUIET_FLAGS},
    {.type = "sysfs", .path = "/sys", .flags = QUIET_FLAGS},
    {.type = "devtmpfs", .path = "/dev", .flags = MS_NOSUID},
    {.type = "tmpfs", .path = "/run", .flags = MS_NOSUID | MS_NODEV, .options = "mode=0755"},
    {.type = "tmpfs", .path = "/tmp", .flags = MS_NOSUID | MS_NODEV, .options = "mode=1777"},
    {.type = "debugfs", .path = "/sys/kernel/debug", .flags = QUIET_FLAGS, .optional = true},
    {.type = "tracefs", .path = "/sys/kernel/tracing", .flags = QUIET_FLAGS, .optional = true},
    {.type = "pstore", .path = "/sys/fs/pstore", .flags = QUIET_FLAGS, .optional = true},
    {.type = "efivarfs", .path = "/sys/firmware/efi/efivars", .flags = QUIET_FLAGS, .optional = true},
};

/* drbd-utils keep their locks here. */
static const char *const folders[] = {"/run/lock", "/run/drbd", "/run/drbd/lock",
                                      "/var",      "/var/lib",  "/var/lib/drbd"};

static const struct {
	const char *path, *value;
	bool optional;
} settings[] = {
    {"/proc/sys/kernel/panic", "10", false},
    {"/proc/sys/kernel/panic_on_oops", "1", false},
    {"/proc/sys/kernel/hung_task_timeout_secs", "120", true},
    {"/proc/sys/kernel/sysrq", "1", true},
};

static void symlink_if_missing(const char *target, const char *path)
{
	if (symlink(target, path) && errno != EEXIST)
		say("cannot make %s: %s", path, strerror(errno));
}

void boot_mount(void)
{
	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		struct mount_point *m = &mounts[i];

		if (!m->optional)
			mkdir(m->path, 0755);
		/* EBUSY: the kernel has mounted devtmpfs itself. */
		if (mount(m->type, m->path, m->type, m->flags, m->options) && errno != EBUSY)
			m->error = errno;
	}
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		mkdir(folders[i], 0755);
	/* Where drbd-utils keep their locks; the image may have either already. */
	symlink_if_missing("/run", "/var/run");
	symlink_if_missing("/run/lock", "/var/lock");
}

void boot_settings(void)
{
	int r;

	/* The kernel gives us none, and libc's own has no sbin. */
	setenv("PATH", "/sbin:/bin", 1);
	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++)
		if (mounts[i].error && !mounts[i].optional)
			say("cannot mount %s: %s", mounts[i].path, strerror(mounts[i].error));
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		r = write_file(settings[i].path, "%s", settings[i].value);
		if (r < 0 && !settings[i].optional)
			say("cannot set %s: %s", settings[i].path, strerror(-r));
	}
	if (sethostname("assay", 5))
		say("cannot set the hostname: %s", strerror(errno));
	r = link_set_up("lo", true);
	if (r < 0)
		say("cannot set the loopback interface up: %s", strerror(-r));
}

void boot_seed(void)
{
	json_object_seed((size_t)uptime_ns() | 1);
}
