/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "watchdog.h"

#include "console.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/watchdog.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int fd = -1;

void watchdog_open(void)
{
	struct watchdog_info info = {0};
	int timeout_s = WATCHDOG_TIMEOUT_S;

	if (fd >= 0)
		return;
	fd = open("/dev/watchdog", O_WRONLY | O_CLOEXEC);
	if (fd < 0) {
		if (errno != ENOENT)
			say("cannot open /dev/watchdog: %s; the node goes on without", strerror(errno));
		return;
	}
	ioctl(fd, WDIOC_GETSUPPORT, &info);
	/* A driver that cannot have this many seconds says how many it took. */
	if (ioctl(fd, WDIOC_SETTIMEOUT, &timeout_s) && ioctl(fd, WDIOC_GETTIMEOUT, &timeout_s))
		timeout_s = 0;
	say("watchdog %.32s, %d s", (const char *)info.identity, timeout_s);
	if (timeout_s && timeout_s * 1000 <= WATCHDOG_FEED_MS)
		say("watchdog: %d s is too short for a node that must be silent; it is stopped", timeout_s);
	if (timeout_s && timeout_s * 1000 <= WATCHDOG_FEED_MS)
		watchdog_stop();
}

void watchdog_feed(void)
{
	if (fd >= 0)
		ioctl(fd, WDIOC_KEEPALIVE, 0);
}

void watchdog_stop(void)
{
	int off = WDIOS_DISABLECARD;

	if (fd < 0)
		return;
	ioctl(fd, WDIOC_SETOPTIONS, &off);
	if (write(fd, "V", 1) != 1)
		say("cannot stop the watchdog: %s", strerror(errno));
	close(fd);
	fd = -1;
}
