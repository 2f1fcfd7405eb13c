/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workload.h"

#include "file.h"
#include "workload_aio.h"
#include "workload_copy.h"
#include "workload_files.h"

#include <errno.h>
#include <string.h>

/* Where the cell asks for it, data from FROM to TO, of which *BYTES were written now; *LEFT_MS is what is
 * left of the time. */
static int fill(const struct workload_run *run, uint64_t from, uint64_t to, long *left_ms, uint64_t *bytes,
                struct failure *why)
{
	long long start_ns = now_ns();
	int r;

	*left_ms = run->timeout_ms;
	*bytes = 0;
	if (!json_is_true(json_object_get(run->workload, "prepare")))
		return 0;
	r = workload_fill(run->filled, run->target, from, to, run->timeout_ms, bytes, why);
	*left_ms -= (long)((now_ns() - start_ns) / 1000000);
	*left_ms = *left_ms < 1 ? 1 : *left_ms;
	return r;
}

static int copy_workload(const struct workload_run *run, json_t **measurement, struct failure *why)
{
	struct copy_request request;
	struct copy copy;
	uint64_t filled;
	long left_ms;
	int r = copy_parse(run->workload, &request);

	if (r)
		return fail(why, r, FAILURE_CELL, "measure", "workload", "Report this: lab and node differ.",
		            "The workload cannot be understood");
	r = fill(run, request.seek_bytes, request.seek_bytes + request.size_bytes, &left_ms, &filled, why);
	if (r)
		return r;
	r = copy_prepare(&copy, &request, run->target, left_ms, why);
	observer_begin(run->observer);
	if (!r)
		r = copy_run(&copy, why);
	if (!r)
		*measurement = copy_json(&copy);
	if (!r && !request.read && request.incompressible)
		workload_filled_add(run->filled, request.seek_bytes, request.seek_bytes + request.size_bytes);
	if (*measurement && filled)
		json_object_set_new(*measurement, "prepared_bytes", json_integer((json_int_t)filled));
	copy_close(&copy);
	return r;
}

static int aio_workload(const struct workload_run *run, json_t **measurement, struct failure *why)
{
	struct aio_request request;
	struct aio aio;
	uint64_t filled, to;
	long left_ms;
	int r = aio_parse(run->workload, &request);

	if (r)
		return fail(why, r, FAILURE_CELL, "measure", "workload", "Report this: lab and node differ.",
		            "The workload cannot be understood");
	to = request.span_bytes ? request.offset_bytes + request.span_bytes : UINT64_MAX;
	r = fill(run, request.offset_bytes, to, &left_ms, &filled, why);
	if (r)
		return r;
	r = aio_prepare(&aio, &request, run->target, left_ms, why);
	observer_begin(run->observer);
	if (!r)
		r = aio_run(&aio, why);
	if (!r) {
		aio_fault(&aio, run->fault, run->fault_size);
		*measurement = aio_json(&aio);
	}
	if (*measurement && filled)
		json_object_set_new(*measurement, "prepared_bytes", json_integer((json_int_t)filled));
	aio_close(&aio);
	return r;
}

static int files_workload(const struct workload_run *run, json_t **measurement, struct failure *why)
{
	struct files_request request;
	struct files files;
	int r = files_parse(run->workload, &request);

	if (r || !run->folder)
		return fail(why, -EINVAL, FAILURE_CELL, "measure", "workload",
		            r ? "Report this: lab and node differ."
		              : "Plan a file system on top of the stack.",
		            r ? "The workload cannot be understood" : "The stack has no file system");
	r = files_prepare(&files, &request, run->folder, run->timeout_ms, why);
	observer_begin(run->observer);
	if (!r)
		r = files_run(&files, why);
	if (!r) {
		files_fault(&files, run->fault, run->fault_size);
		*measurement = files_json(&files);
	}
	files_close(&files);
	return r;
}

static const struct workload workloads[] = {
    {.type = "copy", .run = copy_workload},
    {.type = "aio", .run = aio_workload},
    {.type = "precondition", .run = aio_workload},
    {.type = "files", .run = files_workload},
    {.type = "stream", .run = workload_stream_run, .needs_peer = true},
    {.type = "failover", .what = "link", .run = workload_failover_run, .breaks_bond = true},
    {.type = "failover", .what = "role", .run = workload_role_run, .needs_peer = true},
    {.type = "resync", .run = workload_resync_run, .renews_data = true},
    {.type = "verify", .run = workload_verify_run, .renews_data = true},
    {.type = "rtt", .run = workload_rtt_run, .needs_peer = true},
};

const struct workload *workload_of(const json_t *cell)
{
	const json_t *w = json_object_get(cell, "workload");
	const char *type = json_string_value(json_object_get(w, "type"));
	const char *what = json_string_value(json_object_get(w, "what"));

	for (size_t i = 0; type && i < sizeof(workloads) / sizeof(*workloads); i++)
		if (!strcmp(workloads[i].type, type) &&
		    (!workloads[i].what || (what && !strcmp(workloads[i].what, what))))
			return &workloads[i];
	return NULL;
}

json_t *workload_measurement(uint64_t bytes, long long ns, const uint64_t *second_bytes, size_t count,
                             long long cpu_ns, const char *equivalent)
{
	double s = (double)ns / 1e9;
	json_t *seconds = json_array();

	for (size_t i = 0; i < count && (long long)i <= (ns - 1) / 1000000000; i++)
		json_array_append_new(seconds, json_integer((json_int_t)second_bytes[i]));
	return json_pack("{s:I, s:I, s:f, s:f, s:o, s:I, s:s}", "bytes", (json_int_t)bytes, "ns",
	                 (json_int_t)ns, "mb_per_s", (double)bytes / 1e6 / s, "mib_per_s",
	                 (double)bytes / 1048576 / s, "second_bytes", seconds, "cpu_ns", (json_int_t)cpu_ns,
	                 "equivalent", equivalent);
}
