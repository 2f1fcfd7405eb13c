/* SPDX-License-Identifier: GPL-2.0-or-later
 * The peer's part of a change of roles. */
#include "workload_role.h"

#include "command.h"
#include "drbd_argv.h"
#include "file.h"
#include "workload_peer.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMMAND_MS = 30000, ALIGNMENT = 4096 };

unsigned char *role_record(uint64_t bs_bytes)
{
	uint64_t x = 0x9e3779b97f4a7c15;
	unsigned char *record;

	if (posix_memalign((void **)&record, ALIGNMENT, bs_bytes))
		return NULL;
	/* The high bits of an LCG by Knuth (MMIX). */
	for (uint64_t i = 0; i < bs_bytes; i++, x = x * 6364136223846793005 + 1442695040888963407)
		record[i] = (unsigned char)(x >> 56);
	/* What is left on the disk must not look like a boot sector to the next run's check of it. */
	for (uint64_t at = 510; at < bs_bytes; at += 512)
		record[at] = 0;
	return record;
}

int role_write(int fd, const unsigned char *record, uint64_t bs_bytes, uint64_t size_bytes, int64_t start_ns,
               int64_t until_ns, struct failover_flow *flow)
{
	uint64_t offset = 0;

	for (;;) {
		ssize_t n = pwrite(fd, record, bs_bytes, (off_t)offset);
		int64_t at_ns = now_ns() - start_ns;

		if (n < 0 && errno == EINTR)
			continue;
		if (n != (ssize_t)bs_bytes)
			return n < 0 ? -errno : -EIO;
		failover_flow_add(flow, at_ns, bs_bytes);
		if (at_ns >= until_ns)
			return 0;
		offset += bs_bytes;
		if (offset + bs_bytes > size_bytes)
			offset = 0;
	}
}

static int set_role(enum drbd_step step)
{
	static struct command_result said;
	const struct drbd_setup none = {.disk = ""};
	struct drbd_argv argv;
	int r = drbd_argv(step, &none, &argv);

	return r ? r : command_run(argv.argv, COMMAND_MS, &said);
}

/* Primary, the device open, and the first write done. */
static int take_over(const struct role_order *order, const unsigned char *record, int *fd,
                     struct role_first *first)
{
	int64_t start_ns = now_ns(), primary_ns, open_ns;
	int r = set_role(DRBD_PRIMARY);

	if (r)
		return r;
	primary_ns = now_ns();
	*fd = open(DRBD_DEVICE, O_WRONLY | O_DIRECT | O_CLOEXEC);
	if (*fd < 0)
		return -errno;
	open_ns = now_ns();
	if (pwrite(*fd, record, order->bs_bytes, 0) != (ssize_t)order->bs_bytes)
		return errno ? -errno : -EIO;
	first->primary_ns = htobe64((uint64_t)(primary_ns - start_ns));
	first->open_ns = htobe64((uint64_t)(open_ns - primary_ns));
	first->write_ns = htobe64((uint64_t)(now_ns() - open_ns));
	return 0;
}

static int send_bins(int fd, const uint64_t *bins, uint64_t count)
{
	int r = 0;

	for (uint64_t i = 0; i < count && !r; i++) {
		uint64_t bytes = htobe64(bins[i]);

		r = peer_send_all(fd, &bytes, sizeof(bytes));
	}
	return r;
}

/* Answers both times, also where it failed; the role is given back in any case. */
static void obey(int connection, const struct role_order *order, const unsigned char *record,
                 struct failover_flow *flow)
{
	struct role_first first = {0};
	struct role_last last = {0};
	int64_t start_ns;
	int fd = -1, r = take_over(order, record, &fd, &first), back;

	start_ns = now_ns();
	first.error = htobe64((uint64_t)-r);
	if (peer_send_all(connection, &first, sizeof(first)))
		r = r ? r : -EPIPE;
	if (!r)
		r = role_write(fd, record, order->bs_bytes, order->size_bytes, start_ns,
		               (int64_t)order->after_ms * 1000000, flow);
	if (fd >= 0)
		close(fd);
	start_ns = now_ns();
	back = set_role(DRBD_SECONDARY);
	last.secondary_ns = htobe64((uint64_t)(now_ns() - start_ns));
	last.error = htobe64((uint64_t) - (r ? r : back));
	last.bins = htobe64(flow->bins);
	if (!peer_send_all(connection, &last, sizeof(last)))
		send_bins(connection, flow->bin_bytes, flow->bins);
}

void role_serve(int fd)
{
	struct failover_flow flow = {.pulled_ns = -1};
	unsigned char *record = NULL;
	struct role_order order;

	if (peer_receive_all(fd, &order, sizeof(order)))
		return;
	order.bs_bytes = be64toh(order.bs_bytes);
	order.size_bytes = be64toh(order.size_bytes);
	order.after_ms = be64toh(order.after_ms);
	if (!order.bs_bytes || order.bs_bytes > 1 << 30 || order.size_bytes < order.bs_bytes ||
	    order.after_ms + 1000 > (uint64_t)ROLE_BINS_MAX * FAILOVER_BIN_MS)
		return;
	/* A second more: the last write may end later. */
	flow.bins = (order.after_ms + 1000) / FAILOVER_BIN_MS;
	flow.bin_bytes = calloc(flow.bins, sizeof(*flow.bin_bytes));
	record = role_record(order.bs_bytes);
	if (flow.bin_bytes && record)
		obey(fd, &order, record, &flow);
	free(flow.bin_bytes);
	free(record);
}
