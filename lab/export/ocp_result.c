/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a node's result says, as artifacts of its step. */
#include "ocp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS INT64_C(1000000000)

static const char *member(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

static int64_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void element(struct ocp *o, const char *step, const char *series, size_t index, double value,
                    int64_t unix_ns)
{
	char when[40];

	ocp_step(o, unix_ns, step, "measurementSeriesElement",
	         json_pack("{sI sf ss ss}", "index", (json_int_t)index, "value", value, "timestamp",
	                   export_time(unix_ns, when), "measurementSeriesId", series));
}

static void series_start(struct ocp *o, int64_t unix_ns, const char *step, const char *series,
                         const char *name, const char *unit)
{
	ocp_step(o, unix_ns, step, "measurementSeriesStart",
	         json_pack("{ss ss ss}", "name", name, "unit", unit, "measurementSeriesId", series));
}

static void series_end(struct ocp *o, int64_t unix_ns, const char *step, const char *series, size_t count)
{
	ocp_step(o, unix_ns, step, "measurementSeriesEnd",
	         json_pack("{ss sI}", "measurementSeriesId", series, "totalCount", (json_int_t)count));
}

/* MB/s of each second; the last is as long as it was. */
static void rates(struct ocp *o, const char *step, int64_t begun, const json_t *measurement)
{
	const json_t *seconds = json_object_get(measurement, "second_bytes"), *bytes;
	int64_t ns = number(measurement, "ns");
	char id[120];
	size_t i, count = 0;

	if (!json_array_size(seconds))
		return;
	snprintf(id, sizeof(id), "%s-throughput", step);
	series_start(o, begun, step, id, "throughput of each second", "MB/s");
	json_array_foreach (seconds, i, bytes) {
		int64_t end = (int64_t)(i + 1) * SECOND_NS;
		int64_t length =
		    i + 1 == json_array_size(seconds) && ns < end ? ns - end + SECOND_NS : SECOND_NS;

		if (length <= 0)
			break;
		element(o, step, id, count++, (double)json_integer_value(bytes) * 1e3 / (double)length,
		        begun + end - SECOND_NS + length);
	}
	series_end(o, begun + ns, step, id, count);
}

/* What of a window was taken from a CPU, in millionths. */
static bool noise_ppm(const json_t *windows, int64_t cpu, double *ppm)
{
	const json_t *window;
	size_t i;

	json_array_foreach (windows, i, window) {
		if (number(window, "cpu") != cpu || !number(window, "runtime_us"))
			continue;
		*ppm = 1e6 * (double)number(window, "noise_us") / (double)number(window, "runtime_us");
		return true;
	}
	return false;
}

static void noise(struct ocp *o, const char *step, const char *node, int64_t begun, int64_t end,
                  const json_t *certificate)
{
	const json_t *before = json_object_get(certificate, "before"), *window;
	size_t i;

	json_array_foreach (before, i, window) {
		int64_t cpu = number(window, "cpu");
		char id[160], name[120];
		double ppm;

		snprintf(id, sizeof(id), "%s-%s-noise-%" PRId64, step, node, cpu);
		snprintf(name, sizeof(name), "noise before and after: node %s, CPU %" PRId64, node, cpu);
		series_start(o, begun, step, id, name, "ppm");
		size_t count = 0;
		if (noise_ppm(before, cpu, &ppm))
			element(o, step, id, count++, ppm, begun);
		if (noise_ppm(json_object_get(certificate, "after"), cpu, &ppm))
			element(o, step, id, count++, ppm, end);
		series_end(o, end, step, id, count);
	}
}

static void logs(struct ocp *o, const char *step, int64_t unix_ns, const json_t *lines, const char *severity)
{
	const json_t *line;
	size_t i;

	json_array_foreach (lines, i, line)
		ocp_step(o, unix_ns, step, "log",
		         json_pack("{ss sO}", "severity", severity, "message", (json_t *)line));
}

/* Connection and disks must be what they were before. */
static void drbd_health(struct ocp *o, const char *step, int64_t unix_ns, const json_t *evidence,
                        const char *node)
{
	static const char *const states[] = {"connection", "disk", "peer_disk"};
	const json_t *before = json_object_get(json_object_get(evidence, "before"), "drbd");
	const json_t *after = json_object_get(json_object_get(evidence, "after"), "drbd");
	char message[400] = "";

	if (!before || !after)
		return;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (strcmp(member(before, states[i]), member(after, states[i])))
			snprintf(message, sizeof(message), "node %s, DRBD: %s was %.60s, then %.60s", node,
			         states[i], member(before, states[i]), member(after, states[i]));
	ocp_diagnosis(o, unix_ns, step, *message ? "drbd-changed" : "drbd-steady",
	              *message ? OCP_FAIL : OCP_PASS, message);
}

/* Its active slave, and each slave's link and its count of failures. */
static void bond_health(struct ocp *o, const char *step, int64_t unix_ns, const json_t *evidence,
                        const char *node)
{
	const json_t *before = json_object_get(json_object_get(evidence, "before"), "bond");
	const json_t *after = json_object_get(json_object_get(evidence, "after"), "bond");
	const json_t *was = json_object_get(before, "slaves"), *is = json_object_get(after, "slaves"), *slave;
	char message[400] = "";
	size_t i;

	if (!before || !after)
		return;
	if (strcmp(member(before, "active_slave"), member(after, "active_slave")))
		snprintf(message, sizeof(message), "node %s, bond: the active slave was %.60s, then %.60s",
		         node, member(before, "active_slave"), member(after, "active_slave"));
	json_array_foreach (was, i, slave) {
		const json_t *then = json_array_get(is, i);

		if (strcmp(member(slave, "mii"), member(then, "mii")) ||
		    number(slave, "link_failures") != number(then, "link_failures"))
			snprintf(message, sizeof(message), "node %s, bond: the link of %.60s failed", node,
			         member(slave, "name"));
	}
	ocp_diagnosis(o, unix_ns, step, *message ? "bond-changed" : "bond-steady",
	              *message ? OCP_FAIL : OCP_PASS, message);
}

/* Workloads that change bond or DRBD on purpose are not judged by them. */
static bool disturbs(const json_t *body)
{
	static const char *const types[] = {"failover", "resync", "verify"};
	const char *type = member(json_object_get(json_object_get(body, "cell"), "workload"), "type");

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(type, types[i]))
			return true;
	return false;
}

static void evidence_extension(struct ocp *o, const char *step, int64_t unix_ns, const json_t *body)
{
	json_t *evidence = json_copy(json_object_get(body, "evidence"));

	if (!evidence)
		return;
	json_object_del(evidence, "series"); /* coded; the file has it */
	ocp_step(o, unix_ns, step, "extension",
	         json_pack("{ss s{ss ss so}}", "name", "evidence", "content", "node", member(body, "node"),
	                   "role", member(body, "role"), "evidence", evidence));
}

/* The body, as it came, beside the stream. */
static void file(struct ocp *o, const char *step, int64_t unix_ns, const json_t *body, const char *sha256)
{
	char name[160], uri[160];

	snprintf(name, sizeof(name), "result of node %.64s", member(body, "node"));
	snprintf(uri, sizeof(uri), "results/%.64s.json", sha256);
	ocp_step(o, unix_ns, step, "file",
	         json_pack("{ss ss ss sb s{ss}}", "displayName", name, "uri", uri, "contentType",
	                   "application/json", "isSnapshot", 1, "metadata", "sha256", sha256));
}

void ocp_result(struct ocp *o, const char *step, int64_t end_unix_ns, const json_t *body, const char *sha256)
{
	const json_t *evidence = json_object_get(body, "evidence");
	const json_t *measurement = json_object_get(body, "measurement");
	const char *node = member(body, "node");
	int64_t ns = number(measurement, "ns");
	/* started_unix_ns is the node's clock, which may be wrong; the lab's knows when the sample ended */
	int64_t begun = end_unix_ns - ns;

	evidence_extension(o, step, begun, body);
	logs(o, step, begun, json_object_get(evidence, "kernel_warnings"), "WARNING");
	logs(o, step, begun, json_object_get(evidence, "notes"), "INFO");
	rates(o, step, begun, measurement);
	noise(o, step, node, begun, end_unix_ns, json_object_get(evidence, "noise"));
	if (measurement)
		ocp_step(o, end_unix_ns, step, "measurement",
		         json_pack("{ss sf ss s{sI sI}}", "name", "throughput", "value",
		                   ns ? (double)number(measurement, "bytes") * 1e3 / (double)ns : 0.0, "unit",
		                   "MB/s", "metadata", "bytes", (json_int_t)number(measurement, "bytes"),
		                   "ns", (json_int_t)ns));
	if (!disturbs(body)) {
		drbd_health(o, step, end_unix_ns, evidence, node);
		bond_health(o, step, end_unix_ns, evidence, node);
	}
	if (o->folder)
		file(o, step, end_unix_ns, body, sha256);
}
