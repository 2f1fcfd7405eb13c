/* SPDX-License-Identifier: GPL-2.0-or-later
 * The workload copy alone, to be set beside dd: copy_vs_dd TARGET BS SIZE [direct] [dsync] [fsync]
 * [fdatasync] [incompressible]. Prints bytes, nanoseconds and nanoseconds of CPU time. */
#include "workload_copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool option(struct copy_request *rq, const char *text)
{
	if (!strcmp(text, "direct"))
		rq->direct = true;
	else if (!strcmp(text, "dsync"))
		rq->dsync = true;
	else if (!strcmp(text, "incompressible"))
		rq->incompressible = true;
	else if (!strcmp(text, "fsync"))
		rq->conv = COPY_CONV_FSYNC;
	else if (!strcmp(text, "fdatasync"))
		rq->conv = COPY_CONV_FDATASYNC;
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	struct copy_request rq = {.seed = 1};
	struct failure why;
	struct copy copy;
	int r;

	if (argc < 4) {
		fprintf(stderr,
		        "usage: copy_vs_dd TARGET BS SIZE [direct|dsync|fsync|fdatasync|incompressible]…\n");
		return 2;
	}
	rq.bs_bytes = strtoull(argv[2], NULL, 10);
	rq.size_bytes = strtoull(argv[3], NULL, 10);
	for (int i = 4; i < argc; i++)
		if (!option(&rq, argv[i])) {
			fprintf(stderr, "copy_vs_dd: no option %s\n", argv[i]);
			return 2;
		}
	r = copy_prepare(&copy, &rq, argv[1], 600000, &why);
	if (!r)
		r = copy_run(&copy, &why);
	if (r)
		fprintf(stderr, "copy_vs_dd: %s: %s\n", why.message, strerror(-r));
	else
		printf("%llu %lld %lld\n", (unsigned long long)copy.bytes, (long long)copy.ns,
		       (long long)copy.cpu_ns);
	copy_close(&copy);
	return r ? 1 : 0;
}
