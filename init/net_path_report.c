/* SPDX-License-Identifier: GPL-2.0-or-later
 * What came of proving paths: as a failure, and as evidence. */
#include "net_path.h"

#include "file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *leg_name(const struct net_path *path, char *buf, size_t size)
{
	if (path->leg)
		snprintf(buf, size, "leg %u", path->leg);
	else
		snprintf(buf, size, "the storage network");
	return buf;
}

/* Which way is at fault, and what it lets through. */
static int black_hole(const struct net_path *bad, const char *leg, const char *node, const char *peer,
                      struct failure *why)
{
	bool out = bad->mtu_out_bytes < bad->mtu_bytes, in = bad->mtu_in_bytes < bad->mtu_bytes;
	char sizes[160] = "";

	if (out && in && bad->mtu_out_bytes)
		snprintf(sizes, sizeof(sizes), "; up to %u bytes pass from %s to %s, and %u back",
		         bad->mtu_out_bytes, node, peer, bad->mtu_in_bytes);
	else if (out && bad->mtu_out_bytes)
		snprintf(sizes, sizeof(sizes), "; from %s to %s up to %u bytes pass, the other way is sound",
		         node, peer, bad->mtu_out_bytes);
	else if (in && !out)
		snprintf(sizes, sizeof(sizes), "; from %s to %s up to %u bytes pass, the other way is sound",
		         peer, node, bad->mtu_in_bytes);
	return fail(
	    why, bad->send_error ? -bad->send_error : -EMSGSIZE, FAILURE_SAMPLE, "net", bad->device,
	    "Set an MTU as large on every switch port of that leg, or plan a smaller nic.mtu.",
	    "Black hole on %s, NIC %s of node %s: small pings to %s (%s) pass, packets of %u bytes do not%s",
	    leg, bad->device, node, peer, bad->peer, bad->mtu_bytes, sizes);
}

int net_path_failure(const struct net_path *paths, size_t count, const char *node, const char *peer,
                     struct failure *why)
{
	const struct net_path *bad = NULL;
	bool any = false;
	char leg[32];

	for (size_t i = 0; i < count; i++) {
		any |= paths[i].small_passed;
		/* The first that has the most to say. */
		if (paths[i].full_passed && paths[i].peer_done)
			continue;
		if (!bad || (!bad->wrong_leg && paths[i].wrong_leg))
			bad = &paths[i];
	}
	if (!bad)
		return fail(why, -ETIMEDOUT, FAILURE_SAMPLE, "net", "", "Try again.", "No path is at fault");
	leg_name(bad, leg, sizeof(leg));
	if (bad->wrong_leg)
		return fail(
		    why, -ETIMEDOUT, FAILURE_RUN, "net", bad->device,
		    "Swap the cables at one of the two nodes, or the order of storage_nics in the lab file.",
		    "Legs are crossed: NIC %s of node %s is %s here, but what %s sends on its leg %u comes "
		    "in",
		    bad->device, node, leg, peer, bad->wrong_leg);
	if (bad->small_passed && !bad->full_passed)
		return black_hole(bad, leg, node, peer, why);
	if (bad->full_passed)
		return fail(
		    why, -ETIMEDOUT, FAILURE_SAMPLE, "net", bad->device,
		    "Look at the other node's error: its direction fails.",
		    "On %s, NIC %s: node %s reaches %s, which does not say that it reaches %s as well", leg,
		    bad->device, node, peer, node);
	return fail(why, -ETIMEDOUT, FAILURE_SAMPLE, "net", bad->device,
	            any ? "Check that leg's cabling, VLAN and switch, at both nodes."
	                : "Check that the peer is up (assay status), and the storage cabling of both nodes.",
	            "No answer on %s: NIC %s of node %s has link, but %s (%s) answers no ping%s", leg,
	            bad->device, node, peer, bad->peer, any ? "; other legs work" : ", on no leg");
}

static json_t *rtt_json(const struct net_rtt *rtt)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "sent", (json_int_t)rtt->sent, "answered",
	                 (json_int_t)rtt->answered, "min_ns", (json_int_t)rtt->min_ns, "median_ns",
	                 (json_int_t)rtt->median_ns, "p99_ns", (json_int_t)rtt->p99_ns, "max_ns",
	                 (json_int_t)rtt->max_ns);
}

static json_t *tcp_json(json_t *measurement)
{
	const json_t *stream = json_object_get(measurement, "stream");

	return json_pack("{s:O, s:O, s:O, s:O, s:O}", "bytes", json_object_get(measurement, "bytes"), "ns",
	                 json_object_get(measurement, "ns"), "mb_per_s",
	                 json_object_get(measurement, "mb_per_s"), "zero_copy",
	                 json_object_get(stream, "zero_copy"), "connections",
	                 json_object_get(stream, "connections"));
}

int net_path_json(const struct net_path *paths, size_t count, json_t *array)
{
	int r = 0;

	for (size_t i = 0; i < count; i++) {
		const struct net_path *path = &paths[i];
		long long speed_mbps = -1;
		char file[64];
		json_t *one;

		if (path->rtt_ns < 0)
			continue;
		snprintf(file, sizeof(file), "/sys/class/net/%s/speed", path->device);
		read_integer(file, &speed_mbps);
		one = json_pack("{s:s, s:s, s:i, s:s, s:I, s:i, s:i, s:i, s:I}", "device", path->device,
		                "peer", path->peer, "mtu_bytes", (int)path->mtu_bytes, "direction",
		                path->peer_done ? "both" : "out", "rtt_ns", (json_int_t)path->rtt_ns, "leg",
		                (int)path->leg, "mtu_out_bytes", (int)path->mtu_out_bytes, "mtu_in_bytes",
		                (int)path->mtu_in_bytes, "speed_mbps",
		                (json_int_t)(speed_mbps < 0 ? -1 : speed_mbps));
		if (one && path->rtt.answered)
			r |= json_object_set_new(one, "rtt", rtt_json(&path->rtt));
		if (one && path->tcp)
			r |= json_object_set_new(one, "tcp", tcp_json(path->tcp));
		if (one && path->counters)
			r |= json_object_set(one, "counters", path->counters);
		r |= json_array_append_new(array, one);
	}
	return r ? -ENOMEM : 0;
}

void net_path_leg_address(unsigned int leg, unsigned int index, char *buf, size_t size)
{
	snprintf(buf, size, "169.254.%u.%u", leg % 256, (index + 1) % 256);
}
