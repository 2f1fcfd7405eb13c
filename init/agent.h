/* SPDX-License-Identifier: GPL-2.0-or-later
 * The node's conversation with the lab: hello, then do what it says next. */
#ifndef ASSAY_AGENT_H
#define ASSAY_AGENT_H

#include "cell.h"
#include "client.h"
#include "supervise.h"

#include <jansson.h>

struct agent {
	struct client *client;
	struct supervised *shared;
	struct cell_node cell;
	char run[64];  /* of the last sample */
	int drivers;   /* the process that loads what hello did not need; 0: it has ended */
	long again_ms; /* after an answer that makes no sense, or a refusal, wait this long */
};

/* Everything from the first hello on, on management NIC. Returns an enum worker_exit, never WORKER_GOES_ON.
 */
int agent_main(struct supervised *shared, const struct cmdline *options, const char *nic);

/* Says hello with BODY (hello.json) until the lab knows us: name, clock and hostname are set then.
 * WORKER_GOES_ON, or WORKER_REBOOT where the token is refused. */
int agent_hello(struct agent *agent, const json_t *body);

/* Asks for what is next and does it, until the lab wants a reboot or a power-off. */
int agent_loop(struct agent *agent);

/* One sample, from apply to the acknowledged result (agent_sample.c). WORKER_GOES_ON, or WORKER_REBOOT where
 * the token is refused. */
int agent_sample(struct agent *agent, const json_t *assignment);

/* Says that the token is refused, gives the operator again_ms to read it; WORKER_REBOOT. */
int agent_refused(const struct agent *agent, const struct client_answer *answer);

/* Tells the lab of WHY, once, without insisting. */
void agent_report(struct agent *agent, const struct failure *why);

#endif
