/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workload_stream_info.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

/* linux/tcp.h has the whole of it, the C library's own header may not. */
int stream_info_read(int fd, struct stream_info *info)
{
	struct tcp_info t = {0};
	socklen_t size = sizeof(t);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &t, &size))
		return -errno;
	*info = (struct stream_info){
	    .bytes_acked = t.tcpi_bytes_acked,
	    .bytes_retrans = t.tcpi_bytes_retrans,
	    .delivery_rate = t.tcpi_delivery_rate,
	    .busy_us = t.tcpi_busy_time,
	    .rwnd_limited_us = t.tcpi_rwnd_limited,
	    .sndbuf_limited_us = t.tcpi_sndbuf_limited,
	    .rtt_us = t.tcpi_rtt,
	    .rttvar_us = t.tcpi_rttvar,
	    .min_rtt_us = t.tcpi_min_rtt,
	    .retransmits = t.tcpi_total_retrans,
	    .lost = t.tcpi_lost,
	    .reordering = t.tcpi_reordering,
	    .cwnd = t.tcpi_snd_cwnd,
	    .mss = t.tcpi_snd_mss,
	    .pmtu = t.tcpi_pmtu,
	    .segments_out = t.tcpi_segs_out,
	};
	return 0;
}

json_t *stream_info_json(const struct stream_info *info, uint64_t received)
{
	const struct {
		const char *name;
		uint64_t value;
	} members[] = {
	    {"bytes", received},
	    {"bytes_acked", info->bytes_acked},
	    {"bytes_retrans", info->bytes_retrans},
	    {"retransmits", info->retransmits},
	    {"lost", info->lost},
	    {"reordering", info->reordering},
	    {"segments_out", info->segments_out},
	    {"rtt_ns", (uint64_t)info->rtt_us * 1000},
	    {"rttvar_ns", (uint64_t)info->rttvar_us * 1000},
	    {"min_rtt_ns", (uint64_t)info->min_rtt_us * 1000},
	    {"cwnd_segments", info->cwnd},
	    {"mss_bytes", info->mss},
	    {"pmtu_bytes", info->pmtu},
	    {"delivery_bytes_per_s", info->delivery_rate},
	    {"busy_ns", info->busy_us * 1000},
	    {"rwnd_limited_ns", info->rwnd_limited_us * 1000},
	    {"sndbuf_limited_ns", info->sndbuf_limited_us * 1000},
	};
	json_t *json = json_object();

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		json_object_set_new(json, members[i].name, json_integer((json_int_t)members[i].value));
	return json;
}
