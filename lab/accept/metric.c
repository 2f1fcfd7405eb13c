/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "metric.h"

#include "factor.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The storage NICs of a boot's inventory: those whose MAC or PCI address the lab file names. */
#define NAMED                                                                                                \
	"EXISTS (SELECT 1 FROM json_each(runs.lab, '$.nodes.' || b.node || '.storage_nics') s WHERE "        \
	"s.value IN "                                                                                        \
	"(nic.value ->> 'mac', nic.value ->> 'pci'))"
#define OF_RUN       " FROM boots b JOIN runs USING (run) WHERE b.run = ?1 AND b.inventory IS NOT NULL"
#define STORAGE_NICS " FROM json_each(b.inventory, '$.nics') nic WHERE " NAMED
#define STORAGE_PCI                                                                                          \
	" FROM boots b JOIN runs USING (run), json_each(b.inventory, '$.nics') nic, json_each(b.inventory, " \
	"'$.pci') pci WHERE b.run = ?1 AND pci.value ->> 'address' = nic.value ->> 'pci' AND " NAMED

/* Queries of facts give rows (node, object, value): the worst value of each node counts, its object is told.
 * A value that is null is not known. */
const struct metric metrics[] = {
    {"throughput", METRIC_SAMPLE, QUANTITY_RATE, "$.mb_per_s", "", "bytes over the time of a sample"},
    {"duration", METRIC_SAMPLE, QUANTITY_TIME, "$.ns", "", "how long a sample takes"},
    {"iops", METRIC_SAMPLE, QUANTITY_COUNT, "$.aio.iops", "aio", "I/Os a second"},
    {"latency-mean", METRIC_SAMPLE, QUANTITY_TIME, "$.aio.latency_ns.mean", "aio", "mean latency of an I/O"},
    {"latency-p50", METRIC_SAMPLE, QUANTITY_TIME, "$.aio.latency_ns.p50", "aio",
     "half of the I/Os take at most this"},
    {"latency-p90", METRIC_SAMPLE, QUANTITY_TIME, "$.aio.latency_ns.p90", "aio",
     "90 % of the I/Os take at most this"},
    {"latency-p99", METRIC_SAMPLE, QUANTITY_TIME, "$.aio.latency_ns.p99", "aio",
     "99 % of the I/Os take at most this"},
    {"latency-p99.9", METRIC_SAMPLE, QUANTITY_TIME, "$.aio.latency_ns.p99_9", "aio",
     "99.9 % of the I/Os take at most this"},
    {"latency-p99.99", METRIC_SAMPLE, QUANTITY_TIME, "$.aio.latency_ns.p99_99", "aio",
     "99.99 % of the I/Os take at most this"},
    {"latency-max", METRIC_SAMPLE, QUANTITY_TIME, "$.aio.latency_ns.max", "aio",
     "the slowest I/O of a sample"},
    {"rtt-median", METRIC_SAMPLE, QUANTITY_TIME, "$.rtt.median_ns", "rtt",
     "median round trip over the storage network"},
    {"rtt-p99", METRIC_SAMPLE, QUANTITY_TIME, "$.rtt.p99_ns", "rtt",
     "99 % of the round trips take at most this"},
    {"rtt-max", METRIC_SAMPLE, QUANTITY_TIME, "$.rtt.max_ns", "rtt", "the longest round trip of a sample"},
    {"failover-stall", METRIC_SAMPLE, QUANTITY_TIME, "$.failover.stall_ns", "failover link",
     "how long writes stall when a slave is pulled"},
    {"role-change-stall", METRIC_SAMPLE, QUANTITY_TIME, "$.role_change.stall_ns", "failover role",
     "how long nobody can write when the nodes change their roles"},
    {"slower-than-siblings", METRIC_SIBLINGS, QUANTITY_SHARE, "$.mb_per_s", "",
     "how much less throughput a node has than the median of its siblings: nodes of other groups of this lab "
     "with samples of "
     "the same cell"},
    {"link-speed", METRIC_NODE, QUANTITY_BIT_RATE,
     "SELECT r.node, nic.value ->> 'name', CASE WHEN nic.value ->> 'carrier' THEN nic.value ->> 'speed_mbps' "
     "ELSE 0 END FROM "
     "results r, json_each(CAST(r.body AS TEXT), '$.evidence.nics') nic WHERE r.run = ?1",
     "", "what each storage NIC negotiated, in every sample that used it"},
    {"pcie-width", METRIC_NODE, QUANTITY_LANES,
     "SELECT b.node, nic.value ->> 'name', nullif(CAST(pci.value ->> 'link_width' AS INTEGER), "
     "0)" STORAGE_PCI,
     "", "PCIe lanes of each storage NIC"},
    {"pcie-speed", METRIC_NODE, QUANTITY_TRANSFERS,
     "SELECT b.node, nic.value ->> 'name', nullif(CAST(pci.value ->> 'link_speed' AS REAL), 0)" STORAGE_PCI,
     "", "PCIe transfers a second of each storage NIC"},
    {"storage-nics", METRIC_NODE, QUANTITY_COUNT,
     "SELECT b.node, '', (SELECT count(*)" STORAGE_NICS ")" OF_RUN, "",
     "how many of the lab file's storage NICs their driver took"},
    {"transceivers", METRIC_NODE, QUANTITY_COUNT,
     "SELECT b.node, '', (SELECT count(*)" STORAGE_NICS " AND nic.value ->> 'sfp' IS NOT NULL)" OF_RUN, "",
     "how many storage NICs have a transceiver (SFP) that their driver took"},
    {"aer-errors", METRIC_NODE, QUANTITY_COUNT,
     "SELECT b.node, pci.value ->> 'address', coalesce(pci.value ->> '$.aer.correctable', 0) + "
     "coalesce(pci.value ->> "
     "'$.aer.nonfatal', 0) + coalesce(pci.value ->> '$.aer.fatal', 0) FROM boots b, json_each(b.inventory, "
     "'$.pci') pci WHERE "
     "b.run = ?1 AND pci.value ->> '$.aer' IS NOT NULL "
     "UNION ALL SELECT r.node, nic.value ->> 'name', (SELECT sum(c.value) FROM json_each(nic.value, "
     "'$.counters_after') c WHERE c.key LIKE 'pcie\\_errors\\_%' ESCAPE '\\') FROM results r, "
     "json_each(CAST(r.body AS TEXT), '$.evidence.nics') nic WHERE r.run = ?1",
     "",
     "PCIe errors that a device counted since its node booted (advanced error reporting): any device at "
     "hello, storage NICs with every sample"},
    {"hardware-warnings", METRIC_NODE, QUANTITY_COUNT,
     "SELECT b.node, coalesce((SELECT w.value FROM json_each(b.inventory, '$.warnings') w LIMIT 1), ''), "
     "coalesce(json_array_length(b.inventory, '$.warnings'), 0)" OF_RUN,
     "", "what hello warned of: refused transceivers, slow links, narrow slots"},
    {"kernel-warnings", METRIC_NODE, QUANTITY_COUNT,
     "SELECT node, coalesce(CAST(body AS TEXT) ->> '$.evidence.kernel_warnings[0]', ''), "
     "json_array_length(CAST(body AS TEXT), '$.evidence.kernel_warnings') FROM results WHERE run = ?1 AND "
     "CAST(body AS "
     "TEXT) ->> '$.evidence' IS NOT NULL",
     "", "lines of level warning or worse in the kernel's log while a sample was measured"},
    {"boot-warnings", METRIC_NODE, QUANTITY_COUNT,
     "SELECT b.node, coalesce(b.inventory ->> '$.kernel_warnings[0]', ''), json_array_length(b.inventory, "
     "'$.kernel_warnings')" OF_RUN,
     "", "the same at a boot, until hello"},
    {"memory", METRIC_NODE, QUANTITY_BYTES, "SELECT b.node, '', b.inventory ->> 'memory_bytes'" OF_RUN, "",
     "memory that the kernel has"},
    {"cpus", METRIC_NODE, QUANTITY_COUNT, "SELECT b.node, '', b.inventory ->> '$.cpus.online'" OF_RUN, "",
     "CPUs that run"},
    {"invalid-samples", METRIC_RUN, QUANTITY_COUNT,
     "SELECT '', coalesce(max(reason), ''), count(*) FROM attempts WHERE run = ?1 AND state = 'invalid'", "",
     "attempts whose evidence did not hold: noise, a flap, a resync"},
    {"failed-samples", METRIC_RUN, QUANTITY_COUNT,
     "SELECT '', coalesce(max(error ->> '$.message'), ''), count(*) FROM attempts WHERE run = ?1 AND state "
     "IN ('failed', "
     "'abandoned')",
     "", "attempts that came to no end"},
};
const size_t metric_count = sizeof(metrics) / sizeof(*metrics);

static const struct unit {
	enum metric_quantity quantity;
	const char *name;
	double factor;
} units[] = {
    {QUANTITY_RATE, "MB/s", 1},
    {QUANTITY_RATE, "kB/s", 1e-3},
    {QUANTITY_RATE, "GB/s", 1e3},
    {QUANTITY_RATE, "MiB/s", 1.048576},
    {QUANTITY_RATE, "GiB/s", 1073.741824},
    {QUANTITY_TIME, "ns", 1},
    {QUANTITY_TIME, "us", 1e3},
    {QUANTITY_TIME, "\302\265s", 1e3},
    {QUANTITY_TIME, "ms", 1e6},
    {QUANTITY_TIME, "s", 1e9},
    {QUANTITY_TIME, "min", 6e10},
    {QUANTITY_SHARE, "%", 1},
    {QUANTITY_BIT_RATE, "Mb/s", 1},
    {QUANTITY_BIT_RATE, "Gb/s", 1e3},
    {QUANTITY_TRANSFERS, "GT/s", 1},
    {QUANTITY_BYTES, "B", 1},
    {QUANTITY_BYTES, "MB", 1e6},
    {QUANTITY_BYTES, "GB", 1e9},
    {QUANTITY_BYTES, "MiB", 1048576},
    {QUANTITY_BYTES, "GiB", 1073741824},
};
enum { UNITS = sizeof(units) / sizeof(*units) };

/* What a bound looks like. */
static const char *const examples[QUANTITY_COUNT_OF] = {
    [QUANTITY_COUNT] = "100",        [QUANTITY_RATE] = "800 MB/s",    [QUANTITY_TIME] = "2 ms",
    [QUANTITY_SHARE] = "5 %",        [QUANTITY_BIT_RATE] = "10 Gb/s", [QUANTITY_LANES] = "x8",
    [QUANTITY_TRANSFERS] = "5 GT/s", [QUANTITY_BYTES] = "64 GiB",
};

const struct metric *metric_find(const char *name)
{
	for (size_t i = 0; i < metric_count; i++)
		if (!strcmp(metrics[i].name, name))
			return &metrics[i];
	return NULL;
}

const char *metric_nearest(const char *name)
{
	unsigned int best = UINT_MAX;
	size_t nearest = 0;

	for (size_t i = 0; i < metric_count; i++) {
		unsigned int d = edit_distance(name, metrics[i].name);

		if (d < best) {
			best = d;
			nearest = i;
		}
	}
	return metrics[nearest].name;
}

static const struct unit *find_unit(enum metric_quantity quantity, const char *name)
{
	for (size_t i = 0; i < UNITS; i++)
		if (units[i].quantity == quantity && !strcmp(units[i].name, name))
			return &units[i];
	return NULL;
}

static void list_units(enum metric_quantity quantity, char *out, size_t size)
{
	size_t n = 0;

	*out = '\0';
	for (size_t i = 0; i < UNITS; i++)
		if (units[i].quantity == quantity && n < size)
			n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", units[i].name);
}

int metric_bound(const struct metric *metric, const char *text, double *bound, char *why, size_t why_size)
{
	bool lanes = metric->quantity == QUANTITY_LANES;
	const char *digits = lanes && *text == 'x' ? text + 1 : text;
	const struct unit *unit = NULL;
	char names[96], *end;

	*bound = strtod(digits, &end);
	list_units(metric->quantity, names, sizeof(names));
	if (end == digits || !strchr("0123456789", *digits) || digits[1] == 'x' || digits[1] == 'X' ||
	    !isfinite(*bound)) {
		snprintf(why, why_size, "\"%.40s\" is no bound; %s takes one like %s", text, metric->name,
		         examples[metric->quantity]);
		return -EINVAL;
	}
	end += strspn(end, " ");
	if (*end)
		unit = find_unit(metric->quantity, end);
	if (*end && !unit) {
		snprintf(why, why_size, "\"%.40s\": %s takes %s%s, like %s", text, metric->name,
		         *names ? "one of the units " : "no unit", names, examples[metric->quantity]);
		return -EINVAL;
	}
	if (!*end && *names) {
		snprintf(why, why_size, "\"%.40s\" has no unit; %s takes one of %s", text, metric->name,
		         names);
		return -EINVAL;
	}
	if (unit)
		*bound *= unit->factor;
	return 0;
}

static const char *time_text(double ns, char *out, size_t size)
{
	static const struct {
		double from, factor;
		const char *unit;
	} scales[] = {{60e9, 60e9, "min"}, {1e9, 1e9, "s"}, {1e6, 1e6, "ms"}, {1e3, 1e3, "us"}, {0, 1, "ns"}};
	size_t i = 0;

	while (fabs(ns) < scales[i].from)
		i++;
	snprintf(out, size, "%.4g %s", ns / scales[i].factor, scales[i].unit);
	return out;
}

const char *metric_text(const struct metric *metric, double value, char *out, size_t size)
{
	switch (metric->quantity) {
	case QUANTITY_RATE:
		snprintf(out, size, "%.2f MB/s", value);
		break;
	case QUANTITY_TIME:
		return time_text(value, out, size);
	case QUANTITY_SHARE:
		snprintf(out, size, "%.3g %%", value);
		break;
	case QUANTITY_BIT_RATE:
		snprintf(out, size, value >= 1000 ? "%.4g Gb/s" : "%.4g Mb/s",
		         value >= 1000 ? value / 1000 : value);
		break;
	case QUANTITY_LANES:
		snprintf(out, size, "x%.0f", value);
		break;
	case QUANTITY_TRANSFERS:
		snprintf(out, size, "%.3g GT/s", value);
		break;
	case QUANTITY_BYTES:
		snprintf(out, size, "%.4g GiB", value / 1073741824);
		break;
	default:
		snprintf(out, size, "%.10g", value);
	}
	return out;
}

void metric_print(FILE *out)
{
	for (size_t i = 0; i < metric_count; i++) {
		const struct metric *m = &metrics[i];

		fprintf(out, "%-22s %-10s %s%s%s%s\n", m->name, examples[m->quantity], m->description,
		        *m->workload ? " (cells with the workload " : "", m->workload,
		        *m->workload ? ")" : "");
	}
}
