/* SPDX-License-Identifier: GPL-2.0-or-later
 * What fio --output-format=json (3.x) says. */
#include "import.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double at(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Options that say what was done, not where the output went. */
static bool is_noise(const char *option)
{
	static const char *const noise[] = {"output",        "output-format",  "name",        "write_bw_log",
	                                    "write_lat_log", "write_iops_log", "log_avg_msec"};

	for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++)
		if (!strcmp(option, noise[i]))
			return true;
	return false;
}

static int add_options(json_t *workload, const json_t *options)
{
	const char *key;
	json_t *value;
	int r = 0;

	json_object_foreach ((json_t *)options, key, value)
		if (json_is_string(value) && !is_noise(key) && !r)
			r = json_object_set(workload, key, value);
	return r ? -ENOMEM : 0;
}

/* One direction of a job; DIRECTION is fio's name of it. */
static int take(struct import *import, const json_t *global, const json_t *job, const char *direction)
{
	const json_t *part = json_object_get(job, direction), *latency = json_object_get(part, "clat_ns"),
	             *percentile = json_object_get(latency, "percentile");
	const char *name = json_string_value(json_object_get(job, "jobname"));
	double bytes = at(part, "io_bytes"), runtime_ms = at(part, "runtime");
	struct import_sample s = import_sample_new();
	int r;

	if (!(bytes >= 1 && bytes < 9e18) || !(runtime_ms >= 1 && runtime_ms < 1e12))
		return 0;
	s.state = json_pack("{ss}", "settings", name ? name : "none");
	s.workload = json_pack("{ss ss}", "type", "fio", "direction", direction);
	s.bytes = (uint64_t)bytes;
	s.ns = (uint64_t)(runtime_ms * 1e6);
	s.boot = import->first_boot;
	s.figure[FIGURE_IOPS] = at(part, "iops");
	s.figure[FIGURE_P50_US] = at(percentile, "50.000000") / 1e3;
	s.figure[FIGURE_P99_US] = at(percentile, "99.000000") / 1e3;
	s.figure[FIGURE_P99_9_US] = at(percentile, "99.900000") / 1e3;
	s.figure[FIGURE_MAX_US] = at(latency, "max") / 1e3;
	r = s.state && s.workload ? add_options(s.workload, global) : -ENOMEM;
	if (!r)
		r = add_options(s.workload, json_object_get(job, "job options"));
	if (r) {
		json_decref(s.state);
		json_decref(s.workload);
		return r;
	}
	return import_add(import, &s);
}

/* Jobs of the same name in one file ran side by side: each has its part of the figure only. */
static bool has_twin(const json_t *jobs, size_t i)
{
	const char *name = json_string_value(json_object_get(json_array_get(jobs, i), "jobname"));

	for (size_t k = 0; name && k < i; k++) {
		const char *other = json_string_value(json_object_get(json_array_get(jobs, k), "jobname"));

		if (other && !strcmp(name, other))
			return true;
	}
	return false;
}

int import_fio(struct import *import, const char *text, size_t size, struct complaints *complaints)
{
	static const char *const directions[] = {"read", "write", "trim"};
	const char *begin = memchr(text, '{', size); /* warnings may stand above */
	json_error_t error = {.line = 1};
	json_t *root =
	    begin ? json_loadb(begin, size - (size_t)(begin - text), JSON_DISABLE_EOF_CHECK, &error) : NULL;
	const json_t *jobs = json_object_get(root, "jobs"), *global = json_object_get(root, "global options"),
	             *job;
	size_t had = import->count, i;
	int r = 0;

	if (!json_is_array(jobs)) {
		complain_at(complaints, root ? 0 : error.line, root ? 0 : error.column, "%s",
		            root ? "no \"jobs\": is it what fio --output-format=json printed?" : error.text);
		json_decref(root);
		return -EINVAL;
	}
	json_array_foreach (jobs, i, job) {
		if (has_twin(jobs, i)) {
			complain_at(complaints, 0, 0,
			            "several jobs have the name \"%s\" and ran side by side: run fio with "
			            "--group_reporting",
			            json_string_value(json_object_get(job, "jobname")));
			r = -EINVAL;
			break;
		}
		for (size_t d = 0; d < sizeof(directions) / sizeof(directions[0]) && !r; d++)
			r = take(import, global, job, directions[d]);
	}
	json_decref(root);
	if (!r && import->count == had) {
		complain_at(complaints, 0, 0, "no job read or wrote anything");
		r = -EINVAL;
	}
	return r;
}
