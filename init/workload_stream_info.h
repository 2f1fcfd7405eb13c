/* SPDX-License-Identifier: GPL-2.0-or-later
 * What TCP says of a connection (TCP_INFO), as far as it is kept. */
#ifndef ASSAY_WORKLOAD_STREAM_INFO_H
#define ASSAY_WORKLOAD_STREAM_INFO_H

#include <jansson.h>
#include <stdint.h>

struct stream_info {
	uint64_t bytes_acked, bytes_retrans, delivery_rate, busy_us, rwnd_limited_us, sndbuf_limited_us;
	uint32_t rtt_us, rttvar_us, min_rtt_us, retransmits, lost, reordering, cwnd, mss, pmtu, segments_out;
};

/* 0 or -errno. */
int stream_info_read(int fd, struct stream_info *info);

/* With how many bytes the peer RECEIVED; the caller owns it. */
json_t *stream_info_json(const struct stream_info *info, uint64_t received);

#endif
