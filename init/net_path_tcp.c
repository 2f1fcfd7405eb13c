/* SPDX-License-Identifier: GPL-2.0-or-later
 * What TCP carries on each path, in both directions at once. */
#include "net_path.h"

#include "nic_counters.h"
#include "workload_stream.h"

enum { CONNECTIONS = 4, DURATION_MS = 200 };

int net_path_tcp(struct net_path *paths, size_t path_count, unsigned int port, const char *node,
                 const char *peer, struct failure *why)
{
	struct failure said;

	for (size_t i = 0; i < path_count; i++) {
		struct net_path *path = &paths[i];
		int r;

		json_decref(path->tcp);
		path->tcp = NULL;
		r = stream_run(path->peer, port, CONNECTIONS, DURATION_MS, &path->tcp, &said);
		if (r)
			return fail(why, r, FAILURE_SAMPLE, "net", path->device,
			            "Pings pass there: see both nodes' kernel logs, and look for what "
			            "filters or corrupts.",
			            "TCP fails on leg %u, NIC %s of node %s, to %s: %.512s", path->leg,
			            path->device, node, peer, said.message);
	}
	return 0;
}

void net_path_counters_begin(struct net_path *paths, size_t path_count, const char *sys)
{
	for (size_t i = 0; i < path_count; i++) {
		json_decref(paths[i].counters);
		paths[i].counters = nic_counters(sys, paths[i].device);
	}
}

void net_path_counters_end(struct net_path *paths, size_t path_count, const char *sys)
{
	for (size_t i = 0; i < path_count; i++) {
		json_t *after = nic_counters(sys, paths[i].device), *before = paths[i].counters;

		paths[i].counters = nic_counters_risen(before, after);
		json_decref(before);
		json_decref(after);
	}
}

void net_path_clear(struct net_path *paths, size_t path_count)
{
	for (size_t i = 0; i < path_count; i++) {
		json_decref(paths[i].tcp);
		json_decref(paths[i].counters);
		paths[i].tcp = paths[i].counters = NULL;
	}
}
