/* SPDX-License-Identifier: GPL-2.0-or-later
 * TCP as fast as it goes, to a peer that serves PEER_SINK. */
#ifndef ASSAY_WORKLOAD_STREAM_H
#define ASSAY_WORKLOAD_STREAM_H

#include "failure.h"

#include <jansson.h>
#include <stddef.h>

/* Sends over COUNT connections at once, for DURATION_MS. *MEASUREMENT as in result.json, with `stream`; the
 * caller owns it. 0 or -errno with *WHY filled. */
int stream_run(const char *peer, unsigned int port, size_t count, long long duration_ms, json_t **measurement,
               struct failure *why);

#endif
