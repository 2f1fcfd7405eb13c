/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which machine a request comes from: its MAC, as the kernel's neighbour table has it (arp(7)). */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int ask(const char *interface, struct in_addr address, unsigned char mac[6])
{
	struct arpreq query = {0};
	struct sockaddr_in *sin = (struct sockaddr_in *)&query.arp_pa;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), r = 0;

	if (fd < 0)
		return -errno;
	sin->sin_family = AF_INET;
	sin->sin_addr = address;
	snprintf(query.arp_dev, sizeof(query.arp_dev), "%s", interface);
	if (ioctl(fd, SIOCGARP, &query))
		r = -errno;
	else if (!(query.arp_flags & ATF_COM))
		r = -ENXIO;
	memcpy(mac, query.arp_ha.sa_data, 6);
	close(fd);
	return r;
}

int neighbour_check(const struct server *s, struct in_addr address, const char *mac)
{
	unsigned char there[6] = {0};
	char text[18];

	if (s->loopback)
		return 0;
	int r = ask(s->interface, address, there);
	if (r)
		return r;
	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", there[0], there[1], there[2], there[3],
	         there[4], there[5]);
	return strcasecmp(text, mac) ? -EPERM : 0;
}

int neighbour_open(struct server *s)
{
	struct ifreq request = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), r = 0;

	if (fd < 0)
		return -errno;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", s->interface);
	if (ioctl(fd, SIOCGIFFLAGS, &request)) {
		r = -errno;
		fprintf(stderr,
		        "assay serve: interface %s: %s (server.interface in the lab file; `ip link` lists "
		        "them)\n",
		        s->interface, strerror(-r));
	}
	s->loopback = request.ifr_flags & IFF_LOOPBACK;
	close(fd);
	return r;
}
