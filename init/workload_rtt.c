/* SPDX-License-Identifier: GPL-2.0-or-later
 * The workload `rtt`: one small message at a time over TCP, there and back, as a synchronous write's
 * acknowledgement. */
#include "workload.h"

#include "file.h"
#include "workload_peer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { WARM_UP = 16 };

struct rtt {
	size_t message_bytes, count, done, seconds;
	long long *took_ns, ns, cpu_ns;
	uint64_t *second_bytes;
	char *message;
};

static int by_length(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return (x > y) - (x < y);
}

static int ping(struct rtt *rtt, int fd)
{
	int r = peer_send_all(fd, rtt->message, rtt->message_bytes);

	return r ? r : peer_receive_all(fd, rtt->message, rtt->message_bytes);
}

static int ping_all(struct rtt *rtt, int fd, long long deadline_ns)
{
	long long start_ns, before_ns, after_ns, cpu_ns;
	int r = 0;

	for (int i = 0; i < WARM_UP && !r; i++)
		r = ping(rtt, fd);
	cpu_ns = process_cpu_ns();
	start_ns = before_ns = now_ns();
	for (; rtt->done < rtt->count && !r; rtt->done++) {
		size_t second;

		r = ping(rtt, fd);
		after_ns = now_ns();
		rtt->took_ns[rtt->done] = after_ns - before_ns;
		second = (size_t)((after_ns - start_ns) / 1000000000LL);
		if (second < rtt->seconds)
			rtt->second_bytes[second] += rtt->message_bytes;
		before_ns = after_ns;
		if (after_ns > deadline_ns && !r)
			r = -ETIMEDOUT;
	}
	rtt->ns = before_ns - start_ns;
	rtt->cpu_ns = process_cpu_ns() - cpu_ns;
	return r;
}

static json_t *rtt_json(struct rtt *rtt, const char *peer)
{
	size_t n = rtt->count;
	char equivalent[160];
	json_t *json;

	snprintf(equivalent, sizeof(equivalent), "netperf -H %s -t TCP_RR -- -r %zu,%zu", peer,
	         rtt->message_bytes, rtt->message_bytes);
	json = workload_measurement((uint64_t)n * rtt->message_bytes, rtt->ns, rtt->second_bytes,
	                            rtt->seconds, rtt->cpu_ns, equivalent);
	qsort(rtt->took_ns, n, sizeof(*rtt->took_ns), by_length);
	json_object_set_new(json, "rtt",
	                    json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "count", (json_int_t)n, "min_ns",
	                              (json_int_t)rtt->took_ns[0], "median_ns",
	                              (json_int_t)rtt->took_ns[n / 2], "p90_ns",
	                              (json_int_t)rtt->took_ns[(n * 9 - 1) / 10], "p99_ns",
	                              (json_int_t)rtt->took_ns[(n * 99 - 1) / 100], "p999_ns",
	                              (json_int_t)rtt->took_ns[(n * 999 - 1) / 1000], "max_ns",
	                              (json_int_t)rtt->took_ns[n - 1]));
	return json;
}

int workload_rtt_run(const struct workload_run *run, json_t **measurement, struct failure *why)
{
	const char *peer = run->build->peer_address;
	struct timeval timeout = {.tv_sec = run->timeout_ms / 1000 + 1};
	struct rtt rtt = {
	    .message_bytes = (size_t)json_integer_value(json_object_get(run->workload, "message_bytes")),
	    .count = (size_t)json_integer_value(json_object_get(run->workload, "count")),
	    .seconds = (size_t)run->timeout_ms / 1000 + 2,
	};
	int fd, r;

	rtt.took_ns = calloc(rtt.count, sizeof(*rtt.took_ns));
	rtt.second_bytes = calloc(rtt.seconds, sizeof(*rtt.second_bytes));
	rtt.message = malloc(rtt.message_bytes);
	fd = r = rtt.took_ns && rtt.second_bytes && rtt.message && rtt.count
	             ? peer_connect(peer, run->build->service_port, PEER_ECHO, (uint32_t)rtt.message_bytes)
	             : -ENOMEM;
	if (fd >= 0) {
		/* Touched now, so that no page fault falls into the run. */
		memset(rtt.took_ns, 0, rtt.count * sizeof(*rtt.took_ns));
		memset(rtt.message, 0x5a, rtt.message_bytes);
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
		r = ping_all(&rtt, fd, now_ns() + run->timeout_ms * 1000000LL);
		close(fd);
	}
	if (!r)
		*measurement = rtt_json(&rtt, peer);
	else
		fail(why, r, FAILURE_SAMPLE, "measure", peer,
		     "See both nodes' kernel logs, and the evidence on the paths.",
		     "After %zu of %zu messages of %zu bytes to %s and back", rtt.done, rtt.count,
		     rtt.message_bytes, peer);
	free(rtt.took_ns);
	free(rtt.second_bytes);
	free(rtt.message);
	return r < 0 ? r : 0;
}
