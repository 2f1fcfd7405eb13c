/* SPDX-License-Identifier: GPL-2.0-or-later
 * Observer: what `ss -ti` shows of DRBD's connections, by sock_diag(7). They are looked for once; then the
 * kernel is asked for each by its cookie, which costs no walk through all sockets. */
#include "observe_source.h"

#include "module.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* TCP_INFINITE_SSTHRESH: nothing was lost yet. */
#define NO_SSTHRESH 0x7fffffff

/* Two of DRBD's, and as many again after a reconnect. */
enum { CONNECTIONS = 4, ESTABLISHED = 1, ANSWER_BYTES = 16384, ROUNDS = 64 };

static const struct observe_field fields[] = {
    COUNTER("retransmits"),       COUNTER("bytes_acked"),
    COUNTER("bytes_received"),    COUNTER("segments_out"),
    COUNTER("busy_us"),           COUNTER("rwnd_limited_us"),
    COUNTER("sndbuf_limited_us"), GAUGE("cwnd_segments"),
    GAUGE("ssthresh_segments"),   GAUGE("rtt_us"),
    GAUGE("rttvar_us"),           GAUGE("unacked_segments"),
    GAUGE("lost_segments"),       GAUGE("send_queue_bytes"),
    GAUGE("receive_queue_bytes"), GAUGE("notsent_bytes"),
    GAUGE("sndbuf_bytes"),        GAUGE("rcvbuf_bytes"),
};

enum { FIELDS = sizeof(fields) / sizeof(*fields), COUNTERS = 7 };

static struct {
	struct inet_diag_sockid id;
	int column;
	bool gone;
} connections[CONNECTIONS];
static size_t connection_count;
static int fd = -1;

/* Asks for the socket ID, or (DUMP) for all. 0 or -errno. */
static int ask(const struct inet_diag_sockid *id, bool dump)
{
	struct {
		struct nlmsghdr header;
		struct inet_diag_req_v2 request;
	} message = {
	    .header = {.nlmsg_len = sizeof(message),
	               .nlmsg_type = SOCK_DIAG_BY_FAMILY,
	               .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | (dump ? NLM_F_DUMP : 0))},
	    .request = {.sdiag_family = AF_INET,
	                .sdiag_protocol = IPPROTO_TCP,
	                .idiag_ext = 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_SKMEMINFO - 1),
	                .idiag_states = dump ? 1u << ESTABLISHED : ~0u},
	};

	if (id)
		message.request.id = *id;
	return send(fd, &message, sizeof(message), 0) < 0 ? -errno : 0;
}

/* Attribute TYPE of MESSAGE, at most SIZE bytes of it, to BUF, the rest 0. Whether it is there. */
static bool attribute(const struct nlmsghdr *message, unsigned short type, void *buf, size_t size)
{
	const char *p = (const char *)NLMSG_DATA(message) + NLMSG_ALIGN(sizeof(struct inet_diag_msg));
	const char *end = (const char *)message + message->nlmsg_len;

	memset(buf, 0, size);
	while (p + sizeof(struct nlattr) <= end) {
		const struct nlattr *a = (const void *)p;
		size_t length = a->nla_len;

		if (length < sizeof(*a) || length > (size_t)(end - p))
			return false;
		if (a->nla_type == type) {
			length -= NLA_HDRLEN;
			memcpy(buf, p + NLA_HDRLEN, length < size ? length : size);
			return true;
		}
		p += NLA_ALIGN(length);
	}
	return false;
}

static void fill(int64_t *row, const struct nlmsghdr *message)
{
	const struct inet_diag_msg *m = NLMSG_DATA(message);
	uint32_t memory[SK_MEMINFO_VARS];
	struct tcp_info t;

	if (!attribute(message, INET_DIAG_INFO, &t, sizeof(t)))
		return;
	attribute(message, INET_DIAG_SKMEMINFO, memory, sizeof(memory));
	const int64_t values[FIELDS] = {
	    t.tcpi_total_retrans,
	    (int64_t)t.tcpi_bytes_acked,
	    (int64_t)t.tcpi_bytes_received,
	    t.tcpi_segs_out,
	    (int64_t)t.tcpi_busy_time,
	    (int64_t)t.tcpi_rwnd_limited,
	    (int64_t)t.tcpi_sndbuf_limited,
	    t.tcpi_snd_cwnd,
	    t.tcpi_snd_ssthresh < NO_SSTHRESH ? (int64_t)t.tcpi_snd_ssthresh : -1,
	    t.tcpi_rtt,
	    t.tcpi_rttvar,
	    t.tcpi_unacked,
	    t.tcpi_lost,
	    m->idiag_wqueue,
	    m->idiag_rqueue,
	    t.tcpi_notsent_bytes,
	    memory[SK_MEMINFO_SNDBUF],
	    memory[SK_MEMINFO_RCVBUF],
	};
	memcpy(row, values, sizeof(values));
}

static void add(struct observer *o, const struct nlmsghdr *message)
{
	const struct inet_diag_msg *m = NLMSG_DATA(message);
	char object[48], from[INET_ADDRSTRLEN] = "", to[INET_ADDRSTRLEN] = "";

	for (size_t i = 0; i < connection_count; i++)
		if (!memcmp(connections[i].id.idiag_cookie, m->id.idiag_cookie, sizeof(m->id.idiag_cookie)))
			return;
	if (connection_count == CONNECTIONS)
		return;
	inet_ntop(AF_INET, m->id.idiag_src, from, sizeof(from));
	inet_ntop(AF_INET, m->id.idiag_dst, to, sizeof(to));
	snprintf(object, sizeof(object), "%s:%u-%s:%u", from, ntohs(m->id.idiag_sport), to,
	         ntohs(m->id.idiag_dport));
	connections[connection_count].id = m->id;
	connections[connection_count].gone = false;
	connections[connection_count].column = observe_add(o, "tcp", object, fields, FIELDS);
	/* Of one that came later: it was not there before. */
	for (size_t row = 0; connections[connection_count].column >= 0 && row < o->rows; row++)
		for (size_t f = COUNTERS; f < FIELDS; f++)
			o->values[row * o->stride + (size_t)connections[connection_count].column + f] = -1;
	if (connections[connection_count].column >= 0)
		connection_count++;
}

/* Hands the messages of one answer on. False: that was the last. */
static bool receive(struct observer *o, int64_t *row, int *error)
{
	ssize_t n = recv(fd, o->text, ANSWER_BYTES, 0);

	*error = n < 0 ? errno : 0;
	for (struct nlmsghdr *m = (void *)o->text; n > 0 && NLMSG_OK(m, (size_t)n);) {
		const struct inet_diag_msg *found = NLMSG_DATA(m);
		unsigned int port = o->place.drbd_port;

		if (m->nlmsg_type == NLMSG_ERROR && m->nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr)))
			*error = -((const struct nlmsgerr *)NLMSG_DATA(m))->error;
		if (m->nlmsg_type == NLMSG_ERROR || m->nlmsg_type == NLMSG_DONE)
			return false;
		if (m->nlmsg_type != SOCK_DIAG_BY_FAMILY || m->nlmsg_len < NLMSG_LENGTH(sizeof(*found)))
			return false;
		if (row) {
			fill(row, m);
			return false;
		}
		if (ntohs(found->id.idiag_sport) == port || ntohs(found->id.idiag_dport) == port)
			add(o, m);
		n -= (ssize_t)NLMSG_ALIGN(m->nlmsg_len);
		m = (void *)((char *)m + NLMSG_ALIGN(m->nlmsg_len));
	}
	return !*error;
}

static void find_all(struct observer *o)
{
	int error = -ask(NULL, true);

	for (unsigned int i = 0; !error && i < ROUNDS && receive(o, NULL, &error); i++)
		;
	if (error)
		observe_note(o, "DRBD's TCP connections cannot be seen: %s", strerror(error));
}

static void open_tcp(struct observer *o)
{
	struct timeval timeout = {.tv_sec = 1};

	connection_count = 0;
	fd = -1;
	if (!o->place.drbd_port)
		return;
	module_load("tcp_diag", NULL);
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (fd < 0) {
		observe_note(o, "DRBD's TCP connections cannot be seen: %s", strerror(errno));
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	find_all(o);
}

static void look(struct observer *o)
{
	bool lost = false;

	if (fd < 0)
		return;
	for (size_t i = 0; i < connection_count; i++) {
		int64_t *row = o->row + connections[i].column;
		int error = connections[i].gone ? ENOENT : -ask(&connections[i].id, false);

		if (!error)
			receive(o, row, &error);
		if (!error)
			continue;
		lost = lost || !connections[i].gone;
		connections[i].gone = true;
		for (size_t f = COUNTERS; f < FIELDS; f++)
			row[f] = -1;
	}
	if (lost || !connection_count)
		find_all(o);
}

const struct observe_source observe_tcp = {.open = open_tcp, .look = look};
