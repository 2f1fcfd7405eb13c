/* SPDX-License-Identifier: GPL-2.0-or-later
 * Whether an address that is to be ours is somebody else's already: ARP probes, as RFC 5227 has them. */
#include "net_path.h"

#include "file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/if_ether.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PROBES = 3, PROBE_MS = 60, MAX_PATHS = 64 };

struct asker {
	int fd;
	unsigned char mac[ETH_ALEN];
};

static int open_asker(struct asker *asker, const char *device)
{
	struct sockaddr_ll link = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ARP)};
	struct ifreq request = {0};

	asker->fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (asker->fd < 0)
		return -errno;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device);
	if (ioctl(asker->fd, SIOCGIFHWADDR, &request))
		return -errno;
	memcpy(asker->mac, request.ifr_hwaddr.sa_data, ETH_ALEN);
	link.sll_ifindex = (int)if_nametoindex(device);
	return bind(asker->fd, (struct sockaddr *)&link, sizeof(link)) ? -errno : 0;
}

static void ask(const struct asker *asker, const char *device, struct in_addr address)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET,
	                         .sll_protocol = htons(ETH_P_ARP),
	                         .sll_ifindex = (int)if_nametoindex(device),
	                         .sll_halen = ETH_ALEN,
	                         .sll_addr = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
	struct ether_arp arp = {.ea_hdr = {.ar_hrd = htons(ARPHRD_ETHER),
	                                   .ar_pro = htons(ETH_P_IP),
	                                   .ar_hln = ETH_ALEN,
	                                   .ar_pln = sizeof(address),
	                                   .ar_op = htons(ARPOP_REQUEST)}};

	memcpy(arp.arp_sha, asker->mac, ETH_ALEN);
	memcpy(arp.arp_tpa, &address, sizeof(address));
	/* One that is lost is no answer: there are more. */
	sendto(asker->fd, &arp, sizeof(arp), 0, (struct sockaddr *)&to, sizeof(to));
}

/* Whether ARP claims ADDRESS for its sender: says it has it, or probes for it as we do. */
static bool claims(const struct ether_arp *arp, struct in_addr address)
{
	static const unsigned char nobody[4];

	if (!memcmp(arp->arp_spa, &address, sizeof(address)))
		return true;
	return ntohs(arp->ea_hdr.ar_op) == ARPOP_REQUEST && !memcmp(arp->arp_spa, nobody, sizeof(nobody)) &&
	       !memcmp(arp->arp_tpa, &address, sizeof(address));
}

/* Our own other NIC hears us where legs meet. */
static bool is_ours(const struct asker *askers, size_t count, const unsigned char *mac)
{
	for (size_t i = 0; i < count; i++)
		if (!memcmp(askers[i].mac, mac, ETH_ALEN))
			return true;
	return false;
}

/* Listens for a while. The index of the path on which the address is claimed, with MAC; -1: on none. */
static int listen_for(const struct asker *askers, size_t count, const struct in_addr *addresses,
                      unsigned char *mac, bool *shared)
{
	long long until_ns = now_ns() + PROBE_MS * 1000000LL;
	struct pollfd fds[MAX_PATHS];

	for (size_t i = 0; i < count; i++)
		fds[i] = (struct pollfd){.fd = askers[i].fd, .events = POLLIN};
	for (;;) {
		long long left_ns = until_ns - now_ns();
		struct ether_arp arp;

		if (left_ns <= 0 || poll(fds, count, (int)(left_ns / 1000000) + 1) <= 0)
			return -1;
		for (size_t i = 0; i < count; i++) {
			if (!fds[i].revents || recv(fds[i].fd, &arp, sizeof(arp), 0) < (ssize_t)sizeof(arp))
				continue;
			if (is_ours(askers, count, arp.arp_sha)) {
				*shared |= memcmp(arp.arp_sha, askers[i].mac, ETH_ALEN) != 0;
				continue;
			}
			if (!claims(&arp, addresses[i]))
				continue;
			memcpy(mac, arp.arp_sha, ETH_ALEN);
			return (int)i;
		}
	}
}

void net_path_own_arp(const char *device)
{
	const char *const devices[] = {device, "all"};
	char path[128];

	for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++) {
		snprintf(path, sizeof(path), "/proc/sys/net/ipv4/conf/%s/arp_ignore", devices[i]);
		/* Else it answers all the same, and the proof says what came of it. */
		write_file(path, "1");
	}
}

int net_path_duplicates(const struct net_path *paths, size_t count, const char *address, bool *shared,
                        struct failure *why)
{
	bool heard = false;
	struct asker askers[MAX_PATHS];
	struct in_addr addresses[MAX_PATHS];
	unsigned char mac[ETH_ALEN] = {0};
	int r = count > MAX_PATHS ? -E2BIG : 0, found = -1;

	for (size_t i = 0; i < count && i < MAX_PATHS; i++)
		askers[i].fd = -1;
	for (size_t i = 0; i < count && !r; i++) {
		r = open_asker(&askers[i], paths[i].device);
		if (!r && inet_pton(AF_INET, address ? address : paths[i].address, &addresses[i]) != 1)
			r = -EINVAL;
	}
	for (int probe = 0; probe < PROBES && !r && found < 0; probe++) {
		for (size_t i = 0; i < count; i++)
			ask(&askers[i], paths[i].device, addresses[i]);
		found = listen_for(askers, count, addresses, mac, &heard);
	}
	for (size_t i = 0; i < count && i < MAX_PATHS; i++)
		if (askers[i].fd >= 0)
			close(askers[i].fd);
	if (r)
		return fail(why, r, FAILURE_SAMPLE, "net", "ARP", "See the node's kernel log.",
		            "ARP probes cannot be sent");
	if (shared)
		*shared = heard;
	if (found < 0)
		return 0;
	return fail(
	    why, -EADDRINUSE, FAILURE_RUN, "net", paths[found].device,
	    "Give every node of the storage network its own address, and unplug what does not belong there.",
	    "The same address twice: %s, which is to be ours on leg %u (NIC %s), is used there by "
	    "%02x:%02x:%02x:%02x:%02x:%02x",
	    address ? address : paths[found].address, paths[found].leg, paths[found].device, mac[0], mac[1],
	    mac[2], mac[3], mac[4], mac[5]);
}
