/* SPDX-License-Identifier: GPL-2.0-or-later
 * The engine of aio alone, for tests/bench/aio.sh.
 * usage: aio_run ENGINE TARGET read|write IOS DEPTH JOBS    random, direct, 4 KiB; prints IOPS, p50 and p99
 * in ns */
#include "workload_aio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct aio_request rq = {.bs_bytes = 4096, .seed = 1, .random_percent = 100, .direct = true};
	struct failure why = {.error = 0};
	char fault[256] = "";
	struct aio aio;
	json_t *json;
	int r;

	if (argc != 7)
		return 2;
	rq.engine = argv[1];
	rq.read_percent = !strcmp(argv[3], "read") ? 100 : 0;
	rq.size_bytes = strtoull(argv[4], NULL, 10) * rq.bs_bytes;
	rq.depth = (unsigned int)atoi(argv[5]);
	rq.jobs = (unsigned int)atoi(argv[6]);
	r = aio_prepare(&aio, &rq, argv[2], 600000, &why);
	r = r ? r : aio_run(&aio, &why);
	if (!r)
		aio_fault(&aio, fault, sizeof(fault));
	if (r || *fault) {
		fprintf(stderr, "aio_run: %s%s: %s\n", why.message, fault, strerror(-r));
		aio_close(&aio);
		return 1;
	}
	json = json_object_get(aio_json(&aio), "aio");
	printf("%.0f %lld %lld\n", json_number_value(json_object_get(json, "iops")),
	       (long long)json_integer_value(json_object_get(json_object_get(json, "latency_ns"), "p50")),
	       (long long)json_integer_value(json_object_get(json_object_get(json, "latency_ns"), "p99")));
	aio_close(&aio);
	return 0;
}
