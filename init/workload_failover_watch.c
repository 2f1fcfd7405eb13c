/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workload_failover_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIN_NS (FAILOVER_BIN_MS * 1000000LL)

enum { WINDOW_BINS = 25 };

void failover_flow_add(struct failover_flow *flow, int64_t ns, uint64_t bytes)
{
	size_t bin = (size_t)(ns / BIN_NS);
	int64_t gap_ns = ns - flow->last_ns;
	int64_t *longest =
	    flow->pulled_ns >= 0 && ns > flow->pulled_ns ? &flow->stall_ns : &flow->longest_before_ns;

	if (bin < flow->bins)
		flow->bin_bytes[bin] += bytes;
	if (gap_ns > *longest)
		*longest = gap_ns;
	flow->last_ns = ns;
	flow->bytes += bytes;
}

double failover_flow_baseline(const struct failover_flow *flow)
{
	size_t bins = flow->pulled_ns > 0 ? (size_t)(flow->pulled_ns / BIN_NS) : 0;
	uint64_t sum = 0;

	for (size_t i = 0; i < bins && i < flow->bins; i++)
		sum += flow->bin_bytes[i];
	return bins ? (double)sum / ((double)bins * FAILOVER_BIN_MS / 1e3) : 0;
}

int64_t failover_flow_recovered_ns(const struct failover_flow *flow, int64_t end_ns)
{
	double wanted = failover_flow_baseline(flow) * 0.9 * WINDOW_BINS * FAILOVER_BIN_MS / 1e3;
	size_t first = (size_t)(flow->pulled_ns / BIN_NS) + 1, end = (size_t)(end_ns / BIN_NS);

	if (flow->pulled_ns < 0)
		return -1;
	for (size_t bin = first; bin + WINDOW_BINS <= end && bin + WINDOW_BINS <= flow->bins; bin++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < WINDOW_BINS; i++)
			sum += flow->bin_bytes[bin + i];
		/* One that begins in the stall says nothing of when it ended. */
		if ((double)sum >= wanted && flow->bin_bytes[bin])
			return (int64_t)bin * BIN_NS - flow->pulled_ns;
	}
	return -1;
}

void failover_states_add(struct failover_states *states, const char *text)
{
	for (size_t i = 0; i < states->count; i++)
		if (!strcmp(states->text[i], text))
			return;
	if (states->count < FAILOVER_STATES)
		snprintf(states->text[states->count++], FAILOVER_STATE_LENGTH, "%s", text);
}

/* "Tcp: RtoAlgorithm RtoMin …\nTcp: 1 200 …\n": names in one line, values in the next. */
long long failover_counter(const char *text, const char *protocol, const char *name)
{
	size_t length = strlen(protocol), wanted = strlen(name);
	const char *names = text, *values;

	while (names && (strncmp(names, protocol, length) != 0 || names[length] != ':')) {
		names = strchr(names, '\n');
		names = names ? names + 1 : NULL;
	}
	values = names ? strchr(names, '\n') : NULL;
	if (!values)
		return -1;
	names += length + 1;
	values += 1 + length + 1;
	while (*names == ' ') {
		char *end;
		long long value = strtoll(values, &end, 10);

		names++;
		if (end == values)
			return -1;
		if (!strncmp(names, name, wanted) && (names[wanted] == ' ' || names[wanted] == '\n'))
			return value;
		names += strcspn(names, " \n");
		values = end;
	}
	return -1;
}
