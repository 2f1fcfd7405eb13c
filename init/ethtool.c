/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ethtool.h"

#include <errno.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int ethtool(const char *nic, void *data)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), r = 0;
	struct ifreq request = {0};

	if (fd < 0)
		return -errno;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%.15s", nic);
	request.ifr_data = data;
	if (ioctl(fd, SIOCETHTOOL, &request))
		r = -errno;
	close(fd);
	return r;
}
