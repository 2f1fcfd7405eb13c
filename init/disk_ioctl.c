/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "disk_health.h"

#include <errno.h>
#include <sys/ioctl.h>

int disk_ioctl(int fd, unsigned long request, void *argument)
{
	int r = ioctl(fd, request, argument);

	return r < 0 ? -errno : r;
}
