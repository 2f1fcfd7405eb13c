/* SPDX-License-Identifier: GPL-2.0-or-later
 * The workload `stream`: TCP as fast as it goes over several connections. sendfile() from the page cache: the
 * NIC reads the very pages, nothing is copied and no completion has to be awaited. */
#include "workload.h"

#include "file.h"
#include "workload_peer.h"
#include "workload_stream.h"
#include "workload_stream_info.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { POOL_BYTES = 4 << 20, MAX_CONNECTIONS = 256, STACK_BYTES = 65536 };

struct connection {
	struct stream *stream;
	pthread_t thread;
	bool started;
	int fd, error;
	uint64_t sent, received; /* what we handed over, what the peer had */
	uint64_t acked_before;
	struct stream_info info;
};

struct stream {
	size_t count;
	long long duration_ms;
	int pool;
	atomic_bool go, stop;
	struct connection *connections;
	uint64_t *second_bytes;
	size_t seconds;
	long long ns, cpu_ns;
};

/* A file of zeros in memory. */
static int make_pool(void)
{
	static char zeros[65536];
	char path[] = "/tmp/assay-stream.XXXXXX", root[] = "/assay-stream.XXXXXX", *name = path;
	int fd = mkstemp(path), r = 0;

	if (fd < 0) {
		name = root;
		fd = mkstemp(root);
	}
	if (fd < 0)
		return -errno;
	unlink(name);
	for (size_t i = 0; i < POOL_BYTES / sizeof(zeros) && !r; i++)
		if (write(fd, zeros, sizeof(zeros)) != (ssize_t)sizeof(zeros))
			r = -EIO;
	if (!r)
		return fd;
	close(fd);
	return r;
}

static void *send_all(void *ctx)
{
	struct connection *c = ctx;
	struct stream *s = c->stream;
	uint64_t total;

	while (!atomic_load(&s->go))
		sched_yield();
	while (!atomic_load_explicit(&s->stop, memory_order_relaxed) && !c->error) {
		off_t from = 0;
		ssize_t n = sendfile(c->fd, s->pool, &from, POOL_BYTES);

		if (n > 0)
			c->sent += (uint64_t)n;
		else if (n < 0 && errno != EINTR)
			c->error = errno;
	}
	stream_info_read(c->fd, &c->info);
	shutdown(c->fd, SHUT_WR);
	if (!c->error)
		c->error = -peer_receive_all(c->fd, &total, sizeof(total));
	if (!c->error)
		c->received = be64toh(total);
	return NULL;
}

/* Bytes that the peer has acknowledged, on all connections. */
static uint64_t acked(const struct stream *s)
{
	struct stream_info info;
	uint64_t sum = 0;

	for (size_t i = 0; i < s->count; i++)
		if (!stream_info_read(s->connections[i].fd, &info))
			sum += info.bytes_acked - s->connections[i].acked_before;
	return sum;
}

static void sleep_until(long long ns)
{
	struct timespec at = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

/* One look a second; the last second has what came in after the end as well. */
static void run_all(struct stream *s)
{
	long long cpu_ns = process_cpu_ns(), start_ns = now_ns(),
	          end_ns = start_ns + s->duration_ms * 1000000;
	uint64_t before = 0, received = 0;
	size_t second = 0;

	atomic_store(&s->go, true);
	for (; second + 1 < s->seconds && start_ns + (long long)(second + 1) * 1000000000 < end_ns;
	     second++) {
		uint64_t now;

		sleep_until(start_ns + (long long)(second + 1) * 1000000000);
		now = acked(s);
		s->second_bytes[second] = now - before;
		before = now;
	}
	sleep_until(end_ns);
	atomic_store(&s->stop, true);
	for (size_t i = 0; i < s->count; i++) {
		pthread_join(s->connections[i].thread, NULL);
		s->connections[i].started = false;
		received += s->connections[i].received;
	}
	s->ns = now_ns() - start_ns;
	s->cpu_ns = process_cpu_ns() - cpu_ns;
	s->second_bytes[second] = received > before ? received - before : 0;
	s->seconds = second + 1;
}

static int open_all(struct stream *s, const char *peer, unsigned int port)
{
	pthread_attr_t attr;
	int r = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (size_t i = 0; i < s->count; i++)
		s->connections[i].fd = -1;
	for (size_t i = 0; i < s->count && !r; i++) {
		struct connection *c = &s->connections[i];
		struct stream_info info;

		c->stream = s;
		c->fd = peer_connect(peer, port, PEER_SINK, 1);
		r = c->fd < 0 ? c->fd : stream_info_read(c->fd, &info);
		if (r)
			break;
		c->acked_before = info.bytes_acked;
		r = -pthread_create(&c->thread, &attr, send_all, c);
		c->started = !r;
	}
	pthread_attr_destroy(&attr);
	return r;
}

static void close_all(struct stream *s)
{
	atomic_store(&s->stop, true);
	atomic_store(&s->go, true);
	for (size_t i = 0; i < s->count && s->connections; i++) {
		struct connection *c = &s->connections[i];

		if (c->fd >= 0)
			shutdown(c->fd, SHUT_RDWR);
		if (c->started)
			pthread_join(c->thread, NULL);
		if (c->fd >= 0)
			close(c->fd);
	}
	if (s->pool >= 0)
		close(s->pool);
	free(s->connections);
	free(s->second_bytes);
}

static json_t *stream_json(const struct stream *s, const char *peer)
{
	json_t *connections = json_array(), *json;
	char equivalent[160];
	uint64_t bytes = 0;

	for (size_t i = 0; i < s->count; i++) {
		json_array_append_new(connections,
		                      stream_info_json(&s->connections[i].info, s->connections[i].received));
		bytes += s->connections[i].received;
	}
	snprintf(equivalent, sizeof(equivalent), "iperf3 -c %s -Z -P %zu -t %.3g", peer, s->count,
	         (double)s->duration_ms / 1e3);
	json = workload_measurement(bytes, s->ns, s->second_bytes, s->seconds, s->cpu_ns, equivalent);
	json_object_set_new(json, "stream",
	                    json_pack("{s:s, s:o}", "zero_copy", "sendfile", "connections", connections));
	return json;
}

/* The first connection that failed, or lost bytes. */
static int find_error(const struct stream *s, const char *peer, struct failure *why)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct connection *c = &s->connections[i];

		if (c->error || c->sent != c->received)
			return fail(why, c->error ? -c->error : -EIO, FAILURE_SAMPLE, "measure", peer,
			            "See both nodes' kernel logs, and the evidence on the paths.",
			            "Connection %zu of %zu to %s: %llu bytes were sent, the peer had %llu",
			            i + 1, s->count, peer, (unsigned long long)c->sent,
			            (unsigned long long)c->received);
	}
	return 0;
}

int stream_run(const char *peer, unsigned int port, size_t count, long long duration_ms, json_t **measurement,
               struct failure *why)
{
	struct stream s = {.count = count, .duration_ms = duration_ms, .pool = -1};
	int r = 0;

	s.seconds = (size_t)s.duration_ms / 1000 + 2;
	s.second_bytes = calloc(s.seconds, sizeof(*s.second_bytes));
	s.connections = calloc(s.count ? s.count : 1, sizeof(*s.connections));
	if (!s.second_bytes || !s.connections || !s.count || s.count > MAX_CONNECTIONS)
		r = -ENOMEM;
	if (!r)
		r = s.pool = make_pool();
	if (r >= 0)
		r = open_all(&s, peer, port);
	if (r)
		fail(why, r, FAILURE_SAMPLE, "measure", peer, "See both nodes' kernel logs.",
		     "%zu connections to %s cannot be made", s.count, peer);
	if (!r) {
		run_all(&s);
		r = find_error(&s, peer, why);
	}
	if (!r)
		*measurement = stream_json(&s, peer);
	close_all(&s);
	return r;
}

int workload_stream_run(const struct workload_run *run, json_t **measurement, struct failure *why)
{
	const json_t *w = run->workload;

	return stream_run(run->build->peer_address, run->build->service_port,
	                  (size_t)json_integer_value(json_object_get(w, "connections")),
	                  json_integer_value(json_object_get(w, "duration_ms")), measurement, why);
}
